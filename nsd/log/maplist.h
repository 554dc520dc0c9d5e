/* SPDX-License-Identifier: MPL-2.0
 * maplist.h --
 *
 *      Lists the mappings of a directory, of live and dead servers.
 */

#ifndef NSD_LOG_MAPLIST_H
#define NSD_LOG_MAPLIST_H

/*
 * nsd --logs --list ?DIR?
 *
 * Print a line for each mapping and spill file, and one for each sink that has
 * not written all of it.  Returns the exit status.
 */
int NsLogListMappings(const char *directory);

#endif
