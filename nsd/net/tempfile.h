/*
 * tempfile.h --
 *
 *      Files for what does not fit into memory.
 */

#ifndef NSD_NET_TEMPFILE_H
#define NSD_NET_TEMPFILE_H

#include "nstypes.h"

/*
 * A file without a name, in directory or (NULL) the system's for temporary
 * files, open for reading and writing, close-on-exec; -1 with errno.
 */
int NsTempFileOpen(const char *directory);

/*
 * A file with a unique name in directory, mode 0600; -1 with errno.  The path
 * is appended to dsPtr.
 */
int NsTempFileOpenNamed(const char *directory, Ns_DString *dsPtr);

/*
 * Write all bytes at offset.  NS_ERROR with errno, for example on a full disk.
 */
Ns_ReturnCode NsTempFileWrite(int fd, const char *bytes, size_t length,
                              off_t offset);

#endif
