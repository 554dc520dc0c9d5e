/* SPDX-License-Identifier: MPL-2.0
 * paths.h --
 *
 *      Paths below the home directory.
 */

#ifndef NSD_PROCESS_PATHS_H
#define NSD_PROCESS_PATHS_H

#include "nstypes.h"

void NsPathsInit(void);

/*
 * Append the path of a log file: relative names are below logdir if the
 * configuration has it, else below home/logs if that directory exists, else
 * below home.  NULL: that directory.
 */
void NsPathsLog(Ns_DString *dsPtr, const char *file);

/*
 * The directory of logs that the configuration names; NULL: it names none.
 */
const char *NsPathsLogSetting(void);

/*
 * Whether the configuration names the directory of programs.
 */
bool NsPathsHasBin(void);

/*
 * The directory of logs of a server, for Ns_ServerLogDir; the string lives on.
 */
void NsPathsSetServerLog(const char *server, const char *directory);

/*
 * The home directory as the configuration names it.
 */
const char *NsPathsHomeSetting(void);

/*
 * Once the configuration is read and home is known: use the directories that it
 * says.  That for temporary files is then in it for scripts that ask.
 */
void NsPathsConfigure(void);

/*
 * Make the directory of logs, if the configuration names one.  If that fails,
 * it shows when a log is opened.
 */
void NsPathsMakeLogs(void);

#endif
