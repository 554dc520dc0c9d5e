/*
 * cacheupdate.h --
 *
 *      Commands of caches that other files of commands use.
 */

#ifndef NSD_TCL_CACHEUPDATE_H
#define NSD_TCL_CACHEUPDATE_H

#include "tcl/tclcache.h"

/*
 * A new object with the value that the calling thread sees, or NULL.
 */
Tcl_Obj *NsCacheGetValueObj(NsTclCache *cachePtr, const char *key);

/*
 * ns_cache_eval, and `ns_cache set cache key value` without the first word.
 */
Tcl_ObjCmdProc NsCacheEvalObjCmd;
Tcl_ObjCmdProc NsCacheSetObjCmd;

#endif
