/* SPDX-License-Identifier: MPL-2.0
 * directory.h --
 *
 *      Directories, as places of files.
 */

#ifndef NSD_BASE_DIRECTORY_H
#define NSD_BASE_DIRECTORY_H

#include "nstypes.h"

/*
 * Sync the directory of that file, so that the names in it are on disk.  False:
 * errno says why not.
 */
bool NsDirectorySync(const char *file);

#endif
