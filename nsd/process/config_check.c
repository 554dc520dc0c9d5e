/*
 * config_check.c --
 *
 *      Compares the configuration with the table of parameters.
 */

#include "process/config_check.h"

#include "nslog.h"
#include "nsset.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/parameters.h"

/*
 * Lives on the stack of a check; main thread.
 */
typedef struct Check {
    FILE                     *file;         /* NULL: the log. */
    int                       nProblems;
    const NsParameterSection *sectionPtr;   /* NULL: not checked. */
} Check;

static NsConfigVisitProc Visit;
static const NsParameterSection *VisitSection(Check *checkPtr,
                                              const char *section,
                                              NsConfigPlace place);
static void VisitParameter(Check *checkPtr, const char *section,
                           const char *key, const char *value,
                           NsConfigPlace place);
static bool Canonical(const char *section, Ns_DString *dsPtr);
static bool AppendModule(const char *modules, const char *rest,
                         Ns_DString *dsPtr);
static bool IsOurs(const char *kind);
static void Report(Check *checkPtr, NsConfigPlace place, const char *format,
                   ...) NS_GNUC_PRINTF(3, 4);


int
NsConfigCheckPrint(FILE *file)
{
    Check check = {.file = file};

    NsConfigVisit(Visit, &check);
    return check.nProblems;
}

int
NsConfigCheckLog(void)
{
    Check check = {.file = NULL};

    NsConfigVisit(Visit, &check);
    return check.nProblems;
}

static void
Visit(const char *section, const char *key, const char *value,
      NsConfigPlace place, void *arg)
{
    Check *checkPtr = arg;

    if (key == NULL) {
        checkPtr->sectionPtr = VisitSection(checkPtr, section, place);
    } else if (checkPtr->sectionPtr != NULL) {
        VisitParameter(checkPtr, section, key, value, place);
    }
}

static const NsParameterSection *
VisitSection(Check *checkPtr, const char *section, NsConfigPlace place)
{
    const NsParameterSection *sectionPtr = NULL;
    Ns_DString                ds;

    Tcl_DStringInit(&ds);
    if (Canonical(section, &ds)) {
        sectionPtr = NsParameterSectionFind(ds.string);
        if (sectionPtr == NULL) {
            const char *nearest = NsParameterNearestSection(ds.string);

            if (nearest != NULL) {
                Report(checkPtr, place, "unknown section \"%s\"; the nearest "
                       "known one is \"%s\"", section, nearest);
            } else {
                Report(checkPtr, place, "unknown section \"%s\"", section);
            }
        }
    }
    Tcl_DStringFree(&ds);
    return sectionPtr;
}

static void
VisitParameter(Check *checkPtr, const char *section, const char *key,
               const char *value, NsConfigPlace place)
{
    const NsParameter *parameterPtr;
    char               problem[256];

    parameterPtr = NsParameterFind(checkPtr->sectionPtr, key);
    if (parameterPtr == NULL) {
        const char *nearest = NsParameterNearest(checkPtr->sectionPtr, key);

        if (nearest != NULL) {
            Report(checkPtr, place, "unknown parameter \"%s\" in section "
                   "\"%s\"; the nearest known one is \"%s\"", key, section,
                   nearest);
        } else {
            Report(checkPtr, place, "unknown parameter \"%s\" in section "
                   "\"%s\"", key, section);
        }
    } else if (NsParameterIsBad(parameterPtr, value, problem,
                                sizeof(problem))) {
        Report(checkPtr, place, "parameter \"%s\" in section \"%s\": %s", key,
               section, problem);
    }
}

/*
 * The name under which the table knows a section.  False: not to be checked.
 */
static bool
Canonical(const char *section, Ns_DString *dsPtr)
{
    static const char process[] = "ns/module/", servers[] = "ns/server/";

    if (strncmp(section, "ns/", 3) != 0) {
        return false;
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

static void
Report(Check *checkPtr, NsConfigPlace place, const char *format, ...)
{
    char    text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    checkPtr->nProblems++;
    if (checkPtr->file != NULL) {
        fprintf(checkPtr->file, "%s:%d: %s\n", place.file, place.line, text);
    } else {
        Ns_Log(Warning, "config: %s:%d: %s", place.file, place.line, text);
    }
}
