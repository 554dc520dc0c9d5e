/* SPDX-License-Identifier: MPL-2.0
 * nslog.c --
 *
 *      The access log: one line per finished request, in common or combined
 *      log format, or in JSON for sinks that ask for it.
 *
 *      The thread that finished a request puts what the line needs into the
 *      log's stream; a log thread makes the line and writes it, unless
 *      asynclogwriter is off.
 */

#include <stdatomic.h>

#include "ns.h"
#include "nsaccessline.h"

#include <arpa/inet.h>

#define REQUEST  "request:"
#define REQ      "req:"
#define RESPONSE "response:"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleCheck;

/*
 * A field to append, and how records name it.
 */
typedef struct Header {
    const char *name;  /* Of the field. */
    const char *label; /* Of the list; as the name, but for replies. */
    bool        isOfReply;
} Header;

/*
 * Those of requests come first.  A new list takes the place of an old one,
 * which stays, since a request may be reading it.
 */
typedef struct HeaderList {
    struct HeaderList *olderPtr;
    char              *text; /* As it was given. */
    const char       **words;
    int                n;
    Header            *headers;
} HeaderList;

/*
 * Which requests are logged, and what of their clients' addresses.  Constant; a
 * new one takes the place of an old one, as with headers.
 */
typedef struct Choice {
    struct Choice *olderPtr;
    const char    *driver; /* Pattern; NULL: all. */
    bool           masksPeer;
    unsigned char  mask4[4];
    unsigned char  mask6[16];
} Choice;

typedef struct Log {
    /* Constant after creation. */
    const char  *server;
    const char  *module;
    char        *section;
    Ns_LogStream stream;
    Ns_LogSink   sink;

    /* Atomic; written under the lock. */
    atomic_int            flags;
    _Atomic(HeaderList *) headersPtr;
    _Atomic(Choice *)     choicePtr;
    atomic_bool           rollsOnSignal;

    /* At the start, and then of the one reload at a time. */
    Ns_AccessParams params;     /* As the configuration has them. */
    char           *headerText; /* Likewise, with those of the format. */
    int             rollId;     /* Of the daily roll; -1: none. */
    bool            hasSignal;  /* Its procedure is registered. */

    Ns_Mutex lock; /* Guards the rest. */
    char    *file;
    char    *rollFormat; /* NULL: numbers. */
    int      maxBackup;
    int      maxBuffer;
} Log;

/*
 * A roll under way, as its rename procedure needs it and leaves it.
 */
typedef struct Roll {
    const char *toPath; /* NULL: by the log's settings. */
    const char *rollFormat;
    int         maxBackup;
    bool        hasFailed; /* The file stays where it is. */
} Roll;

static const struct {
    const char *name;
    int         flag;
} flagTable[] = {{"logcombined", NS_ACCESS_COMBINED},
                 {"formattedtime", NS_ACCESS_FMTTIME},
                 {"logreqtime", NS_ACCESS_REQTIME},
                 {"logpartialtimes", NS_ACCESS_PARTIALTIMES},
                 {"checkforproxy", NS_ACCESS_CHECKFORPROXY},
                 {"suppressquery", NS_ACCESS_SUPPRESSQUERY},
                 {"logthreadname", NS_ACCESS_THREADNAME}};

static bool  ReadParams(Log *logPtr);
static void  WarnOfProxies(const Log *logPtr);
static char *FindFile(const Log *logPtr, const char *file);
static bool  SetChoice(Log *logPtr);
static bool  SetMasks(Choice *choicePtr, const Ns_AccessParams *paramsPtr);
static bool  IsSame(const char *left, const char *right);
static void  SetConfiguredHeaders(Log *logPtr);
static void  SetRolls(Log *logPtr);
static Ns_Callback Reload;
static void        TakeNew(Log *logPtr, const Ns_AccessParams *oldPtr);
static void        UseBackups(Log *logPtr, const char *format, int maxBackup);
static int         BackupsKept(const Log *logPtr);
static void        UseBuffer(Log *logPtr, int maxBuffer);
static void        UseFile(Log *logPtr, char *new);
static void        MakeDirectories(char *path);
static bool        OpenLog(Log *logPtr);
static bool   SetHeaders(Log *logPtr, Tcl_Interp *interp, const char *text);
static bool   HasPrefix(const char *word, const char *prefix);
static size_t PrefixBytes(const char *word);
static void   AddHeaders(HeaderList *listPtr, const char **words, int n,
                         bool isOfReply);
static Ns_TclTraceProc AddCommand;
static Ns_AccessProc   LogAccess;
static void        PutPrepared(const Log *logPtr, const Ns_Access *accessPtr,
                               const void *prepared, size_t length);
static void        PutNew(const Log *logPtr, const Ns_Access *accessPtr);
static const char *MaskPeer(const Choice *choicePtr, const char *peer,
                            char *buffer);
static void AppendFlagged(Ns_DString *dsPtr, Ns_AccessRecord *r, uint32_t flag,
                          const char *text);
static void SetFigures(Ns_AccessRecord *r, const Ns_Access *accessPtr);
static int64_t Micros(const Ns_Time *timePtr);
static void    AppendHeaders(Ns_DString *dsPtr, const HeaderList *headersPtr,
                             const Ns_Access *accessPtr);
static void    AppendCounted(Ns_DString *dsPtr, const char *bytes, size_t n);
static Ns_LogRenameProc Rename;
static int              MoveFile(const char *from, const char *to);
static int              RollLog(Log *logPtr, const char *toPath);
static char            *DupFile(Log *logPtr);
static Ns_SchedProc     DailyRoll;
static Ns_Callback      SignalRoll;
static void             RollNow(Log *logPtr);
static Ns_ShutdownProc  CloseLog;
static Ns_ArgProc       DescribeLog;

static Tcl_ObjCmdProc AccessLogCmd;
static Tcl_ObjCmdProc RollFormatCmd;
static Tcl_ObjCmdProc MaxBackupCmd;
static Tcl_ObjCmdProc MaxBufferCmd;
static Tcl_ObjCmdProc HeadersCmd;
static Tcl_ObjCmdProc FlagsCmd;
static Tcl_ObjCmdProc FileCmd;
static Tcl_ObjCmdProc RollCmd;

/*
 * For nsd -T.
 */
int
Ns_ModuleCheck(const char *server, const char *module)
{
    return Ns_ModuleIsForServer("nslog", server, module) ? NS_OK : NS_ERROR;
}

int
Ns_ModuleInit(const char *server, const char *module)
{
    Log       *logPtr;
    Ns_DString section;

    if (!Ns_ModuleIsForServer("nslog", server, module)) {
        return NS_ERROR;
    }
    logPtr = ns_calloc(1u, sizeof(*logPtr));
    Ns_MutexInit(&logPtr->lock);
    Ns_MutexSetName2(&logPtr->lock, "nslog", server);
    logPtr->server = server;
    logPtr->module = module;
    logPtr->rollId = -1;
    Ns_DStringInit(&section);
    Ns_DStringPrintf(&section, "ns/server/%s/module/%s", server, module);
    logPtr->section = Ns_DStringExport(&section);
    if (!ReadParams(logPtr) || !OpenLog(logPtr)) {
        return NS_ERROR;
    }
    SetRolls(logPtr);
    (void) Ns_RegisterAtReload(Reload, logPtr);
    (void) Ns_RegisterAtShutdown(CloseLog, logPtr);
    Ns_RegisterProcInfo((void *) DailyRoll, "nslog:roll", DescribeLog);
    Ns_RegisterProcInfo((void *) SignalRoll, "nslog:roll", DescribeLog);
    Ns_RegisterProcInfo((void *) Reload, "nslog:reload", DescribeLog);
    Ns_RegisterProcInfo((void *) CloseLog, "nslog:close", DescribeLog);
    Ns_RegisterProcInfo((void *) LogAccess, "nslog:access", DescribeLog);
    Ns_RegisterAccessProc(server, LogAccess, logPtr);
    return Ns_TclRegisterTrace(server, AddCommand, logPtr, NS_TCL_TRACE_CREATE);
}

/*
 * All but what needs a sink.
 */
static bool
ReadParams(Log *logPtr)
{
    Ns_AccessParams *paramsPtr = &logPtr->params;

    Ns_AccessParamsRead(logPtr->section, paramsPtr);
    logPtr->file = FindFile(logPtr, paramsPtr->file);
    logPtr->maxBuffer = paramsPtr->maxBuffer;
    logPtr->rollFormat = IsSame(paramsPtr->rollFormat, "")
        ? NULL
        : ns_strdup(paramsPtr->rollFormat);
    logPtr->maxBackup = paramsPtr->maxBackup;
    atomic_store(&logPtr->flags, paramsPtr->flags);
    WarnOfProxies(logPtr);
    SetConfiguredHeaders(logPtr);
    return SetChoice(logPtr);
}

static void
WarnOfProxies(const Log *logPtr)
{
    if ((logPtr->params.flags & NS_ACCESS_CHECKFORPROXY) != 0
        && *Ns_ConfigString("ns/parameters", "trustedproxies", "") == '\0'
        && (!Ns_ConfigBool("ns/reverseproxymode", "enabled", NS_FALSE)
            || *Ns_ConfigString("ns/reverseproxymode", "trustedservers", "")
                == '\0')) {
        Ns_Log(
            Warning,
            "nslog: checkforproxy without a list of proxies: those on this "
            "machine and in private networks are trusted; set trustedproxies "
            "in ns/parameters");
    }
}

/*
 * Texts of which each may be missing, which is as empty.
 */
static bool
IsSame(const char *left, const char *right)
{
    return STREQ(left == NULL ? "" : left, right == NULL ? "" : right);
}

/*
 * The fields of the parameter, and those that the format asks for.
 */
static void
SetConfiguredHeaders(Log *logPtr)
{
    const char *text = Ns_ConfigString(logPtr->section, "extendedheaders", "");
    Ns_DString  headers;

    Ns_DStringInit(&headers);
    Ns_DStringAppend(&headers, text);
    Ns_AccessParamsHeaders(logPtr->section, &headers);
    if (logPtr->headerText == NULL
        || !STREQ(logPtr->headerText, Ns_DStringValue(&headers))) {
        ns_free(logPtr->headerText);
        logPtr->headerText = ns_strdup(Ns_DStringValue(&headers));
        if (!SetHeaders(logPtr, NULL, logPtr->headerText)) {
            Ns_Log(Error, "nslog: invalid %s/extendedHeaders parameter: '%s'",
                   logPtr->section, text);
            (void) SetHeaders(logPtr, NULL, "");
        }
    }
    Ns_DStringFree(&headers);
}

/*
 * The times of rolls.
 */
static void
SetRolls(Log *logPtr)
{
    const Ns_AccessParams *paramsPtr = &logPtr->params;

    if (logPtr->rollId >= 0) {
        Ns_UnscheduleProc(logPtr->rollId);
        logPtr->rollId = -1;
    }
    if (paramsPtr->rollsDaily) {
        logPtr->rollId = Ns_ScheduleDaily(DailyRoll, logPtr, NS_SCHED_THREAD,
                                          paramsPtr->rollHour, 0, NULL);
    }
    atomic_store(&logPtr->rollsOnSignal, paramsPtr->rollsOnSignal);
    if (paramsPtr->rollsOnSignal && !logPtr->hasSignal) {
        logPtr->hasSignal = true;
        (void) Ns_RegisterAtSignal(SignalRoll, logPtr);
    }
}

/*
 * Take over what has changed in the configuration; what ns_accesslog has set
 * beside that stays.
 */
static void
Reload(void *arg)
{
    Log            *logPtr = arg;
    Ns_AccessParams old = logPtr->params;

    Ns_AccessParamsRead(logPtr->section, &logPtr->params);
    SetConfiguredHeaders(logPtr);
    TakeNew(logPtr, &old);
}

static void
TakeNew(Log *logPtr, const Ns_AccessParams *oldPtr)
{
    const Ns_AccessParams *newPtr = &logPtr->params;

    if (newPtr->flags != oldPtr->flags) {
        atomic_store(&logPtr->flags, newPtr->flags);
        WarnOfProxies(logPtr);
    }
    if (newPtr->maxBuffer != oldPtr->maxBuffer) {
        UseBuffer(logPtr, newPtr->maxBuffer);
    }
    if (newPtr->maxBackup != oldPtr->maxBackup
        || !IsSame(newPtr->rollFormat, oldPtr->rollFormat)) {
        UseBackups(logPtr, newPtr->rollFormat == NULL ? "" : newPtr->rollFormat,
                   newPtr->maxBackup);
    }
    if (newPtr->rollsDaily != oldPtr->rollsDaily
        || newPtr->rollHour != oldPtr->rollHour
        || newPtr->rollsOnSignal != oldPtr->rollsOnSignal) {
        SetRolls(logPtr);
    }
    if (newPtr->masksPeer != oldPtr->masksPeer
        || !IsSame(newPtr->maskIpv4, oldPtr->maskIpv4)
        || !IsSame(newPtr->maskIpv6, oldPtr->maskIpv6)
        || !IsSame(newPtr->driver, oldPtr->driver)) {
        (void) SetChoice(logPtr);
    }
    if (!IsSame(newPtr->file, oldPtr->file)) {
        UseFile(logPtr, FindFile(logPtr, newPtr->file));
    }
}

/*
 * False: a mask is none, which an Error says, and what was chosen stays.
 */
static bool
SetChoice(Log *logPtr)
{
    const Ns_AccessParams *paramsPtr = &logPtr->params;
    Choice                *choicePtr = ns_calloc(1u, sizeof(*choicePtr));

    if (!SetMasks(choicePtr, paramsPtr)) {
        Ns_Log(Error,
               "nslog[%s]: maskipv4 or maskipv6 is not an address: %s, %s",
               logPtr->server, paramsPtr->maskIpv4, paramsPtr->maskIpv6);
        ns_free(choicePtr);
        return false;
    }
    if (!IsSame(paramsPtr->driver, "")) {
        choicePtr->driver = ns_strdup(paramsPtr->driver);
    }
    choicePtr->masksPeer = paramsPtr->masksPeer;
    choicePtr->olderPtr = atomic_load(&logPtr->choicePtr);
    atomic_store(&logPtr->choicePtr, choicePtr);
    return true;
}

/*
 * A group of `ff` in the mask of IPv6 addresses, as configurations have it,
 * means all of its 16 bits.
 */
static bool
SetMasks(Choice *choicePtr, const Ns_AccessParams *paramsPtr)
{
    if (!paramsPtr->masksPeer) {
        return true;
    }
    if (inet_pton(AF_INET, paramsPtr->maskIpv4, choicePtr->mask4) != 1
        || inet_pton(AF_INET6, paramsPtr->maskIpv6, choicePtr->mask6) != 1) {
        return false;
    }
    for (size_t i = 0; i < sizeof(choicePtr->mask6); i += 2) {
        if (choicePtr->mask6[i] == 0 && choicePtr->mask6[i + 1] == 0xff) {
            choicePtr->mask6[i] = 0xff;
        }
    }
    return true;
}

/*
 * A relative name is below the directory for logs, if there is one, else below
 * the module's own, which is created.
 */
static char *
FindFile(const Log *logPtr, const char *file)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    (void) Ns_LogPath(&ds, logPtr->server, "");
    if (Ns_PathIsAbsolute(file)
        || !STREQ(Ns_DStringValue(&ds), Ns_InfoHomePath())) {
        Ns_DStringTrunc(&ds, 0);
        (void) Ns_LogPath(&ds, logPtr->server, file);
    } else {
        Ns_DStringTrunc(&ds, 0);
        Ns_ModulePath(&ds, logPtr->server, logPtr->module, NULL);
        MakeDirectories(Ns_DStringValue(&ds));
        Ns_DStringVarAppend(&ds, "/", file, (char *) NULL);
    }
    return Ns_DStringExport(&ds);
}

/*
 * Those that cannot be made show when the file is opened.
 */
static void
MakeDirectories(char *path)
{
    char *slash = path;

    while ((slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        (void) mkdir(path, 0755);
        *slash = '/';
    }
    (void) mkdir(path, 0755);
}

/*
 * A file that cannot be opened keeps no server from its work: lines wait until
 * it can.
 */
static bool
OpenLog(Log *logPtr)
{
    Ns_LogSinkSpec spec = {.file = logPtr->file,
                           .bufferBytes = 65536,
                           .bufferLines = logPtr->maxBuffer,
                           .rollFormat = logPtr->rollFormat,
                           .maxBackup = logPtr->maxBackup};
    Ns_DString     name;

    Ns_DStringInit(&name);
    Ns_DStringVarAppend(&name, "access/", logPtr->server, "/", logPtr->module,
                        (char *) NULL);
    spec.name = Ns_DStringValue(&name);
    spec.stream = logPtr->stream = Ns_LogAccessStream(spec.name);
    if (spec.stream == NULL) {
        Ns_DStringFree(&name);
        return false;
    }
    Ns_LogStreamSetBytesSent(logPtr->stream,
                             offsetof(Ns_AccessRecord, bytesSent));
    logPtr->sink = Ns_LogSinkOpen(&spec);
    if (logPtr->sink != NULL) {
        Ns_Log(Notice, "nslog: opened '%s'", logPtr->file);
    } else {
        Ns_Log(Error, "nslog: error '%s' opening '%s'", strerror(errno),
               logPtr->file);
        spec.mayOpenLater = true;
        logPtr->sink = Ns_LogSinkOpen(&spec);
    }
    Ns_DStringFree(&name);
    return logPtr->sink != NULL;
}

/*
 * False: the text is not a list, and interp, if not NULL, has the reason.
 */
static bool
SetHeaders(Log *logPtr, Tcl_Interp *interp, const char *text)
{
    HeaderList  *listPtr;
    const char **words;
    int          n;

    if (Tcl_SplitList(interp, text, &n, &words) != TCL_OK) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (strchr(words[i], ':') != NULL && PrefixBytes(words[i]) == 0) {
            if (interp != NULL) {
                Ns_TclPrintfResult(interp,
                                   "invalid extended header \"%s\": the "
                                   "prefix must be request or response",
                                   words[i]);
            }
            Tcl_Free((char *) words);
            return false;
        }
    }
    listPtr = ns_calloc(1u, sizeof(*listPtr));
    listPtr->text = ns_strdup(text);
    listPtr->words = words;
    listPtr->headers = ns_calloc((size_t) n + 1, sizeof(Header));
    AddHeaders(listPtr, words, n, false);
    AddHeaders(listPtr, words, n, true);
    Ns_MutexLock(&logPtr->lock);
    listPtr->olderPtr = atomic_load(&logPtr->headersPtr);
    atomic_store(&logPtr->headersPtr, listPtr);
    Ns_MutexUnlock(&logPtr->lock);
    return true;
}

static bool
HasPrefix(const char *word, const char *prefix)
{
    return strncasecmp(word, prefix, strlen(prefix)) == 0;
}

/*
 * 0: there is none that is known.
 */
static size_t
PrefixBytes(const char *word)
{
    static const char *const prefixes[] = {REQUEST, REQ, RESPONSE};

    for (int i = 0; i < Ns_NrElements(prefixes); i++) {
        if (HasPrefix(word, prefixes[i])) {
            return strlen(prefixes[i]);
        }
    }
    return 0;
}

static void
AddHeaders(HeaderList *listPtr, const char **words, int n, bool isOfReply)
{
    for (int i = 0; i < n; i++) {
        bool        isReply = HasPrefix(words[i], RESPONSE);
        const char *name = words[i] + PrefixBytes(words[i]);

        if (isReply == isOfReply) {
            listPtr->headers[listPtr->n++] = (Header){
                .name = name,
                .label = isReply ? words[i] : name,
                .isOfReply = isReply};
        }
    }
}

static int
AddCommand(Tcl_Interp *interp, void *arg)
{
    Tcl_CreateObjCommand(interp, "ns_accesslog", AccessLogCmd, arg, NULL);
    return TCL_OK;
}

static void
LogAccess(const Ns_Access *accessPtr, void *arg)
{
    const Log    *logPtr = arg;
    const Choice *choicePtr = atomic_load(&logPtr->choicePtr);
    const void   *prepared;
    size_t        length;

    if (choicePtr->driver != NULL
        && !Tcl_StringMatch(accessPtr->driver, choicePtr->driver)) {
        return;
    }
    if (accessPtr->stage == NS_ACCESS_FORGOTTEN) {
        Ns_LogStreamForget(logPtr->stream);
        return;
    }
    if (accessPtr->stage == NS_ACCESS_FINISHED && accessPtr->isAnnounced) {
        prepared = Ns_LogStreamPrepared(logPtr->stream, &length);
        if (prepared != NULL) {
            PutPrepared(logPtr, accessPtr, prepared, length);
            return;
        }
    }
    PutNew(logPtr, accessPtr);
}

/*
 * The record is the one that the reply was announced with, in the layout of
 * that time, with the figures of now.
 */
static void
PutPrepared(const Log *logPtr, const Ns_Access *accessPtr, const void *prepared,
            size_t length)
{
    Ns_AccessRecord r;
    struct iovec    pieces[2];

    memcpy(&r, prepared, sizeof(r));
    SetFigures(&r, accessPtr);
    pieces[0] = (struct iovec){&r, sizeof(r)};
    pieces[1] = (struct iovec){
        (char *) prepared + sizeof(r), length - sizeof(r)};
    (void) Ns_LogStreamPut(logPtr->stream, Notice, pieces,
                           Ns_NrElements(pieces));
}

static void
PutNew(const Log *logPtr, const Ns_Access *accessPtr)
{
    const HeaderList *headersPtr = atomic_load(&logPtr->headersPtr);
    const Choice     *choicePtr = atomic_load(&logPtr->choicePtr);
    int               flags = atomic_load(&logPtr->flags);
    const char       *peer = accessPtr->peer, *request = accessPtr->line;
    const char       *user = accessPtr->user;
    const char       *referer = Ns_AccessHeader(accessPtr, "referer");
    const char       *agent = Ns_AccessHeader(accessPtr, "user-agent");
    size_t            requestLength = accessPtr->lineLength;
    Ns_AccessRecord   r;
    char              forwarded[NS_ACCESS_PEER_BYTES], masked[INET6_ADDRSTRLEN];
    Ns_DString        headers;
    struct iovec      pieces[7];

    if ((flags & NS_ACCESS_CHECKFORPROXY) != 0) {
        peer = Ns_AccessForwardedPeer(accessPtr, forwarded);
    }
    if (choicePtr->masksPeer && peer != NULL) {
        peer = MaskPeer(choicePtr, peer, masked);
    }
    if ((flags & NS_ACCESS_SUPPRESSQUERY) != 0) {
        request = accessPtr->url;
        requestLength = request == NULL ? 0 : strlen(request);
    }
    r = (Ns_AccessRecord){
        .flags = (uint32_t) flags,
        .peerLength = (uint32_t) (peer == NULL ? 0 : strlen(peer)),
        .userLength = (uint32_t) (user == NULL ? 0 : strlen(user)),
        .requestLength = (uint32_t) (request == NULL ? 0 : requestLength),
        .refererLength = (uint32_t) (referer == NULL ? 0 : strlen(referer)),
        .agentLength = (uint32_t) (agent == NULL ? 0 : strlen(agent)),
        .nHeaders = (uint32_t) headersPtr->n};
    SetFigures(&r, accessPtr);
    Ns_DStringInit(&headers);
    if ((flags & NS_ACCESS_THREADNAME) != 0) {
        AppendFlagged(&headers, &r, NS_ACCESS_THREADNAME, Ns_ThreadGetName());
    }
    if (accessPtr->requestId != NULL) {
        AppendFlagged(&headers, &r, NS_ACCESS_REQUESTID, accessPtr->requestId);
    }
    if (accessPtr->traceId != NULL) {
        AppendFlagged(&headers, &r, NS_ACCESS_TRACEID, accessPtr->traceId);
        AppendFlagged(&headers, &r, NS_ACCESS_SPANID, accessPtr->spanId);
    }
    if (headersPtr->n > 0) {
        AppendHeaders(&headers, headersPtr, accessPtr);
    }
    pieces[0] = (struct iovec){&r, sizeof(r)};
    pieces[1] = (struct iovec){(void *) peer, r.peerLength};
    pieces[2] = (struct iovec){(void *) user, r.userLength};
    pieces[3] = (struct iovec){(void *) request, r.requestLength};
    pieces[4] = (struct iovec){(void *) referer, r.refererLength};
    pieces[5] = (struct iovec){(void *) agent, r.agentLength};
    pieces[6] = (struct iovec){
        Ns_DStringValue(&headers), (size_t) Ns_DStringLength(&headers)};
    if (accessPtr->stage == NS_ACCESS_SENDING) {
        (void) Ns_LogStreamPrepare(logPtr->stream, Notice, pieces,
                                   Ns_NrElements(pieces));
    } else {
        (void) Ns_LogStreamPut(logPtr->stream, Notice, pieces,
                               Ns_NrElements(pieces));
    }
    Ns_DStringFree(&headers);
}

/*
 * The part of an address that is logged.  The address of IPv4 that stands in
 * one of IPv6 (::ffff:A.B.C.D) is masked as the former.  What is no address is
 * not changed.
 */
static const char *
MaskPeer(const Choice *choicePtr, const char *peer, char *buffer)
{
    static const char    mapped[] = "::ffff:";
    const unsigned char *maskBytes;
    unsigned char        address[sizeof(choicePtr->mask6)];
    size_t               bytes;
    int                  family;

    if (strncasecmp(peer, mapped, sizeof(mapped) - 1) == 0
        && strchr(peer, '.') != NULL) {
        peer += sizeof(mapped) - 1;
    }
    family = strchr(peer, ':') != NULL ? AF_INET6 : AF_INET;
    maskBytes = family == AF_INET6 ? choicePtr->mask6 : choicePtr->mask4;
    bytes = family == AF_INET6 ? sizeof(choicePtr->mask6)
                               : sizeof(choicePtr->mask4);
    if (inet_pton(family, peer, address) != 1) {
        return peer;
    }
    for (size_t i = 0; i < bytes; i++) {
        address[i] &= maskBytes[i];
    }
    return inet_ntop(family, address, buffer, INET6_ADDRSTRLEN);
}

/*
 * The parts that are known only when the request has ended.
 */
static void
SetFigures(Ns_AccessRecord *r, const Ns_Access *accessPtr)
{
    r->status = accessPtr->status;
    r->bytesSent = accessPtr->bytesSent;
    r->start = Micros(&accessPtr->start);
    r->acceptSpan = Micros(&accessPtr->acceptSpan);
    r->queueSpan = Micros(&accessPtr->queueSpan);
    r->filterSpan = Micros(&accessPtr->filterSpan);
    r->runSpan = Micros(&accessPtr->runSpan);
}

static int64_t
Micros(const Ns_Time *timePtr)
{
    return (int64_t) timePtr->sec * 1000000 + timePtr->usec;
}

static void
AppendHeaders(Ns_DString *dsPtr, const HeaderList *headersPtr,
              const Ns_Access *accessPtr)
{
    for (int i = 0; i < headersPtr->n; i++) {
        const Header *headerPtr = &headersPtr->headers[i];
        const char   *value;
        size_t        length = 0;

        if (headerPtr->isOfReply) {
            value = Ns_AccessReplyHeader(accessPtr, headerPtr->name, &length);
        } else {
            value = Ns_AccessHeader(accessPtr, headerPtr->name);
            length = value == NULL ? 0 : strlen(value);
        }
        AppendCounted(dsPtr, headerPtr->label, strlen(headerPtr->label));
        AppendCounted(dsPtr, value == NULL ? "" : value, length);
    }
}

/*
 * What is no header, but stands before them.
 */
static void
AppendFlagged(Ns_DString *dsPtr, Ns_AccessRecord *r, uint32_t flag,
              const char *text)
{
    r->flags |= flag;
    r->nHeaders++;
    AppendCounted(dsPtr, "", 0);
    AppendCounted(dsPtr, text, strlen(text));
}

static void
AppendCounted(Ns_DString *dsPtr, const char *bytes, size_t n)
{
    uint32_t length = (uint32_t) n;

    Ns_DStringNAppend(dsPtr, (const char *) &length, (int) sizeof(length));
    Ns_DStringNAppend(dsPtr, bytes, (int) length);
}

/*
 * Runs between two lines, in the thread that writes them.
 */
static int
Rename(const char *file, void *arg)
{
    Roll *rollPtr = arg;
    int   status;

    if (rollPtr->toPath == NULL) {
        status = Ns_RollFileByFormat(file, rollPtr->rollFormat,
                                     rollPtr->maxBackup);
    } else if (access(rollPtr->toPath, F_OK) == 0) {
        status = Ns_RollFile(rollPtr->toPath,
                             MIN(rollPtr->maxBackup, NS_ACCESS_MAX_BACKUP));
    } else {
        status = MoveFile(file, rollPtr->toPath);
    }
    rollPtr->hasFailed = status != NS_OK;
    return status;
}

/*
 * A missing file is not an error.
 */
static int
MoveFile(const char *from, const char *to)
{
    return access(from, F_OK) != 0 || rename(from, to) == 0 ? NS_OK : NS_ERROR;
}

/*
 * The log continues in any case.  NS_ERROR: errno says why the old file could
 * not be moved away.
 */
static int
RollLog(Log *logPtr, const char *toPath)
{
    Roll  roll = {.toPath = toPath};
    char *file, *format;
    int   status, reason;

    Ns_MutexLock(&logPtr->lock);
    file = ns_strdup(logPtr->file);
    format = ns_strcopy(logPtr->rollFormat);
    roll.maxBackup = logPtr->maxBackup;
    Ns_MutexUnlock(&logPtr->lock);

    roll.rollFormat = format;
    status = Ns_LogSinkRoll(logPtr->sink, Rename, &roll);
    reason = errno;
    if (status == NS_OK || roll.hasFailed) {
        Ns_Log(Notice, "nslog: closed '%s'", file);
        Ns_Log(Notice, "nslog: opened '%s'", file);
    }
    ns_free(file);
    ns_free(format);
    errno = reason;
    return status;
}

static void
DailyRoll(void *arg, int id)
{
    RollNow(arg);
}

static void
SignalRoll(void *arg)
{
    Log *logPtr = arg;

    if (atomic_load(&logPtr->rollsOnSignal)) {
        RollNow(logPtr);
    }
}

static void
RollNow(Log *logPtr)
{
    if (RollLog(logPtr, NULL) != NS_OK) {
        int   reason = errno;
        char *file = DupFile(logPtr);

        Ns_Log(Error, "nslog: failed: roll '%s': '%s'", file, strerror(reason));
        ns_free(file);
    }
}

static void
CloseLog(Ns_Time *toPtr, void *arg)
{
    Log *logPtr = arg;

    if (toPtr != NULL) {
        char *file = DupFile(logPtr);

        (void) Ns_LogSinkClose(logPtr->sink);
        Ns_Log(Notice, "nslog: closed '%s'", file);
        ns_free(file);
    }
}

/*
 * The path in use, which may change.  The caller frees it.
 */
static char *
DupFile(Log *logPtr)
{
    char *file;

    Ns_MutexLock(&logPtr->lock);
    file = ns_strdup(logPtr->file);
    Ns_MutexUnlock(&logPtr->lock);
    return file;
}

static void
DescribeLog(Ns_DString *dsPtr, void *arg)
{
    const Log *logPtr = arg;

    Ns_DStringAppendElement(dsPtr, logPtr->server);
    Ns_DStringAppendElement(dsPtr, logPtr->module);
}

/*
 * ns_accesslog option ?arg ...?
 */
static int
AccessLogCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    static const struct {
        const char     *name;
        Tcl_ObjCmdProc *proc;
    } options[] = {{"rollfmt", RollFormatCmd},  {"maxbackup", MaxBackupCmd},
                   {"maxbuffer", MaxBufferCmd}, {"extendedheaders", HeadersCmd},
                   {"flags", FlagsCmd},         {"file", FileCmd},
                   {"roll", RollCmd},           {NULL, NULL}};
    int i;

    if (objc < 2) {
        Tcl_WrongNumArgs(interp, 1, objv, "option ?arg ...?");
        return TCL_ERROR;
    }
    if (Tcl_GetIndexFromObjStruct(interp, objv[1], options, sizeof(options[0]),
                                  "option", 0, &i)
        != TCL_OK) {
        return TCL_ERROR;
    }
    return options[i].proc(arg, interp, objc, objv);
}

static int
RollFormatCmd(ClientData arg, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Log *logPtr = arg;

    if (objc > 2) {
        UseBackups(logPtr, Tcl_GetString(objv[2]), 0);
    }
    Ns_MutexLock(&logPtr->lock);
    if (logPtr->rollFormat != NULL) {
        Tcl_SetObjResult(interp, Tcl_NewStringObj(logPtr->rollFormat, -1));
    }
    Ns_MutexUnlock(&logPtr->lock);
    return TCL_OK;
}

static int
MaxBackupCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Log *logPtr = arg;
    int  n;

    if (objc > 2) {
        if (Tcl_GetIntFromObj(interp, objv[2], &n) != TCL_OK) {
            return TCL_ERROR;
        }
        UseBackups(logPtr, NULL, n < 1 ? 100 : n);
    }
    Ns_MutexLock(&logPtr->lock);
    n = BackupsKept(logPtr);
    Ns_MutexUnlock(&logPtr->lock);
    Tcl_SetObjResult(interp, Tcl_NewIntObj(n));
    return TCL_OK;
}

/*
 * Of what is NULL or 0, as it is.  The sink has both for rolls of its own.
 */
static void
UseBackups(Log *logPtr, const char *format, int maxBackup)
{
    char *used;
    int   n;

    Ns_MutexLock(&logPtr->lock);
    if (format != NULL) {
        ns_free(logPtr->rollFormat);
        logPtr->rollFormat = *format == '\0' ? NULL : ns_strdup(format);
    }
    if (maxBackup > 0) {
        logPtr->maxBackup = maxBackup;
    }
    used = ns_strcopy(logPtr->rollFormat);
    n = BackupsKept(logPtr);
    Ns_MutexUnlock(&logPtr->lock);
    (void) Ns_LogSinkSetBackups(logPtr->sink, used, n);
    ns_free(used);
}

/*
 * With the lock.
 */
static int
BackupsKept(const Log *logPtr)
{
    return logPtr->rollFormat == NULL
        ? MIN(logPtr->maxBackup, NS_ACCESS_MAX_BACKUP)
        : logPtr->maxBackup;
}

static int
MaxBufferCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Log *logPtr = arg;
    int  n;

    if (objc > 2) {
        if (Tcl_GetIntFromObj(interp, objv[2], &n) != TCL_OK) {
            return TCL_ERROR;
        }
        UseBuffer(logPtr, MAX(n, 0));
    }
    Ns_MutexLock(&logPtr->lock);
    Tcl_SetObjResult(interp, Tcl_NewIntObj(logPtr->maxBuffer));
    Ns_MutexUnlock(&logPtr->lock);
    return TCL_OK;
}

static void
UseBuffer(Log *logPtr, int maxBuffer)
{
    Ns_MutexLock(&logPtr->lock);
    logPtr->maxBuffer = maxBuffer;
    Ns_MutexUnlock(&logPtr->lock);
    (void) Ns_LogSinkSetLines(logPtr->sink, maxBuffer);
}

static int
HeadersCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Log *logPtr = arg;

    if (objc > 2 && !SetHeaders(logPtr, interp, Tcl_GetString(objv[2]))) {
        return TCL_ERROR;
    }
    Tcl_SetObjResult(interp,
                     Tcl_NewStringObj(atomic_load(&logPtr->headersPtr)->text,
                                      -1));
    return TCL_OK;
}

static int
FlagsCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Log     *logPtr = arg;
    Tcl_Obj *resultObj = Tcl_NewObj();
    int      flags = 0;

    if (objc > 2) {
        for (int i = 0; i < Ns_NrElements(flagTable); i++) {
            if (Ns_StrCaseFind(Tcl_GetString(objv[2]), flagTable[i].name)) {
                flags |= flagTable[i].flag;
            }
        }
        atomic_store(&logPtr->flags, flags);
    }
    flags = atomic_load(&logPtr->flags);
    for (int i = 0; i < Ns_NrElements(flagTable); i++) {
        if ((flags & flagTable[i].flag) != 0) {
            Tcl_AppendStringsToObj(resultObj, flagTable[i].name, " ",
                                   (char *) NULL);
        }
    }
    Tcl_SetObjResult(interp, resultObj);
    return TCL_OK;
}

static int
FileCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Log *logPtr = arg;

    if (objc > 2) {
        const char *file = Tcl_GetString(objv[2]);
        Ns_DString  ds;

        Ns_DStringInit(&ds);
        if (Ns_PathIsAbsolute(file)) {
            Ns_DStringAppend(&ds, file);
        } else {
            Ns_HomePath(&ds, file, NULL);
        }
        UseFile(logPtr, Ns_DStringExport(&ds));
    }
    Ns_MutexLock(&logPtr->lock);
    Tcl_SetObjResult(interp, Tcl_NewStringObj(logPtr->file, -1));
    Ns_MutexUnlock(&logPtr->lock);
    return TCL_OK;
}

/*
 * Takes over the path.
 */
static void
UseFile(Log *logPtr, char *new)
{
    char *old;

    Ns_MutexLock(&logPtr->lock);
    old = logPtr->file;
    logPtr->file = ns_strdup(new);
    Ns_MutexUnlock(&logPtr->lock);
    if (Ns_LogSinkReopen(logPtr->sink, new) == NS_OK) {
        Ns_Log(Notice, "nslog: closed '%s'", old);
        Ns_Log(Notice, "nslog: opened '%s'", new);
    } else {
        int reason = errno;

        Ns_Log(Notice, "nslog: closed '%s'", old);
        Ns_Log(Error, "nslog: error '%s' opening '%s'", strerror(reason), new);
    }
    ns_free(old);
    ns_free(new);
}

static int
RollCmd(ClientData arg, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Log        *logPtr = arg;
    const char *toPath = objc > 2 ? Tcl_GetString(objv[2]) : NULL;

    if (RollLog(logPtr, toPath) != NS_OK) {
        const char *reason = Tcl_PosixError(interp);

        Ns_MutexLock(&logPtr->lock);
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("could not roll \"%s\": %s",
                                       logPtr->file, reason));
        Ns_MutexUnlock(&logPtr->lock);
        return TCL_ERROR;
    }
    return TCL_OK;
}
