/* SPDX-License-Identifier: MPL-2.0
 * reload.c --
 *
 *      Compares the configuration file with what is in force, and applies what
 *      can be applied.
 *
 *      The stages: [read] the other process evaluates and checks the file, what
 *      it prints becomes a store of its own; [compare] each key gets its fate;
 *      [try] rooms judge what would change; [apply] the new store takes the
 *      place of the old one, in which keys that need a restart have their old
 *      values, and rooms take over the rest.
 */

#include "process/reload.h"

#include "base/assert.h"
#include "base/lock.h"
#include "nslog.h"
#include "nsthread.h"
#include "process/callbacks.h"
#include "process/config.h"
#include "process/config_check.h"
#include "process/notify.h"
#include "process/parameters.h"
#include "process/restart.h"
#include "process/setting.h"

/*
 * A key of a section, in the file of before and of now.
 */
typedef struct Values {
    const char   *first; /* NULL: the key is not there. */
    NsConfigPlace place; /* Of the first. */
    int           n;
    Ns_DString    list; /* All of them. */
} Values;

typedef struct Entry {
    NsReloadFate              fate;
    const char               *section;
    char                     *key; /* Lower case. */
    Values                    before;
    Values                    now;
    const NsParameterSection *sectionPtr; /* NULL: not one of the server's. */
    const NsParameter        *rowPtr;     /* NULL: likewise. */
    NsSectionReloadProc      *reloadProc; /* Of the whole section; or NULL. */
    const Ns_Set             *oldPtr;     /* That section; or NULL. */
    Ns_DString                inForce;    /* What is shown as old and new. */
    Ns_DString                wanted;
} Entry;

typedef struct Plan {
    Tcl_HashTable  table;   /* "SECTION\nKEY" -> Entry. */
    Entry        **entries; /* In the order of the files. */
    int            n;
    int            nSections[2]; /* Before and now. */
    bool           isNow;        /* What is visited is the new store. */
    NsConfigStore *storePtr;
    Ns_DString    *problemPtr;
    NsReloadProc  *proc;
    void          *arg;
} Plan;

static struct {
    Ns_Mutex lock; /* Guards isBusy. */
    Ns_Cond  done;
    bool     isBusy; /* A reload is at work. */
} reload;

static NsConfigVisitProc  PrintItem, Collect;
static NsSettingVisitProc AddByHand;

static void           Begin(bool isTrial);
static void           End(bool isTrial);
static NsConfigStore *ReadFiles(Ns_DString *problemPtr);
static bool           Fill(const char *text);
static bool           FillOne(int argc, const char **argv);
static Entry *FindEntry(Plan *planPtr, const char *section, const char *key);
static void   Decide(Plan *planPtr, Entry *entryPtr);
static void   DecideLive(Plan *planPtr, Entry *entryPtr);
static void   DecideRestart(Plan *planPtr, Entry *entryPtr);
static bool   HasOther(const Entry *entryPtr);
static bool   IsSameFile(const Plan *planPtr);
static void   Canonical(const Plan *planPtr, const Entry *entryPtr, bool isNow,
                        Ns_DString *dsPtr);
static bool   Change(Plan *planPtr, bool isTrial);
static bool   ChangeGroup(Plan *planPtr, int first, bool isTrial);
static bool   IsOfGroup(const Entry *entryPtr, const Entry *firstPtr);
static bool   ChangeSections(Plan *planPtr, bool isTrial);
static void   KeepOld(Plan *planPtr);
static void   Report(Plan *planPtr, bool isTrial);
static void   FreePlan(Plan *planPtr);

void
NsReloadInit(void)
{
    NsMutexSetup(&reload.lock, NS_RANK_PROCESS_MISC, "ns:reload", NULL);
    Ns_CondInit(&reload.done);
}

Ns_ReturnCode
NsReload(bool isTrial, NsReloadProc *proc, void *arg, Ns_DString *problemPtr)
{
    Plan plan = {.problemPtr = problemPtr, .proc = proc, .arg = arg};
    bool isGood;

    Begin(isTrial);
    plan.storePtr = ReadFiles(problemPtr);
    if (plan.storePtr == NULL) {
        End(isTrial);
        return NS_ERROR;
    }
    Tcl_InitHashTable(&plan.table, TCL_STRING_KEYS);
    NsConfigVisit(Collect, &plan);
    NsConfigStoreUse(plan.storePtr);
    plan.isNow = true;
    NsConfigVisit(Collect, &plan);
    NsConfigStoreUse(NULL);
    for (int i = 0; i < plan.n; i++) {
        Decide(&plan, plan.entries[i]);
    }

    isGood = Change(&plan, true);
    if (isGood && !isTrial && !IsSameFile(&plan)) {
        KeepOld(&plan);
        NsConfigStoreTake(plan.storePtr);
        plan.storePtr = NULL;
    }
    if (isGood && !isTrial) {
        isGood = Change(&plan, false);
        NsCallbacksRun(NS_AT_RELOAD);
    }
    if (isGood) {
        NsSettingVisit(AddByHand, &plan);
        Report(&plan, isTrial);
    }
    FreePlan(&plan);
    End(isTrial);
    return isGood ? NS_OK : NS_ERROR;
}

static void
Begin(bool isTrial)
{
    Ns_MutexLock(&reload.lock);
    while (reload.isBusy) {
        Ns_CondWait(&reload.done, &reload.lock);
    }
    reload.isBusy = true;
    Ns_MutexUnlock(&reload.lock);
    if (!isTrial) {
        NsNotifyReloading();
    }
}

static void
End(bool isTrial)
{
    if (!isTrial) {
        NsNotifyReloaded();
    }
    Ns_MutexLock(&reload.lock);
    reload.isBusy = false;
    Ns_CondSignal(&reload.done);
    Ns_MutexUnlock(&reload.lock);
}

void
NsReloadPrint(FILE *file)
{
    NsConfigVisit(PrintItem, file);
}

static void
PrintItem(const NsConfigItem *itemPtr, void *arg)
{
    Ns_DString line, element;

    Ns_DStringInit(&line);
    Ns_DStringInit(&element);
    Tcl_DStringAppendElement(&element, itemPtr->section);
    if (itemPtr->key != NULL) {
        Tcl_DStringAppendElement(&element, itemPtr->key);
        Tcl_DStringAppendElement(&element, itemPtr->value);
    }
    Tcl_DStringAppendElement(&element, itemPtr->place.file);
    Ns_DStringPrintf(&element, " %d", itemPtr->place.line);
    Tcl_DStringAppendElement(&line, element.string);
    fprintf(arg, "%s\n", line.string);
    Ns_DStringFree(&line);
    Ns_DStringFree(&element);
}

/*
 * NULL: there is something wrong with them, as the text says [read].
 */
static NsConfigStore *
ReadFiles(Ns_DString *problemPtr)
{
    NsConfigStore *storePtr = NULL;
    Ns_DString     text;

    Ns_DStringInit(&text);
    if (NsRestartReadConfig(&text, problemPtr) == NS_OK) {
        bool isRead;

        storePtr = NsConfigStoreCreate();
        NsConfigStoreUse(storePtr);
        isRead = Fill(text.string);
        NsConfigStoreUse(NULL);
        if (!isRead) {
            NsConfigStoreFree(storePtr);
            storePtr = NULL;
            Ns_DStringAppend(problemPtr,
                             "the program that is there now is another "
                             "release: restart the server");
        }
    }
    Ns_DStringFree(&text);
    return storePtr;
}

static bool
Fill(const char *text)
{
    const char **items, **words;
    int          nItems, nWords;
    bool         isGood;

    if (Tcl_SplitList(NULL, text, &nItems, &items) != TCL_OK) {
        return false;
    }
    isGood = nItems > 0;
    for (int i = 0; i < nItems && isGood; i++) {
        isGood = Tcl_SplitList(NULL, items[i], &nWords, &words) == TCL_OK;
        if (isGood) {
            isGood = FillOne(nWords, words);
            Tcl_Free((char *) words);
        }
    }
    Tcl_Free((char *) items);
    return isGood;
}

/*
 * A line of NsReloadPrint.
 */
static bool
FillOne(int argc, const char **argv)
{
    NsConfigPlace place;
    NsSection    *sectionPtr;

    if ((argc != 3 && argc != 5)
        || Ns_StrToInt(argv[argc - 1], &place.line) != NS_OK) {
        return false;
    }
    place.file = NsSettingKeepText(argv[argc - 2]);
    sectionPtr = NsConfigOpen(argv[0], place);
    if (argc == 5) {
        NsConfigAppend(sectionPtr, argv[1], argv[2], place);
    }
    return true;
}

static void
Collect(const NsConfigItem *itemPtr, void *arg)
{
    Plan   *planPtr = arg;
    Entry  *entryPtr;
    Values *valuesPtr;

    if (itemPtr->key == NULL) {
        planPtr->nSections[planPtr->isNow]++;
        return;
    }
    entryPtr = FindEntry(planPtr, itemPtr->section, itemPtr->key);
    valuesPtr = planPtr->isNow ? &entryPtr->now : &entryPtr->before;
    if (valuesPtr->first == NULL) {
        valuesPtr->first = itemPtr->value;
        valuesPtr->place = itemPtr->place;
    }
    valuesPtr->n++;
    Tcl_DStringAppendElement(&valuesPtr->list, itemPtr->value);
}

static Entry *
FindEntry(Plan *planPtr, const char *section, const char *key)
{
    Tcl_HashEntry *hashPtr;
    Entry         *entryPtr;
    Ns_DString     name;
    int            isNew;

    Ns_DStringInit(&name);
    Ns_DStringVarAppend(&name, section, "\n", key, (char *) NULL);
    Ns_StrToLower(name.string);
    hashPtr = Tcl_CreateHashEntry(&planPtr->table, name.string, &isNew);
    if (isNew) {
        size_t bytes = (size_t) (planPtr->n + 1) * sizeof(Entry *);

        entryPtr = ns_calloc(1, sizeof(*entryPtr));
        entryPtr->fate = NS_RELOAD_SAME;
        entryPtr->section = section;
        entryPtr->key = Ns_StrToLower(ns_strdup(key));
        Ns_DStringInit(&entryPtr->before.list);
        Ns_DStringInit(&entryPtr->now.list);
        Ns_DStringInit(&entryPtr->inForce);
        Ns_DStringInit(&entryPtr->wanted);
        Tcl_SetHashValue(hashPtr, entryPtr);
        planPtr->entries = ns_realloc(planPtr->entries, bytes);
        planPtr->entries[planPtr->n++] = entryPtr;
    }
    Ns_DStringFree(&name);
    return Tcl_GetHashValue(hashPtr);
}

/*
 * [compare]
 */
static void
Decide(Plan *planPtr, Entry *entryPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsConfigStoreUse(planPtr->storePtr);
    if (NsConfigCanonical(entryPtr->section, &ds)) {
        entryPtr->sectionPtr = NsParameterSectionFind(ds.string);
    }
    NsConfigStoreUse(NULL);
    Ns_DStringFree(&ds);
    entryPtr->oldPtr = Ns_ConfigGetSection2(entryPtr->section, false);
    if (entryPtr->sectionPtr != NULL) {
        entryPtr->reloadProc = NsParameterSectionReload(entryPtr->sectionPtr);
        entryPtr->rowPtr = NsParameterFind(entryPtr->sectionPtr, entryPtr->key);
    }
    if (entryPtr->rowPtr == NULL || entryPtr->reloadProc != NULL) {
        Ns_DStringAppend(&entryPtr->inForce, entryPtr->before.list.string);
        Ns_DStringAppend(&entryPtr->wanted, entryPtr->now.list.string);
        if (HasOther(entryPtr)) {
            entryPtr->fate = NS_RELOAD_APPLIED;
        }
    } else if (NsSettingFind(entryPtr->section, entryPtr->key, NULL) != NULL) {
        DecideLive(planPtr, entryPtr);
    } else if (entryPtr->rowPtr->type != NS_PARAM_IGNORED) {
        DecideRestart(planPtr, entryPtr);
    }
}

static void
DecideLive(Plan *planPtr, Entry *entryPtr)
{
    Ns_DString before;

    if (entryPtr->rowPtr->member == NS_MEMBER_NONE) {
        Ns_DStringAppend(&entryPtr->inForce, entryPtr->before.list.string);
        Ns_DStringAppend(&entryPtr->wanted, entryPtr->now.list.string);
        if (HasOther(entryPtr)) {
            entryPtr->fate = NS_RELOAD_APPLIED;
        }
        return;
    }
    Ns_DStringInit(&before);
    Canonical(planPtr, entryPtr, false, &before);
    Canonical(planPtr, entryPtr, true, &entryPtr->wanted);
    (void) NsSettingGet(entryPtr->section, entryPtr->key, &entryPtr->inForce);
    if (!STREQ(entryPtr->inForce.string, entryPtr->wanted.string)) {
        entryPtr->fate = STREQ(before.string, entryPtr->wanted.string)
            ? NS_RELOAD_BY_HAND
            : NS_RELOAD_APPLIED;
    }
    Ns_DStringFree(&before);
}

static void
DecideRestart(Plan *planPtr, Entry *entryPtr)
{
    Values *beforePtr = &entryPtr->before, *nowPtr = &entryPtr->now;

    if (!HasOther(entryPtr)) {
        return;
    }
    if (beforePtr->n > 1 || nowPtr->n > 1) {
        Ns_DStringAppend(&entryPtr->inForce, beforePtr->list.string);
        Ns_DStringAppend(&entryPtr->wanted, nowPtr->list.string);
    } else {
        Canonical(planPtr, entryPtr, false, &entryPtr->inForce);
        Canonical(planPtr, entryPtr, true, &entryPtr->wanted);
    }
    if (!STREQ(entryPtr->inForce.string, entryPtr->wanted.string)) {
        entryPtr->fate = NS_RELOAD_RESTART;
    }
}

static bool
HasOther(const Entry *entryPtr)
{
    return !STREQ(entryPtr->before.list.string, entryPtr->now.list.string);
}

/*
 * It says what it said before, at the same places: the store in force, which
 * lives on in any case, will do.
 */
static bool
IsSameFile(const Plan *planPtr)
{
    bool isSame = planPtr->nSections[false] == planPtr->nSections[true];

    for (int i = 0; i < planPtr->n && isSame; i++) {
        const Entry  *entryPtr = planPtr->entries[i];
        NsConfigPlace before = entryPtr->before.place;
        NsConfigPlace now = entryPtr->now.place;

        isSame = !HasOther(entryPtr) && entryPtr->now.first != NULL
            && before.line == now.line && before.file != NULL
            && now.file != NULL && STREQ(before.file, now.file);
    }
    return isSame;
}

/*
 * What the file says, or the default.
 */
static void
Canonical(const Plan *planPtr, const Entry *entryPtr, bool isNow,
          Ns_DString *dsPtr)
{
    NsConfigStoreUse(isNow ? planPtr->storePtr : NULL);
    NsParameterAppendCanonical(dsPtr, entryPtr->rowPtr, entryPtr->section,
                               isNow ? entryPtr->now.first
                                     : entryPtr->before.first);
    NsConfigStoreUse(NULL);
}

/*
 * [try], [apply].  False: the reason is known.
 */
static bool
Change(Plan *planPtr, bool isTrial)
{
    for (int i = 0; i < planPtr->n; i++) {
        const Entry *entryPtr = planPtr->entries[i];
        bool         isFirst = entryPtr->fate == NS_RELOAD_APPLIED
            && entryPtr->rowPtr != NULL && entryPtr->reloadProc == NULL;

        for (int j = 0; j < i && isFirst; j++) {
            isFirst = !IsOfGroup(planPtr->entries[j], entryPtr);
        }
        if (isFirst && !ChangeGroup(planPtr, i, isTrial)) {
            return false;
        }
    }
    return ChangeSections(planPtr, isTrial);
}

/*
 * All keys of a section that one procedure sets.
 */
static bool
ChangeGroup(Plan *planPtr, int first, bool isTrial)
{
    const Entry     *firstPtr = planPtr->entries[first];
    NsSettingChange *changes = ns_calloc((size_t) (planPtr->n - first),
                                         sizeof(*changes));
    NsSettingAccess  access = {.section = firstPtr->section,
                               .changes = changes,
                               .isTrial = isTrial,
                               .valuePtr = planPtr->problemPtr};
    Ns_ReturnCode    result;

    for (int i = first; i < planPtr->n; i++) {
        Entry *entryPtr = planPtr->entries[i];

        if (IsOfGroup(entryPtr, firstPtr)) {
            bool isOne = entryPtr->rowPtr->member != NS_MEMBER_NONE;

            changes[access.nChanges++] = (NsSettingChange){
                .rowPtr = entryPtr->rowPtr,
                .text = isOne ? entryPtr->now.first : entryPtr->now.list.string,
                .oldText = entryPtr->before.list.string};
            if (!isTrial) {
                NsSettingForget(entryPtr->section, entryPtr->rowPtr->key);
            }
        }
    }
    result = firstPtr->rowPtr->settingProc(firstPtr->section, &access);
    if (result != NS_OK) {
        Ns_DStringVarAppend(planPtr->problemPtr, " (", firstPtr->section, ")",
                            (char *) NULL);
    }
    ns_free(changes);
    return result == NS_OK;
}

static bool
IsOfGroup(const Entry *entryPtr, const Entry *firstPtr)
{
    size_t bytes;

    return entryPtr->fate == NS_RELOAD_APPLIED && entryPtr->rowPtr != NULL
        && entryPtr->reloadProc == NULL
        && STREQ(entryPtr->section, firstPtr->section)
        && entryPtr->rowPtr->settingProc == firstPtr->rowPtr->settingProc
        && NsParameterRowsOf(entryPtr->rowPtr, &bytes)
        == NsParameterRowsOf(firstPtr->rowPtr, &bytes);
}

/*
 * Sections that their rooms read anew.
 */
static bool
ChangeSections(Plan *planPtr, bool isTrial)
{
    bool isGood = true;

    for (int i = 0; i < planPtr->n && isGood; i++) {
        const Entry *entryPtr = planPtr->entries[i];
        bool         isFirst = entryPtr->fate == NS_RELOAD_APPLIED
            && entryPtr->reloadProc != NULL;

        for (int j = 0; j < i && isFirst; j++) {
            const Entry *otherPtr = planPtr->entries[j];

            isFirst = otherPtr->fate != NS_RELOAD_APPLIED
                || !STREQ(otherPtr->section, entryPtr->section);
        }
        if (isFirst) {
            NsConfigStoreUse(planPtr->storePtr);
            isGood = entryPtr->reloadProc(entryPtr->section, entryPtr->oldPtr,
                                          isTrial, planPtr->problemPtr)
                == NS_OK;
            NsConfigStoreUse(NULL);
        }
    }
    return isGood;
}

/*
 * A script that reads the configuration sees what is in force.
 */
static void
KeepOld(Plan *planPtr)
{
    NsConfigStoreUse(planPtr->storePtr);
    for (int i = 0; i < planPtr->n; i++) {
        const Entry *entryPtr = planPtr->entries[i];
        const char **values;
        NsSection   *sectionPtr;
        int          n;

        if (entryPtr->fate != NS_RELOAD_RESTART) {
            continue;
        }
        sectionPtr = NsConfigOpen(entryPtr->section, entryPtr->before.place);
        NsConfigRemove(sectionPtr, entryPtr->key);
        if (Tcl_SplitList(NULL, entryPtr->before.list.string, &n, &values)
            == TCL_OK) {
            for (int j = 0; j < n; j++) {
                NsConfigAppend(sectionPtr, entryPtr->key, values[j],
                               entryPtr->before.place);
            }
            Tcl_Free((char *) values);
        }
    }
    NsConfigStoreUse(NULL);
}

/*
 * What was changed by hand and is in neither file.
 */
static void
AddByHand(const NsSettingFacts *factsPtr, void *arg)
{
    Plan  *planPtr = arg;
    Entry *entryPtr;

    if (!factsPtr->isByHand) {
        return;
    }
    entryPtr = FindEntry(planPtr, factsPtr->section, factsPtr->rowPtr->key);
    if (entryPtr->fate == NS_RELOAD_SAME && entryPtr->now.first == NULL
        && !STREQ(factsPtr->value, factsPtr->defaultText)) {
        entryPtr->fate = NS_RELOAD_BY_HAND;
        Ns_DStringAppend(&entryPtr->inForce, factsPtr->value);
        Ns_DStringAppend(&entryPtr->wanted, factsPtr->defaultText);
    }
}

static void
Report(Plan *planPtr, bool isTrial)
{
    int counts[NS_RELOAD_SAME + 1] = {0};

    for (int i = 0; i < planPtr->n; i++) {
        const Entry *entryPtr = planPtr->entries[i];

        counts[entryPtr->fate]++;
        if (entryPtr->fate != NS_RELOAD_SAME) {
            planPtr->proc(&(NsReloadItem){.fate = entryPtr->fate,
                                          .section = entryPtr->section,
                                          .key = entryPtr->key,
                                          .oldText = entryPtr->inForce.string,
                                          .newText = entryPtr->wanted.string},
                          planPtr->arg);
        }
    }
    if (!isTrial) {
        Ns_Log(Notice,
               "config: reloaded: %d parameters are applied, %d need a "
               "restart, %d were changed by hand and stay",
               counts[NS_RELOAD_APPLIED], counts[NS_RELOAD_RESTART],
               counts[NS_RELOAD_BY_HAND]);
    }
}

static void
FreePlan(Plan *planPtr)
{
    for (int i = 0; i < planPtr->n; i++) {
        Entry *entryPtr = planPtr->entries[i];

        Ns_DStringFree(&entryPtr->before.list);
        Ns_DStringFree(&entryPtr->now.list);
        Ns_DStringFree(&entryPtr->inForce);
        Ns_DStringFree(&entryPtr->wanted);
        ns_free(entryPtr->key);
        ns_free(entryPtr);
    }
    ns_free(planPtr->entries);
    Tcl_DeleteHashTable(&planPtr->table);
    if (planPtr->storePtr != NULL) {
        NsConfigStoreFree(planPtr->storePtr);
    }
}
