/* SPDX-License-Identifier: MPL-2.0
 * environ.h --
 *
 *      The process environment, one access at a time.
 *
 *      The C library protects nobody who reads a variable while another thread
 *      sets one; these functions share a lock.  A variable is set through Tcl,
 *      so that interpreters, which read the environment when they are made,
 *      are protected as well.
 */

#ifndef NSD_BASE_ENVIRON_H
#define NSD_BASE_ENVIRON_H

#include "nstypes.h"

/*
 * Append the value.  False: there is no such variable.
 */
bool NsEnvironGet(Ns_DString *dsPtr, const char *name);

/*
 * Set, or remove when value is NULL; Tcl is initialized (Tcl_FindExecutable).
 * NS_ERROR: no valid name.
 */
Ns_ReturnCode NsEnvironSet(const char *name, const char *value);

/*
 * Append the names as list elements.
 */
void NsEnvironNames(Ns_DString *dsPtr);

#endif
