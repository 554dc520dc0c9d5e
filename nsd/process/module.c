/* SPDX-License-Identifier: MPL-2.0
 * module.c --
 *
 *      Loading of modules.
 *
 *      All of it runs in the main thread before the server has started.
 */

#include "process/module.h"

#include "http/request_line.h"
#include "nsparam.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/moduleadvice.h"
#include "process/modulenote.h"
#include "process/paths.h"

#include <dlfcn.h>

typedef struct StaticModule {
    struct StaticModule *nextPtr;
    const char          *name;
    Ns_ModuleInitProc   *proc;
} StaticModule;

typedef struct Object {
    const char *file; /* As it was named. */
    void       *handle;
    bool        hasNotes;
} Object;

static StaticModule *firstStaticPtr; /* Main thread only. */

static void AppendMissing(const char *server, Ns_DString *dsPtr);
static void AskModules(const char *server, const char *symbol,
                       NsModuleSymbolProc *proc, void *arg);
static bool OpenObject(Object *objectPtr);
static bool FindInstalled(const char *file, const char *ending, char *path);
static bool IsForUs(void *handle, void *initAddress);
static bool AskOwn(void *handle, void *initAddress, const char *name,
                   int *resultPtr);
static bool IsOfLaterApi(void *handle, void *initAddress);
static int  RunInit(const Object *objectPtr, const char *server,
                    const char *module, const char *init);
static void InitStaticModules(const char *server);

void
NsModulesLoad(Tcl_Interp *interp, NsServer *serverPtr)
{
    const char *server = serverPtr == NULL ? NULL : serverPtr->name;
    const char *path = Ns_ConfigGetPath(server, NULL, "modules", NULL);
    Ns_Set     *modules = Ns_ConfigGetSection(path);

    for (int i = 0; modules != NULL && i < Ns_SetSize(modules); i++) {
        const char *file = Ns_SetValue(modules, i);

        if (strcasecmp(file, "tcl") == 0) {
            if (server == NULL) {
                Ns_Log(Warning,
                       "modload: module '%s' in ns/modules has no effect: name "
                       "Tcl modules in ns/server/SERVER/modules",
                       Ns_SetKey(modules, i));
            }
            continue;
        }
        if (Ns_ModuleLoad(interp, server, Ns_SetKey(modules, i), file,
                          "Ns_ModuleInit")
            != NS_OK) {
            Ns_Fatal("modload: failed to load module '%s'", file);
        }
    }
    InitStaticModules(server);
}

void
NsModulesRequire(const char *only)
{
    const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");
    Ns_DString    ds;

    Ns_DStringInit(&ds);
    AppendMissing(NULL, &ds);
    for (int i = 0; servers != NULL && i < (int) Ns_SetSize(servers); i++) {
        if (only == NULL || STREQ(only, Ns_SetKey(servers, i))) {
            AppendMissing(Ns_SetKey(servers, i), &ds);
        }
    }
    if (Ns_DStringLength(&ds) > 0) {
        Ns_Fatal(
            "modload: modules are missing: %s; install them, or remove them "
            "from the configuration",
            ds.string);
    }
    Ns_DStringFree(&ds);
}

static void
AppendMissing(const char *server, Ns_DString *dsPtr)
{
    const Ns_Set *modules =
        Ns_ConfigGetSection(Ns_ConfigGetPath(server, NULL, "modules", NULL));

    for (int i = 0; modules != NULL && i < (int) Ns_SetSize(modules); i++) {
        const char *file = Ns_SetValue(modules, i);
        char        path[PATH_MAX];

        if (strcasecmp(file, "tcl") != 0 && !NsModuleFind(file, path)) {
            int         reason = errno;
            const char *advice = NsModuleAdvice(file);

            Ns_DStringPrintf(dsPtr, "%s%s: invalid path '%s': %s",
                             Ns_DStringLength(dsPtr) == 0 ? "" : ", ", file,
                             path, strerror(reason));
            if (advice != NULL) {
                Ns_DStringVarAppend(dsPtr, " (", advice, ")", NULL);
            }
        }
    }
}

void
NsModulesAsk(const char *only, const char *symbol, NsModuleSymbolProc *proc,
             void *arg)
{
    Ns_Set *servers = Ns_ConfigGetSection("ns/servers");

    AskModules(NULL, symbol, proc, arg);
    for (int i = 0; servers != NULL && i < (int) Ns_SetSize(servers); i++) {
        const char *server = Ns_SetKey(servers, i);

        /* One that is named twice is one. */
        if ((only == NULL || STREQ(only, server))
            && Ns_SetFind(servers, server) == i) {
            AskModules(server, symbol, proc, arg);
        }
    }
}

static void
AskModules(const char *server, const char *symbol, NsModuleSymbolProc *proc,
           void *arg)
{
    const Ns_Set *modules =
        Ns_ConfigGetSection(Ns_ConfigGetPath(server, NULL, "modules", NULL));

    for (int i = 0; modules != NULL && i < (int) Ns_SetSize(modules); i++) {
        const char *file = Ns_SetValue(modules, i);
        char        path[PATH_MAX];
        void       *handle = NULL, *address = NULL;

        if (strcasecmp(file, "tcl") != 0 && NsModuleFind(file, path)
            && NsModuleNoteRead(path, NULL, 0u) != NS_NOTE_DIFFERS) {
            handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        }
        if (handle != NULL) {
            address = dlsym(handle, symbol);
        }
        if (address != NULL) {
            proc(server, Ns_SetKey(modules, i), address, arg);
        }
    }
}

bool
Ns_ModuleIsForServer(const char *name, const char *server, const char *module)
{
    if (server == NULL) {
        Ns_Log(Error,
               "%s: '%s' must be loaded for a server, not globally: name it "
               "in ns/server/SERVER/modules",
               name, module);
    }
    return server != NULL;
}

int
Ns_ModuleLoad(Tcl_Interp *interp, const char *server, const char *module,
              const char *file, const char *init)
{
    Object object = {.file = file};

    Ns_Log(Notice, "modload: loading %s", file);
    return OpenObject(&object) ? RunInit(&object, server, module, init)
                               : NS_ERROR;
}

void
Ns_RegisterModule(const char *name, Ns_ModuleInitProc *proc)
{
    StaticModule  *modulePtr = ns_calloc(1, sizeof(StaticModule));
    StaticModule **linkPtr = &firstStaticPtr;

    modulePtr->name = ns_strcopy(name);
    modulePtr->proc = proc;
    while (*linkPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = modulePtr;
}

static bool
OpenObject(Object *objectPtr)
{
    const char *file = objectPtr->file;
    char        path[PATH_MAX], problem[NS_NOTE_PROBLEM];
    NsNoteFit   fit;

    if (!NsModuleFind(file, path)) {
        Ns_Log(Error, "modload: %s: invalid path '%s': %s", file, path,
               strerror(errno));
        return false;
    }
    fit = NsModuleNoteRead(path, problem, sizeof(problem));
    if (fit == NS_NOTE_DIFFERS) {
        Ns_Log(Error, "modload: %s: %s", file, problem);
        return false;
    }
    objectPtr->hasNotes = fit == NS_NOTE_FITS;
    objectPtr->handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (objectPtr->handle == NULL) {
        Ns_Log(Error, "modload: %s: %s", file, dlerror());
    }
    return objectPtr->handle != NULL;
}

bool
NsModuleFind(const char *file, char *path)
{
    Ns_DString ds;
    bool       isFound;
    int        reason;

    Tcl_DStringInit(&ds);
    if (Ns_PathIsAbsolute(file)) {
        Tcl_DStringAppend(&ds, file, -1);
    } else {
        Ns_BinPath(&ds, file, NULL);
    }
    isFound = realpath(ds.string, path) != NULL;
    if (!isFound) {
        reason = errno;
        Tcl_DStringAppend(&ds, ".so", 3);
        isFound = realpath(ds.string, path) != NULL
            || FindInstalled(file, "", path)
            || FindInstalled(file, ".so", path);
        if (!isFound) {
            snprintf(path, PATH_MAX, "%.*s", Tcl_DStringLength(&ds) - 3,
                     ds.string);
            errno = reason;
        }
    }
    Tcl_DStringFree(&ds);
    return isFound;
}

static bool
FindInstalled(const char *file, const char *ending, char *path)
{
    Ns_DString name, ds;
    bool       isFound = false;

    if (Ns_PathIsAbsolute(file) || NsPathsHasBin()) {
        return false;
    }
    Ns_DStringInit(&name);
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&name, "bin/", file, ending, NULL);
    if (NsPathsInstalled(&ds, name.string)) {
        isFound = realpath(ds.string, path) != NULL;
    }
    Ns_DStringFree(&name);
    Ns_DStringFree(&ds);
    return isFound;
}

bool
NsModuleIsBad(const char *server, const char *module, const char *file,
              char *buffer, size_t bytes)
{
    union {
        void              *address;
        Ns_ModuleInitProc *proc;
    } check;
    char path[PATH_MAX];

    if (!NsModuleFind(file, path)) {
        int         reason = errno;
        const char *advice = NsModuleAdvice(file);

        snprintf(buffer, bytes, "%s: %s%s%s", path, strerror(reason),
                 advice != NULL ? "; " : "", advice != NULL ? advice : "");
        return true;
    }
    if (NsModuleSymbol(path, "Ns_ModuleInit", buffer, bytes) == NULL) {
        return true;
    }
    check.address = dlsym(dlopen(path, RTLD_NOW | RTLD_GLOBAL),
                          "Ns_ModuleCheck");
    if (check.address != NULL && check.proc(server, module) != NS_OK) {
        snprintf(buffer, bytes, "its settings are not usable, as logged");
        return true;
    }
    return false;
}

void *
NsModuleSymbol(const char *path, const char *symbol, char *buffer, size_t bytes)
{
    char  problem[NS_NOTE_PROBLEM];
    void *handle, *address;

    if (NsModuleNoteRead(path, problem, sizeof(problem)) == NS_NOTE_DIFFERS) {
        snprintf(buffer, bytes, "%s: %s", path, problem);
        return NULL;
    }
    handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (handle == NULL) {
        snprintf(buffer, bytes, "%s", dlerror());
        return NULL;
    }
    address = dlsym(handle, symbol);
    if (address == NULL) {
        snprintf(buffer, bytes, "%s: %s: symbol not found", path, symbol);
        return NULL;
    }
    if (!IsForUs(handle, address)) {
        snprintf(buffer, bytes,
                 "%s: it was built for another server, or "
                 "another version of this one",
                 path);
        return NULL;
    }
    return address;
}

/*
 * Modules without Ns_ModuleVersion date from a time when the init function
 * returned nothing.
 */
static int
RunInit(const Object *objectPtr, const char *server, const char *module,
        const char *init)
{
    union {
        void              *address;
        Ns_ModuleInitProc *proc;
    } symbol;
    const char *file = objectPtr->file;
    const int  *versionPtr = dlsym(objectPtr->handle, "Ns_ModuleVersion");
    int         status;

    symbol.address = dlsym(objectPtr->handle, init);
    if (symbol.address == NULL) {
        Ns_Log(Error, "modload: %s: %s: symbol not found", file, init);
        return NS_ERROR;
    }
    if (!IsForUs(objectPtr->handle, symbol.address)) {
        Ns_Log(
            Error,
            "modload: %s: it was built for another server, or another "
            "version of this one: build it again with the headers of this one",
            file);
        return NS_ERROR;
    }
    if (!objectPtr->hasNotes) {
        Ns_Log(Warning,
               "modload: %s: it does not say how large its structures are: "
               "build it again with the headers of this server",
               file);
    }
    if (IsOfLaterApi(objectPtr->handle, symbol.address)) {
        NsRequestMakeLists();
    }
    status = symbol.proc(server, module);
    if (versionPtr == NULL || *versionPtr < 1) {
        return NS_OK;
    }
    if (status != NS_OK) {
        Ns_Log(Error, "modload: %s: %s returned: %d", file, init, status);
        return NS_ERROR;
    }
    return NS_OK;
}

/*
 * Whether the module's own objects were compiled with the public structures of
 * this server.
 */
static bool
IsForUs(void *handle, void *initAddress)
{
    int number;

    return AskOwn(handle, initAddress, "Ns_ModuleInterface", &number)
        && number == NS_MODULE_INTERFACE;
}

static bool
IsOfLaterApi(void *handle, void *initAddress)
{
    int level;

    return AskOwn(handle, initAddress, "Ns_ModuleApiLevel", &level)
        && level >= 49933;
}

/*
 * Call a function of the headers in the module's own objects.  What it is
 * linked with, our library first of all, has the function as well and does not
 * count.
 */
static bool
AskOwn(void *handle, void *initAddress, const char *name, int *resultPtr)
{
    union {
        void *address;
        int (*proc)(void);
    } symbol;
    Dl_info own, found;

    symbol.address = dlsym(handle, name);
    if (symbol.address == NULL || dladdr(initAddress, &own) == 0
        || dladdr(symbol.address, &found) == 0
        || own.dli_fbase != found.dli_fbase) {
        return false;
    }
    *resultPtr = symbol.proc();
    return true;
}

/*
 * An init function may register more.
 */
static void
InitStaticModules(const char *server)
{
    while (firstStaticPtr != NULL) {
        StaticModule *modulePtr = firstStaticPtr;

        firstStaticPtr = modulePtr->nextPtr;
        Ns_Log(Notice, "modload: %s: initializing module", modulePtr->name);
        if (modulePtr->proc(server, modulePtr->name) != NS_OK) {
            Ns_Fatal("modload: %s: could not be initialized", modulePtr->name);
        }
        ns_free((char *) modulePtr->name);
        ns_free(modulePtr);
    }
}
