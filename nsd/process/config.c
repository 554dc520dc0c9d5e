/* SPDX-License-Identifier: MPL-2.0
 * config.c --
 *
 *      The configuration store.
 *
 *      A section is an Ns_Set with one NsParam per field beside it, which says
 *      where the field was written and what happened to it.  After the freeze
 *      the only things that change are atomic: the marks in NsParam and the
 *      head of each section's list of late defaults, which only grows at its
 *      head.  So a request that reads the configuration takes no lock.
 */

#include "process/config.h"

#include "base/assert.h"
#include "base/chars.h"
#include "base/lock.h"
#include "nsset.h"

#include <stdatomic.h>

/*
 * Scripts may ask for any key; what they ask for must not grow without bound.
 */
#define MAX_LATE 256

typedef struct NsParam {
    NsConfigPlace place;          /* Constant; file NULL for a default. */
    bool          isEmpty;        /* Asked for without a default; constant
                                   * after the freeze. */
    atomic_bool     isRead;       /* Any reader; only ever becomes true. */
    _Atomic(char *) defaultValue; /* First reader with a default. */
} NsParam;

typedef struct LateParam {
    struct LateParam *nextPtr; /* Constant once it is in the list. */
    char             *key;     /* Constant. */
    char             *value;   /* Constant; NULL: no default. */
} LateParam;

struct NsSection {
    NsSection    *nextPtr; /* In the order of the file. */
    Ns_Set       *setPtr;  /* Constant after the freeze. */
    NsConfigPlace place;   /* Constant. */
    NsParam     **params;  /* One for each field of the set. */
    int           nParams;
    int           maxParams;
    atomic_bool   isRead; /* Somebody has asked for it, or for one of
                           * its keys; only ever becomes true. */

    atomic_int           nLate;   /* Written under the lock. */
    _Atomic(LateParam *) latePtr; /* Written under the lock, read without;
                                   * release and acquire suffice. */
};

struct NsConfigStore {
    Tcl_HashTable sections; /* Name -> NsSection. */
    NsSection    *firstPtr;
    NsSection    *lastPtr;
    int           nSections;
    Ns_Set       *replacedPtr; /* Values of before; NULL: none. */
    atomic_bool   isFrozen;    /* Set once by its thread. */
};

/*
 * A store that was in force is never freed: its values are in use.
 */
static NsConfigStore            initial;
static _Atomic(NsConfigStore *) inForcePtr = &initial;

/*
 * The one that this thread makes; NULL: it uses that in force.
 */
static _Thread_local NsConfigStore *draftPtr;

/*
 * Everything in a store before its freeze; then only writers of late defaults.
 */
static Ns_Mutex lock;

static NsConfigStore *Store(void);
static void           CarrySection(NsSection *sectionPtr);
static const char    *LookupInSection(NsSection *sectionPtr, const char *key,
                                      bool exact, const char *defaultValue);
static void FillEmpty(NsSection *sectionPtr, int i, const char *defaultValue);
static const char      *LookupLate(NsSection *sectionPtr, const char *key,
                                   bool exact);
static const LateParam *FindLate(NsSection *sectionPtr, const char *key,
                                 bool exact);
static void             Record(NsSection *sectionPtr, const char *key,
                               const char *defaultValue);
static void             NoteRead(NsParam *paramPtr, const char *defaultValue);
static void AddParam(NsSection *sectionPtr, const char *key, const char *value,
                     NsConfigPlace place);
static void ReplaceParam(NsSection *sectionPtr, const char *key,
                         const char *value, NsConfigPlace place);
static void KeepReplaced(const char *key, char *value);
static int  FindField(const Ns_Set *setPtr, const char *key, bool exact);
static NsSection *FindSection(const char *name);
static void       AppendPath(Ns_DString *dsPtr, const char *server,
                             const char *module, va_list *apPtr);
static NsSection *FindNormalized(const char *name);
static void       Mark(atomic_bool *markPtr);
static bool       IsMarked(const atomic_bool *markPtr);
static bool       LockUnlessFrozen(void);
static void       Unlock(bool isLocked);
static char      *Normalize(Ns_DString *dsPtr, const char *name);
static void       CopyFields(NsSection *sectionPtr, NsConfigFilter filter,
                             Ns_Set *copyPtr);

void
NsConfigInit(void)
{
    static bool isDone = false;

    if (isDone) {
        return;
    }
    isDone = true;
    NsMutexSetup(&lock, NS_RANK_CONFIG, "nsd:conf", NULL);
    Tcl_InitHashTable(&initial.sections, TCL_STRING_KEYS);
}

static NsConfigStore *
Store(void)
{
    return draftPtr != NULL
        ? draftPtr
        : atomic_load_explicit(&inForcePtr, memory_order_acquire);
}

NsConfigStore *
NsConfigStoreCreate(void)
{
    NsConfigStore *storePtr = ns_calloc(1, sizeof(*storePtr));

    Tcl_InitHashTable(&storePtr->sections, TCL_STRING_KEYS);
    return storePtr;
}

void
NsConfigStoreUse(NsConfigStore *storePtr)
{
    draftPtr = storePtr;
}

/*
 * What the server itself has put into sections, and what is known of their
 * use, is carried over.
 */
void
NsConfigStoreTake(NsConfigStore *storePtr)
{
    NsAssert(draftPtr == NULL);

    NsConfigStoreUse(storePtr);
    for (NsSection *sectionPtr = atomic_load(&inForcePtr)->firstPtr;
         sectionPtr != NULL; sectionPtr = sectionPtr->nextPtr) {
        CarrySection(sectionPtr);
    }
    NsConfigFreeze();
    NsConfigStoreUse(NULL);
    atomic_store_explicit(&inForcePtr, storePtr, memory_order_release);
}

static void
CarrySection(NsSection *sectionPtr)
{
    Ns_Set    *setPtr = sectionPtr->setPtr;
    NsSection *toPtr = NsConfigOpen(Ns_SetName(setPtr),
                                    (NsConfigPlace){NULL, 0});

    atomic_store(&toPtr->isRead, IsMarked(&sectionPtr->isRead));
    for (int i = 0; i < MIN(sectionPtr->nParams, Ns_SetSize(setPtr)); i++) {
        NsParam *paramPtr = sectionPtr->params[i];
        int      j = FindField(toPtr->setPtr, Ns_SetKey(setPtr, i), true);

        if (j < 0 && paramPtr->place.file == NULL) {
            NsConfigAppend(toPtr, Ns_SetKey(setPtr, i), Ns_SetValue(setPtr, i),
                           paramPtr->place);
            j = toPtr->nParams - 1;
            toPtr->params[j]->isEmpty = paramPtr->isEmpty;
        }
        if (j >= 0 && IsMarked(&paramPtr->isRead)) {
            NoteRead(toPtr->params[j], atomic_load(&paramPtr->defaultValue));
        }
    }
}

void
NsConfigRemove(NsSection *sectionPtr, const char *key)
{
    Ns_Set *setPtr = sectionPtr->setPtr;
    bool    isLocked = LockUnlessFrozen();
    int     i;

    NsAssert(isLocked);
    while ((i = FindField(setPtr, key, false)) >= 0) {
        Ns_SetDelete(setPtr, i);
        if (i < sectionPtr->nParams) {
            ns_free(atomic_load(&sectionPtr->params[i]->defaultValue));
            ns_free(sectionPtr->params[i]);
            sectionPtr->nParams--;
            memmove(&sectionPtr->params[i], &sectionPtr->params[i + 1],
                    (size_t) (sectionPtr->nParams - i) * sizeof(NsParam *));
        }
    }
    Unlock(isLocked);
}

NsSection *
NsConfigOpen(const char *name, NsConfigPlace place)
{
    NsSection *sectionPtr;
    Ns_DString ds;
    bool       isLocked;

    Tcl_DStringInit(&ds);
    Normalize(&ds, name);
    isLocked = LockUnlessFrozen();
    sectionPtr = FindNormalized(ds.string);
    if (sectionPtr == NULL && isLocked) {
        int            isNew;
        Tcl_HashEntry *entryPtr;

        sectionPtr = ns_calloc(1, sizeof(NsSection));
        sectionPtr->setPtr = Ns_SetCreate(ds.string);
        Ns_SetIgnoreCase(sectionPtr->setPtr);
        sectionPtr->place = place;
        entryPtr = Tcl_CreateHashEntry(&Store()->sections, ds.string, &isNew);
        Tcl_SetHashValue(entryPtr, sectionPtr);
        if (Store()->lastPtr == NULL) {
            Store()->firstPtr = sectionPtr;
        } else {
            Store()->lastPtr->nextPtr = sectionPtr;
        }
        Store()->lastPtr = sectionPtr;
        Store()->nSections++;
    }
    Unlock(isLocked);
    Tcl_DStringFree(&ds);
    return isLocked ? sectionPtr : NULL;
}

void
NsConfigAppend(NsSection *sectionPtr, const char *key, const char *value,
               NsConfigPlace place)
{
    bool isLocked;

    isLocked = LockUnlessFrozen();
    if (isLocked) {
        AddParam(sectionPtr, key, value, place);
    }
    Unlock(isLocked);
}

void
NsConfigReplace(NsSection *sectionPtr, const char *key, const char *value,
                NsConfigPlace place)
{
    bool isLocked;

    isLocked = LockUnlessFrozen();
    if (isLocked) {
        ReplaceParam(sectionPtr, key, value, place);
    }
    Unlock(isLocked);
}

Ns_ReturnCode
NsConfigSet(const char *section, const char *key, const char *value)
{
    NsSection *sectionPtr = NsConfigOpen(section, (NsConfigPlace){NULL, 0});
    bool       isLocked;

    isLocked = LockUnlessFrozen();
    if (sectionPtr == NULL || !isLocked) {
        Unlock(isLocked);
        return NS_ERROR;
    }
    ReplaceParam(sectionPtr, key, value, (NsConfigPlace){NULL, 0});
    Unlock(isLocked);
    return NS_OK;
}

void
NsConfigFreeze(void)
{
    atomic_store_explicit(&Store()->isFrozen, true, memory_order_release);
}

const char *
NsConfigLookup(const char *section, const char *key, bool exact,
               const char *defaultValue)
{
    NsSection  *sectionPtr;
    const char *value = NULL;
    bool        isLocked;

    if (section == NULL) {
        return NULL;
    }
    isLocked = LockUnlessFrozen();
    sectionPtr = FindSection(section);
    if (sectionPtr != NULL) {
        Mark(&sectionPtr->isRead);
        value = LookupInSection(sectionPtr, key, exact, defaultValue);
    }
    Unlock(isLocked);
    return value;
}

const char *
NsConfigPeek(const char *section, const char *key)
{
    NsSection  *sectionPtr;
    const char *value = NULL;
    bool        isLocked;
    int         i;

    if (section == NULL) {
        return NULL;
    }
    isLocked = LockUnlessFrozen();
    sectionPtr = FindSection(section);
    i = sectionPtr == NULL ? -1 : FindField(sectionPtr->setPtr, key, false);
    if (i >= 0
        && (i >= sectionPtr->nParams || !sectionPtr->params[i]->isEmpty)) {
        value = Ns_SetValue(sectionPtr->setPtr, i);
    }
    Unlock(isLocked);
    return value;
}

NsConfigPlace
NsConfigPlaceOf(const char *section, const char *key)
{
    NsConfigPlace place = {NULL, 0};
    bool          isLocked = LockUnlessFrozen();
    NsSection    *sectionPtr = FindSection(section);
    int i = sectionPtr == NULL ? -1 : FindField(sectionPtr->setPtr, key, false);

    if (i >= 0 && i < sectionPtr->nParams) {
        place = sectionPtr->params[i]->place;
    }
    Unlock(isLocked);
    return place;
}

int
NsConfigQueryAll(const char *section, const char *key, Ns_DString *dsPtr)
{
    bool       isLocked = LockUnlessFrozen();
    NsSection *sectionPtr = FindSection(section);
    int        nFound = 0;

    if (sectionPtr != NULL) {
        Ns_Set *setPtr = sectionPtr->setPtr;

        for (int i = 0; i < Ns_SetSize(setPtr); i++) {
            if (strcasecmp(Ns_SetKey(setPtr, i), key) != 0) {
                continue;
            }
            if (i < sectionPtr->nParams) {
                if (sectionPtr->params[i]->isEmpty) {
                    continue;
                }
                Mark(&sectionPtr->params[i]->isRead);
            }
            Tcl_DStringAppendElement(dsPtr, Ns_SetValue(setPtr, i));
            nFound++;
        }
        if (nFound == 0) {
            const char *late = LookupLate(sectionPtr, key, false);

            if (late != NULL) {
                Tcl_DStringAppendElement(dsPtr, late);
                nFound++;
            }
        }
    }
    Unlock(isLocked);
    return nFound;
}

Ns_Set *
NsConfigDupSection(const char *section, NsConfigFilter filter)
{
    bool       isLocked = LockUnlessFrozen();
    NsSection *sectionPtr = FindSection(section);
    Ns_Set    *copyPtr = NULL;

    if (sectionPtr != NULL) {
        Mark(&sectionPtr->isRead);
        copyPtr = Ns_SetCreate(Ns_SetName(sectionPtr->setPtr));
        Ns_SetIgnoreCase(copyPtr);
        CopyFields(sectionPtr, filter, copyPtr);
    }
    Unlock(isLocked);
    return copyPtr;
}

void
NsConfigVisit(NsConfigVisitProc *proc, void *arg)
{
    for (NsSection *sectionPtr = Store()->firstPtr; sectionPtr != NULL;
         sectionPtr = sectionPtr->nextPtr) {
        Ns_Set      *setPtr = sectionPtr->setPtr;
        NsConfigItem item = {.section = Ns_SetName(setPtr),
                             .place = sectionPtr->place,
                             .isRead = IsMarked(&sectionPtr->isRead)};

        if (sectionPtr->place.file == NULL) {
            continue;
        }
        proc(&item, arg);
        for (int i = 0; i < MIN(sectionPtr->nParams, Ns_SetSize(setPtr)); i++) {
            const NsParam *paramPtr = sectionPtr->params[i];

            if (paramPtr->place.file != NULL) {
                item.key = Ns_SetKey(setPtr, i);
                item.value = Ns_SetValue(setPtr, i);
                item.place = paramPtr->place;
                item.isRead = IsMarked(&paramPtr->isRead);
                proc(&item, arg);
            }
        }
    }
}

void
NsConfigReset(void)
{
    NsConfigStoreFree(&initial);
    Tcl_InitHashTable(&initial.sections, TCL_STRING_KEYS);
    atomic_store(&initial.isFrozen, false);
}

void
NsConfigStoreFree(NsConfigStore *storePtr)
{
    NsAssert(storePtr == &initial || storePtr != atomic_load(&inForcePtr));

    while (storePtr->firstPtr != NULL) {
        NsSection *sectionPtr = storePtr->firstPtr;
        LateParam *latePtr = atomic_load(&sectionPtr->latePtr);

        storePtr->firstPtr = sectionPtr->nextPtr;
        while (latePtr != NULL) {
            LateParam *nextPtr = latePtr->nextPtr;

            ns_free(latePtr->key);
            ns_free(latePtr->value);
            ns_free(latePtr);
            latePtr = nextPtr;
        }
        for (int i = 0; i < sectionPtr->nParams; i++) {
            ns_free(atomic_load(&sectionPtr->params[i]->defaultValue));
            ns_free(sectionPtr->params[i]);
        }
        ns_free(sectionPtr->params);
        Ns_SetFree(sectionPtr->setPtr);
        ns_free(sectionPtr);
    }
    if (storePtr->replacedPtr != NULL) {
        Ns_SetFree(storePtr->replacedPtr);
        storePtr->replacedPtr = NULL;
    }
    storePtr->lastPtr = NULL;
    storePtr->nSections = 0;
    Tcl_DeleteHashTable(&storePtr->sections);
    if (storePtr != &initial) {
        ns_free(storePtr);
    }
}

char *
Ns_ConfigGetPath(const char *server, const char *module, ...)
{
    Ns_DString ds;
    NsSection *sectionPtr;
    va_list    ap;
    bool       isLocked;

    va_start(ap, module);
    AppendPath(&ds, server, module, &ap);
    va_end(ap);
    isLocked = LockUnlessFrozen();
    sectionPtr = FindNormalized(ds.string);
    Unlock(isLocked);
    Tcl_DStringFree(&ds);
    return sectionPtr == NULL ? NULL : Ns_SetName(sectionPtr->setPtr);
}

const char *
Ns_ConfigSectionPath(Ns_Set **setPtrPtr, const char *server, const char *module,
                     ...)
{
    Ns_DString ds;
    Ns_Set    *setPtr;
    va_list    ap;

    va_start(ap, module);
    AppendPath(&ds, server, module, &ap);
    va_end(ap);
    setPtr = Ns_ConfigCreateSection(ds.string);
    Tcl_DStringFree(&ds);
    if (setPtrPtr != NULL) {
        *setPtrPtr = setPtr;
    }
    return setPtr == NULL ? NULL : Ns_SetName(setPtr);
}

/*
 * dsPtr is initialized.
 */
static void
AppendPath(Ns_DString *dsPtr, const char *server, const char *module,
           va_list *apPtr)
{
    const char *part;

    Tcl_DStringInit(dsPtr);
    Tcl_DStringAppend(dsPtr, "ns", 2);
    if (server != NULL) {
        Tcl_DStringAppend(dsPtr, "/server/", -1);
        Tcl_DStringAppend(dsPtr, server, -1);
    }
    if (module != NULL) {
        Tcl_DStringAppend(dsPtr, "/module/", -1);
        Tcl_DStringAppend(dsPtr, module, -1);
    }
    while ((part = va_arg(*apPtr, const char *)) != NULL) {
        Tcl_DStringAppend(dsPtr, "/", 1);
        while (*part == '/') {
            part++;
        }
        Tcl_DStringAppend(dsPtr, part, -1);
    }
    for (char *p = dsPtr->string; *p != '\0'; p++) {
        *p = (*p == '\\') ? '/' : (char) tolower(UCHAR(*p));
    }
}

Ns_Set *
Ns_ConfigGetSection(const char *section)
{
    return Ns_ConfigGetSection2(section, true);
}

Ns_Set *
Ns_ConfigGetSection2(const char *section, bool isRead)
{
    NsSection *sectionPtr;
    bool       isLocked;

    if (section == NULL) {
        return NULL;
    }
    isLocked = LockUnlessFrozen();
    sectionPtr = FindSection(section);
    Unlock(isLocked);
    if (sectionPtr == NULL) {
        return NULL;
    }
    if (isRead) {
        Mark(&sectionPtr->isRead);
    }
    return sectionPtr->setPtr;
}

bool
Ns_ConfigParameterProvided(const char *section, const char *key)
{
    bool             isLocked = LockUnlessFrozen();
    const NsSection *sectionPtr = section == NULL ? NULL : FindSection(section);
    int              i;
    bool             isProvided;

    i = sectionPtr == NULL ? -1 : FindField(sectionPtr->setPtr, key, false);
    isProvided = i >= 0 && i < sectionPtr->nParams
        && sectionPtr->params[i]->place.file != NULL;
    Unlock(isLocked);
    return isProvided;
}

Ns_Set *
Ns_ConfigCreateSection(const char *section)
{
    Ns_Set *setPtr = Ns_ConfigGetSection(section);

    if (setPtr == NULL) {
        NsSection *sectionPtr = NsConfigOpen(section, (NsConfigPlace){NULL, 0});

        setPtr = sectionPtr == NULL ? NULL : sectionPtr->setPtr;
    }
    return setPtr;
}

Ns_Set **
Ns_ConfigGetSections(void)
{
    Ns_Set **sets;
    bool     isLocked;
    int      n = 0;

    isLocked = LockUnlessFrozen();
    sets = ns_malloc(sizeof(Ns_Set *) * ((size_t) Store()->nSections + 1));
    for (NsSection *sectionPtr = Store()->firstPtr; sectionPtr != NULL;
         sectionPtr = sectionPtr->nextPtr) {
        sets[n++] = sectionPtr->setPtr;
    }
    sets[n] = NULL;
    Unlock(isLocked);
    return sets;
}

static const char *
LookupInSection(NsSection *sectionPtr, const char *key, bool exact,
                const char *defaultValue)
{
    const char *value;
    int         i = FindField(sectionPtr->setPtr, key, exact);

    if (i < 0) {
        value = LookupLate(sectionPtr, key, exact);
        if (value == NULL) {
            Record(sectionPtr, key, defaultValue);
        }
        return value;
    }
    if (i < sectionPtr->nParams) {
        NsParam *paramPtr = sectionPtr->params[i];

        NoteRead(paramPtr, defaultValue);
        if (paramPtr->isEmpty) {
            FillEmpty(sectionPtr, i, defaultValue);
            return NULL;
        }
    }
    return Ns_SetValue(sectionPtr->setPtr, i);
}

/*
 * A key that was asked for without a default gets one now, if there is one and
 * the store is still open (the caller holds the lock then).
 */
static void
FillEmpty(NsSection *sectionPtr, int i, const char *defaultValue)
{
    if (defaultValue != NULL
        && !atomic_load_explicit(&Store()->isFrozen, memory_order_acquire)) {
        Ns_SetPutValue(sectionPtr->setPtr, i, defaultValue);
        sectionPtr->params[i]->isEmpty = false;
    }
}

static const char *
LookupLate(NsSection *sectionPtr, const char *key, bool exact)
{
    const LateParam *latePtr = FindLate(sectionPtr, key, exact);

    return latePtr == NULL ? NULL : latePtr->value;
}

static const LateParam *
FindLate(NsSection *sectionPtr, const char *key, bool exact)
{
    const LateParam *latePtr;

    latePtr = atomic_load_explicit(&sectionPtr->latePtr, memory_order_acquire);
    for (; latePtr != NULL; latePtr = latePtr->nextPtr) {
        if (exact ? STREQ(latePtr->key, key) : STRIEQ(latePtr->key, key)) {
            return latePtr;
        }
    }
    return NULL;
}

/*
 * Enter a key that was asked for and is not there.  Before the freeze it goes
 * into the set, under the lock that the caller holds.
 */
static void
Record(NsSection *sectionPtr, const char *key, const char *defaultValue)
{
    LateParam *latePtr;

    if (!atomic_load_explicit(&Store()->isFrozen, memory_order_acquire)) {
        AddParam(sectionPtr, key, defaultValue == NULL ? "" : defaultValue,
                 (NsConfigPlace){NULL, 0});
        NsParam *paramPtr = sectionPtr->params[sectionPtr->nParams - 1];
        paramPtr->isEmpty = (defaultValue == NULL);
        NoteRead(paramPtr, defaultValue);
        return;
    }
    if (atomic_load_explicit(&sectionPtr->nLate, memory_order_relaxed)
            >= MAX_LATE
        || FindLate(sectionPtr, key, false) != NULL) {
        return;
    }
    Ns_MutexLock(&lock);
    if (atomic_load_explicit(&sectionPtr->nLate, memory_order_relaxed)
            < MAX_LATE
        && FindLate(sectionPtr, key, false) == NULL) {
        latePtr = ns_calloc(1, sizeof(LateParam));
        latePtr->key = ns_strdup(key);
        latePtr->value = ns_strcopy(defaultValue);
        latePtr->nextPtr = atomic_load_explicit(&sectionPtr->latePtr,
                                                memory_order_relaxed);
        atomic_store_explicit(&sectionPtr->latePtr, latePtr,
                              memory_order_release);
        atomic_fetch_add_explicit(&sectionPtr->nLate, 1, memory_order_relaxed);
    }
    Ns_MutexUnlock(&lock);
}

static void
NoteRead(NsParam *paramPtr, const char *defaultValue)
{
    char *known;

    if (!atomic_load_explicit(&paramPtr->isRead, memory_order_relaxed)) {
        atomic_store_explicit(&paramPtr->isRead, true, memory_order_relaxed);
    }
    if (defaultValue == NULL) {
        return;
    }
    known = atomic_load_explicit(&paramPtr->defaultValue, memory_order_acquire);
    if (known == NULL) {
        char *copy = ns_strdup(defaultValue);

        if (!atomic_compare_exchange_strong(&paramPtr->defaultValue, &known,
                                            copy)) {
            ns_free(copy);
        }
    }
}

/*
 * Modules may have put fields into the set themselves; they get parameters
 * without a place.
 */
static void
AddParam(NsSection *sectionPtr, const char *key, const char *value,
         NsConfigPlace place)
{
    int field = Ns_SetPut(sectionPtr->setPtr, key, value);

    while (sectionPtr->nParams <= field) {
        if (sectionPtr->nParams == sectionPtr->maxParams) {
            sectionPtr->maxParams = sectionPtr->maxParams * 2 + 16;
            sectionPtr->params = ns_realloc(sectionPtr->params,
                                            (size_t) sectionPtr->maxParams
                                                * sizeof(NsParam *));
        }
        sectionPtr->params[sectionPtr->nParams++] = ns_calloc(1,
                                                              sizeof(NsParam));
    }
    sectionPtr->params[field]->place = place;
}

/*
 * A place without a file leaves that of the value that is replaced.
 */
static void
ReplaceParam(NsSection *sectionPtr, const char *key, const char *value,
             NsConfigPlace place)
{
    int i = FindField(sectionPtr->setPtr, key, false);

    if (i < 0) {
        AddParam(sectionPtr, key, value, place);
        return;
    }
    KeepReplaced(key, Ns_SetValue(sectionPtr->setPtr, i));
    Ns_SetValue(sectionPtr->setPtr, i) = ns_strdup(value);
    if (i < sectionPtr->nParams) {
        sectionPtr->params[i]->isEmpty = false;
        if (place.file != NULL) {
            sectionPtr->params[i]->place = place;
        }
    }
}

/*
 * The old value may be in use: values live as long as the process.
 */
static void
KeepReplaced(const char *key, char *value)
{
    int i;

    if (Store()->replacedPtr == NULL) {
        Store()->replacedPtr = Ns_SetCreate("replaced");
    }
    /* A statement of its own: it may move the fields. */
    i = (int) Ns_SetPut(Store()->replacedPtr, key, NULL);
    Ns_SetValue(Store()->replacedPtr, i) = value;
}

static int
FindField(const Ns_Set *setPtr, const char *key, bool exact)
{
    for (int i = 0; i < Ns_SetSize(setPtr); i++) {
        const char *name = Ns_SetKey(setPtr, i);

        if (exact ? STREQ(name, key) : STRIEQ(name, key)) {
            return i;
        }
    }
    return -1;
}

static NsSection *
FindSection(const char *name)
{
    Ns_DString ds;
    NsSection *sectionPtr;

    Tcl_DStringInit(&ds);
    sectionPtr = FindNormalized(Normalize(&ds, name));
    Tcl_DStringFree(&ds);
    return sectionPtr;
}

/*
 * Tcl_FindHashEntry does not write, so that readers need no lock after the
 * freeze.
 */
static NsSection *
FindNormalized(const char *name)
{
    Tcl_HashEntry *entryPtr = Tcl_FindHashEntry(&Store()->sections, name);

    return entryPtr == NULL ? NULL : Tcl_GetHashValue(entryPtr);
}

/*
 * Not written again and again: readers share it.
 */
static void
Mark(atomic_bool *markPtr)
{
    if (!IsMarked(markPtr)) {
        atomic_store_explicit(markPtr, true, memory_order_relaxed);
    }
}

static bool
IsMarked(const atomic_bool *markPtr)
{
    return atomic_load_explicit(markPtr, memory_order_relaxed);
}

/*
 * True: the lock is held, and the store is open for change.
 */
static bool
LockUnlessFrozen(void)
{
    if (atomic_load_explicit(&Store()->isFrozen, memory_order_acquire)) {
        return false;
    }
    Ns_MutexLock(&lock);
    if (atomic_load_explicit(&Store()->isFrozen, memory_order_relaxed)) {
        Ns_MutexUnlock(&lock);
        return false;
    }
    return true;
}

static void
Unlock(bool isLocked)
{
    if (isLocked) {
        Ns_MutexUnlock(&lock);
    }
}

static char *
Normalize(Ns_DString *dsPtr, const char *name)
{
    int length;

    name = NsSkipSpace(name);
    length = (int) (NsTrimEnd(name, name + strlen(name)) - name);
    Tcl_DStringAppend(dsPtr, name, length);
    for (char *p = dsPtr->string; *p != '\0'; p++) {
        *p = (*p == '\\') ? '/' : (char) tolower(UCHAR(*p));
    }
    return dsPtr->string;
}

static void
CopyFields(NsSection *sectionPtr, NsConfigFilter filter, Ns_Set *copyPtr)
{
    Ns_Set    *setPtr = sectionPtr->setPtr;
    LateParam *latePtr;

    for (int i = 0; i < Ns_SetSize(setPtr); i++) {
        NsParam *paramPtr = i < sectionPtr->nParams
            ? sectionPtr->params[i]
            : NULL;
        bool isConfigured = paramPtr == NULL || paramPtr->place.file != NULL;
        const char *value = Ns_SetValue(setPtr, i);

        if (filter == NS_CONFIG_UNREAD) {
            if (!isConfigured
                || (paramPtr != NULL
                    && atomic_load_explicit(&paramPtr->isRead,
                                            memory_order_relaxed))) {
                continue;
            }
        } else if (filter == NS_CONFIG_CONFIGURED) {
            if (paramPtr != NULL && paramPtr->isEmpty) {
                continue;
            }
        } else if (filter == NS_CONFIG_DEFAULTED) {
            if (isConfigured) {
                continue;
            }
        } else if (filter == NS_CONFIG_DEFAULTS) {
            value = paramPtr == NULL
                ? NULL
                : atomic_load_explicit(&paramPtr->defaultValue,
                                       memory_order_acquire);
            if (value == NULL) {
                continue;
            }
        }
        Ns_SetPut(copyPtr, Ns_SetKey(setPtr, i), value);
    }
    if (filter == NS_CONFIG_UNREAD || filter == NS_CONFIG_CONFIGURED) {
        return;
    }
    latePtr = atomic_load_explicit(&sectionPtr->latePtr, memory_order_acquire);
    for (; latePtr != NULL; latePtr = latePtr->nextPtr) {
        if (latePtr->value != NULL || filter != NS_CONFIG_DEFAULTS) {
            Ns_SetPut(copyPtr, latePtr->key,
                      latePtr->value == NULL ? "" : latePtr->value);
        }
    }
}
