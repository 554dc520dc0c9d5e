/* SPDX-License-Identifier: MPL-2.0
 * table.c --
 *
 *      Users, groups and permissions, and which of them apply to a request.
 *
 *      Patterns are those of handlers.  The record with the deepest directory
 *      applies.  For the same directory, a record with a filter comes first,
 *      then one that is not inherited.
 */

#include "table.h"

/* Any method that does not have its own record. */
#define ANY_METHOD "*"

/*
 * The parts of a URL pattern.
 */
typedef struct Pattern {
    Ns_DString  directory;
    const char *filter; /* NULL: none. */
} Pattern;

static void           FreeRecords(Tcl_HashEntry *entryPtr);
static void           FreeRecord(Record *recordPtr);
static Tcl_HashTable *NamesCreate(void);
static void           NamesAdd(Tcl_HashTable *namesPtr, const char *name);
static bool NamesHave(const Tcl_HashTable *namesPtr, const char *name);
static void NamesRemove(Tcl_HashTable *namesPtr, const char *name);
static void SplitPattern(Pattern *patternPtr, const char *url);
static void CopyRecord(Table *tablePtr, Record *recordPtr);
static Tcl_HashEntry *FindRecords(const Table *tablePtr, const char *method,
                                  const char *directory);
static bool IsOf(const Record *recordPtr, const char *filter, bool isInherited);
static const Record *FindRecord(const Table *tablePtr, const char *method,
                                const char *url);
static const Record *BestAt(const Table *tablePtr, const char *method,
                            const char *directory, const char *last,
                            bool isWhole, bool isParent);
static bool          IsNarrower(const Record *aPtr, const Record *bPtr);
static bool HasGroupOf(const Table *tablePtr, const Tcl_HashTable *allPtr,
                       const char *user);
static void SortedNames(Tcl_Obj *listPtr, const Tcl_HashTable *namesPtr);
static void AppendText(Tcl_Obj *listPtr, const char *text);

Table *
TableCreate(void)
{
    Table *tablePtr = ns_calloc(1u, sizeof(*tablePtr));

    Tcl_InitHashTable(&tablePtr->users, TCL_STRING_KEYS);
    Tcl_InitHashTable(&tablePtr->groups, TCL_STRING_KEYS);
    Tcl_InitHashTable(&tablePtr->records, TCL_STRING_KEYS);
    return tablePtr;
}

void
TableFree(Table *tablePtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    if (tablePtr == NULL) {
        return;
    }
    for (hPtr = Tcl_FirstHashEntry(&tablePtr->users, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        UserUnref(Tcl_GetHashValue(hPtr));
    }
    while ((hPtr = Tcl_FirstHashEntry(&tablePtr->groups, &search)) != NULL) {
        TableDeleteGroup(tablePtr, Tcl_GetHashKey(&tablePtr->groups, hPtr));
    }
    for (hPtr = Tcl_FirstHashEntry(&tablePtr->records, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        FreeRecords(hPtr);
    }
    Tcl_DeleteHashTable(&tablePtr->users);
    Tcl_DeleteHashTable(&tablePtr->groups);
    Tcl_DeleteHashTable(&tablePtr->records);
    ns_free(tablePtr);
}

static void
FreeRecords(Tcl_HashEntry *entryPtr)
{
    Record *recordPtr = Tcl_GetHashValue(entryPtr);

    while (recordPtr != NULL) {
        Record *nextPtr = recordPtr->nextPtr;

        FreeRecord(recordPtr);
        recordPtr = nextPtr;
    }
}

static void
FreeRecord(Record *recordPtr)
{
    for (int i = 0; i < N_LISTS; i++) {
        Tcl_DeleteHashTable(&recordPtr->lists[i]);
    }
    ns_free(recordPtr->method);
    ns_free(recordPtr->directory);
    ns_free(recordPtr->filter);
    ns_free(recordPtr);
}

bool
TableAddUser(Table *tablePtr, User *userPtr)
{
    int            isNew;
    Tcl_HashEntry *hPtr = Tcl_CreateHashEntry(&tablePtr->users, userPtr->name,
                                              &isNew);

    if (isNew) {
        Tcl_SetHashValue(hPtr, userPtr);
    }
    return isNew != 0;
}

User *
TableGetUser(const Table *tablePtr, const char *name)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry((Tcl_HashTable *) &tablePtr->users,
                                            name);
    User          *userPtr = hPtr == NULL ? NULL : Tcl_GetHashValue(hPtr);

    if (userPtr != NULL) {
        atomic_fetch_add(&userPtr->nRefs, 1);
    }
    return userPtr;
}

void
TableReplaceUser(Table *tablePtr, User *userPtr)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&tablePtr->users, userPtr->name);

    assert(hPtr != NULL);
    UserUnref(Tcl_GetHashValue(hPtr));
    Tcl_SetHashValue(hPtr, userPtr);
}

void
TableDeleteUser(Table *tablePtr, const char *name)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&tablePtr->users, name);
    Tcl_HashSearch search;

    if (hPtr == NULL) {
        return;
    }
    UserUnref(Tcl_GetHashValue(hPtr));
    Tcl_DeleteHashEntry(hPtr);
    for (hPtr = Tcl_FirstHashEntry(&tablePtr->groups, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        NamesRemove(Tcl_GetHashValue(hPtr), name);
    }
}

int
TableAddGroup(Table *tablePtr, Tcl_Interp *interp, const char *name, int nUsers,
              Tcl_Obj *const *users)
{
    Tcl_HashTable *namesPtr = NamesCreate();
    Tcl_HashEntry *hPtr;
    int            isNew, status = TCL_OK;

    for (int i = 0; i < nUsers && status == TCL_OK; i++) {
        const char *user = Tcl_GetString(users[i]);

        if (Tcl_FindHashEntry(&tablePtr->users, user) == NULL) {
            Ns_TclPrintfResult(interp, "no such user: %s", user);
            status = TCL_ERROR;
        } else if (NamesHave(namesPtr, user)) {
            Ns_TclPrintfResult(interp, "user \"%s\" already in group \"%s\"",
                               user, name);
            status = TCL_ERROR;
        }
        NamesAdd(namesPtr, user);
    }
    if (status == TCL_OK) {
        hPtr = Tcl_CreateHashEntry(&tablePtr->groups, name, &isNew);
        if (isNew) {
            Tcl_SetHashValue(hPtr, namesPtr);
            return TCL_OK;
        }
        Ns_TclPrintfResult(interp, "duplicate group: %s", name);
    }
    Tcl_DeleteHashTable(namesPtr);
    ns_free(namesPtr);
    return TCL_ERROR;
}

void
TableDeleteGroup(Table *tablePtr, const char *name)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(&tablePtr->groups, name);

    if (hPtr != NULL) {
        Tcl_DeleteHashTable(Tcl_GetHashValue(hPtr));
        ns_free(Tcl_GetHashValue(hPtr));
        Tcl_DeleteHashEntry(hPtr);
    }
}

static Tcl_HashTable *
NamesCreate(void)
{
    Tcl_HashTable *namesPtr = ns_malloc(sizeof(*namesPtr));

    Tcl_InitHashTable(namesPtr, TCL_STRING_KEYS);
    return namesPtr;
}

static void
NamesAdd(Tcl_HashTable *namesPtr, const char *name)
{
    int isNew;

    (void) Tcl_CreateHashEntry(namesPtr, name, &isNew);
}

static bool
NamesHave(const Tcl_HashTable *namesPtr, const char *name)
{
    return Tcl_FindHashEntry((Tcl_HashTable *) namesPtr, name) != NULL;
}

static void
NamesRemove(Tcl_HashTable *namesPtr, const char *name)
{
    Tcl_HashEntry *hPtr = Tcl_FindHashEntry(namesPtr, name);

    if (hPtr != NULL) {
        Tcl_DeleteHashEntry(hPtr);
    }
}

/*
 * Empty segments are ignored.  The last segment is a filter if it has a
 * wildcard.
 */
static void
SplitPattern(Pattern *patternPtr, const char *url)
{
    const char *segment = url;

    Ns_DStringInit(&patternPtr->directory);
    patternPtr->filter = NULL;
    while (*(segment += strspn(segment, "/")) != '\0') {
        size_t length = strcspn(segment, "/");
        bool   isLast = segment[length + strspn(segment + length, "/")] == '\0';

        if (isLast && strcspn(segment, "*?") < length) {
            patternPtr->filter = segment;
            return;
        }
        Ns_DStringNAppend(&patternPtr->directory, "/", 1);
        Ns_DStringNAppend(&patternPtr->directory, segment, (int) length);
        segment += length;
    }
}

Record *
TableRecord(Table *tablePtr, const char *method, const char *url,
            bool isInherited)
{
    Pattern        pattern;
    Ns_DString     key;
    Tcl_HashEntry *hPtr;
    Record        *recordPtr;
    int            isNew;

    SplitPattern(&pattern, url);
    Ns_DStringInit(&key);
    Ns_DStringVarAppend(&key, method, " ", pattern.directory.string, NULL);
    hPtr = Tcl_CreateHashEntry(&tablePtr->records, key.string, &isNew);
    if (isNew) {
        Tcl_SetHashValue(hPtr, NULL);
    }
    recordPtr = Tcl_GetHashValue(hPtr);
    while (recordPtr != NULL && !IsOf(recordPtr, pattern.filter, isInherited)) {
        recordPtr = recordPtr->nextPtr;
    }
    if (recordPtr == NULL) {
        recordPtr = ns_calloc(1u, sizeof(*recordPtr));
        recordPtr->method = ns_strdup(method);
        recordPtr->directory = Ns_DStringExport(&pattern.directory);
        recordPtr->filter = ns_strdup(pattern.filter);
        recordPtr->isInherited = isInherited;
        for (int i = 0; i < N_LISTS; i++) {
            Tcl_InitHashTable(&recordPtr->lists[i], TCL_STRING_KEYS);
        }
        recordPtr->nextPtr = Tcl_GetHashValue(hPtr);
        Tcl_SetHashValue(hPtr, recordPtr);
    }
    Ns_DStringFree(&key);
    Ns_DStringFree(&pattern.directory);
    return recordPtr;
}

static bool
IsOf(const Record *recordPtr, const char *filter, bool isInherited)
{
    return recordPtr->isInherited == isInherited
        && (filter == NULL || recordPtr->filter == NULL
                ? filter == recordPtr->filter
                : STREQ(filter, recordPtr->filter));
}

void
RecordAdd(Record *recordPtr, ListKind kind, const char *name)
{
    NamesAdd(&recordPtr->lists[kind], name);
    if (kind == DENY_USER || kind == DENY_GROUP) {
        recordPtr->isImplicitAllow = true;
    }
}

void
RecordClear(Record *recordPtr)
{
    for (int i = 0; i < N_LISTS; i++) {
        Tcl_DeleteHashTable(&recordPtr->lists[i]);
        Tcl_InitHashTable(&recordPtr->lists[i], TCL_STRING_KEYS);
    }
    recordPtr->isImplicitAllow = false;
}

void
TableKeep(Table *tablePtr, const Table *olderPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr =
        Tcl_FirstHashEntry((Tcl_HashTable *) &olderPtr->records, &search);

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        for (Record *recordPtr = Tcl_GetHashValue(hPtr); recordPtr != NULL;
             recordPtr = recordPtr->nextPtr) {
            if (recordPtr->isKept) {
                CopyRecord(tablePtr, recordPtr);
            }
        }
    }
}

static void
CopyRecord(Table *tablePtr, Record *recordPtr)
{
    Record *copyPtr = TableRecord(tablePtr, recordPtr->method,
                                  recordPtr->directory, recordPtr->isInherited);

    for (int i = 0; i < N_LISTS; i++) {
        Tcl_HashSearch search;
        Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(&recordPtr->lists[i], &search);

        for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
            RecordAdd(copyPtr, (ListKind) i,
                      Tcl_GetHashKey(&recordPtr->lists[i], hPtr));
        }
    }
    copyPtr->isKept = true;
}

void
TableDeleteRecord(Table *tablePtr, const char *method, const char *url,
                  bool isInherited)
{
    Pattern        pattern;
    Tcl_HashEntry *hPtr;

    SplitPattern(&pattern, url);
    hPtr = FindRecords(tablePtr, method, pattern.directory.string);
    if (hPtr != NULL) {
        Record     *firstPtr = Tcl_GetHashValue(hPtr), **linkPtr = &firstPtr;
        const char *filter = pattern.filter;

        while (*linkPtr != NULL && !IsOf(*linkPtr, filter, isInherited)) {
            linkPtr = &(*linkPtr)->nextPtr;
        }
        if (*linkPtr != NULL) {
            Record *recordPtr = *linkPtr;

            *linkPtr = recordPtr->nextPtr;
            FreeRecord(recordPtr);
        }
        Tcl_SetHashValue(hPtr, firstPtr);
        if (firstPtr == NULL) {
            Tcl_DeleteHashEntry(hPtr);
        }
    }
    Ns_DStringFree(&pattern.directory);
}

void
TableDeleteBelow(Table *tablePtr, const char *method, const char *url)
{
    Pattern        pattern;
    Ns_DString     key;
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;
    size_t         length;

    SplitPattern(&pattern, url);
    Ns_DStringInit(&key);
    Ns_DStringVarAppend(&key, method, " ", pattern.directory.string, NULL);
    length = (size_t) Ns_DStringLength(&key);
    for (hPtr = Tcl_FirstHashEntry(&tablePtr->records, &search); hPtr != NULL;
         hPtr = Tcl_NextHashEntry(&search)) {
        const char *at = Tcl_GetHashKey(&tablePtr->records, hPtr);
        Record     *leftPtr = NULL, *recordPtr, *nextPtr;

        if (strncmp(at, key.string, length) != 0
            || (at[length] != '\0' && at[length] != '/')) {
            continue;
        }
        for (recordPtr = Tcl_GetHashValue(hPtr); recordPtr != NULL;
             recordPtr = nextPtr) {
            nextPtr = recordPtr->nextPtr;
            if (pattern.filter != NULL
                && (recordPtr->filter == NULL
                    || !STREQ(recordPtr->filter, pattern.filter))) {
                recordPtr->nextPtr = leftPtr;
                leftPtr = recordPtr;
            } else {
                FreeRecord(recordPtr);
            }
        }
        Tcl_SetHashValue(hPtr, leftPtr);
    }
    Ns_DStringFree(&key);
    Ns_DStringFree(&pattern.directory);
}

static Tcl_HashEntry *
FindRecords(const Table *tablePtr, const char *method, const char *directory)
{
    Ns_DString     key;
    Tcl_HashEntry *hPtr;

    Ns_DStringInit(&key);
    Ns_DStringVarAppend(&key, method, " ", directory, NULL);
    hPtr = Tcl_FindHashEntry((Tcl_HashTable *) &tablePtr->records, key.string);
    Ns_DStringFree(&key);
    return hPtr;
}

void
TableJudge(const Table *tablePtr, const char *method, const char *url,
           const char *user, Verdict *verdictPtr)
{
    const Record *recordPtr = FindRecord(tablePtr, method, url);

    memset(verdictPtr, 0, sizeof(*verdictPtr));
    if (recordPtr == NULL) {
        return;
    }
    verdictPtr->isProtected = true;
    verdictPtr->userPtr = TableGetUser(tablePtr, user);
    verdictPtr->isDenied = NamesHave(&recordPtr->lists[DENY_USER], user)
        || HasGroupOf(tablePtr, &recordPtr->lists[DENY_GROUP], user);
    verdictPtr->isAllowed = recordPtr->isImplicitAllow
        || NamesHave(&recordPtr->lists[ALLOW_USER], user)
        || HasGroupOf(tablePtr, &recordPtr->lists[ALLOW_GROUP], user);
}

/*
 * HEAD needs the permissions of GET, unless it has a record that is at least as
 * specific.
 */
static const Record *
FindRecord(const Table *tablePtr, const char *method, const char *url)
{
    const char *methods[] = {
        method, STREQ(method, "HEAD") ? "GET" : method, ANY_METHOD};
    const Record *recordPtr = NULL;
    Ns_DString    directory;
    char         *slash, *last;
    int           wholeLength, parentLength;

    if (tablePtr->records.numEntries == 0) {
        return NULL;
    }
    Ns_DStringInit(&directory);
    for (const char *segment = url;
         *(segment += strspn(segment, "/")) != '\0';) {
        size_t length = strcspn(segment, "/");

        Ns_DStringNAppend(&directory, "/", 1);
        Ns_DStringNAppend(&directory, segment, (int) length);
        segment += length;
    }
    slash = strrchr(directory.string, '/');
    last = ns_strdup(slash == NULL ? "" : slash + 1);
    wholeLength = Ns_DStringLength(&directory);
    parentLength = slash == NULL ? 0 : (int) (slash - directory.string);
    for (;;) {
        int length = Ns_DStringLength(&directory);

        for (int i = 0; i < Ns_NrElements(methods) && recordPtr == NULL; i++) {
            recordPtr = BestAt(tablePtr, methods[i], directory.string, last,
                               length == wholeLength, length == parentLength);
        }
        if (recordPtr != NULL || length == 0) {
            break;
        }
        Ns_DStringTrunc(&directory,
                        (int) (strrchr(directory.string, '/')
                               - directory.string));
    }
    ns_free(last);
    Ns_DStringFree(&directory);
    return recordPtr;
}

static const Record *
BestAt(const Table *tablePtr, const char *method, const char *directory,
       const char *last, bool isWhole, bool isParent)
{
    Tcl_HashEntry *hPtr = FindRecords(tablePtr, method, directory);
    const Record  *bestPtr = NULL;

    if (hPtr == NULL) {
        return NULL;
    }
    for (const Record *recordPtr = Tcl_GetHashValue(hPtr); recordPtr != NULL;
         recordPtr = recordPtr->nextPtr) {
        bool isMatch = recordPtr->filter == NULL
            ? recordPtr->isInherited || isWhole
            : (recordPtr->isInherited || isWhole || isParent)
                && Tcl_StringMatch(last, recordPtr->filter);

        if (isMatch && (bestPtr == NULL || IsNarrower(recordPtr, bestPtr))) {
            bestPtr = recordPtr;
        }
    }
    return bestPtr;
}

static bool
IsNarrower(const Record *aPtr, const Record *bPtr)
{
    if (aPtr->filter == NULL || bPtr->filter == NULL) {
        if (aPtr->filter != bPtr->filter) {
            return aPtr->filter != NULL;
        }
    } else if (!STREQ(aPtr->filter, bPtr->filter)) {
        bool isIn = Tcl_StringMatch(aPtr->filter, bPtr->filter) != 0;
        bool isAround = Tcl_StringMatch(bPtr->filter, aPtr->filter) != 0;

        return isIn != isAround ? isIn
                                : strlen(aPtr->filter) > strlen(bPtr->filter);
    }
    return !aPtr->isInherited;
}

static bool
HasGroupOf(const Table *tablePtr, const Tcl_HashTable *allPtr, const char *user)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry((Tcl_HashTable *) allPtr, &search);
    bool           hasOne = false;

    for (; hPtr != NULL && !hasOne; hPtr = Tcl_NextHashEntry(&search)) {
        Tcl_HashEntry *groupPtr =
            Tcl_FindHashEntry((Tcl_HashTable *) &tablePtr->groups,
                              Tcl_GetHashKey((Tcl_HashTable *) allPtr, hPtr));

        hasOne = groupPtr != NULL
            && NamesHave(Tcl_GetHashValue(groupPtr), user);
    }
    return hasOne;
}

Tcl_Obj *
TableListUsers(const Table *tablePtr)
{
    Tcl_Obj       *listPtr = Tcl_NewListObj(0, NULL);
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry((Tcl_HashTable *) &tablePtr->users,
                                             &search);

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        const User *userPtr = Tcl_GetHashValue(hPtr);
        Tcl_Obj    *rulesPtr = Tcl_NewListObj(0, NULL);

        AppendText(listPtr, userPtr->name);
        AppendText(listPtr, userPtr->password);
        if (userPtr->nRules > 0 || userPtr->isAllowing) {
            AppendText(rulesPtr, userPtr->isAllowing ? "-allow" : "-deny");
        }
        for (int i = 0; i < userPtr->nRules; i++) {
            AppendText(rulesPtr, userPtr->rules[i].text);
        }
        (void) Tcl_ListObjAppendElement(NULL, listPtr, rulesPtr);
    }
    return listPtr;
}

Tcl_Obj *
TableListGroups(const Table *tablePtr)
{
    Tcl_Obj       *listPtr = Tcl_NewListObj(0, NULL);
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr =
        Tcl_FirstHashEntry((Tcl_HashTable *) &tablePtr->groups, &search);

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        Tcl_Obj *usersPtr = Tcl_NewListObj(0, NULL);

        AppendText(listPtr,
                   Tcl_GetHashKey((Tcl_HashTable *) &tablePtr->groups, hPtr));
        SortedNames(usersPtr, Tcl_GetHashValue(hPtr));
        (void) Tcl_ListObjAppendElement(NULL, listPtr, usersPtr);
    }
    return listPtr;
}

Tcl_Obj *
TableListRecords(const Table *tablePtr)
{
    static const char *const options[N_LISTS] = {
        [ALLOW_USER] = "-allowuser",
        [DENY_USER] = "-denyuser",
        [ALLOW_GROUP] = "-allowgroup",
        [DENY_GROUP] = "-denygroup"};
    Tcl_Obj       *listPtr = Tcl_NewListObj(0, NULL);
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr =
        Tcl_FirstHashEntry((Tcl_HashTable *) &tablePtr->records, &search);

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        for (const Record *recordPtr = Tcl_GetHashValue(hPtr);
             recordPtr != NULL; recordPtr = recordPtr->nextPtr) {
            Tcl_Obj *itemPtr = Tcl_NewListObj(0, NULL);

            AppendText(itemPtr, recordPtr->method);
            AppendText(itemPtr,
                       *recordPtr->directory == '\0' ? "/"
                                                     : recordPtr->directory);
            AppendText(itemPtr,
                       recordPtr->filter == NULL ? "*" : recordPtr->filter);
            AppendText(itemPtr,
                       recordPtr->isInherited ? "inherit" : "noinherit");
            if (recordPtr->isImplicitAllow) {
                AppendText(itemPtr, "-implicitallow");
            }
            for (int i = 0; i < N_LISTS; i++) {
                Tcl_Obj **names, *namesPtr = Tcl_NewListObj(0, NULL);
                int       nNames;

                SortedNames(namesPtr, &recordPtr->lists[i]);
                (void) Tcl_ListObjGetElements(NULL, namesPtr, &nNames, &names);
                for (int k = 0; k < nNames; k++) {
                    AppendText(itemPtr, options[i]);
                    (void) Tcl_ListObjAppendElement(NULL, itemPtr, names[k]);
                }
                Tcl_DecrRefCount(namesPtr);
            }
            (void) Tcl_ListObjAppendElement(NULL, listPtr, itemPtr);
        }
    }
    return listPtr;
}

static int
CompareNames(const void *aPtr, const void *bPtr)
{
    return strcmp(*(const char *const *) aPtr, *(const char *const *) bPtr);
}

static void
SortedNames(Tcl_Obj *listPtr, const Tcl_HashTable *namesPtr)
{
    Tcl_HashTable *tablePtr = (Tcl_HashTable *) namesPtr;
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr = Tcl_FirstHashEntry(tablePtr, &search);
    size_t         n = 0;
    const char   **names = ns_calloc((size_t) tablePtr->numEntries + 1,
                                     sizeof(*names));

    for (; hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        names[n++] = Tcl_GetHashKey(tablePtr, hPtr);
    }
    qsort(names, n, sizeof(*names), CompareNames);
    for (size_t i = 0; i < n; i++) {
        AppendText(listPtr, names[i]);
    }
    ns_free(names);
}

static void
AppendText(Tcl_Obj *listPtr, const char *text)
{
    (void) Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewStringObj(text, -1));
}
