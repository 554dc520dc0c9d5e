/* SPDX-License-Identifier: MPL-2.0
 * cacheupdate_cmd.h --
 *
 *      Values that scripts have put into caches, for other files of commands.
 */

#ifndef NSD_TCL_CACHEUPDATE_CMD_H
#define NSD_TCL_CACHEUPDATE_CMD_H

#include "tcl/tclcache.h"

/*
 * A new object with the value that the calling thread sees, or NULL.
 */
Tcl_Obj *NsCacheGetValueObj(NsTclCache *cachePtr, const char *key);

#endif
