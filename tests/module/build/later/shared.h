/* SPDX-License-Identifier: MPL-2.0
 * shared.h --
 *
 *      What module and program have in common.
 */

#include "ns.h"

/*
 * The words of a list, with dots between; the result is dsPtr's.
 */
const char *SharedDots(Tcl_DString *dsPtr, const char *list);
