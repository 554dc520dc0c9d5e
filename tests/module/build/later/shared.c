/* SPDX-License-Identifier: MPL-2.0
 * shared.c --
 *
 *      The library.
 */

#include "shared.h"

const char *
SharedDots(Tcl_DString *dsPtr, const char *list)
{
    const char **words;
    TCL_SIZE_T   n;

    if (Tcl_SplitList(NULL, list, &n, &words) == TCL_OK) {
        for (TCL_SIZE_T i = 0; i < n; i++) {
            Ns_DStringPrintf(dsPtr, "%s%s", i == 0 ? "" : ".", words[i]);
        }
        Tcl_Free((char *) words);
    }
    return dsPtr->string;
}
