/*
 * rollfile.h --
 *
 *      Backups of log files, beside what nslog.h offers.
 */

#ifndef NSD_LOG_ROLLFILE_H
#define NSD_LOG_ROLLFILE_H

#include "nstypes.h"

/*
 * Rename file to FILE.SUFFIX and keep max backups; format is for strftime, NULL
 * or empty means numbers.  A backup of that name is itself rolled first.  On
 * NS_ERROR, errno tells why.
 */
int NsRollFileFormatted(const char *file, const char *format, int max);

/*
 * The suffix of a time; 0 if it does not fit.
 */
size_t NsRollSuffix(char *buffer, size_t room, const char *format,
                    const struct tm *tmPtr);

#endif
