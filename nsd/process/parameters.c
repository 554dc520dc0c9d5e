/* SPDX-License-Identifier: MPL-2.0
 * parameters.c --
 *
 *      The registered rows: looking things up in them, filling structs from
 *      them.
 */

#include "process/parameters.h"

#include "base/assert.h"
#include "nslog.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/parameter_judge.h"
#include "process/units.h"

/*
 * Written by the main thread before others are started.
 */
#define MAX_GROUPS 128

typedef struct Group {
    const char        *pattern;
    const NsParameter *rows;
    size_t             structBytes;
} Group;

static Group                     groups[MAX_GROUPS];
static int                       nGroups;
static const NsParameterSection *sections;
static const NsParameterSection *added[MAX_GROUPS];
static int                       nSections, nAdded;

static struct {
    const char          *pattern;
    NsSectionReloadProc *proc;
} reloads[16];
static int nReloads;

static bool   IsMisplaced(const NsParameter *rowPtr, size_t structBytes);
static bool   HasFittingMember(const NsParameter *rowPtr);
static bool   HasFittingDefault(const NsParameter *rowPtr);
static bool   SharesMember(const NsParameter *rows, const NsParameter *rowPtr);
static size_t MemberBytes(NsParameterMember member);
static bool   HasRow(const char *pattern, const char *key);
static void   FillRow(const NsParameter *rowPtr, const char *section,
                      void *structPtr);
static void Warn(const NsParameter *rowPtr, const NsParameterLimits *limitsPtr,
                 NsParameterVerdict verdict, const char *section,
                 const char *text);
static void LimitsIn(const char *section, const NsParameter *rowPtr,
                     NsParameterLimits *limitsPtr);
static const Group              *GroupOf(const NsParameter *rowPtr);
static const NsParameterSection *BaseOf(const NsParameterSection *sectionPtr);
static int  SectionDistance(const char *pattern, const char *name);
static bool IsSimilar(int distance, const char *name);

const NsParameterSection *
NsParameterSectionAt(int index)
{
    return index < nSections ? &sections[index]
        : index < nSections + nAdded
        ? added[index - nSections]
        : NULL;
}

void
NsParametersSetSections(const NsParameterSection *aSections, int n)
{
    sections = aSections;
    nSections = n;
}

void
NsParameterSectionAdd(const NsParameterSection *sectionPtr)
{
    NsAssert(nAdded < MAX_GROUPS);
    added[nAdded++] = sectionPtr;
}

void
NsParameterSectionSetReload(const char *pattern, NsSectionReloadProc *proc)
{
    NsAssert(nReloads < Ns_NrElements(reloads));
    reloads[nReloads].pattern = pattern;
    reloads[nReloads++].proc = proc;
}

/*
 * Sections that build on another one go with that.
 */
NsSectionReloadProc *
NsParameterSectionReload(const NsParameterSection *sectionPtr)
{
    for (; sectionPtr != NULL; sectionPtr = BaseOf(sectionPtr)) {
        for (int i = 0; i < nReloads; i++) {
            if (STREQ(reloads[i].pattern, sectionPtr->pattern)) {
                return reloads[i].proc;
            }
        }
    }
    return NULL;
}

bool
NsParameterIsLive(const NsParameterSection *sectionPtr,
                  const NsParameter        *rowPtr)
{
    return rowPtr->settingProc != NULL
        || NsParameterSectionReload(sectionPtr) != NULL;
}

void
NsParametersRegister(const char *pattern, const NsParameter *rows,
                     size_t structBytes)
{
    const char *problem;

    for (int i = 0; i < nGroups; i++) {
        if (groups[i].rows == rows && STREQ(groups[i].pattern, pattern)) {
            return;
        }
    }
    problem = NsParametersProblem(rows, structBytes);
    for (int i = 0; rows[i].key != NULL && problem == NULL; i++) {
        if (HasRow(pattern, rows[i].key)) {
            problem = rows[i].key;
        }
    }
    if (problem != NULL || nGroups == MAX_GROUPS) {
        Ns_Fatal("parameters: section %s: the row of '%s' is wrong", pattern,
                 problem);
    }
    groups[nGroups++] = (Group){pattern, rows, structBytes};
}

const char *
NsParametersProblem(const NsParameter *rows, size_t structBytes)
{
    for (const NsParameter *rowPtr = rows; rowPtr->key != NULL; rowPtr++) {
        if (IsMisplaced(rowPtr, structBytes) || !HasFittingMember(rowPtr)
            || !HasFittingDefault(rowPtr) || SharesMember(rows, rowPtr)) {
            return rowPtr->key;
        }
    }
    return NULL;
}

static bool
IsMisplaced(const NsParameter *rowPtr, size_t structBytes)
{
    size_t bytes = MemberBytes(rowPtr->member);

    return bytes > 0
        && (rowPtr->offset % bytes != 0
            || rowPtr->offset + bytes > structBytes);
}

/*
 * Every value within the limits must fit.
 */
static bool
HasFittingMember(const NsParameter *rowPtr)
{
    NsParameterMember member = rowPtr->member;

    if (member == NS_MEMBER_NONE) {
        return rowPtr->adjustProc == NULL;
    }
    switch (rowPtr->type) {
    case NS_PARAM_BOOL:
        return member == NS_MEMBER_BOOL
            || (member == NS_MEMBER_FLAG && rowPtr->flag != 0);
    case NS_PARAM_CHOICE:
        return member == NS_MEMBER_INT && rowPtr->choices != NULL;
    case NS_PARAM_INT:
    case NS_PARAM_SIZE:
        return member == NS_MEMBER_INT64
            || (member == NS_MEMBER_SIZE && rowPtr->min >= 0)
            || (member == NS_MEMBER_INT && rowPtr->min >= INT_MIN
                && NsParameterMax(rowPtr) <= INT_MAX);
    case NS_PARAM_TIME:
        return member == NS_MEMBER_INT64;
    case NS_PARAM_IGNORED:
        return false;
    default:
        return member == NS_MEMBER_TEXT;
    }
}

/*
 * A default that only words describe comes from the adjustProc, or is NULL.
 * Rows that fill nothing are for readers only.
 */
static bool
HasFittingDefault(const NsParameter *rowPtr)
{
    NsParameterLimits limits = {
        .min = rowPtr->min, .max = NsParameterMax(rowPtr)};
    int64_t number;

    if (rowPtr->member == NS_MEMBER_NONE) {
        return true;
    }
    if (rowPtr->member == NS_MEMBER_TEXT && *rowPtr->defaultText == '\0') {
        return true;
    }
    if (rowPtr->isDescribed) {
        return rowPtr->adjustProc != NULL || rowPtr->member == NS_MEMBER_TEXT;
    }
    return NsParameterJudge(rowPtr, &limits, rowPtr->defaultText, &number)
        == NS_VALUE_OK;
}

static bool
SharesMember(const NsParameter *rows, const NsParameter *rowPtr)
{
    size_t end = rowPtr->offset + MemberBytes(rowPtr->member);

    for (; rows < rowPtr; rows++) {
        bool overlap = rows->offset < end
            && rowPtr->offset < rows->offset + MemberBytes(rows->member);

        if (STRIEQ(rows->key, rowPtr->key)
            || (overlap
                && (rows->member != NS_MEMBER_FLAG
                    || rowPtr->member != NS_MEMBER_FLAG
                    || (rows->flag & rowPtr->flag) != 0))) {
            return true;
        }
    }
    return false;
}

static size_t
MemberBytes(NsParameterMember member)
{
    static const size_t sizes[] = {
        [NS_MEMBER_NONE] = 0,
        [NS_MEMBER_BOOL] = sizeof(bool),
        [NS_MEMBER_FLAG] = sizeof(int),
        [NS_MEMBER_INT] = sizeof(int),
        [NS_MEMBER_INT64] = sizeof(int64_t),
        [NS_MEMBER_SIZE] = sizeof(size_t),
        [NS_MEMBER_TEXT] = sizeof(const char *)};

    return sizes[member];
}

static bool
HasRow(const char *pattern, const char *key)
{
    for (int i = 0; i < nGroups; i++) {
        const NsParameter *rowPtr = groups[i].rows;

        for (; STREQ(groups[i].pattern, pattern) && rowPtr->key != NULL;
             rowPtr++) {
            if (STRIEQ(rowPtr->key, key)) {
                return true;
            }
        }
    }
    return false;
}

void
NsParametersFill(const NsParameter *rows, const char *section, void *structPtr)
{
    for (; rows->key != NULL; rows++) {
        if (rows->member != NS_MEMBER_NONE) {
            FillRow(rows, section, structPtr);
        }
    }
}

static void
FillRow(const NsParameter *rowPtr, const char *section, void *structPtr)
{
    NsParameterLimits  limits;
    NsParameterVerdict verdict;
    const char        *text;

    NsParameterLimitsOf(rowPtr, structPtr, &limits);
    text = NsConfigLookup(section, rowPtr->key, false, limits.defaultText);
    verdict = NsParameterStore(rowPtr, &limits, text, structPtr);
    if (verdict != NS_VALUE_OK) {
        Warn(rowPtr, &limits, verdict, section, text);
    }
}

const char *
NsParameterText(const char *section, const char *key)
{
    const NsParameterSection *sectionPtr = NsParameterSectionFind(section);
    const NsParameter        *rowPtr;
    const char               *text;

    NsAssert(sectionPtr != NULL);
    rowPtr = NsParameterFind(sectionPtr, key);
    NsAssert(rowPtr != NULL);
    text = NsConfigLookup(section, key, false,
                          rowPtr->isDescribed ? NULL : rowPtr->defaultText);
    return text != NULL ? text : rowPtr->isDescribed ? "" : rowPtr->defaultText;
}

static void
Warn(const NsParameter *rowPtr, const NsParameterLimits *limitsPtr,
     NsParameterVerdict verdict, const char *section, const char *text)
{
    bool        isSmall = verdict == NS_VALUE_TOO_SMALL;
    int64_t     limit = isSmall ? limitsPtr->min : limitsPtr->max;
    const char *name = isSmall ? limitsPtr->minName : limitsPtr->maxName;

    if (verdict == NS_VALUE_UNREADABLE) {
        Ns_Log(Warning,
               "config: %s:%s value=%s is not a %s; the"
               " default is used",
               section, rowPtr->key, text, NsParameterTypeName(rowPtr->type));
    } else if (rowPtr->type == NS_PARAM_TIME) {
        Ns_Log(Warning, "config: %s:%s value=%s, rounded %s to %" PRId64 "ms",
               section, rowPtr->key, text, isSmall ? "up" : "down", limit);
    } else {
        Ns_Log(Warning, "config: %s:%s value=%s, rounded %s to %s%s%" PRId64,
               section, rowPtr->key, text, isSmall ? "up" : "down",
               name == NULL ? "" : name, name == NULL ? "" : ", ", limit);
    }
}

const NsParameter *
NsParameterAt(const NsParameterSection *sectionPtr, int i)
{
    for (int j = 0; j < nGroups; j++) {
        const NsParameter *rowPtr = groups[j].rows;

        for (; STREQ(groups[j].pattern, sectionPtr->pattern)
             && rowPtr->key != NULL;
             rowPtr++) {
            if (i-- == 0) {
                return rowPtr;
            }
        }
    }
    return NULL;
}

const NsParameterSection *
NsParameterSectionFind(const char *canonical)
{
    const NsParameterSection *sectionPtr;

    for (int i = 0; (sectionPtr = NsParameterSectionAt(i)) != NULL; i++) {
        if (NsParameterMatches(sectionPtr->pattern, canonical)) {
            return sectionPtr;
        }
    }
    return NULL;
}

/*
 * The section whose parameters this one has as well; NULL: none.
 */
static const NsParameterSection *
BaseOf(const NsParameterSection *sectionPtr)
{
    return sectionPtr->basePattern == NULL
        ? NULL
        : NsParameterSectionFind(sectionPtr->basePattern);
}

const NsParameter *
NsParameterFind(const NsParameterSection *sectionPtr, const char *key)
{
    static const NsParameter any = NS_LISTED("*", NS_PARAM_STRING, "", "");
    const NsParameter       *parameterPtr;
    bool                     takesAny = sectionPtr->takesAny;

    for (; sectionPtr != NULL; sectionPtr = BaseOf(sectionPtr)) {
        for (int i = 0; (parameterPtr = NsParameterAt(sectionPtr, i)) != NULL;
             i++) {
            if (STRIEQ(parameterPtr->key, key)) {
                return parameterPtr;
            }
        }
    }
    return takesAny ? &any : NULL;
}

const char *
NsParameterNearest(const NsParameterSection *sectionPtr, const char *key)
{
    const NsParameter *parameterPtr;
    const char        *nearest = NULL;
    int                least = INT_MAX;

    for (; sectionPtr != NULL; sectionPtr = BaseOf(sectionPtr)) {
        for (int i = 0; (parameterPtr = NsParameterAt(sectionPtr, i)) != NULL;
             i++) {
            int distance = NsUnitsDistance(parameterPtr->key, key);

            if (distance < least) {
                least = distance;
                nearest = parameterPtr->key;
            }
        }
    }
    return IsSimilar(least, key) ? nearest : NULL;
}

const char *
NsParameterNearestSection(const char *canonical)
{
    const NsParameterSection *sectionPtr;
    const char               *nearest = NULL;
    int                       least = INT_MAX;

    for (int i = 0; (sectionPtr = NsParameterSectionAt(i)) != NULL; i++) {
        int distance = SectionDistance(sectionPtr->pattern, canonical);

        if (distance < least) {
            least = distance;
            nearest = sectionPtr->shown;
        }
    }
    return nearest;
}

/*
 * Part by part, each of which must be similar; INT_MAX: not all are.
 */
static int
SectionDistance(const char *pattern, const char *name)
{
    int sum = 0;

    while (*pattern != '\0' && *name != '\0') {
        char   wanted[64], found[64];
        size_t nWanted = strcspn(pattern, "/"), nFound = strcspn(name, "/");

        snprintf(wanted, sizeof(wanted), "%.*s", (int) nWanted, pattern);
        snprintf(found, sizeof(found), "%.*s", (int) MIN(nFound, INT_MAX),
                 name);
        if (!STREQ(wanted, "*")) {
            int distance = NsUnitsDistance(wanted, found);

            if (!IsSimilar(distance, found)) {
                return INT_MAX;
            }
            sum += distance;
        }
        pattern += nWanted + (pattern[nWanted] == '/');
        name += nFound + (name[nFound] == '/');
    }
    return *pattern == '\0' && *name == '\0' ? sum : INT_MAX;
}

bool
NsParameterIsBad(const NsParameter *parameterPtr, const char *section,
                 const char *value, char *buffer, size_t bytes)
{
    NsParameterLimits limits;

    LimitsIn(section, parameterPtr, &limits);
    return NsParameterIsBadWithin(parameterPtr, &limits, value, buffer, bytes);
}

bool
NsParameterIsBadWithin(const NsParameter       *parameterPtr,
                       const NsParameterLimits *limitsPtr, const char *value,
                       char *buffer, size_t bytes)
{
    NsParameterVerdict verdict;
    int64_t            number;
    char               range[128];

    verdict = NsParameterJudge(parameterPtr, limitsPtr, value, &number);
    if (verdict == NS_VALUE_OK) {
        return false;
    }
    NsParameterRange(parameterPtr, limitsPtr, range, sizeof(range));
    if (verdict != NS_VALUE_UNREADABLE) {
        snprintf(buffer, bytes, "%.60s is out of range (%s)", value, range);
    } else if (parameterPtr->type == NS_PARAM_CHOICE) {
        snprintf(buffer, bytes, "'%.60s' is not one of: %s", value, range);
    } else {
        snprintf(buffer, bytes, "'%.60s' is not a %s", value,
                 NsParameterTypeName(parameterPtr->type));
    }
    return true;
}

/*
 * Fill as a start would, without the marks and Warnings.
 */
static void
LimitsIn(const char *section, const NsParameter *rowPtr,
         NsParameterLimits *limitsPtr)
{
    const Group *groupPtr = GroupOf(rowPtr);
    void        *structPtr = NULL;

    if (rowPtr->adjustProc != NULL) {
        structPtr = ns_calloc(1, groupPtr->structBytes);
        for (const NsParameter *p = groupPtr->rows; p < rowPtr; p++) {
            NsParameterLimitsOf(p, structPtr, limitsPtr);
            (void) NsParameterStore(p, limitsPtr, NsConfigPeek(section, p->key),
                                    structPtr);
        }
    }
    NsParameterLimitsOf(rowPtr, structPtr, limitsPtr);
    ns_free(structPtr);
}

void
NsParameterAppendCanonical(Ns_DString *dsPtr, const NsParameter *rowPtr,
                           const char *section, const char *text)
{
    NsParameterLimits limits;

    LimitsIn(section, rowPtr, &limits);
    NsParameterAppendText(dsPtr, rowPtr, &limits, text);
}

const NsParameter *
NsParameterRowsOf(const NsParameter *rowPtr, size_t *structBytesPtr)
{
    const Group *groupPtr = GroupOf(rowPtr);

    *structBytesPtr = groupPtr == NULL ? 0 : groupPtr->structBytes;
    return groupPtr == NULL ? NULL : groupPtr->rows;
}

static const Group *
GroupOf(const NsParameter *rowPtr)
{
    for (int i = 0; i < nGroups; i++) {
        const NsParameter *p = groups[i].rows;

        while (p->key != NULL && p != rowPtr) {
            p++;
        }
        if (p == rowPtr) {
            return &groups[i];
        }
    }
    return NULL;
}

/*
 * `*` matches one part of the name, which may contain anything but a slash.
 */
bool
NsParameterMatches(const char *pattern, const char *name)
{
    while (*pattern != '\0' && *name != '\0') {
        if (*pattern == '*') {
            pattern++;
            while (*name != '\0' && *name != '/') {
                name++;
            }
        } else if (*pattern++ != *name++) {
            return false;
        }
    }
    return *pattern == '\0' && *name == '\0';
}

/*
 * A slip of the finger, not another word: about one edit in three characters.
 */
static bool
IsSimilar(int distance, const char *name)
{
    return distance <= 1 + (int) strlen(name) / 4;
}
