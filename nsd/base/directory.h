/*
 * directory.h --
 *
 *      Directories, as places of files.
 */

#ifndef NSD_BASE_DIRECTORY_H
#define NSD_BASE_DIRECTORY_H

#include "nstypes.h"

/*
 * What names stand in the directory of that file is on disk.  False: errno tells
 * why not.
 */
bool NsDirectorySync(const char *file);

#endif
