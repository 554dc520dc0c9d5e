/* SPDX-License-Identifier: MPL-2.0
 * driver_params.c --
 *
 *      The configuration of drivers, and of all of them together.
 */

#include "net/driver_params.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/tempfile.h"
#include "net/budget.h"
#include "net/driver_listen.h"
#include "net/progress.h"
#include "net/spool.h"
#include "nslog.h"
#include "process/config.h"
#include "process/units.h"
#include "nsprocess.h"
#include "nssocket.h"
#include "nsstring.h"
#include "process/parameter_judge.h"
#include "process/parameters.h"
#include "process/setting.h"

#include <sys/resource.h>

#define ANY  NS_PARAM_NO_LIMIT
#define LIVE .settingProc = AccessDriver

/*
 * The limit of what is kept in memory as a whole, or counted in an int.
 */
#define GIB (INT64_C(1) << 30)

/*
 * Of all drivers.
 */
typedef struct Shared {
    _Atomic int64_t maxSpool;
    _Atomic int64_t maxBodySpool;
    _Atomic int64_t minFree;
    const char     *spoolPath;
    _Atomic int64_t maxBodyMemory;
    int64_t         progressMinSize;
    int             poller; /* Index of the word. */
    int             acceptLog;
} Shared;

/*
 * For files, log sinks, connections to others.
 */
#define OTHER_DESCRIPTORS 1024

/*
 * Descriptors that are few for a server on a network.
 */
#define FEW 4096

static Shared   shared;       /* Main thread, but for its settings. */
static Ns_Mutex settingsLock; /* Settings, of drivers too, are written. */

static NsParameterAdjustProc AdjustMaxUpload, AdjustUploadPath, AdjustReadAhead;
static NsParameterAdjustProc AdjustAcceptSize, AdjustMaxPartial,
    AdjustAcceptLog, AdjustPort;
static NsSettingProc      AccessDriver, AccessShared;
static bool               IsHsts(const char *text);
static void               UseLimits(void);
static NsSettingListProc  ListSections;
static const NsParameter *PortRows(const NsDriver *drvPtr);
static Ns_Time            TimeOf(NsStamp span);
static void               UseShared(void);
static void               TakeParams(NsDriver *drvPtr);
static int                WholeSeconds(NsStamp span);
static void               TakeHeaders(NsDriver *drvPtr);
static void               AppendHsts(Ns_DString *dsPtr, const char *text);

static void  TakeWriterParams(NsDriver *drvPtr);
static bool  TakeAddresses(NsDriver *drvPtr);
static bool  TakePorts(NsDriver *drvPtr);
static void  SplitList(const char *list, int *nPtr, char ***itemsPtr);
static char *MakeLocation(const NsDriver *drvPtr, const char *hostname);

static const NsParameter sharedRows[] = {
    NS_SIZE(
        Shared, maxSpool, "maxspool", "1GB", 0, ANY,
        "Disk space for all replies that clients have not taken; beyond that, "
        "they are cut off; 0 = no limit.",
        .settingProc = AccessShared),
    NS_SIZE(
        Shared, maxBodySpool, "maxbodyspool", "0", 0, ANY,
        "Disk space for all request bodies; beyond that, requests get 503; 0 = "
        "no limit.",
        .settingProc = AccessShared),
    NS_SIZE(Shared, minFree, "minfree", "0", 0, ANY,
            "Both leave this much of the file system free; 0 = not checked.",
            .settingProc = AccessShared),
    NS_PATH(Shared, spoolPath, "spoolpath", "uploadpath or tmpdir",
            "Directory of both; of bodies without a name.",
            .isDescribed = true),
    NS_SIZE(Shared, maxBodyMemory, "maxbodymemory", "256MB", 0, ANY,
            "Memory for all request bodies; beyond that, they go to disk.",
            .settingProc = AccessShared),
    NS_CHOICE(Shared, poller, "poller", "epoll", "epoll poll",
              "How drivers wait for sockets."),
    NS_SIZE(Shared, progressMinSize, "progressminsize", "0", 0, ANY,
            "Follow the progress of uploads that are larger; 0 = none."),
    NS_INT(
        Shared, acceptLog, "sockacceptlog", "4", 0, ANY,
        "Log when this many connections or more are accepted in one turn, once "
        "per second at most; 0 = never."),
    NS_PARAM_END};

static const NsParameter httpRows[] = {
    NS_NUMBERS(NsDriver, params.port, "port", "80", 0, 65535,
               "Ports to listen on."),
    NS_PARAM_END};

static const NsParameter httpsRows[] = {
    NS_NUMBERS(NsDriver, params.port, "port", "443", 0, 65535,
               "Ports to listen on; 0 = none."),
    NS_TEXT(NsDriver, params.hsts, "hsts", "",
            "Tell browsers to use only https: for how long (1y), and "
            "includesubdomains and preload if wanted.",
            LIVE),
    NS_PARAM_END};

/*
 * Of a driver that says which port is usual for it.
 */
static const NsParameter ownRows[] = {
    NS_NUMBERS(NsDriver, params.port, "port", "0", 0, 65535,
               "Ports to listen on.", .adjustProc = AdjustPort),
    NS_PARAM_END};

static const NsParameter http2Rows[] = {
    NS_BOOL(NsDriver, params.isHttp2, "http2", "true",
            "Offer HTTP/2 to clients (ALPN)."),
    NS_PARAM_END};

static const NsParameter http2ClearRows[] = {
    NS_BOOL(NsDriver, params.isHttp2, "http2clear", "false",
            "Speak HTTP/2 with clients that begin with it."),
    NS_PARAM_END};

static const NsParameter rows[] = {
    NS_TEXT(NsDriver, params.address, "address",
            "of hostname or of the machine", "Addresses to listen on.",
            .isDescribed = true),
    NS_TEXT(NsDriver, params.hostname, "hostname", "found by address",
            "Name in the location.", .isDescribed = true),
    NS_TEXT(NsDriver, params.location, "location", "protocol://hostname:port",
            "Location of the server.", .isDescribed = true),
    NS_TEXT(NsDriver, params.defaultServer, "defaultserver", "",
            "Server of requests without a known host, for a driver of all "
            "servers."),
    NS_SIZE(NsDriver, params.maxInput, "maxinput", "1048576", 1024, ANY,
            "Largest request body.", LIVE),
    NS_SIZE(NsDriver, params.maxUpload, "maxupload", "0", 0, ANY,
            "Larger bodies go to a named file; 0 = none; at most maxinput.",
            .adjustProc = AdjustMaxUpload, LIVE),
    NS_PATH(NsDriver, settings.uploadPath, "uploadpath",
            "system's directory for temporary files",
            "Directory of those "
            "files.",
            .isDescribed = true, .adjustProc = AdjustUploadPath, LIVE),
    NS_SIZE(NsDriver, params.bufSize, "bufsize", "16384", 1024, GIB,
            "First read on a connection.", LIVE),
    NS_SIZE(NsDriver, params.readAhead, "readahead", "value of bufsize", 1024,
            ANY,
            "Larger bodies go to disk; at least bufsize, at most "
            "maxinput.",
            .isDescribed = true, .adjustProc = AdjustReadAhead, LIVE),
    NS_SIZE(NsDriver, params.maxLineBytes, "maxline", "8192", 256, GIB,
            "Longest request or header line.", LIVE),
    NS_SIZE(NsDriver, params.maxHeadBytes, "maxhead", "64KB", 1024, GIB,
            "Longest request line and header together.", LIVE),
    NS_INT(NsDriver, params.maxFields, "maxheaders", "128", 8, 32767,
           "Header fields of a request.", LIVE),
    NS_BOOL(NsDriver, params.isLfStrict, "strictlf", "false",
            "Refuse lines of a head that end with LF instead of CR LF.", LIVE),
    NS_BOOL(NsDriver, params.allowsHttp09, "allowhttp09", "false",
            "Serve GET requests without a version, as in HTTP/0.9.", LIVE),
    NS_INT(NsDriver, params.maxQueueSize, "maxqueuesize", "16384", 1, ANY,
           "Sockets of a driver; beyond that, idle ones are closed for new "
           "clients, then those with the oldest unfinished requests.",
           LIVE),
    NS_INT(NsDriver, params.backlog, "backlog", "256", 1, ANY,
           "Backlog of listen()."),
    NS_INT(NsDriver, params.acceptSize, "acceptsize", "value of backlog", 1,
           ANY, "Connections accepted at a time.", .isDescribed = true,
           .adjustProc = AdjustAcceptSize, LIVE),
    NS_INT(NsDriver, params.acceptLog, "sockacceptlog",
           "value of ns/parameters", 0, ANY,
           "Log when this many connections are accepted in one turn.",
           .isDescribed = true, .adjustProc = AdjustAcceptLog, LIVE),
    NS_TIME(NsDriver, params.recvWait, "recvwait", "30", 1, ANY,
            "Longest silence within a request.", LIVE),
    NS_CHOICE(NsDriver, settings.proxyProtocol, "proxyprotocol", "off",
              "off required",
              "Whether each connection begins with a header of the PROXY "
              "protocol, which names the client."),
    NS_TIME(NsDriver, params.headTimeout, "headtimeout", "60", 1, ANY,
            "From the first byte of a request, or of a TLS handshake before "
            "it, to the end of its head.",
            LIVE),
    NS_TIME(NsDriver, params.sendWait, "sendwait", "30", 1, ANY,
            "Longest time that a client may accept no data.", LIVE),
    NS_TIME(NsDriver, settings.keepWait, "keepwait", "5", 0, ANY,
            "How long an idle connection is kept open; 0 = not at all.", LIVE),
    NS_TIME(NsDriver, params.closeWait, "closewait", "2", 0, ANY,
            "Time for a graceful close.", LIVE),
    NS_SIZE(NsDriver, settings.keepaliveMaxUploadSize, "keepalivemaxuploadsize",
            "0", 0, ANY, "Close after larger request bodies; 0 = never.", LIVE),
    NS_SIZE(NsDriver, settings.keepaliveMaxDownloadSize,
            "keepalivemaxdownloadsize", "0", 0, ANY,
            "Close after larger replies; 0 = never.", LIVE),
    NS_INT(NsDriver, params.nSpoolers, "spoolerthreads", "0", 0, 32,
           "Threads that receive bodies larger than readahead."),
    NS_INT(NsDriver, settings.nWriters, "writerthreads", "1", 0, 32,
           "Threads that send what clients do not take at once."),
    NS_SIZE(NsDriver, settings.writerSize, "writersize", "1048576", 1024, ANY,
            "From this size on, writers send what is encrypted, has a rate"
            " limit or is longer than 2 MB.",
            LIVE),
    NS_SIZE(NsDriver, params.writerBufSize, "writerbufsize", "8192", 512, GIB,
            "Size of the pieces in which it sends a file."),
    NS_BOOL(NsDriver, settings.writerStreaming, "writerstreaming", "false",
            "It also sends streamed output.", LIVE),
    NS_INT(NsDriver, params.writerRateKb, "writerratelimit", "0", 0, ANY,
           "Limit in kB/s for all that writers send; 0 = none.", LIVE),
    NS_SIZE(NsDriver, params.writerMemory, "writermemory", "256KB", 0, ANY,
            "Output of one reply that waits in memory; the rest waits on "
            "disk.",
            LIVE),
    NS_BOOL(NsDriver, params.deferAccept, "deferaccept", "false",
            "Let the kernel wait for data before it reports a connection."),
    NS_INT(NsDriver, params.nDriverThreads, "driverthreads", "1", 1, 64,
           "Driver threads that share the port."),
    NS_BOOL(NsDriver, params.reusePort, "reuseport", "false",
            "Other processes may share the port."),
    NS_TEXT(
        NsDriver, settings.livePath, "livepath", "",
        "Path that the driver itself answers with 200 as long as it is alive; "
        "empty: none.",
        LIVE),
    NS_TEXT(
        NsDriver, settings.readyPath, "readypath", "",
        "Path that is answered with 200 when new requests are welcome, else "
        "with 503 and the reason; empty: none.",
        LIVE),
    NS_TIME(
        NsDriver, settings.readyOverrun, "readyoverrun", "0", 0, ANY,
        "It says overloaded when the default pool has been full for this long; "
        "0 = never.",
        LIVE),
    NS_BOOL(NsDriver, settings.isHealthLogged, "healthlog", "false",
            "Requests for these are in the access log.", LIVE),
    NS_FIELDS(NsDriver, params.extraHeaders, "extraheaders", "",
              "Header fields of every reply that does not have them itself.",
              LIVE),
    NS_SIZE(
        NsDriver, params.minReceiveRate, "minrecvrate", "100", 0, GIB,
        "Minimum rate at which a client must send, in bytes per second; 0 = no "
        "minimum.",
        LIVE),
    NS_SIZE(
        NsDriver, params.minSendRate, "minsendrate", "100", 0, GIB,
        "Minimum rate at which a client must read, in bytes per second; 0 = no "
        "minimum.",
        LIVE),
    NS_INT(
        NsDriver, params.maxPartialPerPeer, "maxpartialperpeer",
        "256, at most half of maxqueuesize", 0, ANY,
        "Half-received requests and TLS handshakes of one address, or one IPv6 "
        "network (/64); 0 = no limit.",
        .isDescribed = true, .adjustProc = AdjustMaxPartial, LIVE),
    NS_BOOL(NsDriver, params.noDelay, "nodelay", "true",
            "Set TCP_NODELAY on connections.", LIVE),
    NS_IGNORED("uploadsize", "Obsolete, ignored."),
    NS_PARAM_END};

void
NsDriverParamsInit(void)
{
    NsParametersRegister("ns/parameters", sharedRows, sizeof(Shared));
    NsParametersRegister("module/nssock", httpRows, sizeof(NsDriver));
    NsParametersRegister("module/nssock", rows, sizeof(NsDriver));
    NsParametersRegister("module/nssock", http2ClearRows, sizeof(NsDriver));
    NsParametersRegister("module/nsssl", http2Rows, sizeof(NsDriver));
    NsParametersRegister("module/nsssl", httpsRows, sizeof(NsDriver));
    NsParametersRegister("module/nsssl", rows, sizeof(NsDriver));
    NsSettingAddSections(ListSections);
    NsMutexSetup(&settingsLock, NS_RANK_DRIVERS, "ns:driversettings", NULL);
}

/*
 * Those of modules whose parameters are not in the table change at a restart.
 */
static void
ListSections(NsSettingSectionProc *proc, void *arg)
{
    for (NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (drvPtr->ownPort == NULL) {
            proc(drvPtr->path,
                 drvPtr->settings.isTls ? "module/nsssl" : "module/nssock",
                 arg);
        }
    }
}

static Ns_ReturnCode
AccessShared(const char *section, NsSettingAccess *accessPtr)
{
    Ns_ReturnCode result;

    Ns_MutexLock(&settingsLock);
    result = NsSettingAccessStruct(accessPtr, &shared);
    UseLimits();
    Ns_MutexUnlock(&settingsLock);
    return result;
}

static Ns_ReturnCode
AccessDriver(const char *section, NsSettingAccess *accessPtr)
{
    NsDriver     *drvPtr = NsFirstDriver;
    Ns_ReturnCode result;

    while (drvPtr != NULL && !STRIEQ(drvPtr->path, section)) {
        drvPtr = drvPtr->nextPtr;
    }
    NsAssert(drvPtr != NULL);
    for (int i = 0; i < accessPtr->nChanges; i++) {
        const NsSettingChange *changePtr = &accessPtr->changes[i];

        if (STREQ(changePtr->rowPtr->key, "hsts") && !IsHsts(changePtr->text)) {
            Ns_DStringPrintf(accessPtr->valuePtr,
                             "hsts: \"%s\" is not a time, with "
                             "includesubdomains and preload if wanted",
                             changePtr->text);
            return NS_ERROR;
        }
    }
    Ns_MutexLock(&settingsLock);
    result = NsSettingAccessStruct(accessPtr, drvPtr);
    if (NsSettingHasChanged(accessPtr, "writerratelimit")) {
        drvPtr->rate.bytesPerSecond = INT64_C(1024)
            * drvPtr->params.writerRateKb;
    }
    if (result == NS_OK
        && (NsSettingHasChanged(accessPtr, "extraheaders")
            || NsSettingHasChanged(accessPtr, "hsts"))) {
        TakeHeaders(drvPtr);
    }
    if (result == NS_OK && NsSettingHasChanged(accessPtr, "nodelay")) {
        NsDriverSetNoDelay(drvPtr);
    }
    if (result == NS_OK && NsSettingHasChanged(accessPtr, "maxqueuesize")) {
        NsDriverRaiseLimit();
    }
    Ns_MutexUnlock(&settingsLock);
    return result;
}

/*
 * Connections are limited by maxqueuesize, not by a soft limit that was chosen
 * for programs that use select(): as far as the hard limit allows it.
 */
void
NsDriverRaiseLimit(void)
{
    struct rlimit limit;
    rlim_t        wanted = OTHER_DESCRIPTORS;
    bool          isAsked = false; /* Somebody counts on it. */

    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        wanted += (rlim_t) drvPtr->params.maxQueueSize;
        isAsked = isAsked
            || NsConfigPlaceOf(drvPtr->path, "maxqueuesize").file != NULL;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
        return;
    }
    limit.rlim_cur = MIN(wanted, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    if (limit.rlim_cur < wanted && (isAsked || limit.rlim_cur < FEW)) {
        Ns_Log(Warning,
               "driver: the process may open %" PRIu64
               " files, but maxqueuesize needs %" PRIu64
               ": raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd)",
               (uint64_t) limit.rlim_cur, (uint64_t) wanted);
    } else {
        Ns_Log(Notice, "driver: the process may open %" PRIu64 " files%s",
               (uint64_t) limit.rlim_cur,
               limit.rlim_cur < wanted ? ", fewer than maxqueuesize needs"
                                       : "");
    }
}

bool
NsDriverParamsRead(NsDriver *drvPtr)
{
    UseShared();
    NsParametersFill(rows, drvPtr->path, drvPtr);
    NsParametersFill(PortRows(drvPtr), drvPtr->path, drvPtr);
    NsParametersFill(drvPtr->settings.isTls ? http2Rows : http2ClearRows,
                     drvPtr->path, drvPtr);
    TakeParams(drvPtr);
    TakeWriterParams(drvPtr);
    TakeHeaders(drvPtr);
    return TakeAddresses(drvPtr);
}

static const NsParameter *
PortRows(const NsDriver *drvPtr)
{
    if (drvPtr->ownPort != NULL) {
        return ownRows;
    }
    return drvPtr->settings.isTls ? httpsRows : httpRows;
}

NsPollerKind
NsDriverPollerKind(void)
{
    return shared.poller == 0 ? NS_POLLER_EPOLL : NS_POLLER_POLL;
}

static void
AdjustMaxUpload(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsDriver *drvPtr = valuesPtr;

    limitsPtr->max = drvPtr->params.maxInput;
    limitsPtr->maxName = "maxinput";
}

static void
AdjustUploadPath(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    limitsPtr->defaultText = NsTempDirectory();
}

static void
AdjustPort(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsDriver *drvPtr = valuesPtr;

    limitsPtr->defaultText = drvPtr->ownPort;
}

/*
 * The bytes of the first read are in memory, and no body is larger than
 * maxinput.
 */
static void
AdjustReadAhead(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsDriverParams *paramsPtr = &((const NsDriver *) valuesPtr)->params;

    limitsPtr->min = paramsPtr->bufSize;
    limitsPtr->minName = "bufsize";
    limitsPtr->max = MAX(paramsPtr->maxInput, paramsPtr->bufSize);
    limitsPtr->maxName = "maxinput";
    NsParameterDefault(limitsPtr, paramsPtr->bufSize);
}

static void
AdjustAcceptSize(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsDriver *drvPtr = valuesPtr;

    NsParameterDefault(limitsPtr, drvPtr->params.backlog);
}

static void
AdjustAcceptLog(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    NsParameterDefault(limitsPtr, shared.acceptLog);
}

static void
AdjustMaxPartial(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const NsDriver *drvPtr = valuesPtr;

    NsParameterDefault(limitsPtr,
                       MIN(256, MAX(drvPtr->params.maxQueueSize / 2, 1)));
}

static void
UseShared(void)
{
    NsParametersFill(sharedRows, "ns/parameters", &shared);
    UseLimits();
    NsSpoolSetDirectory(shared.spoolPath);
    NsProgressSetMinimum(shared.progressMinSize);
}

static void
UseLimits(void)
{
    NsBudgetSetLimit(NS_BUDGET_BODIES, shared.maxBodyMemory);
    NsSpoolSetLimit(NS_SPOOL_REPLIES, shared.maxSpool);
    NsSpoolSetLimit(NS_SPOOL_BODIES, shared.maxBodySpool);
    NsSpoolSetMinFree(shared.minFree);
}

static void
TakeParams(NsDriver *drvPtr)
{
    NsDriverParams *paramsPtr = &drvPtr->params;

    drvPtr->pub.recvwait = WholeSeconds(paramsPtr->recvWait);
    drvPtr->pub.sendwait = WholeSeconds(paramsPtr->sendWait);
    drvPtr->pub.later_recvwait = TimeOf(paramsPtr->recvWait);
    drvPtr->pub.later_sendwait = TimeOf(paramsPtr->sendWait);
    drvPtr->pub.bufsize = paramsPtr->bufSize;
}

/*
 * Of every reply; NULL: there are none.
 */
static void
TakeHeaders(NsDriver *drvPtr)
{
    const char *own = drvPtr->params.extraHeaders;
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, own == NULL ? "" : own);
    AppendHsts(&ds, drvPtr->params.hsts);
    drvPtr->settings.extraHeaders = ds.length == 0
        ? NULL
        : NsSettingKeepText(ds.string);
    drvPtr->pub.extraHeaders = drvPtr->settings.extraHeaders;
    Ns_DStringFree(&ds);
}

/*
 * Whether nsssl would take it.
 */
static bool
IsHsts(const char *text)
{
    const char **words;
    int          nWords;
    Ns_Time      age;
    bool         isOne;

    if (text == NULL || *text == '\0') {
        return true;
    }
    if (Tcl_SplitList(NULL, text, &nWords, &words) != TCL_OK) {
        return false;
    }
    isOne = nWords > 0 && NsUnitsTime(words[0], &age) && age.sec >= 0;
    for (int i = 1; i < nWords && isOne; i++) {
        isOne = STRIEQ(words[i], "includesubdomains")
            || STRIEQ(words[i], "preload");
    }
    Tcl_Free((char *) words);
    return isOne;
}

/*
 * RFC 6797.  The driver has made sure of the value.
 */
static void
AppendHsts(Ns_DString *dsPtr, const char *text)
{
    const char **words;
    int          nWords;
    Ns_Time      age = {0, 0};
    Ns_DString   value;

    if (text == NULL || Tcl_SplitList(NULL, text, &nWords, &words) != TCL_OK) {
        return;
    }
    Ns_DStringInit(&value);
    if (nWords > 0 && NsUnitsTime(words[0], &age)) {
        Ns_DStringPrintf(&value, "max-age=%ld", (long) age.sec);
        for (int i = 1; i < nWords; i++) {
            Ns_DStringVarAppend(&value, "; ",
                                STRIEQ(words[i], "preload")
                                    ? "preload"
                                    : "includeSubDomains",
                                NULL);
        }
        Ns_DStringAppendElement(dsPtr, "Strict-Transport-Security");
        Ns_DStringAppendElement(dsPtr, Ns_DStringValue(&value));
    }
    Tcl_Free((char *) words);
    Ns_DStringFree(&value);
}

/*
 * For modules that see no fractions.
 */
static int
WholeSeconds(NsStamp span)
{
    return (int) MIN((span + NS_STAMP_SECOND - 1) / NS_STAMP_SECOND, INT_MAX);
}

static Ns_Time
TimeOf(NsStamp span)
{
    return (Ns_Time){.sec = (long) (span / NS_STAMP_SECOND),
                     .usec = (long) (span % NS_STAMP_SECOND / 1000)};
}

static void
TakeWriterParams(NsDriver *drvPtr)
{
    const NsDriverParams *paramsPtr = &drvPtr->params;
    NsSockSettings       *settingsPtr = &drvPtr->settings;

    atomic_init(&drvPtr->rate.bytesPerSecond,
                INT64_C(1024) * paramsPtr->writerRateKb);
    if (settingsPtr->nWriters > 0) {
        Ns_Log(Notice,
               "%s: enable %d writer thread(s) for downloads >= "
               "%" PRId64 " bytes, bufsize=%d bytes, HTML streaming %d",
               drvPtr->pub.module, settingsPtr->nWriters,
               (int64_t) settingsPtr->writerSize, paramsPtr->writerBufSize,
               settingsPtr->writerStreaming);
    }
}

/*
 * Addresses, ports and the location.  Without `address`, that of the host is
 * for the location alone, and all interfaces are listened on.
 */
static bool
TakeAddresses(NsDriver *drvPtr)
{
    const char *address = drvPtr->params.address;
    const char *hostname = drvPtr->params.hostname;
    const char *location = drvPtr->params.location;
    Ns_DString  ds;

    if (!TakePorts(drvPtr)) {
        return false;
    }
    Ns_DStringInit(&ds);
    if (address == NULL || *address == '\0') {
        const char *name = hostname != NULL ? hostname : Ns_InfoHostname();

        if (!Ns_GetAddrByHost(&ds, name)) {
            Ns_Log(Error, "%s: cannot resolve %s", drvPtr->pub.module, name);
            Ns_DStringFree(&ds);
            return false;
        }
        if (hostname == NULL) {
            hostname = name;
        }
    } else {
        SplitList(address, &drvPtr->nAddresses, &drvPtr->addresses);
        Ns_DStringAppend(&ds, drvPtr->addresses[0]);
    }
    drvPtr->pub.address = Ns_DStringExport(&ds);
    if (hostname == NULL) {
        hostname = drvPtr->pub.address;
    }
    drvPtr->pub.location = location != NULL && strstr(location, "://") != NULL
        ? ns_strdup(location)
        : MakeLocation(drvPtr, hostname);
    return true;
}

static bool
TakePorts(NsDriver *drvPtr)
{
    char **ports;
    bool   isValid = true;

    SplitList(drvPtr->params.port, &drvPtr->nPorts, &ports);
    drvPtr->ports = ns_calloc((size_t) MAX(drvPtr->nPorts, 1), sizeof(int));
    for (int i = 0; i < drvPtr->nPorts; i++) {
        if (isValid
            && (Ns_StrToInt(ports[i], &drvPtr->ports[i]) != NS_OK
                || drvPtr->ports[i] < 0 || drvPtr->ports[i] > 65535)) {
            Ns_Log(Error, "%s: invalid port: %s", drvPtr->pub.module, ports[i]);
            isValid = false;
        }
        ns_free(ports[i]);
    }
    ns_free(ports);
    return isValid;
}

static void
SplitList(const char *list, int *nPtr, char ***itemsPtr)
{
    const char **items;
    int          n;

    if (Tcl_SplitList(NULL, list, &n, &items) != TCL_OK || n == 0) {
        *nPtr = 1;
        *itemsPtr = ns_calloc(1u, sizeof(char *));
        (*itemsPtr)[0] = ns_strdup(list);
        return;
    }
    *nPtr = n;
    *itemsPtr = ns_calloc((size_t) n, sizeof(char *));
    for (int i = 0; i < n; i++) {
        (*itemsPtr)[i] = ns_strdup(items[i]);
    }
    Tcl_Free((char *) items);
}

static char *
MakeLocation(const NsDriver *drvPtr, const char *hostname)
{
    bool       isV6 = strchr(hostname, ':') != NULL;
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s://%s%s%s", drvPtr->pub.protocol, isV6 ? "[" : "",
                     hostname, isV6 ? "]" : "");
    if (drvPtr->ports[0] != drvPtr->defaultPort) {
        Ns_DStringPrintf(&ds, ":%d", drvPtr->ports[0]);
    }
    return Ns_DStringExport(&ds);
}
