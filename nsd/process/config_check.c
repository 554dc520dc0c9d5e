/* SPDX-License-Identifier: MPL-2.0
 * config_check.c --
 *
 *      Compares the configuration with the table of parameters, and with
 *      itself.
 */

#include "process/config_check.h"

#include "base/assert.h"
#include "log/sink/sink.h"
#include "log/stream/stream.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsset.h"
#include "nsthread.h"
#include "process/config_logs.h"
#include "process/config_refs.h"
#include "process/sinkoptions.h"

typedef struct FactsVisit {
    NsConfigFactsProc        *proc;
    void                     *arg;
    const NsParameterSection *sectionPtr; /* NULL: not the server's. */
} FactsVisit;

static NsConfigFactsProc PrintIgnored;
static NsConfigVisitProc VisitNames, VisitReferences, VisitUnread, VisitFacts;
static void VisitSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr);
static void VisitParameter(NsConfigCheck      *checkPtr,
                           const NsConfigItem *itemPtr);
static const NsParameterSection *FindSection(const NsConfigItem *itemPtr,
                                             const char        **nearestPtr);
static void EnterSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                         const char **nearestPtr);
static void JudgeSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                         const char *nearest);
static void MentionSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                           const char *nearest);
static void ReportSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                          const char *nearest);
static void ReportParameter(NsConfigCheck      *checkPtr,
                            const NsConfigItem *itemPtr, const char *remark);
static void CheckModule(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr);
static void CheckStreams(void);
static bool AppendModule(const char *modules, const char *rest,
                         Ns_DString *dsPtr);
static bool IsOurs(const char *kind);
static bool HoldsDefault(const NsConfigItem *itemPtr,
                         const NsParameter  *rowPtr);

int
NsConfigCheckPrint(FILE *file, int *nErrorsPtr)
{
    NsConfigCheck check = {.file = file};

    NsConfigVisit(VisitNames, &check);
    *nErrorsPtr += check.nErrors;
    return check.nProblems;
}

int
NsConfigCheckReferences(FILE *file, int *nErrorsPtr)
{
    NsConfigCheck check = {.file = file};

    if (NsConfigRefsHome(&check)) {
        NsConfigVisit(VisitReferences, &check);
        NsConfigRefsServers(&check);
    }
    *nErrorsPtr += check.nErrors;
    return check.nProblems;
}

int
NsConfigCheckShared(FILE *file)
{
    NsConfigCheck check = {.file = file};

    NsConfigLogsCheck(&check);
    NsAssert(check.nErrors == 0);
    return check.nProblems;
}

int
NsConfigCheckLog(void)
{
    NsConfigCheck check = {.file = NULL};

    NsConfigVisit(VisitNames, &check);
    return check.nProblems;
}

void
NsConfigCheckUnread(void)
{
    NsConfigCheck check = {.file = NULL};

    NsConfigVisit(VisitUnread, &check);
    CheckStreams();
    NsConfigLogsCheckMade(&check);
}

void
NsConfigFactsVisit(NsConfigFactsProc *proc, void *arg)
{
    FactsVisit visit = {.proc = proc, .arg = arg};

    NsConfigVisit(VisitFacts, &visit);
}

typedef struct Ignored {
    FILE *file;
    int   n;
} Ignored;

int
NsConfigCheckIgnored(FILE *file)
{
    Ignored ignored = {.file = file};

    NsConfigFactsVisit(PrintIgnored, &ignored);
    return ignored.n;
}

static void
PrintIgnored(const NsConfigFacts *factsPtr, void *arg)
{
    Ignored            *ignoredPtr = arg;
    const NsConfigItem *itemPtr = factsPtr->itemPtr;

    if (factsPtr->noEffect != NULL) {
        fprintf(ignoredPtr->file,
                "%s:%d: note: parameter \"%s\" in section \"%s\" has no"
                " effect: %s\n",
                itemPtr->place.file, itemPtr->place.line, itemPtr->key,
                itemPtr->section, factsPtr->noEffect);
        ignoredPtr->n++;
    }
}

static void
VisitFacts(const NsConfigItem *itemPtr, void *arg)
{
    FactsVisit        *visitPtr = arg;
    NsConfigFacts      facts = {.itemPtr = itemPtr};
    const NsParameter *rowPtr;
    const char        *nearest;

    if (itemPtr->key == NULL) {
        visitPtr->sectionPtr = FindSection(itemPtr, &nearest);
        return;
    }
    rowPtr = visitPtr->sectionPtr == NULL
        ? NULL
        : NsParameterFind(visitPtr->sectionPtr, itemPtr->key);
    facts.isKnown = rowPtr != NULL;
    facts.isDefault = rowPtr != NULL && HoldsDefault(itemPtr, rowPtr);
    facts.noEffect = rowPtr != NULL && rowPtr->type == NS_PARAM_IGNORED
        ? rowPtr->sentence
        : NULL;
    visitPtr->proc(&facts, visitPtr->arg);
}

/*
 * However it is written: 10MB and 10485760 are the same.
 */
static bool
HoldsDefault(const NsConfigItem *itemPtr, const NsParameter *rowPtr)
{
    Ns_DString value, defaultValue;
    bool       isSame;

    Ns_DStringInit(&value);
    Ns_DStringInit(&defaultValue);
    NsParameterAppendCanonical(&value, rowPtr, itemPtr->section,
                               itemPtr->value);
    NsParameterAppendCanonical(&defaultValue, rowPtr, itemPtr->section, NULL);
    isSame = STREQ(value.string, defaultValue.string);
    Ns_DStringFree(&value);
    Ns_DStringFree(&defaultValue);
    return isSame;
}

static void
VisitNames(const NsConfigItem *itemPtr, void *arg)
{
    NsConfigCheck *checkPtr = arg;

    if (itemPtr->key == NULL) {
        VisitSection(checkPtr, itemPtr);
    } else if (checkPtr->sectionPtr != NULL) {
        VisitParameter(checkPtr, itemPtr);
    }
}

static void
EnterSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
             const char **nearestPtr)
{
    checkPtr->sectionPtr = FindSection(itemPtr, nearestPtr);
    checkPtr->isRequired = NsConfigRefsIsRequiredSink(itemPtr->section);
}

/*
 * Names are judged by -T, and by a start when everybody has read what he reads:
 * one that is not the server's may be a module's or an application's own.
 */
static void
VisitSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char *nearest;

    EnterSection(checkPtr, itemPtr, &nearest);
    if (checkPtr->sectionPtr != NULL) {
        NsConfigRefsSection(checkPtr, itemPtr);
    }
    if (checkPtr->file != NULL) {
        MentionSection(checkPtr, itemPtr, nearest);
    }
    if (NsConfigRefsIsOfNoModule(itemPtr->section)) {
        /* Nobody uses its values. */
        checkPtr->sectionPtr = NULL;
    }
}

static void
MentionSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
               const char *nearest)
{
    if (checkPtr->sectionPtr == NULL && nearest != NULL) {
        ReportSection(checkPtr, itemPtr, nearest);
    } else if (checkPtr->sectionPtr == NULL
               && strncmp(itemPtr->section, "ns/", 3) == 0
               && strstr(itemPtr->section, "/module/") == NULL) {
        fprintf(checkPtr->file,
                "%s:%d: note: section \"%s\" is not the "
                "server's; a module or an application may read it\n",
                itemPtr->place.file, itemPtr->place.line, itemPtr->section);
    }
    CheckModule(checkPtr, itemPtr);
}

static void
ReportSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
              const char *nearest)
{
    NsConfigReport(checkPtr, itemPtr->place,
                   "unknown section \"%s\"; the "
                   "nearest known one is \"%s\"",
                   itemPtr->section, nearest);
}

/*
 * The section of a module that no list of modules has: one that can be loaded
 * but is not, as many configurations have it, or a name that is misspelt.
 */
static void
CheckModule(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char *nearest;

    if (!NsConfigRefsIsOfNoModule(itemPtr->section)) {
        return;
    }
    nearest = checkPtr->sectionPtr != NULL
        ? NULL
        : NsConfigRefsNearestModule(itemPtr->section);
    if (nearest != NULL) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "section \"%s\" belongs to a module that no section "
                       "\"modules\" names; the nearest one is \"%s\"",
                       itemPtr->section, nearest);
    } else if (checkPtr->file != NULL) {
        fprintf(checkPtr->file,
                "%s:%d: note: section \"%s\" belongs to a module that no "
                "section \"modules\" names\n",
                itemPtr->place.file, itemPtr->place.line, itemPtr->section);
    } else {
        Ns_Log(Notice,
               "config: %s:%d: section \"%s\" belongs to a module that is not "
               "loaded",
               itemPtr->place.file, itemPtr->place.line, itemPtr->section);
    }
}

/*
 * NULL: not ours, or unknown; then *nearestPtr is a known one that resembles
 * it, or NULL.
 */
static const NsParameterSection *
FindSection(const NsConfigItem *itemPtr, const char **nearestPtr)
{
    const NsParameterSection *sectionPtr = NULL;
    Ns_DString                ds;

    *nearestPtr = NULL;
    Tcl_DStringInit(&ds);
    if (NsConfigCanonical(itemPtr->section, &ds)) {
        sectionPtr = NsParameterSectionFind(ds.string);
        if (sectionPtr == NULL) {
            *nearestPtr = NsParameterNearestSection(ds.string);
        }
    }
    Tcl_DStringFree(&ds);
    return sectionPtr;
}

static void
VisitParameter(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const NsParameter *parameterPtr;
    char               problem[256];

    parameterPtr = NsParameterFind(checkPtr->sectionPtr, itemPtr->key);
    if (parameterPtr != NULL) {
        if (NsParameterIsBad(parameterPtr, itemPtr->section, itemPtr->value,
                             problem, sizeof(problem))) {
            NsConfigReport(checkPtr, itemPtr->place,
                           "parameter \"%s\" in "
                           "section \"%s\": %s",
                           itemPtr->key, itemPtr->section, problem);
        }
        return;
    }
    if (checkPtr->file == NULL) {
        return;
    }
    ReportParameter(checkPtr, itemPtr, "");
}

static void
ReportParameter(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                const char *remark)
{
    const char *nearest = NsParameterNearest(checkPtr->sectionPtr,
                                             itemPtr->key);

    if (nearest != NULL) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "unknown parameter \"%s\" in "
                       "section \"%s\"; the nearest known one is \"%s\"",
                       itemPtr->key, itemPtr->section, nearest);
    } else {
        NsConfigReport(checkPtr, itemPtr->place,
                       "unknown parameter \"%s\" in section \"%s\"%s",
                       itemPtr->key, itemPtr->section, remark);
    }
}

static void
VisitReferences(const NsConfigItem *itemPtr, void *arg)
{
    NsConfigCheck *checkPtr = arg;
    const char    *nearest;

    if (itemPtr->key == NULL) {
        EnterSection(checkPtr, itemPtr, &nearest);
    } else if (checkPtr->sectionPtr != NULL) {
        NsConfigRefsValue(checkPtr, itemPtr);
    }
}

static void
VisitUnread(const NsConfigItem *itemPtr, void *arg)
{
    NsConfigCheck *checkPtr = arg;
    const char    *nearest;

    if (itemPtr->key == NULL) {
        EnterSection(checkPtr, itemPtr, &nearest);
        if (!itemPtr->isRead && strncmp(itemPtr->section, "ns/", 3) == 0) {
            JudgeSection(checkPtr, itemPtr, nearest);
        }
    } else if (checkPtr->sectionPtr != NULL && !itemPtr->isRead
               && NsParameterFind(checkPtr->sectionPtr, itemPtr->key) == NULL) {
        ReportParameter(checkPtr, itemPtr, ": nothing has read it");
    }
}

/*
 * Scripts of a module may read its section at any time.
 */
static void
JudgeSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
             const char *nearest)
{
    if (checkPtr->sectionPtr == NULL && nearest != NULL) {
        ReportSection(checkPtr, itemPtr, nearest);
    } else if (checkPtr->sectionPtr == NULL
               && strstr(itemPtr->section, "/module/") == NULL) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "unknown section \"%s\": "
                       "nothing has read it",
                       itemPtr->section);
    } else {
        CheckModule(checkPtr, itemPtr);
    }
}

static void
CheckStreams(void)
{
    const Ns_Set *sinks = Ns_ConfigGetSection("ns/logsinks");

    for (int i = 0; sinks != NULL && i < (int) Ns_SetSize(sinks); i++) {
        Ns_LogSink sink = NsSinkFind(Ns_SetKey(sinks, i));

        if (sink != NULL) {
            NsConfigLogsWarnStreams(sink);
        }
    }
}

bool
NsConfigCanonical(const char *section, Ns_DString *dsPtr)
{
    static const char process[] = "ns/module/", servers[] = "ns/server/";
    static const char sinks[] = "ns/logsink/";

    if (strncmp(section, "ns/", 3) != 0) {
        return false;
    }
    if (strncmp(section, sinks, sizeof(sinks) - 1) == 0) {
        Tcl_DStringAppend(dsPtr, NsSinkOptionsSection(section), -1);
        return true;
    }
    if (strncmp(section, process, sizeof(process) - 1) == 0) {
        return AppendModule("ns/modules", section + sizeof(process) - 1, dsPtr);
    }
    if (strncmp(section, servers, sizeof(servers) - 1) == 0) {
        const char *name = section + sizeof(servers) - 1;
        const char *rest = strchr(name, '/');

        if (rest != NULL && strncmp(rest, "/module/", 8) == 0) {
            Ns_DString modules;
            bool       isChecked;

            Tcl_DStringInit(&modules);
            Tcl_DStringAppend(&modules, section, (int) (rest - section));
            Tcl_DStringAppend(&modules, "/modules", -1);
            isChecked = AppendModule(modules.string, rest + 8, dsPtr);
            Tcl_DStringFree(&modules);
            return isChecked;
        }
    }
    Tcl_DStringAppend(dsPtr, section, -1);
    return true;
}

/*
 * rest: NAME or NAME/MORE.  A module is of the kind of the file that it is
 * loaded from, or of its own name where it is not loaded.
 */
static bool
AppendModule(const char *modules, const char *rest, Ns_DString *dsPtr)
{
    size_t     length = strcspn(rest, "/");
    Ns_DString name;
    Ns_Set    *setPtr = Ns_ConfigGetSection(modules);
    char      *kind, *slash;
    bool       isOurs;

    Tcl_DStringInit(&name);
    Tcl_DStringAppend(&name, rest, (int) length);
    if (setPtr != NULL) {
        char *file = Ns_SetIGet(setPtr, name.string);

        if (file != NULL) {
            Tcl_DStringSetLength(&name, 0);
            Tcl_DStringAppend(&name, file, -1);
        }
    }
    slash = strrchr(name.string, '/');
    kind = slash == NULL ? name.string : slash + 1;
    if (strlen(kind) > 3 && STREQ(kind + strlen(kind) - 3, ".so")) {
        kind[strlen(kind) - 3] = '\0';
    }
    isOurs = IsOurs(kind);
    if (isOurs) {
        Tcl_DStringAppend(dsPtr, "module/", -1);
        Tcl_DStringAppend(dsPtr, kind, -1);
        Tcl_DStringAppend(dsPtr, rest + length, -1);
    }
    Tcl_DStringFree(&name);
    return isOurs;
}

static bool
IsOurs(const char *kind)
{
    Ns_DString ds;
    bool       isOurs;

    Tcl_DStringInit(&ds);
    Tcl_DStringAppend(&ds, "module/", -1);
    Tcl_DStringAppend(&ds, kind, -1);
    isOurs = NsParameterSectionFind(ds.string) != NULL;
    Tcl_DStringFree(&ds);
    return isOurs;
}
