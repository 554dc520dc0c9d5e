/* SPDX-License-Identifier: MPL-2.0
 * config_check.h --
 *
 *      Compares the configuration with the table of parameters, and with what
 *      it refers to.
 *
 *      Reported are sections and parameters that do not exist, with the nearest
 *      name that does, values that are out of range, and servers, pools, limits
 *      and log sinks that nothing defines; for -T also files and directories
 *      that are missing, modules that cannot be loaded, addresses that cannot
 *      be listened on.  Sections outside ns/ are their owners' business.
 */

#ifndef NSD_PROCESS_CONFIG_CHECK_H
#define NSD_PROCESS_CONFIG_CHECK_H

#include "nstypes.h"

/*
 * Report on a file, one line each; or values and references as Warnings in the
 * log.  The result is how many things are wrong.
 */
int NsConfigCheckPrint(FILE *file);
int NsConfigCheckLog(void);

/*
 * Find the problems that a start would meet.  Makes home the base of all paths,
 * and loads modules, but leaves nothing behind outside the process.
 */
int NsConfigCheckReferences(FILE *file);

/*
 * Log what is unknown, and what modules, libraries and applications have not
 * read either.  After these are loaded.
 */
void NsConfigCheckUnread(void);

#endif
