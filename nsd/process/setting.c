/* SPDX-License-Identifier: MPL-2.0
 * setting.c --
 *
 *      Reading and changing parameters of the running server.
 *
 *      Changes are tried on a copy of the struct first, in the order of the
 *      rows: so several that depend on each other can be made at once, and a
 *      value that would leave another one out of its range is refused.
 */

#include "process/setting.h"

#include "base/assert.h"
#include "base/lock.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/parameter_judge.h"

#define MAX_LISTS 16

typedef struct Search {
    const char        *section;
    const char        *key;
    const NsParameter *rowPtr; /* NULL: not found. */
    bool               hasSection;
} Search;

typedef struct Visit {
    NsSettingVisitProc *proc;
    void               *arg;
} Visit;

/*
 * Constant after start.
 */
static NsSettingListProc *lists[MAX_LISTS];
static int                nLists;

static struct {
    Ns_Mutex      lock;   /* Guards both. */
    Tcl_HashTable byHand; /* "SECTION\nKEY" -> NsSettingOrigin: what the
                           * configuration did not set. */
    Tcl_HashTable texts;  /* Values; never removed. */
} table;

static NsSettingListProc    ListSingle;
static NsSettingSectionProc FindRow, VisitSection;
static const NsParameter   *RowIn(const char *pattern, const char *key);
static bool IsSound(const NsParameter *rows, const void *structPtr,
                    const NsSettingAccess *accessPtr);
static bool IsAmong(const NsSettingAccess *accessPtr,
                    const NsParameter     *rowPtr);
static bool FollowsDefault(const NsSettingAccess *accessPtr,
                           const NsParameter     *rowPtr);
static void ReadFacts(const NsSettingAccess *accessPtr, const void *structPtr);
static Ns_ReturnCode Change(const NsSettingAccess *accessPtr, void *structPtr);
static const char   *NameOf(Ns_DString *dsPtr, const char *section,
                            const char *key);
static void Note(const char *section, const char *key, NsSettingOrigin origin);
static bool IsByHand(const char *section, const char *key,
                     NsSettingOrigin *originPtr);
static void AppendPlace(const char *section, const char *key,
                        Ns_DString *dsPtr);

void
NsSettingInit(void)
{
    NsMutexSetup(&table.lock, NS_RANK_PROCESS_MISC, "ns:settings", NULL);
    Tcl_InitHashTable(&table.byHand, TCL_STRING_KEYS);
    Tcl_InitHashTable(&table.texts, TCL_STRING_KEYS);
    NsSettingAddSections(ListSingle);
}

/*
 * Sections that are always there.
 */
static void
ListSingle(NsSettingSectionProc *proc, void *arg)
{
    proc("ns/parameters", "ns/parameters", arg);
    proc("ns/reverseproxymode", "ns/reverseproxymode", arg);
    proc("ns/module/nsstats", "module/nsstats", arg);
}

void
NsSettingAddSections(NsSettingListProc *proc)
{
    for (int i = 0; i < nLists; i++) {
        if (lists[i] == proc) {
            return;
        }
    }
    NsAssert(nLists < MAX_LISTS);
    lists[nLists++] = proc;
}

Ns_ReturnCode
NsSettingAccessStruct(const NsSettingAccess *accessPtr, void *structPtr)
{
    if (accessPtr->rowPtr != NULL) {
        ReadFacts(accessPtr, structPtr);
        return NS_OK;
    }
    return Change(accessPtr, structPtr);
}

bool
NsSettingHasChanged(const NsSettingAccess *accessPtr, const char *key)
{
    for (int i = 0; i < accessPtr->nChanges && !accessPtr->isTrial; i++) {
        if (STREQ(accessPtr->changes[i].rowPtr->key, key)) {
            return true;
        }
    }
    return false;
}

static void
ReadFacts(const NsSettingAccess *accessPtr, const void *structPtr)
{
    const NsParameter *rowPtr = accessPtr->rowPtr;
    NsParameterLimits  limits;
    char               range[128];

    NsAssert(rowPtr->member != NS_MEMBER_NONE);
    NsParameterLimitsOf(rowPtr, structPtr, &limits);
    NsParameterAppendMember(accessPtr->valuePtr, rowPtr, structPtr);
    NsParameterAppendText(accessPtr->defaultPtr, rowPtr, &limits, NULL);
    NsParameterRange(rowPtr, &limits, range, sizeof(range));
    Ns_DStringAppend(accessPtr->rangePtr, range);
}

static Ns_ReturnCode
Change(const NsSettingAccess *accessPtr, void *structPtr)
{
    size_t             bytes;
    const NsParameter *rows = NsParameterRowsOf(accessPtr->changes[0].rowPtr,
                                                &bytes);
    void              *copyPtr = ns_calloc(1, bytes);
    Ns_ReturnCode      result;

    for (const NsParameter *p = rows; p->key != NULL; p++) {
        if (p->member != NS_MEMBER_NONE) {
            NsParameterCopyMember(p, structPtr, copyPtr);
        }
    }
    result = IsSound(rows, copyPtr, accessPtr) ? NS_OK : NS_ERROR;
    for (const NsParameter *p = rows;
         p->key != NULL && result == NS_OK && !accessPtr->isTrial; p++) {
        if (IsAmong(accessPtr, p) || FollowsDefault(accessPtr, p)) {
            NsParameterCopyMember(p, copyPtr, structPtr);
        }
    }
    ns_free(copyPtr);
    return result;
}

/*
 * Put the changes into a struct, and judge all values in it: those that have
 * not changed, too, where others set their limits.
 */
static bool
IsSound(const NsParameter *rows, const void *structPtr,
        const NsSettingAccess *accessPtr)
{
    void *copyPtr = (void *) structPtr;

    for (const NsParameter *p = rows; p->key != NULL; p++) {
        NsParameterLimits limits;
        Ns_DString        ds;
        char              problem[256];
        const char       *text;
        bool              isBad, isChange = IsAmong(accessPtr, p);

        if (!isChange && p->adjustProc == NULL) {
            continue;
        }
        NsParameterLimitsOf(p, copyPtr, &limits);
        if (FollowsDefault(accessPtr, p)) {
            text = NsSettingKeepText(limits.defaultText);
            (void) NsParameterStore(p, &limits, text, copyPtr);
            continue;
        }
        Ns_DStringInit(&ds);
        for (int i = 0; i < accessPtr->nChanges && isChange; i++) {
            if (accessPtr->changes[i].rowPtr == p) {
                text = accessPtr->changes[i].text;
                text = text != NULL ? text : limits.defaultText;
                text = NsSettingKeepText(text);
                (void) NsParameterStore(p, &limits, text, copyPtr);
                Ns_DStringAppend(&ds, text == NULL ? "" : text);
            }
        }
        if (!isChange) {
            NsParameterAppendMember(&ds, p, copyPtr);
        }
        isBad = (ds.length > 0 || p->member != NS_MEMBER_TEXT)
            && NsParameterIsBadWithin(p, &limits, ds.string, problem,
                                      sizeof(problem));
        Ns_DStringFree(&ds);
        if (isBad) {
            Ns_DStringVarAppend(accessPtr->valuePtr, p->key, ": ", problem,
                                (char *) NULL);
            return false;
        }
    }
    return true;
}

/*
 * Its default depends on other values, and nobody has set it.
 */
static bool
FollowsDefault(const NsSettingAccess *accessPtr, const NsParameter *rowPtr)
{
    NsSettingOrigin origin;

    return rowPtr->adjustProc != NULL && rowPtr->settingProc != NULL
        && rowPtr->isDescribed && rowPtr->member != NS_MEMBER_NONE
        && !IsAmong(accessPtr, rowPtr)
        && NsConfigPlaceOf(accessPtr->section, rowPtr->key).file == NULL
        && !IsByHand(accessPtr->section, rowPtr->key, &origin);
}

static bool
IsAmong(const NsSettingAccess *accessPtr, const NsParameter *rowPtr)
{
    for (int i = 0; i < accessPtr->nChanges; i++) {
        if (accessPtr->changes[i].rowPtr == rowPtr) {
            return true;
        }
    }
    return false;
}

const char *
NsSettingKeepText(const char *text)
{
    const char *copy;
    int         isNew;

    if (text == NULL) {
        return NULL;
    }
    Ns_MutexLock(&table.lock);
    copy = Tcl_GetHashKey(&table.texts,
                          Tcl_CreateHashEntry(&table.texts, text, &isNew));
    Ns_MutexUnlock(&table.lock);
    return copy;
}

/*
 * What nobody keeps a copy of: the configuration is the value.
 */
Ns_ReturnCode
NsSettingReadAtUse(const char *section, NsSettingAccess *accessPtr)
{
    const NsParameter *rowPtr = accessPtr->rowPtr;
    NsParameterLimits  limits;
    char               range[128];

    if (rowPtr != NULL) {
        NsParameterLimitsOf(rowPtr, NULL, &limits);
        NsParameterAppendText(accessPtr->valuePtr, rowPtr, &limits,
                              NsConfigPeek(section, rowPtr->key));
        NsParameterAppendText(accessPtr->defaultPtr, rowPtr, &limits, NULL);
        NsParameterRange(rowPtr, &limits, range, sizeof(range));
        Ns_DStringAppend(accessPtr->rangePtr, range);
    }
    return NS_OK;
}

const NsParameter *
NsSettingFind(const char *section, const char *key, Ns_DString *textPtr)
{
    Search search = {.section = section, .key = key};

    for (int i = 0; i < nLists && search.rowPtr == NULL; i++) {
        lists[i](FindRow, &search);
    }
    if (search.rowPtr == NULL && textPtr != NULL) {
        Ns_DStringPrintf(textPtr,
                         search.hasSection
                             ? "%s: %s does not change while the server runs"
                             : "%s: nothing in this section changes while the "
                               "server runs",
                         section, key);
    }
    return search.rowPtr;
}

static void
FindRow(const char *section, const char *pattern, void *arg)
{
    Search *searchPtr = arg;

    if (searchPtr->rowPtr == NULL && STRIEQ(section, searchPtr->section)) {
        searchPtr->hasSection = true;
        searchPtr->rowPtr = RowIn(pattern, searchPtr->key);
    }
}

/*
 * NULL: there is none, or it needs a restart.
 */
static const NsParameter *
RowIn(const char *pattern, const char *key)
{
    const NsParameterSection section = {.pattern = pattern};
    const NsParameter       *rowPtr = NsParameterFind(&section, key);

    return rowPtr != NULL && rowPtr->settingProc != NULL ? rowPtr : NULL;
}

Ns_ReturnCode
NsSettingGet(const char *section, const char *key, Ns_DString *valuePtr)
{
    const NsParameter *rowPtr = NsSettingFind(section, key, valuePtr);
    Ns_DString         defaultText, range;
    NsSettingAccess    access = {
           .section = section,
           .rowPtr = rowPtr,
           .valuePtr = valuePtr,
           .defaultPtr = &defaultText,
           .rangePtr = &range};
    Ns_ReturnCode result = NS_ERROR;

    if (rowPtr != NULL) {
        Ns_DStringInit(&defaultText);
        Ns_DStringInit(&range);
        result = rowPtr->settingProc(section, &access);
        Ns_DStringFree(&defaultText);
        Ns_DStringFree(&range);
    }
    return result;
}

Ns_ReturnCode
NsSettingSet(const char *section, const char *key, const char *text,
             NsSettingOrigin origin, Ns_DString *problemPtr)
{
    NsSettingChange change = {
        .rowPtr = NsSettingFind(section, key, problemPtr), .text = text};
    NsSettingAccess access = {.section = section,
                              .changes = &change,
                              .nChanges = 1,
                              .valuePtr = problemPtr};

    if (change.rowPtr == NULL) {
        return NS_ERROR;
    }
    if (change.rowPtr->member == NS_MEMBER_NONE) {
        Ns_DStringPrintf(problemPtr, "%s: %s changes by a reload alone",
                         section, key);
        return NS_ERROR;
    }
    if (change.rowPtr->settingProc(section, &access) != NS_OK) {
        return NS_ERROR;
    }
    Note(section, change.rowPtr->key, origin);
    return NS_OK;
}

void
NsSettingVisit(NsSettingVisitProc *proc, void *arg)
{
    Visit visit = {proc, arg};

    for (int i = 0; i < nLists; i++) {
        lists[i](VisitSection, &visit);
    }
}

static void
VisitSection(const char *section, const char *pattern, void *arg)
{
    const Visit             *visitPtr = arg;
    const NsParameterSection rows = {.pattern = pattern};
    const NsParameter       *rowPtr;
    Ns_DString               value, defaultText, range, place;

    Ns_DStringInit(&value);
    Ns_DStringInit(&defaultText);
    Ns_DStringInit(&range);
    Ns_DStringInit(&place);
    for (int i = 0; (rowPtr = NsParameterAt(&rows, i)) != NULL; i++) {
        NsSettingAccess access = {
            .section = section,
            .rowPtr = rowPtr,
            .valuePtr = &value,
            .defaultPtr = &defaultText,
            .rangePtr = &range};
        NsSettingFacts  facts = {.section = section, .rowPtr = rowPtr};
        NsSettingOrigin origin = NS_SETTING_SCRIPT;

        if (rowPtr->settingProc == NULL || rowPtr->member == NS_MEMBER_NONE
            || rowPtr->settingProc(section, &access) != NS_OK) {
            continue;
        }
        facts.isByHand = IsByHand(section, rowPtr->key, &origin);
        AppendPlace(section, rowPtr->key, &place);
        facts.value = value.string;
        facts.defaultText = defaultText.string;
        facts.range = range.string;
        facts.origin = !facts.isByHand ? place.string
            : origin == NS_SETTING_CTL ? "ctl"
                                       : "script";
        visitPtr->proc(&facts, visitPtr->arg);
        Ns_DStringSetLength(&value, 0);
        Ns_DStringSetLength(&defaultText, 0);
        Ns_DStringSetLength(&range, 0);
        Ns_DStringSetLength(&place, 0);
    }
    Ns_DStringFree(&value);
    Ns_DStringFree(&defaultText);
    Ns_DStringFree(&range);
    Ns_DStringFree(&place);
}

static void
AppendPlace(const char *section, const char *key, Ns_DString *dsPtr)
{
    NsConfigPlace place = NsConfigPlaceOf(section, key);

    if (place.file == NULL) {
        Ns_DStringAppend(dsPtr, "default");
    } else {
        Ns_DStringPrintf(dsPtr, "%s:%d", place.file, place.line);
    }
}

static const char *
NameOf(Ns_DString *dsPtr, const char *section, const char *key)
{
    Ns_DStringInit(dsPtr);
    Ns_DStringVarAppend(dsPtr, section, "\n", key, (char *) NULL);
    return dsPtr->string;
}

static void
Note(const char *section, const char *key, NsSettingOrigin origin)
{
    Ns_DString ds;
    int        isNew;

    (void) NameOf(&ds, section, key);
    Ns_MutexLock(&table.lock);
    Tcl_SetHashValue(Tcl_CreateHashEntry(&table.byHand, ds.string, &isNew),
                     INT2PTR(origin));
    Ns_MutexUnlock(&table.lock);
    Ns_DStringFree(&ds);
}

static bool
IsByHand(const char *section, const char *key, NsSettingOrigin *originPtr)
{
    Tcl_HashEntry *entryPtr;
    Ns_DString     ds;

    (void) NameOf(&ds, section, key);
    Ns_MutexLock(&table.lock);
    entryPtr = Tcl_FindHashEntry(&table.byHand, ds.string);
    if (entryPtr != NULL) {
        *originPtr = (NsSettingOrigin) PTR2INT(Tcl_GetHashValue(entryPtr));
    }
    Ns_MutexUnlock(&table.lock);
    Ns_DStringFree(&ds);
    return entryPtr != NULL;
}

void
NsSettingForget(const char *section, const char *key)
{
    Tcl_HashEntry *entryPtr;
    Ns_DString     ds;

    (void) NameOf(&ds, section, key);
    Ns_MutexLock(&table.lock);
    entryPtr = Tcl_FindHashEntry(&table.byHand, ds.string);
    if (entryPtr != NULL) {
        Tcl_DeleteHashEntry(entryPtr);
    }
    Ns_MutexUnlock(&table.lock);
    Ns_DStringFree(&ds);
}
