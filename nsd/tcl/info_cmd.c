/* SPDX-License-Identifier: MPL-2.0
 * info_cmd.c --
 *
 *      ns_info: facts about the process.
 *
 *      Options that came later are found by their whole name only and are not
 *      listed in error messages, which scripts compare.
 */

#include "ns.h"
#include "base/chars.h"
#include "base/memory.h"
#include "base/thread.h"
#include "http/mimetype.h"
#include "net/sockcallback.h"
#include "net/spool.h"
#include "process/callbacks.h"
#include "process/crash.h"
#include "process/info.h"
#include "process/paths.h"
#include "process/release.h"
#include "process/restart.h"
#include "process/sched.h"
#include "process/watchdog.h"
#include "request/filter.h"
#include "request/op.h"
#include "request/reqtrace.h"
#include "request/url2file.h"
#include "request/vhost.h"
#include "net/tlsclient.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/cryptokey.h"
#include "tcl/result.h"

#include <openssl/kdf.h>

#define TEXT(number)    TEXT_OF(number)
#define TEXT_OF(number) #number

typedef void ListProc(Ns_DString *dsPtr);
typedef void ServerProc(Ns_DString *dsPtr, NsServer *serverPtr);

static ListProc Allocator, Argv, Argv0, BinDir, BootTime, BuildInfo, LogDir,
    MemInfo, Release, Revision, ScheduleStats, Servers, Starts, Threads;
static ServerProc PageDir, Server, TclLib;

/*
 * A name, and the answer itself, or who returns or appends it.
 */
typedef struct Option {
    const char *name;
    const char *fixed;
    char *(*textProc)(void); /* NULL: there is none. */
    int (*numberProc)(void);
    ListProc   *listProc;
    ServerProc *serverProc;
    const char *alternative; /* Deprecated; what to use instead. */
} Option;

static const Option options[] = {
    {"address", .textProc = Ns_InfoAddress},
    {"argv0", .listProc = Argv0},
    {"boottime", .listProc = BootTime},
    {"builddate", .textProc = Ns_InfoBuildDate},
    {"callbacks", .listProc = NsCallbacksList},
    {"config", .textProc = Ns_InfoConfigFile},
    {"home", .textProc = Ns_InfoHomePath},
    {"hostname", .textProc = Ns_InfoHostname},
    {"locks", .listProc = Ns_MutexList},
    {"log", .textProc = Ns_InfoErrorLog},
    {"major", .fixed = TEXT(NS_MAJOR_VERSION)},
    {"minor", .fixed = TEXT(NS_MINOR_VERSION)},
    {"mimetypes", .listProc = NsMimeTypesList},
    {"name", .textProc = Ns_InfoServerName},
    {"nsd", .textProc = Ns_InfoNameOfExecutable},
    {"pagedir", .serverProc = PageDir,
     .alternative = "ns_server ?-server s? pagedir"},
    {"pageroot", .serverProc = PageDir,
     .alternative = "ns_server ?-server s? pagedir"},
    {"patchlevel", .fixed = NS_PATCH_LEVEL},
    {"pid", .numberProc = Ns_InfoPid},
    {"platform", .textProc = Ns_InfoPlatform,
     .alternative = "$::tcl_platform(platform)"},
    {"pools", .listProc = Tcl_GetMemoryInfo},
    {"scheduled", .listProc = NsSchedList},
    {"server", .serverProc = Server},
    {"servers", .listProc = Servers},
    {"sockcallbacks", .listProc = NsSockCallbacksList},
    {"tag", .textProc = Ns_InfoTag},
    {"tcllib", .serverProc = TclLib,
     .alternative = "ns_server ?-server s? tcllib"},
    {"threads", .listProc = Threads},
    {"uptime", .numberProc = Ns_InfoUptime},
    {"version", .fixed = NS_VERSION},
    {"winnt", .fixed = "0", .alternative = "$::tcl_platform(platform)"},
    {"filters", .serverProc = NsFilterList,
     .alternative = "ns_server ?-server s? filters"},
    {"traces", .serverProc = NsReqTraceList,
     .alternative = "ns_server ?-server s? traces"},
    {"requestprocs", .serverProc = NsOpList,
     .alternative = "ns_server ?-server s? requestprocs"},
    {"url2file", .serverProc = NsUrl2FileList,
     .alternative = "ns_server ?-server s? url2file"},
    {"shutdownpending", .numberProc = Ns_InfoShutdownPending},
    {"started", .numberProc = Ns_InfoStarted},
    {.name = NULL},
    /* Of later releases. */
    {"allocator", .listProc = Allocator},
    {"argv", .listProc = Argv},
    {"bindir", .listProc = BinDir},
    {"buildinfo", .listProc = BuildInfo},
    {"ipv6", .fixed = "1"},
    {"logdir", .listProc = LogDir},
    {"meminfo", .listProc = MemInfo},
    {"release", .listProc = Release},
    {"revision", .listProc = Revision},
    {"schedulehistory", .listProc = NsSchedListRuns},
    {"schedulestats", .listProc = ScheduleStats},
    {"scheduletimes", .listProc = NsSchedTimes},
    {"spool", .listProc = NsSpoolAppend},
    {"ssl", .fixed = "1"},
    {"starts", .listProc = Starts},
    {.name = NULL}};

static Tcl_ObjCmdProc InfoCmd;
static bool           IsCall(int objc, Tcl_Obj *const *objv, const char *option,
                             const char *flag);
static void           SslDetails(Ns_DString *dsPtr);
static void           Answer(const Option *optionPtr, NsServer *serverPtr,
                             Ns_DString *dsPtr);

static const NsTclCommand commands[] = {
    {"ns_info", InfoCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC}, NS_TCL_END};

NS_TCL_FAMILY(Info, commands)

/*
 * ns_info option
 */
static int
InfoCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsServer     *serverPtr = ((NsInterp *) clientData)->serverPtr;
    const Option *optionPtr;
    Ns_DString    ds;
    bool          isRelease = IsCall(objc, objv, "meminfo", "-release");
    bool          isDetails = IsCall(objc, objv, "ssl", "-details");

    if (objc != 2 && !isRelease && !isDetails) {
        Tcl_WrongNumArgs(interp, 1, objv, "option");
        return TCL_ERROR;
    }
    optionPtr = NsTclFindRow(interp, objv[1], options, sizeof(Option), "option",
                             false);
    if (optionPtr == NULL) {
        return TCL_ERROR;
    }
    if (optionPtr->serverProc != NULL && serverPtr == NULL) {
        return NsTclFail(interp, "no server");
    }
    if (isRelease) {
        NsMemoryRelease();
    }
    if (optionPtr->alternative != NULL) {
        Ns_LogDeprecated(objv, 2, optionPtr->alternative, NULL);
    }
    Ns_DStringInit(&ds);
    if (isDetails) {
        SslDetails(&ds);
    } else {
        Answer(optionPtr, serverPtr, &ds);
    }
    return NsTclReturnText(interp, &ds);
}

static bool
IsCall(int objc, Tcl_Obj *const *objv, const char *option, const char *flag)
{
    return objc == 3 && STREQ(Tcl_GetString(objv[1]), option)
        && STREQ(Tcl_GetString(objv[2]), flag);
}

/*
 * A dict of what the TLS library of this process can do.
 */
static void
SslDetails(Ns_DString *dsPtr)
{
    static const char *const keyTypes[] = {
        "RSA", "EC", "DH", "DSA", "X25519", "X448", "ED25519", "ED448"};
    static const char *const derivations[] = {
        "HKDF", "PBKDF2", "SCRYPT", "ARGON2ID"};

    Ns_DStringPrintf(dsPtr, "enabled 1 runtimeVersion {%s} digests {",
                     NsTlsLibraryVersion());
    NsCryptoDigests(dsPtr, " ");
    Ns_DStringAppend(dsPtr, "} keytypes {");
    for (int i = 0; i < Ns_NrElements(keyTypes); i++) {
        EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, keyTypes[i], NULL);

        if (ctx != NULL) {
            Ns_DStringVarAppend(dsPtr, i > 0 ? " " : "", keyTypes[i], NULL);
        }
        EVP_PKEY_CTX_free(ctx);
    }
    Ns_DStringAppend(dsPtr, "} capabilities {tls1.2 tls1.3 sni");
    for (int i = 0; i < Ns_NrElements(derivations); i++) {
        EVP_KDF *kdfPtr = EVP_KDF_fetch(NULL, derivations[i], NULL);

        if (kdfPtr != NULL) {
            Ns_DStringAppend(dsPtr, " ");
            for (const char *p = derivations[i]; *p != '\0'; p++) {
                Ns_DStringNAppend(dsPtr, &(char){NsToLower(*p)}, 1);
            }
        }
        EVP_KDF_free(kdfPtr);
    }
    Ns_DStringAppend(dsPtr, "}");
    NsCryptoForget();
}

static void
Answer(const Option *optionPtr, NsServer *serverPtr, Ns_DString *dsPtr)
{
    const char *text = optionPtr->fixed;

    if (optionPtr->textProc != NULL) {
        text = optionPtr->textProc();
    }
    if (optionPtr->serverProc != NULL) {
        optionPtr->serverProc(dsPtr, serverPtr);
    } else if (optionPtr->listProc != NULL) {
        optionPtr->listProc(dsPtr);
    } else if (optionPtr->numberProc != NULL) {
        Ns_DStringPrintf(dsPtr, "%d", optionPtr->numberProc());
    } else if (text != NULL) {
        Ns_DStringAppend(dsPtr, text);
    }
}

/*
 * The process and its machine.
 */

static void
Argv(Ns_DString *dsPtr)
{
    for (int i = 1; i < NsInfoArgc(); i++) {
        Ns_DStringAppendElement(dsPtr, NsInfoArgv()[i]);
    }
}

static void
Argv0(Ns_DString *dsPtr)
{
    Ns_DStringAppend(dsPtr, NsInfoArgv()[0]);
}

static void
BootTime(Ns_DString *dsPtr)
{
    Ns_DStringPrintf(dsPtr, "%" PRId64, (int64_t) Ns_InfoBootTime());
}

/*
 * The program.
 */

static void
BuildInfo(Ns_DString *dsPtr)
{
    Ns_DStringAppendElement(dsPtr, "compiler");
#if defined(__clang__)
    Ns_DStringAppendElement(dsPtr, "clang " __clang_version__);
#elif defined(__GNUC__)
    Ns_DStringAppendElement(dsPtr, "gcc " __VERSION__);
#else
    Ns_DStringAppendElement(dsPtr, "unknown");
#endif
#ifdef NS_DEBUG
    Ns_DStringAppend(dsPtr, " assertions 1");
#else
    Ns_DStringAppend(dsPtr, " assertions 0");
#endif
    Ns_DStringAppend(dsPtr,
                     " system_malloc 1 with_deprecated 1 tcl " TCL_PATCH_LEVEL);
}

/*
 * Files.
 */

static void
BinDir(Ns_DString *dsPtr)
{
    const char *path = Ns_InfoNameOfExecutable();
    const char *slash = strrchr(path, '/');

    if (NsPathsHasBin()) {
        (void) Ns_BinPath(dsPtr, NULL);
    } else {
        Ns_DStringNAppend(dsPtr, path,
                          slash != NULL ? (int) (slash - path) : -1);
    }
}

static void
LogDir(Ns_DString *dsPtr)
{
    NsPathsLog(dsPtr, NULL);
}

/*
 * Servers.
 */

static void
Server(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, serverPtr->name);
}

static void
Servers(Ns_DString *dsPtr)
{
    for (int i = 0; i < NsServerCount(); i++) {
        Ns_DStringAppendElement(dsPtr, NsServerAt(i)->name);
    }
}

static void
PageDir(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsPageRoot(dsPtr, serverPtr, NULL);
}

static void
TclLib(Ns_DString *dsPtr, NsServer *serverPtr)
{
    Ns_DStringAppend(dsPtr, Ns_TclLibrary(serverPtr->name));
}

/*
 * The present state.
 */

/*
 * No allocator of its own whose figures could be shown: empty stats.
 */
static void
MemInfo(Ns_DString *dsPtr)
{
    const char *preload = getenv("LD_PRELOAD");

    /* Statistics would take the place of those of the pools in monitors. */
    Ns_DStringAppendElement(dsPtr, "preload");
    Ns_DStringAppendElement(dsPtr, preload == NULL ? "" : preload);
    Ns_DStringAppendElement(dsPtr, "version");
    Ns_DStringAppendElement(dsPtr, NsMemoryVersion());
    Ns_DStringAppendElement(dsPtr, "stats");
    Ns_DStringAppendElement(dsPtr, "");
}

static void
Allocator(Ns_DString *dsPtr)
{
    NsMemoryStats stats;

    NsMemoryGetStats(&stats);
    Ns_DStringPrintf(dsPtr, "name %s allocated %zu heap %zu", stats.allocator,
                     stats.allocated, stats.heap);
}

/*
 * Of this server, in this process and those before it.
 */
static void
Starts(Ns_DString *dsPtr)
{
    Ns_DStringPrintf(dsPtr, "restarts %d crashes %d",
                     NsRestartCount() + NsWatchdogCount(), NsCrashCount());
}

static void
Release(Ns_DString *dsPtr)
{
    Ns_DStringAppend(dsPtr, NsReleaseVersion());
}

static void
Revision(Ns_DString *dsPtr)
{
    Ns_DStringAppend(dsPtr, NsReleaseRevision());
}

static void
ScheduleStats(Ns_DString *dsPtr)
{
    NsSchedStats stats;

    NsSchedGetStats(&stats);
    Ns_DStringPrintf(dsPtr,
                     "procs %d running %d queued %d runs %" PRId64
                     " late %" PRId64 " delay %.6f",
                     stats.nProcs, stats.nRunning, stats.nQueued, stats.nRuns,
                     stats.nLate, (double) stats.delay / NS_STAMP_SECOND);
}

static void
Threads(Ns_DString *dsPtr)
{
    Ns_ThreadList(dsPtr, Ns_GetProcInfo);
}
