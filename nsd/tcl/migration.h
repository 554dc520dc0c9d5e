/* SPDX-License-Identifier: MPL-2.0
 * migration.h --
 *
 *      What the scripts of a site that comes from NaviServer find here.
 */

#ifndef NSD_TCL_MIGRATION_H
#define NSD_TCL_MIGRATION_H

#include "nsstring.h"

/*
 * Append what the libraries and pages of the configured servers, and the
 * scripts in more directories, call that is not here, a line for each command,
 * and how many files were read.  How many commands are missing.  Starts
 * nothing; once the configuration has been read.
 */
int NsMigrationReport(int nDirectories, char *const *directories,
                      Ns_DString *dsPtr);

#endif
