/* SPDX-License-Identifier: MPL-2.0
 * sinkmodule.c --
 *
 *      Modules nslogTYPE.so, which bring types of log sinks.
 */

#include "process/sinkmodule.h"

#include "base/clock.h"
#include "log/sink/sinktype.h"
#include "log/target/modulesink.h"
#include "nsfile.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/module.h"
#include "process/paths.h"
#include "process/units.h"

#include <dlfcn.h>
#include <glob.h>

#define PREFIX "nslog"

/*
 * The directories of modules, as seen from the server's library: installed, and
 * in the tree.
 */
static const char *const places[] = {
    "/../bin/" PREFIX "%s.so", "/../" PREFIX "%s/" PREFIX "%s.so"};

static _Thread_local char problem[PATH_MAX + 256];

static NsSinkTypeLoadProc Load;
static bool               FindFile(const char *name, char *path);
static void AppendPlace(Ns_DString *dsPtr, const char *place, const char *name);
static bool IsName(const char *name);
static const Ns_LogSinkType *AskModule(const char *path, const char *name);
static const char *WhatIsWrong(const Ns_LogSinkType *typePtr, const char *name);
static Ns_LogSinkValue *MakeDefaults(const Ns_LogSinkType *typePtr);
static void             FreeDefaults(const Ns_LogSinkType *typePtr,
                                     Ns_LogSinkValue      *values);
static bool ReadNumber(const Ns_LogSinkOption *optionPtr, const char *text,
                       int64_t *numberPtr);
static bool IsWithin(const Ns_LogSinkOption *optionPtr, int64_t number);

void
NsSinkModuleInit(void)
{
    NsSinkTypeSetLoadProc(Load);
}

const char *
NsSinkModuleProblem(void)
{
    return problem;
}

static void
Load(const char *name)
{
    const Ns_LogSinkType *typePtr;
    Ns_LogSinkValue      *defaults;
    char                  path[PATH_MAX];

    if (!IsName(name)) {
        snprintf(problem, sizeof(problem), "not the name of a type");
        return;
    }
    if (!FindFile(name, path)) {
        snprintf(problem, sizeof(problem),
                 "%s: %s, nor beside the server's "
                 "own modules",
                 path, strerror(errno));
        return;
    }
    typePtr = AskModule(path, name);
    if (typePtr == NULL) {
        return;
    }
    defaults = MakeDefaults(typePtr);
    if (defaults == NULL) {
        snprintf(problem, sizeof(problem),
                 "%s: a default of its options is not "
                 "valid",
                 path);
    } else if (!NsModuleSinkAdd(typePtr, defaults)) {
        /* Another thread was faster; or there is no room for more. */
        snprintf(problem, sizeof(problem), "%s: there are too many types",
                 path);
        FreeDefaults(typePtr, defaults);
    }
}

/*
 * False: errno says why, and path is where it should be.
 */
static bool
FindFile(const char *name, char *path)
{
    char       file[128], first[PATH_MAX];
    Ns_DString ds;
    bool       isFound;
    int        reason;

    snprintf(file, sizeof(file), PREFIX "%s.so", name);
    isFound = NsModuleFind(file, path);
    reason = errno;
    for (int i = 0; i < Ns_NrElements(places) && !isFound; i++) {
        Ns_DStringInit(&ds);
        AppendPlace(&ds, places[i], name);
        isFound = realpath(Ns_DStringValue(&ds), first) != NULL;
        if (isFound) {
            snprintf(path, PATH_MAX, "%s", first);
        }
        Ns_DStringFree(&ds);
    }
    errno = reason;
    return isFound;
}

static void
AppendPlace(Ns_DString *dsPtr, const char *place, const char *name)
{
    Dl_info     info;
    const char *slash = NULL;

    if (dladdr((const void *) &places, &info) != 0) {
        slash = strrchr(info.dli_fname, '/');
    }
    if (slash != NULL) {
        Ns_DStringNAppend(dsPtr, info.dli_fname,
                          (int) (slash - info.dli_fname));
    } else {
        Ns_DStringAppend(dsPtr, ".");
    }
    for (; *place != '\0'; place++) {
        if (place[0] == '%' && place[1] == 's') {
            Ns_DStringAppend(dsPtr, name);
            place++;
        } else {
            Ns_DStringNAppend(dsPtr, place, 1);
        }
    }
}

/*
 * It becomes a part of a file's name.
 */
static bool
IsName(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

    return length > 0 && length < 64 && name[length] == '\0';
}

void
NsSinkModuleLoadAll(void)
{
    for (int i = 0; i < Ns_NrElements(places); i++) {
        Ns_DString ds;
        glob_t     found;

        Ns_DStringInit(&ds);
        AppendPlace(&ds, places[i], "*");
        if (glob(Ns_DStringValue(&ds), 0, NULL, &found) == 0) {
            for (size_t j = 0; j < found.gl_pathc; j++) {
                char *name = strrchr(found.gl_pathv[j], '/') + sizeof(PREFIX);

                name[strlen(name) - 3] = '\0';
                if (*name != '\0') {
                    (void) NsSinkTypeFind(name);
                }
            }
            globfree(&found);
        }
        Ns_DStringFree(&ds);
    }
}

/*
 * NULL: it says, or we do, why it cannot be used.
 */
static const Ns_LogSinkType *
AskModule(const char *path, const char *name)
{
    union {
        void               *address;
        Ns_LogSinkInitProc *proc;
    } init;
    const Ns_LogSinkType *typePtr;
    const char           *reason = NULL;

    init.address = NsModuleSymbol(path, "Ns_LogSinkInit", problem,
                                  sizeof(problem));
    if (init.address == NULL) {
        return NULL;
    }
    typePtr = init.proc(&reason);
    if (typePtr == NULL) {
        snprintf(problem, sizeof(problem), "%s: %s", path,
                 reason != NULL ? reason : "Ns_LogSinkInit failed");
        return NULL;
    }
    reason = WhatIsWrong(typePtr, name);
    if (reason != NULL) {
        snprintf(problem, sizeof(problem), "%s: %s", path, reason);
        return NULL;
    }
    return typePtr;
}

/*
 * NULL: nothing.  Behind the version nothing is looked at if that is another
 * one.
 */
static const char *
WhatIsWrong(const Ns_LogSinkType *typePtr, const char *name)
{
    static _Thread_local char text[128];

    if (typePtr->version != NS_LOGSINK_INTERFACE) {
        snprintf(text, sizeof(text),
                 "its interface has version %d, and this "
                 "server's %d: build it again with the headers of this one",
                 typePtr->version, NS_LOGSINK_INTERFACE);
        return text;
    }
    if (!STREQ(typePtr->name, name)) {
        snprintf(text, sizeof(text), "its type is \"%.60s\"", typePtr->name);
        return text;
    }
    if (typePtr->options == NULL || typePtr->options[0].name == NULL) {
        return "its type has no option that says where it writes";
    }
    if ((typePtr->flags & NS_LOGSINK_FILE) != 0
        && typePtr->options[0].kind != NS_LOGSINK_PATH) {
        return "its type writes a file, but its first option is not a path";
    }
    return typePtr->openProc != NULL && typePtr->writeProc != NULL
            && typePtr->closeProc != NULL
        ? NULL
        : "its type lacks open, write, or close";
}

/*
 * NULL: one is not valid.
 */
static Ns_LogSinkValue *
MakeDefaults(const Ns_LogSinkType *typePtr)
{
    const Ns_LogSinkOption *options = typePtr->options;
    Ns_LogSinkValue        *values;
    size_t                  n = 0;

    while (options[n].name != NULL) {
        n++;
    }
    values = ns_calloc(n, sizeof(*values));
    for (size_t i = 0; i < n; i++) {
        const char *text = options[i].defaultText;

        if (options[i].range == NULL || options[i].sentence == NULL
            || (text != NULL && *text != '\0'
                && !NsSinkValueInit(&options[i], text, &values[i]))) {
            FreeDefaults(typePtr, values);
            return NULL;
        }
    }
    return values;
}

static void
FreeDefaults(const Ns_LogSinkType *typePtr, Ns_LogSinkValue *values)
{
    for (int i = 0; typePtr->options[i].name != NULL; i++) {
        NsSinkValueFree(&values[i]);
    }
    ns_free(values);
}

bool
NsSinkValueInit(const Ns_LogSinkOption *optionPtr, const char *text,
                Ns_LogSinkValue *valuePtr)
{
    int64_t    number = 0;
    Ns_DString ds;
    bool       isText = optionPtr->kind == NS_LOGSINK_TEXT
        || optionPtr->kind == NS_LOGSINK_PATH
        || optionPtr->kind == NS_LOGSINK_INPUT;

    if (!(isText ? IsWithin(optionPtr, (int64_t) strlen(text))
                 : ReadNumber(optionPtr, text, &number))
        || (optionPtr->checkProc != NULL
            && optionPtr->checkProc(text) != NS_OK)) {
        return false;
    }
    Ns_DStringInit(&ds);
    if (optionPtr->kind == NS_LOGSINK_PATH && *text != '\0') {
        NsPathsLog(&ds, text);
    } else if (optionPtr->kind == NS_LOGSINK_INPUT && *text != '\0'
               && *text != '/') {
        Ns_HomePath(&ds, text, (char *) NULL);
    } else {
        Ns_DStringAppend(&ds, text);
    }
    *valuePtr = (Ns_LogSinkValue){Ns_DStringExport(&ds), number};
    return true;
}

void
NsSinkValueFree(Ns_LogSinkValue *valuePtr)
{
    ns_free((char *) valuePtr->text);
    *valuePtr = (Ns_LogSinkValue){NULL, 0};
}

static bool
ReadNumber(const Ns_LogSinkOption *optionPtr, const char *text,
           int64_t *numberPtr)
{
    Tcl_WideInt n;
    Ns_Time     time;
    bool        isTrue;

    switch (optionPtr->kind) {
    case NS_LOGSINK_BOOL:
        *numberPtr = NsUnitsBool(text, &isTrue) && isTrue;
        return NsUnitsBool(text, &isTrue);
    case NS_LOGSINK_TIME:
        if (!NsUnitsTime(text, &time)
            || time.sec > INT64_MAX / NS_STAMP_SECOND - 1
            || !IsWithin(optionPtr, (int64_t) time.sec)) {
            return false;
        }
        *numberPtr = (int64_t) time.sec * NS_STAMP_SECOND
            + (int64_t) time.usec * 1000;
        return true;
    default:
        if (!(optionPtr->kind == NS_LOGSINK_SIZE ? NsUnitsSize(text, &n)
                                                 : NsUnitsInteger(text, &n))
            || !IsWithin(optionPtr, n)) {
            return false;
        }
        *numberPtr = n;
        return true;
    }
}

static bool
IsWithin(const Ns_LogSinkOption *optionPtr, int64_t number)
{
    return optionPtr->max == 0
        || (number >= optionPtr->min && number <= optionPtr->max);
}
