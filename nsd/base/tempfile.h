/* SPDX-License-Identifier: MPL-2.0
 * tempfile.h --
 *
 *      Files for what does not fit into memory.
 */

#ifndef NSD_BASE_TEMPFILE_H
#define NSD_BASE_TEMPFILE_H

#include "nstypes.h"

/*
 * The directory for temporary files where none is configured: TMPDIR of the
 * environment that the process began with, or the system's.
 */
const char *NsTempDirectory(void);

/*
 * Make it another, while the configuration is read: before other threads ask.
 */
void NsTempSetDirectory(const char *directory);

/*
 * A file without a name, in directory or (NULL) that one, open for reading and
 * writing, close-on-exec; -1 with errno.
 */
int NsTempFileOpen(const char *directory);

/*
 * A file with a unique name in directory or (NULL) NsTempDirectory, mode 0600;
 * -1 with errno.  The path is appended to dsPtr.
 */
int NsTempFileOpenNamed(const char *directory, Ns_DString *dsPtr);

#endif
