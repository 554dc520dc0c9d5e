/* SPDX-License-Identifier: MPL-2.0
 * pairs.c --
 *
 *      Settings that are a list of names and values.
 */

#include "log/stream/pairs.h"

#include "nstypes.h"

const char **
NsPairsSplit(const char *text, int *nPtr)
{
    const char **words;

    if (Tcl_SplitList(NULL, text, nPtr, &words) != TCL_OK) {
        return NULL;
    }
    if (*nPtr % 2 != 0) {
        Tcl_Free((char *) words);
        return NULL;
    }
    return words;
}
