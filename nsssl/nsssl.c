/* SPDX-License-Identifier: MPL-2.0
 * nsssl.c --
 *
 *      The driver for HTTPS: its instances, their certificates, and the command
 *      ns_certctl.
 */

#include "certificate.h"
#include "connection.h"
#include "host.h"

#include <openssl/err.h>

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT int               Ns_ModuleListenPort = 443;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleCheck;

typedef struct Instance {
    struct Instance *nextPtr;
    SslHost         *hostPtr;
} Instance;

/*
 * Set while the server starts.
 */
static bool      isInitialized;
static Instance *firstInstancePtr;
static int       stapleSeconds; /* Between two looks at what is stapled. */

static Ns_DriverListenProc Listen;

static SslHost        *CreateInstance(const char *server, const char *module);
static bool            CheckHsts(const char *module, const char *path);
static void            InitLibrary(void);
static void            WatchFiles(const char *path);
static void            StartStapling(const char *path);
static Ns_Callback     StapleFirst;
static Ns_SchedProc    StapleAll;
static Ns_Callback     ReloadAll;
static Ns_Callback     ReloadChanged;
static Ns_TclTraceProc AddCommands;
static Tcl_ObjCmdProc  CertCtlObjCmd;
static int  TellCertificate(Tcl_Interp *interp, const char *fileOrPem);
static void ListCertificates(Tcl_Interp *interp);
static void ListHandshakes(Tcl_Interp *interp);

/*
 * For nsd -T: the certificate and all that belongs to it, as a start finds it.
 */
NS_EXPORT int
Ns_ModuleCheck(const char *server, const char *module)
{
    return CreateInstance(server, module) == NULL ? NS_ERROR : NS_OK;
}

static SslHost *
CreateInstance(const char *server, const char *module)
{
    char     *path = Ns_ConfigGetPath(server, module, NULL);
    Instance *instancePtr;

    if (path == NULL) {
        Ns_Log(Error,
               "%s: certificate parameter must be specified in the"
               " configuration file under the module's section",
               module);
        return NULL;
    }
    if (!CheckHsts(module, path)) {
        return NULL;
    }
    instancePtr = ns_calloc(1u, sizeof(Instance));
    instancePtr->hostPtr = SslHostCreate(module, path);
    instancePtr->nextPtr = firstInstancePtr;
    firstInstancePtr = instancePtr;
    return SslHostLoad(instancePtr->hostPtr, server)
        ? instancePtr->hostPtr
        : NULL;
}

/*
 * The server makes a header field of it (RFC 6797).
 */
static bool
CheckHsts(const char *module, const char *path)
{
    const char  *text = Ns_ConfigGetValue(path, "hsts");
    const char **words;
    int          nWords;
    Ns_Time      age;
    bool         isValid;

    if (text == NULL || *text == '\0') {
        return true;
    }
    if (Tcl_SplitList(NULL, text, &nWords, &words) != TCL_OK) {
        Ns_Log(Error, "%s: hsts is not a list: %s", module, text);
        return false;
    }
    isValid = nWords > 0 && Ns_GetTimeFromString(NULL, words[0], &age) == TCL_OK
        && age.sec >= 0;
    for (int i = 1; i < nWords; i++) {
        isValid = isValid
            && (STRIEQ(words[i], "includesubdomains")
                || STRIEQ(words[i], "preload"));
    }
    Tcl_Free((char *) words);
    if (!isValid) {
        Ns_Log(Error,
               "%s: hsts is not a time, with includesubdomains and preload if"
               " wanted: %s",
               module, text);
    }
    return isValid;
}

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    Ns_DriverInitData init = {0};
    char             *path = Ns_ConfigGetPath(server, module, NULL);
    SslHost          *hostPtr;

    InitLibrary();
    hostPtr = CreateInstance(server, module);
    if (hostPtr == NULL) {
        return NS_ERROR;
    }
    init.version = NS_DRIVER_VERSION_OWN;
    init.name = (char *) "nsssl";
    init.listenProc = Listen;
    init.acceptProc = SslAccept;
    init.recvProc = SslRecv;
    init.sendProc = SslSend;
    init.sendFileProc = SslSendFile;
    init.keepProc = SslKeep;
    init.closeProc = SslClose;
    init.detailsProc = SslDetails;
    init.setupProc = SslIsShakingHands;
    init.protocolProc = SslProtocol;
    init.opts = NS_DRIVER_ASYNC | NS_DRIVER_SSL | NS_DRIVER_FULLIO
        | NS_DRIVER_LINGER;
    init.arg = hostPtr;
    init.path = path;
    if (Ns_DriverInit(server, module, &init) != NS_OK) {
        return NS_ERROR;
    }
    if (Ns_TclRegisterTrace(server, AddCommands, NULL, NS_TCL_TRACE_CREATE)
        != NS_OK) {
        return NS_ERROR;
    }
    WatchFiles(path);
    Ns_Log(Notice, "%s: version %s loaded", module, NS_PATCH_LEVEL);
    return NS_OK;
}

/*
 * Once, for all instances.
 */
static void
InitLibrary(void)
{
    if (isInitialized) {
        return;
    }
    isInitialized = true;
    SslConnectionInit();
    Ns_Log(Notice, "nsssl: %s", OpenSSL_version(OPENSSL_VERSION));
    Ns_RegisterAtSignal(ReloadAll, NULL);
    Ns_RegisterAtReload(ReloadAll, NULL);
}

/*
 * Look now and then whether certificates have changed; the interval of the
 * first instance counts for all.
 */
static void
WatchFiles(const char *path)
{
    static bool isWatching;
    Ns_Time     interval;

    Ns_ConfigTimeUnitRange(path, "watchcertificates", "10s", 0, 0, INT_MAX, 0,
                           &interval);
    StartStapling(path);
    if (!isWatching && interval.sec > 0) {
        isWatching = true;
        (void) Ns_ScheduleProc(ReloadChanged, NULL, 1, (int) interval.sec);
    }
}

/*
 * In a thread of its own, as authorities may be slow; one at a time, as the
 * next run begins after this one.
 */
static void
StartStapling(const char *path)
{
    static bool isStapling;
    Ns_Time     interval;

    Ns_ConfigTimeUnitRange(path, "ocspcheckinterval", "5m", 1, 0, INT_MAX, 0,
                           &interval);
    if (!isStapling && Ns_ConfigBool(path, "ocspstapling", NS_FALSE)) {
        isStapling = true;
        stapleSeconds = (int) interval.sec;
        (void) Ns_RegisterAtStartup(StapleFirst, NULL);
    }
}

static void
StapleFirst(void *arg)
{
    (void) Ns_ScheduleProcEx(StapleAll, NULL, NS_SCHED_THREAD | NS_SCHED_ONCE,
                             0, NULL);
}

static void
StapleAll(void *arg, int id)
{
    SslContext *contextPtr;

    for (const Instance *instancePtr = firstInstancePtr; instancePtr != NULL;
         instancePtr = instancePtr->nextPtr) {
        for (int i = 0; !Ns_InfoShutdownPending()
             && (contextPtr = SslHostContext(instancePtr->hostPtr, i)) != NULL;
             i++) {
            SslContextStaple(contextPtr);
        }
    }
    (void) Ns_ScheduleProcEx(StapleAll, NULL, NS_SCHED_THREAD | NS_SCHED_ONCE,
                             stapleSeconds, NULL);
}

static void
ReloadAll(void *arg)
{
    for (const Instance *instancePtr = firstInstancePtr; instancePtr != NULL;
         instancePtr = instancePtr->nextPtr) {
        SslHostReload(instancePtr->hostPtr);
    }
}

static void
ReloadChanged(void *arg)
{
    for (const Instance *instancePtr = firstInstancePtr; instancePtr != NULL;
         instancePtr = instancePtr->nextPtr) {
        SslHostReloadChanged(instancePtr->hostPtr);
    }
}

static int
AddCommands(Tcl_Interp *interp, void *arg)
{
    Tcl_CreateObjCommand(interp, "ns_certctl", CertCtlObjCmd, NULL, NULL);
    return NS_OK;
}

/*
 * ns_certctl handshakes, info fileOrPem, list, reload
 */
static int
CertCtlObjCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    static const char *const options[] = {
        "handshakes", "info", "list", "reload", NULL};
    enum { HANDSHAKES, INFO, LIST, RELOAD };
    int option;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "handshakes|info|list|reload ?arg?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObj(interp, objv[1], options, "subcommand", 0, &option)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (objc != (option == INFO ? 3 : 2)) {
        Tcl_WrongNumArgs(interp, 2, objv, option == INFO ? "fileOrPem" : NULL);
        return TCL_ERROR;
    }
    if (option == INFO) {
        return TellCertificate(interp, Tcl_GetString(objv[2]));
    }
    if (option == LIST) {
        ListCertificates(interp);
    } else if (option == HANDSHAKES) {
        ListHandshakes(interp);
    } else {
        ReloadAll(NULL);
    }
    return TCL_OK;
}

static int
TellCertificate(Tcl_Interp *interp, const char *fileOrPem)
{
    bool       isOpen;
    X509      *x509 = SslCertificateRead(fileOrPem, &isOpen);
    Ns_DString ds;

    if (!isOpen) {
        Ns_TclPrintfResult(interp, "could not open certificate file '%s'",
                           fileOrPem);
        return TCL_ERROR;
    }
    if (x509 == NULL) {
        /* What may be a key is not repeated. */
        Ns_TclPrintfResult(interp, "there is no certificate in it");
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    SslCertificateAppend(&ds, x509);
    Tcl_DStringResult(interp, &ds);
    X509_free(x509);
    return TCL_OK;
}

static void
ListCertificates(Tcl_Interp *interp)
{
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    for (const Instance *instancePtr = firstInstancePtr; instancePtr != NULL;
         instancePtr = instancePtr->nextPtr) {
        SslContext *contextPtr;

        for (int i = 0;
             (contextPtr = SslHostContext(instancePtr->hostPtr, i)) != NULL;
             i++) {
            Tcl_Obj *elements[] = {
                Tcl_NewStringObj(SslContextFile(contextPtr), -1),
                Tcl_NewStringObj("remaining_days", -1),
                Tcl_ObjPrintf("%.2f", SslContextRemainingDays(contextPtr))};

            Tcl_ListObjAppendElement(NULL, listPtr,
                                     Tcl_NewListObj(3, elements));
        }
    }
    Tcl_SetObjResult(interp, listPtr);
}

static NS_SOCKET
Listen(Ns_Driver *driver, const char *address, int port, int backlog)
{
    NS_SOCKET sock = Ns_SockListenEx(address, port, backlog);

    if (sock != NS_INVALID_SOCKET) {
        (void) Ns_SockSetNonBlocking(sock);
    }
    return sock;
}

/*
 * A dict for each loaded driver.
 */
static void
ListHandshakes(Tcl_Interp *interp)
{
    static const char *const names[SSL_TLS_COUNT] = {
        [SSL_TLS_1_2] = "TLSv1.2",
        [SSL_TLS_1_3] = "TLSv1.3",
        [SSL_TLS_OTHER] = "other"};
    static const char *const reasons[SSL_FAILED_COUNT] = {
        [SSL_FAILED_OTHER] = "other",
        [SSL_FAILED_VERSION] = "version",
        [SSL_FAILED_CIPHER] = "cipher",
        [SSL_FAILED_CERTIFICATE] = "certificate",
        [SSL_FAILED_ALERT] = "alert",
        [SSL_FAILED_TIMEOUT] = "timeout",
        [SSL_FAILED_PLAIN] = "plain",
        [SSL_FAILED_CLOSED] = "closed"};
    Ns_DString ds;

    Ns_DStringInit(&ds);
    for (const Instance *instancePtr = firstInstancePtr; instancePtr != NULL;
         instancePtr = instancePtr->nextPtr) {
        const SslHandshakes *countsPtr =
            SslHostHandshakes(instancePtr->hostPtr);
        uint64_t failed[SSL_FAILED_COUNT], total = 0;

        Tcl_DStringStartSublist(&ds);
        Ns_DStringAppendElement(&ds, "module");
        Ns_DStringAppendElement(&ds, SslHostModule(instancePtr->hostPtr));
        for (int i = 0; i < SSL_TLS_COUNT; i++) {
            Ns_DStringPrintf(&ds, " %s {full %" PRIu64 " resumed %" PRIu64 "}",
                             names[i],
                             atomic_load_explicit(&countsPtr->full[i],
                                                  memory_order_relaxed),
                             atomic_load_explicit(&countsPtr->resumed[i],
                                                  memory_order_relaxed));
        }
        for (int i = 0; i < SSL_FAILED_COUNT; i++) {
            failed[i] = atomic_load_explicit(&countsPtr->failed[i],
                                             memory_order_relaxed);
            total += failed[i];
        }
        Ns_DStringPrintf(&ds, " failed %" PRIu64 " failures {", total);
        for (int i = 0; i < SSL_FAILED_COUNT; i++) {
            Ns_DStringPrintf(&ds, "%s%s %" PRIu64, i > 0 ? " " : "", reasons[i],
                             failed[i]);
        }
        Ns_DStringAppend(&ds, "}");
        Tcl_DStringEndSublist(&ds);
    }
    Tcl_DStringResult(interp, &ds);
}
