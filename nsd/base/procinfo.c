/* SPDX-License-Identifier: MPL-2.0
 * procinfo.c --
 *
 *      Names of callbacks, for lists that people read.
 */

#include "base/lock.h"
#include "nsprocess.h"
#include "nsstring.h"

typedef struct ProcInfo {
    char       *name;
    Ns_ArgProc *argProc; /* Appends the argument; may be NULL. */
} ProcInfo;

static Ns_Mutex      lock;  /* Guards infos, NS_RANK_PROCINFO. */
static Tcl_HashTable infos; /* By address of the procedure. */

static void Setup(void) __attribute__((constructor));
static bool FindName(Ns_DString *dsPtr, void *proc, Ns_ArgProc **argProcPtr);
static void AppendAddress(Ns_DString *dsPtr, char kind, const void *address);

void
Ns_RegisterProcInfo(void *proc, const char *name, Ns_ArgProc *argProc)
{
    Tcl_HashEntry *hPtr;
    ProcInfo      *infoPtr;
    int            isNew;

    Ns_MutexLock(&lock);
    hPtr = Tcl_CreateHashEntry(&infos, proc, &isNew);
    if (isNew) {
        infoPtr = ns_calloc(1, sizeof(ProcInfo));
        Tcl_SetHashValue(hPtr, infoPtr);
    } else {
        infoPtr = Tcl_GetHashValue(hPtr);
        ns_free(infoPtr->name);
    }
    infoPtr->name = ns_strdup(name);
    infoPtr->argProc = argProc;
    Ns_MutexUnlock(&lock);
}

void
Ns_GetProcInfo(Ns_DString *dsPtr, void *proc, void *arg)
{
    Ns_ArgProc *argProc = NULL;

    if (!FindName(dsPtr, proc, &argProc)) {
        AppendAddress(dsPtr, 'p', proc);
    }
    if (argProc != NULL) {
        argProc(dsPtr, arg);
    } else {
        AppendAddress(dsPtr, 'a', arg);
    }
}

void
Ns_StringArgProc(Ns_DString *dsPtr, void *arg)
{
    Tcl_DStringAppendElement(dsPtr, arg != NULL ? arg : "");
}

static void
Setup(void)
{
    Tcl_InitHashTable(&infos, TCL_ONE_WORD_KEYS);
    NsMutexSetup(&lock, NS_RANK_PROCINFO, "ns:procinfo", NULL);
}

/*
 * Append the name of proc when it has one.  The procedure for its argument is
 * left to the caller: it must run without the lock.
 */
static bool
FindName(Ns_DString *dsPtr, void *proc, Ns_ArgProc **argProcPtr)
{
    const Tcl_HashEntry *hPtr;

    Ns_MutexLock(&lock);
    hPtr = Tcl_FindHashEntry(&infos, proc);
    if (hPtr != NULL) {
        const ProcInfo *infoPtr = Tcl_GetHashValue(hPtr);

        Tcl_DStringAppendElement(dsPtr, infoPtr->name);
        *argProcPtr = infoPtr->argProc;
    }
    Ns_MutexUnlock(&lock);

    return hPtr != NULL;
}

static void
AppendAddress(Ns_DString *dsPtr, char kind, const void *address)
{
    char text[32];

    if (address == NULL) {
        snprintf(text, sizeof(text), "%c:(nil)", kind);
    } else {
        snprintf(text, sizeof(text), "%c:0x%" PRIxPTR, kind,
                 (uintptr_t) address);
    }
    Tcl_DStringAppendElement(dsPtr, text);
}
