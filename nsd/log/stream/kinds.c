/* SPDX-License-Identifier: MPL-2.0
 * kinds.c --
 *
 *      Lists of words, such as event kinds.
 */

#include "log/stream/kinds.h"

#include "base/assert.h"
#include "nsstring.h"

bool
NsKindsInit(NsKinds *kindsPtr, const char *list)
{
    *kindsPtr = (NsKinds){0, NULL};
    return list == NULL
        || Tcl_SplitList(NULL, list, &kindsPtr->n, &kindsPtr->names) == TCL_OK;
}

void
NsKindsFree(NsKinds *kindsPtr)
{
    if (kindsPtr->names != NULL) {
        Tcl_Free((char *) kindsPtr->names);
    }
    *kindsPtr = (NsKinds){0, NULL};
}

bool
NsKindsHave(const NsKinds *kindsPtr, const char *kind, size_t length)
{
    NsAssert(kindsPtr->n == 0 || kindsPtr->names != NULL);
    for (int i = 0; i < kindsPtr->n; i++) {
        const char *name = kindsPtr->names[i];

        if (strncmp(name, kind, length) == 0 && name[length] == '\0') {
            return true;
        }
    }
    return false;
}

char *
NsKindsCommon(const char *left, const char *right)
{
    NsKinds    mine, other;
    Ns_DString ds;

    (void) NsKindsInit(&mine, left);
    (void) NsKindsInit(&other, right);
    Ns_DStringInit(&ds);
    for (int i = 0; i < mine.n; i++) {
        if (NsKindsHave(&other, mine.names[i], strlen(mine.names[i]))) {
            Tcl_DStringAppendElement(&ds, mine.names[i]);
        }
    }
    NsKindsFree(&mine);
    NsKindsFree(&other);
    if (Ns_DStringLength(&ds) == 0) {
        Ns_DStringFree(&ds);
        return NULL;
    }
    return Ns_DStringExport(&ds);
}
