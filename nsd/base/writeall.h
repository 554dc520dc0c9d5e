/* SPDX-License-Identifier: MPL-2.0
 * writeall.h --
 *
 *      Write all bytes, however often that takes.
 */

#ifndef NSD_BASE_WRITEALL_H
#define NSD_BASE_WRITEALL_H

#include "nstypes.h"

/*
 * False: errno says why not, for example ENOSPC on a full disk; some of the
 * bytes may be written.  A descriptor that takes nothing now (EAGAIN) is waited
 * for.
 */
bool NsWriteAll(int fd, const void *bytes, size_t length);

/*
 * The same, from that offset of a file on.
 */
bool NsWriteAllAt(int fd, const void *bytes, size_t length, off_t offset);

#endif
