/* SPDX-License-Identifier: MPL-2.0
 * bare.h --
 *
 *      What a bare interpreter has: the init file of a server compares with it.
 *
 *      Servers whose interpreters have the same binary packages compare with
 *      the same, so the first writes it down for all.
 */

#ifndef NSD_TCL_BARE_H
#define NSD_TCL_BARE_H

#include "nstcl.h"

/*
 * What was kept under the key, as a new object; NULL: nothing.
 */
Tcl_Obj *NsBareGet(const char *key);

/*
 * Keep a copy under the key, which determines the facts.  Old ones may go.
 */
void NsBareKeep(const char *key, const char *facts);

/*
 * Once, before the first server starts.
 */
void NsBareInit(void);

#endif
