/*
 * rollfile.h --
 *
 *      Backups of log files, beside what nslog.h offers.
 */

#ifndef NSD_LOG_ROLLFILE_H
#define NSD_LOG_ROLLFILE_H

#include "nstypes.h"

/*
 * The suffix of a time; 0 if it does not fit.
 */
size_t NsRollSuffix(char *buffer, size_t room, const char *format,
                    const struct tm *tmPtr);

#endif
