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
 * The home directory as the configuration names it; else the one above a
 * directory conf with the configuration file; else the installation.  The
 * string lives on.
 */
const char *NsPathsHomeSetting(void);

/*
 * Append the path of what comes with the server, such as tcl or bin/init.tcl:
 * an absolute one as it is; a relative one below home; if it is not there, that
 * in the installation; if it is not there either, that below home.
 */
void NsPathsShipped(Ns_DString *dsPtr, const char *path);

/*
 * Append the path of something in the installation, or in the tree where the
 * server was built.  False: it is not there, and nothing is appended.
 */
bool NsPathsInstalled(Ns_DString *dsPtr, const char *path);

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
