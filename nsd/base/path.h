/*
 * path.h --
 *
 *      Building paths for functions that take a list of elements themselves.
 */

#ifndef NSD_BASE_PATH_H
#define NSD_BASE_PATH_H

#include "nstypes.h"

/*
 * Append "/element" for each string up to NULL, with single slashes only.
 */
char *NsPathAppendList(Ns_DString *dsPtr, va_list elements);

#endif
