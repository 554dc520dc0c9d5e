/* SPDX-License-Identifier: MPL-2.0
 * tag.c --
 *
 *      Registered tags of a server.  Definitions are never freed, not even
 *      when they are replaced: pages that are being parsed may use them.
 */

#include "adp/tag.h"
#include "nsthread.h"
#include "adp/parse.h"

typedef struct Definition {
    NsAdpTag           tag;         /* Must be first. */
    struct Definition *replacedPtr; /* The one before, or NULL. */
} Definition;

static const NsAdpTag *FindTag(const char *name, void *arg);
static char           *LowerDup(const char *string);

void
NsAdpRegisterTag(NsAdpServer *adpServerPtr, NsAdpTagKind kind, const char *name,
                 const char *endName, const char *content)
{
    Definition    *newPtr = ns_malloc(sizeof(Definition));
    char          *key = LowerDup(name);
    Tcl_HashEntry *entryPtr;
    int            isNew;

    newPtr->tag = (NsAdpTag){
        .kind = kind,
        .endTag = endName != NULL ? LowerDup(endName) : NULL,
        .content = ns_strdup(content)};

    Ns_RWLockWrLock(&adpServerPtr->tagLock);
    entryPtr = Tcl_CreateHashEntry(&adpServerPtr->tags, key, &isNew);
    newPtr->replacedPtr = isNew ? NULL : Tcl_GetHashValue(entryPtr);
    Tcl_SetHashValue(entryPtr, newPtr);
    Ns_RWLockUnlock(&adpServerPtr->tagLock);
    ns_free(key);
}

void
NsAdpParseFor(NsAdpServer *adpServerPtr, NsAdpCode *codePtr, const char *text,
              int flags)
{
    NsAdpParse(codePtr, text,
               &(NsAdpParseSpec){.isTcl = (flags & NS_ADP_TCL) != 0,
                                 .isSafe = (flags & NS_ADP_SAFE) != 0,
                                 .isSingle = (flags & NS_ADP_SINGLE) != 0,
                                 .findTagProc = FindTag,
                                 .arg = adpServerPtr});
}

static const NsAdpTag *
FindTag(const char *name, void *arg)
{
    NsAdpServer    *adpServerPtr = arg;
    Tcl_HashEntry  *entryPtr;
    const NsAdpTag *tagPtr = NULL;

    Ns_RWLockRdLock(&adpServerPtr->tagLock);
    entryPtr = Tcl_FindHashEntry(&adpServerPtr->tags, name);
    if (entryPtr != NULL) {
        tagPtr = Tcl_GetHashValue(entryPtr);
    }
    Ns_RWLockUnlock(&adpServerPtr->tagLock);
    return tagPtr;
}

static char *
LowerDup(const char *string)
{
    char *copy = ns_strdup(string), *p;

    for (p = copy; *p != '\0'; p++) {
        *p = (char) tolower(UCHAR(*p));
    }
    return copy;
}
