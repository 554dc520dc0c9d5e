/* SPDX-License-Identifier: MPL-2.0
 * globals.c --
 *
 *      The globals of an interpreter.
 *
 *      Most requests leave nothing behind, so the clean-up first looks whether
 *      there is anything to do.  That means a look at Tcl's own table of
 *      globals: `info globals` makes a list of all names, and that took a third
 *      of the time of a small page.  With a version of Tcl whose tables are not
 *      known here, `info globals` it is.
 */

#include "tcl/globals.h"
#include "tcl/inside.h"

#include "nsstring.h"
#include "nsthread.h"

static bool IsKeptVar(const char *name);
static void SetEmpty(Tcl_Interp *interp, const char *name, Tcl_Obj *emptyPtr);

#ifdef NS_KNOWS_TCL

#define MAX_KEPT    64 /* More globals than this are not remembered. */
#define MAX_BUCKETS 64 /* Tcl makes no more for MAX_KEPT globals. */
#define MAX_AT_ONCE 32 /* Unset between two looks at the table. */

/*
 * The table of globals as the last clean-up left it, holding none but those
 * that are kept.  Names are referenced, so that none can be another one at the
 * same address.
 */
typedef struct NsGlobals {
    int            n;                 /* 0: unknown. */
    Tcl_HashEntry *entries[MAX_KEPT]; /* In the table's order. */
    Tcl_HashEntry *next[MAX_KEPT];    /* In the entry's bucket. */
    Tcl_Obj       *names[MAX_KEPT];
    int            nBuckets; /* 0: there are more. */
    Tcl_HashEntry *buckets[MAX_BUCKETS];
    const Var     *errorInfoPtr;
    const Var     *errorCodePtr;
    Tcl_Obj       *emptyPtr; /* The value that these two were set to. */
} NsGlobals;

/*
 * Globals that are not kept.
 */
typedef struct Finding {
    int      n;
    Tcl_Obj *names[MAX_AT_ONCE]; /* Referenced. */
    Var     *vars[MAX_AT_ONCE];
    bool     isQuiet; /* To unset them runs no trace. */
    bool     isKnown; /* All that is remembered is there, in order. */
} Finding;

static bool HasOnlyKept(NsInterp *itPtr);
static bool UnsetGlobals(NsInterp *itPtr);
static void Unset(Tcl_Interp *interp, const Finding *findingPtr, int i);
static void FindGlobals(NsInterp *itPtr, Finding *findingPtr);
static bool HasNoError(const NsGlobals *globalsPtr);
static void Remember(NsInterp *itPtr);
static void ForgetNames(NsGlobals *globalsPtr);
static Tcl_HashTable *GlobalTable(Tcl_Interp *interp);

void
NsGlobalsCleanup(NsInterp *itPtr)
{
    Tcl_Interp *interp = itPtr->interp;
    NsGlobals  *globalsPtr = itPtr->globalsPtr;

    Tcl_ResetResult(interp);
    if (globalsPtr == NULL) {
        itPtr->globalsPtr = globalsPtr = ns_calloc(1, sizeof(NsGlobals));
        globalsPtr->emptyPtr = Tcl_NewObj();
        Tcl_IncrRefCount(globalsPtr->emptyPtr);
    }
    if ((HasOnlyKept(itPtr) || UnsetGlobals(itPtr)) && HasNoError(globalsPtr)) {
        return;
    }
    ForgetNames(globalsPtr);
    SetEmpty(interp, "errorInfo", globalsPtr->emptyPtr);
    SetEmpty(interp, "errorCode", globalsPtr->emptyPtr);
    Tcl_ResetResult(interp);
    Remember(itPtr);
}

void
NsGlobalsFree(NsInterp *itPtr)
{
    if (itPtr->globalsPtr != NULL) {
        ForgetNames(itPtr->globalsPtr);
        Tcl_DecrRefCount(itPtr->globalsPtr->emptyPtr);
        ns_free(itPtr->globalsPtr);
    }
}

/*
 * Whether the table holds just what is remembered.  An entry that is looked at
 * exists: it is the first of a bucket, or the next of the one before it.
 */
static bool
HasOnlyKept(NsInterp *itPtr)
{
    const NsGlobals     *globalsPtr = itPtr->globalsPtr;
    const Tcl_HashTable *tablePtr = GlobalTable(itPtr->interp);
    int                  n = globalsPtr->n;

    if (n == 0 || tablePtr->numEntries != n
        || tablePtr->numBuckets != globalsPtr->nBuckets
        || memcmp(tablePtr->buckets, globalsPtr->buckets,
                  (size_t) globalsPtr->nBuckets
                      * sizeof(globalsPtr->buckets[0]))
            != 0) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        const Tcl_HashEntry *entryPtr = globalsPtr->entries[i];

        if (entryPtr->key.objPtr != globalsPtr->names[i]
            || entryPtr->nextPtr != globalsPtr->next[i]) {
            return false;
        }
    }
    return true;
}

/*
 * Unset what is not kept.  True when the table holds just what is remembered.
 */
static bool
UnsetGlobals(NsInterp *itPtr)
{
    Finding finding;
    int     n, left;

    do {
        FindGlobals(itPtr, &finding);
        n = finding.n;
        left = GlobalTable(itPtr->interp)->numEntries;
        for (int i = 0; i < n; i++) {
            Unset(itPtr->interp, &finding, i);
            Tcl_DecrRefCount(finding.names[i]);
        }
        if (finding.isQuiet && n < MAX_AT_ONCE) {
            return finding.isKnown && left - n == itPtr->globalsPtr->n;
        }
        /* A trace may have set some again: then that is all. */
    } while (n > 0 && GlobalTable(itPtr->interp)->numEntries < left);

    return false;
}

/*
 * A trace could free other variables, so then each is looked up by its name.
 */
static void
Unset(Tcl_Interp *interp, const Finding *findingPtr, int i)
{
    if (findingPtr->isQuiet) {
        (void) TclPtrUnsetVar(interp, (Tcl_Var) findingPtr->vars[i], NULL,
                              findingPtr->names[i], NULL, TCL_GLOBAL_ONLY);
    } else {
        (void) Tcl_UnsetVar(interp, Tcl_GetString(findingPtr->names[i]),
                            TCL_GLOBAL_ONLY);
    }
}

static void
FindGlobals(NsInterp *itPtr, Finding *findingPtr)
{
    const NsGlobals *globalsPtr = itPtr->globalsPtr;
    Tcl_HashTable   *tablePtr = GlobalTable(itPtr->interp);
    Tcl_HashEntry   *entryPtr = NULL;
    int              next = 0, nSeen = 0;

    findingPtr->n = 0;
    findingPtr->isQuiet = true;
    while (findingPtr->n < MAX_AT_ONCE
           && (entryPtr = NsTclNextEntry(tablePtr, entryPtr, &next)) != NULL) {
        Tcl_Obj *namePtr = entryPtr->key.objPtr;
        Var     *varPtr = NsTclVarOf(entryPtr);

        if (nSeen < globalsPtr->n && entryPtr == globalsPtr->entries[nSeen]
            && namePtr == globalsPtr->names[nSeen]) {
            nSeen++;
        } else if (!TclIsVarUndefined(varPtr)
                   && !IsKeptVar(Tcl_GetString(namePtr))) {
            findingPtr->isQuiet &= TclIsVarScalar(varPtr)
                && !TclIsVarTraced(varPtr);
            Tcl_IncrRefCount(namePtr);
            findingPtr->vars[findingPtr->n] = varPtr;
            findingPtr->names[findingPtr->n++] = namePtr;
        }
    }
    findingPtr->isKnown = globalsPtr->n > 0 && nSeen == globalsPtr->n;
}

/*
 * Whether the error variables are as the last clean-up set them.
 */
static bool
HasNoError(const NsGlobals *globalsPtr)
{
    const Var *infoPtr = globalsPtr->errorInfoPtr;
    const Var *codePtr = globalsPtr->errorCodePtr;

    return TclIsVarScalar(infoPtr) && TclIsVarScalar(codePtr)
        && infoPtr->value.objPtr == globalsPtr->emptyPtr
        && codePtr->value.objPtr == globalsPtr->emptyPtr;
}

static void
Remember(NsInterp *itPtr)
{
    NsGlobals     *globalsPtr = itPtr->globalsPtr;
    Tcl_HashTable *tablePtr = GlobalTable(itPtr->interp);
    Tcl_HashEntry *entryPtr = NULL;
    int            next = 0, i = 0;

    globalsPtr->errorInfoPtr = globalsPtr->errorCodePtr = NULL;
    if (tablePtr->numEntries > MAX_KEPT) {
        return;
    }
    globalsPtr->nBuckets = 0;
    if (tablePtr->numBuckets <= MAX_BUCKETS) {
        globalsPtr->nBuckets = tablePtr->numBuckets;
        memcpy(globalsPtr->buckets, tablePtr->buckets,
               (size_t) tablePtr->numBuckets * sizeof(globalsPtr->buckets[0]));
    }
    while ((entryPtr = NsTclNextEntry(tablePtr, entryPtr, &next)) != NULL) {
        Tcl_Obj    *namePtr = entryPtr->key.objPtr;
        const char *name = Tcl_GetString(namePtr);

        if (!IsKeptVar(name)) {
            break; /* Its trace has set it again, say. */
        }
        if (STREQ(name, "errorInfo")) {
            globalsPtr->errorInfoPtr = NsTclVarOf(entryPtr);
        } else if (STREQ(name, "errorCode")) {
            globalsPtr->errorCodePtr = NsTclVarOf(entryPtr);
        }
        Tcl_IncrRefCount(namePtr);
        globalsPtr->entries[i] = entryPtr;
        globalsPtr->next[i] = entryPtr->nextPtr;
        globalsPtr->names[i++] = namePtr;
    }
    globalsPtr->n = i;
    if (entryPtr != NULL || globalsPtr->errorInfoPtr == NULL
        || globalsPtr->errorCodePtr == NULL) {
        ForgetNames(globalsPtr);
    }
}

static void
ForgetNames(NsGlobals *globalsPtr)
{
    for (int i = 0; i < globalsPtr->n; i++) {
        Tcl_DecrRefCount(globalsPtr->names[i]);
    }
    globalsPtr->n = 0;
}

static Tcl_HashTable *
GlobalTable(Tcl_Interp *interp)
{
    Namespace *globalPtr = (Namespace *) Tcl_GetGlobalNamespace(interp);

    return &globalPtr->varTable.table;
}

#else

static int UnsetOnce(Tcl_Interp *interp);

/*
 * A trace may set some again: as soon as there are no fewer than before, that
 * is all.
 */
void
NsGlobalsCleanup(NsInterp *itPtr)
{
    Tcl_Obj *emptyPtr = Tcl_NewObj();
    int      n = INT_MAX, before;

    Tcl_IncrRefCount(emptyPtr);
    do {
        before = n;
        n = UnsetOnce(itPtr->interp);
    } while (n > 0 && n < before);
    SetEmpty(itPtr->interp, "errorInfo", emptyPtr);
    SetEmpty(itPtr->interp, "errorCode", emptyPtr);
    Tcl_DecrRefCount(emptyPtr);
    Tcl_ResetResult(itPtr->interp);
}

/*
 * The number of globals that had to go.  The command is the one behind `info
 * globals`, which a script may have replaced.
 */
static int
UnsetOnce(Tcl_Interp *interp)
{
    Tcl_Obj *listPtr, **names;
    int      nNames, nUnset = 0;

    if (Tcl_EvalEx(interp, "::tcl::info::globals", -1, TCL_EVAL_GLOBAL)
        != TCL_OK) {
        return 0;
    }
    listPtr = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(listPtr);
    if (Tcl_ListObjGetElements(NULL, listPtr, &nNames, &names) != TCL_OK) {
        nNames = 0;
    }
    for (int i = 0; i < nNames; i++) {
        const char *name = Tcl_GetString(names[i]);

        if (!IsKeptVar(name)) {
            nUnset++;
            (void) Tcl_UnsetVar(interp, name, TCL_GLOBAL_ONLY);
        }
    }
    Tcl_DecrRefCount(listPtr);
    return nUnset;
}

void
NsGlobalsFree(NsInterp *itPtr)
{
    /* Nothing is remembered. */
}

#endif

static bool
IsKeptVar(const char *name)
{
    static const char *const names[] = {
        "argv", "argv0", "argc", "env", "errorInfo", "errorCode"};

    if (strncmp(name, "auto_", 5) == 0 || strncmp(name, "tcl_", 4) == 0) {
        return true;
    }
    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (STREQ(name, names[i])) {
            return true;
        }
    }
    return false;
}

static void
SetEmpty(Tcl_Interp *interp, const char *name, Tcl_Obj *emptyPtr)
{
    if (Tcl_SetVar2Ex(interp, name, NULL, emptyPtr, TCL_GLOBAL_ONLY) == NULL) {
        /* The script has made an array of it. */
        (void) Tcl_UnsetVar(interp, name, TCL_GLOBAL_ONLY);
        (void) Tcl_SetVar2Ex(interp, name, NULL, emptyPtr, TCL_GLOBAL_ONLY);
    }
}
