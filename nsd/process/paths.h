/*
 * paths.h --
 *
 *      Paths below the home directory.
 */

#ifndef NSD_PROCESS_PATHS_H
#define NSD_PROCESS_PATHS_H

#include "nstypes.h"

/*
 * Append the path of a log file: relative names are below home/logs if that
 * directory exists, else below home.  NULL: that directory.
 */
void NsPathsLog(Ns_DString *dsPtr, const char *file);

/*
 * The home directory as the configuration names it.
 */
const char *NsPathsHomeSetting(void);

/*
 * Once the configuration is read: the directory for temporary files is what it
 * says, and is then in it for scripts that ask.
 */
void NsPathsSetTemp(void);

#endif
