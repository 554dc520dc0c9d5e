/* SPDX-License-Identifier: MPL-2.0
 * disk.h --
 *
 *      Files of databases, for whose way to the disk a request says that it
 *      waits.
 */

#ifndef NSDBSQLITE_DISK_H
#define NSDBSQLITE_DISK_H

/*
 * The name of the VFS for sqlite3_open_v2: SQLite's own, whose syncs are noted
 * as waits (Ns_TclWaitBegin).  NULL: SQLite has none of its own, or no memory,
 * and is to be used without.  While drivers are loaded.
 */
const char *DiskVfs(void);

#endif
