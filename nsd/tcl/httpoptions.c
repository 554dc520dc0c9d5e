/* SPDX-License-Identifier: MPL-2.0
 * httpoptions.c --
 *
 *      The options of ns_http run and queue.
 */

#include "tcl/httpoptions.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/random.h"
#include "base/tempfile.h"
#include "base/writeall.h"
#include "nsset.h"
#include "nsstring.h"
#include "process/units.h"
#include "http/parse.h"
#include "request/requestid.h"
#include "tcl/httplog.h"
#include "tcl/httpsettings.h"
#include "tcl/httptype.h"
#include "tcl/result.h"

#define COPY_BYTES      65536
#define MAX_TRACE_STATE 512 /* Longer ones need not be passed on. */

/*
 * What is parsed and then becomes something else.
 */
typedef struct Words {
    Tcl_Obj    *bodyObj;
    char       *bodyFile;
    Tcl_WideInt bodySize; /* -1: not given. */
    char       *outputFile;
    Tcl_WideInt spoolSize;
    Tcl_WideInt maxResponse;
    Ns_Time    *timeoutPtr;
    Ns_Time    *connectTimeoutPtr;
    Ns_Time    *sendTimeoutPtr;
    Ns_Time    *expirePtr;
    Ns_Time    *keepAlivePtr;
    Tcl_Obj    *proxyObj;
    int         isRaw;
    int         isInsecure;
    int         mustVerify;
    int         keepsHost;
    int         isDecompressed; /* As it always is. */
    int         tellsTrace;
} Words;

static Ns_ObjvProc SizeOption, VerifyOption;

static int  Parse(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                  NsHttpOptions *optionsPtr, Words *wordsPtr);
static int  Check(Tcl_Interp *interp, bool isQueued,
                  const NsHttpOptions *optionsPtr, const Words *wordsPtr);
static int  Convert(NsInterp *itPtr, NsHttpOptions *optionsPtr,
                    const Words *wordsPtr);
static void AddTrace(NsHttpOptions *optionsPtr, const NsMessage *messagePtr);
static bool IsPrintable(const char *text);
static int  SetProxy(Tcl_Interp *interp, Tcl_Obj *dictObj,
                     NsHttpClientSpec *specPtr);
static int  SetBody(Tcl_Interp *interp, NsHttpOptions *optionsPtr,
                    const Words *wordsPtr);
static void SetBodyValue(NsHttpOptions *optionsPtr, Tcl_Obj *bodyObj);
static Tcl_Obj *Encoded(Tcl_Obj *bodyObj, const char *type);
static bool     FitsBytes(Tcl_Obj *obj);
static int  SetBodyFile(Tcl_Interp *interp, const char *file, Tcl_WideInt size,
                        NsHttpClientSpec *specPtr);
static int  SetBodyChannel(Tcl_Interp *interp, const char *name,
                           Tcl_WideInt size, NsHttpClientSpec *specPtr);
static bool SetFromFileOf(Tcl_Channel channel, Tcl_WideInt size,
                          NsHttpClientSpec *specPtr);
static int  CopyChannel(Tcl_Interp *interp, Tcl_Channel channel,
                        Tcl_WideInt size, int fd);

int
NsHttpOptionsParse(NsInterp *itPtr, bool isQueued, int objc,
                   Tcl_Obj *const *objv, NsHttpOptions *optionsPtr)
{
    Words words = {.bodySize = -1, .spoolSize = -1, .tellsTrace = 1};

    memset(optionsPtr, 0, offsetof(NsHttpOptions, trace));
    if (Parse(itPtr->interp, objc, objv, optionsPtr, &words) != TCL_OK
        || Check(itPtr->interp, isQueued, optionsPtr, &words) != TCL_OK) {
        return TCL_ERROR;
    }
    return Convert(itPtr, optionsPtr, &words);
}

static int
Parse(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv, NsHttpOptions *to,
      Words *w)
{
    NsHttpClientSpec *specPtr = &to->spec;
    NsTlsClientSpec  *tlsPtr = &specPtr->tls;
    void             *on = INT2PTR(1);
    Ns_ObjvSpec       options[] = {
              {"-timeout", Ns_ObjvTime, &w->timeoutPtr, NULL},
              {"-method", Ns_ObjvString, &specPtr->method, NULL},
              {"-body", Ns_ObjvObj, &w->bodyObj, NULL},
              {"-headers", Ns_ObjvSet, &to->headers, NULL},
              {"-binary", Ns_ObjvBool, &to->isBinary, on},
              {"-body_chan", Ns_ObjvString, &to->bodyChannel, NULL},
              {"-body_file", Ns_ObjvString, &w->bodyFile, NULL},
              {"-body_size", SizeOption, &w->bodySize, NULL},
              {"-cafile", Ns_ObjvString, &tlsPtr->caFile, NULL},
              {"-capath", Ns_ObjvString, &tlsPtr->caPath, NULL},
              {"-cert", Ns_ObjvString, &tlsPtr->certificate, NULL},
              {"-connecttimeout", Ns_ObjvTime, &w->connectTimeoutPtr, NULL},
              {"-decompress", Ns_ObjvBool, &w->isDecompressed, on},
              {"-done_callback", Ns_ObjvString, &to->doneScript, NULL},
              {"-expire", Ns_ObjvTime, &w->expirePtr, NULL},
              {"-hostname", Ns_ObjvString, &tlsPtr->host, NULL},
              {"-insecure", Ns_ObjvBool, &w->isInsecure, on},
              {"-keep_host_header", Ns_ObjvBool, &w->keepsHost, on},
              {"-keepalive", Ns_ObjvTime, &w->keepAlivePtr, NULL},
              {"-key", Ns_ObjvString, &tlsPtr->key, NULL},
              {"-maxresponse", SizeOption, &w->maxResponse, NULL},
              {"-outputchan", Ns_ObjvString, &to->outputChannel, NULL},
              {"-outputfile", Ns_ObjvString, &w->outputFile, NULL},
              {"-partialresults", Ns_ObjvBool, &to->takesPartial, on},
              {"-proxy", Ns_ObjvObj, &w->proxyObj, NULL},
              {"-raw", Ns_ObjvBool, &w->isRaw, on},
              {"-response_data_callback", Ns_ObjvString, &to->dataScript, NULL},
              {"-response_header_callback", Ns_ObjvString, &to->headScript, NULL},
              {"-sendtimeout", Ns_ObjvTime, &w->sendTimeoutPtr, NULL},
              {"-spoolsize", SizeOption, &w->spoolSize, NULL},
              {"-traceparent", Ns_ObjvBool, &w->tellsTrace, NULL},
              {"-unix_socket", Ns_ObjvString, &specPtr->unixSocket, NULL},
              {"-verify", VerifyOption, &w->mustVerify, NULL},
              /* The older name. */
              {"", NULL, NULL, NULL},
              {"-donecallback", Ns_ObjvString, &to->doneScript, NULL},
              {"--", Ns_ObjvBreak, NULL, NULL},
              {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"url", Ns_ObjvString, &specPtr->url, NULL},
                          {NULL, NULL, NULL, NULL}};

    return Ns_ParseObjv(options, args, interp, 2, objc, objv) == NS_OK
        ? TCL_OK
        : TCL_ERROR;
}

/*
 * Bytes, or a number with a unit of memory.
 */
static int
SizeOption(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
           Tcl_Obj *const *objv)
{
    Tcl_WideInt value;

    if (*objcPtr < 1) {
        return TCL_ERROR;
    }
    if (!NsUnitsSize(Tcl_GetString(objv[0]), &value) || value < 0) {
        return NsTclFail(interp, "expected size but got \"%s\"",
                         Tcl_GetString(objv[0]));
    }
    *(Tcl_WideInt *) specPtr->dest = value;
    --*objcPtr;
    return TCL_OK;
}

/*
 * A switch, or one with a value: earlier releases had the one, later ones have
 * the other.
 */
static int
VerifyOption(Ns_ObjvSpec *specPtr, Tcl_Interp *interp, int *objcPtr,
             Tcl_Obj *const *objv)
{
    int value = 1;

    /* The last word is the URL. */
    if (*objcPtr > 1
        && Tcl_GetBooleanFromObj(NULL, objv[0], &value) == TCL_OK) {
        --*objcPtr;
    }
    *(int *) specPtr->dest = value ? 1 : -1;
    return TCL_OK;
}

/*
 * Options that do not go together.
 */
static int
Check(Tcl_Interp *interp, bool isQueued, const NsHttpOptions *optionsPtr,
      const Words *wordsPtr)
{
    const NsHttpClientSpec *specPtr = &optionsPtr->spec;
    int nBodies = (wordsPtr->bodyObj != NULL) + (wordsPtr->bodyFile != NULL)
        + (optionsPtr->bodyChannel != NULL);

    if (nBodies > 1) {
        return NsTclFail(interp,
                         "only one of -body, -body_chan or -body_file options "
                         "are allowed");
    }
    if (wordsPtr->bodySize >= 0 && nBodies == 0) {
        return NsTclFail(interp,
                         "option -body_size needs one of -body, -body_chan or "
                         "-body_file");
    }
    if (wordsPtr->outputFile != NULL && optionsPtr->outputChannel != NULL) {
        return NsTclFail(interp,
                         "only one of -outputchan or -outputfile options are "
                         "allowed");
    }
    if (optionsPtr->doneScript != NULL && !isQueued) {
        return NsTclFail(interp,
                         "option -done_callback allowed only for "
                         "[ns_http_queue]");
    }
    if (wordsPtr->isInsecure && strncasecmp(specPtr->url, "http://", 7u) == 0) {
        return NsTclFail(interp,
                         "parameter '-insecure' only allowed on HTTPS "
                         "connections");
    }
    if (wordsPtr->keepsHost
        && (optionsPtr->headers == NULL
            || Ns_SetIFind(optionsPtr->headers, "Host") < 0)) {
        return NsTclFail(interp,
                         "-keep_host_header specified but no Host header "
                         "given");
    }
    if (specPtr->unixSocket != NULL && *specPtr->unixSocket != '/') {
        return NsTclFail(interp,
                         "Unix Domain Socket must start with a slash \"%s\"",
                         specPtr->unixSocket);
    }
    return TCL_OK;
}

static int
Convert(NsInterp *itPtr, NsHttpOptions *optionsPtr, const Words *wordsPtr)
{
    const NsHttpSettings *settingsPtr = NsHttpSettingsGet(itPtr->serverPtr);
    NsHttpClientSpec     *specPtr = &optionsPtr->spec;
    NsTlsClientSpec      *tlsPtr = &specPtr->tls;

    specPtr->headers = optionsPtr->headers;
    specPtr->keepsHost = wordsPtr->keepsHost != 0;
    if (wordsPtr->tellsTrace && itPtr->connPtr != NULL) {
        AddTrace(optionsPtr, itPtr->connPtr->messagePtr);
    }
    specPtr->silence = wordsPtr->timeoutPtr == NULL
        ? settingsPtr->timeout
        : MAX(NsClockFromTime(wordsPtr->timeoutPtr), 1);
    specPtr->connectSilence = wordsPtr->connectTimeoutPtr == NULL
        ? 0
        : MAX(NsClockFromTime(wordsPtr->connectTimeoutPtr), 1);
    specPtr->sendSilence = wordsPtr->sendTimeoutPtr == NULL
        ? 0
        : MAX(NsClockFromTime(wordsPtr->sendTimeoutPtr), 1);
    specPtr->expire = wordsPtr->expirePtr == NULL
        ? 0
        : MAX(NsClockFromTime(wordsPtr->expirePtr), 1);
    specPtr->keepAlive = wordsPtr->keepAlivePtr == NULL
        ? settingsPtr->keepAlive
        : NsClockFromTime(wordsPtr->keepAlivePtr);
    specPtr->reply.maxInMemory = wordsPtr->spoolSize;
    specPtr->reply.maxBytes = (uint64_t) wordsPtr->maxResponse;
    specPtr->reply.file = wordsPtr->outputFile;
    specPtr->reply.isRaw = wordsPtr->isRaw != 0;
    if (settingsPtr->logPtr != NULL) {
        specPtr->endProc = NsHttpLogWrite;
        specPtr->endArg = settingsPtr->logPtr;
    }
    NsHttpSettingsForTls(settingsPtr,
                         wordsPtr->mustVerify != 0
                             ? wordsPtr->mustVerify
                             : (wordsPtr->isInsecure ? -1 : 0),
                         tlsPtr);
    if (wordsPtr->proxyObj != NULL
        && SetProxy(itPtr->interp, wordsPtr->proxyObj, specPtr) != TCL_OK) {
        return TCL_ERROR;
    }
    return SetBody(itPtr->interp, optionsPtr, wordsPtr);
}

/*
 * The trace goes on with a span of its own, unless the caller sends another.
 */
static void
AddTrace(NsHttpOptions *optionsPtr, const NsMessage *messagePtr)
{
    const char *parent = NsRequestTraceParent(messagePtr);
    const char *state;
    uint64_t    span = 0;
    int         n;

    if (likely(parent == NULL)
        || (optionsPtr->headers != NULL
            && Ns_SetIFind(optionsPtr->headers, "traceparent") >= 0)) {
        return;
    }
    while (span == 0) {
        NsRandomBytes(&span, sizeof(span));
    }
    /* Its own version, so nothing follows the flags. */
    n = snprintf(optionsPtr->trace, sizeof(optionsPtr->trace),
                 "traceparent: 00-%.32s-%016" PRIx64 "-%.2s\r\n", parent + 3,
                 span, parent + 53);
    NsAssert(n > 0 && (size_t) n < sizeof(optionsPtr->trace));
    state = NsHttpFind(&messagePtr->head, "tracestate");
    if (state != NULL && strlen(state) <= MAX_TRACE_STATE
        && IsPrintable(state)) {
        n += snprintf(optionsPtr->trace + n,
                      sizeof(optionsPtr->trace) - (size_t) n,
                      "tracestate: %s\r\n", state);
        NsAssert((size_t) n < sizeof(optionsPtr->trace));
    }
    optionsPtr->spec.lines = optionsPtr->trace;
}

static bool
IsPrintable(const char *text)
{
    while (*text >= ' ' && *text <= '~') {
        text++;
    }
    return *text == '\0';
}

/*
 * host H port P ?tunnel B?; an empty host: no proxy.
 */
static int
SetProxy(Tcl_Interp *interp, Tcl_Obj *dictObj, NsHttpClientSpec *specPtr)
{
    static const char *const keys[] = {"host", "port", "tunnel"};
    Tcl_Obj                 *values[Ns_NrElements(keys)] = {NULL};
    int                      isTunneled = 0;

    for (int i = 0; i < Ns_NrElements(keys); i++) {
        Tcl_Obj *keyObj = Tcl_NewStringObj(keys[i], -1);
        int      result;

        Tcl_IncrRefCount(keyObj);
        result = Tcl_DictObjGet(NULL, dictObj, keyObj, &values[i]);
        Tcl_DecrRefCount(keyObj);
        if (result != TCL_OK) {
            return NsTclFail(interp, "Invalid proxy dictionary");
        }
    }
    if (values[0] == NULL || *Tcl_GetString(values[0]) == '\0') {
        return TCL_OK;
    }
    if (values[1] == NULL) {
        return NsTclFail(interp, "missing proxy port");
    }
    if (Tcl_GetIntFromObj(NULL, values[1], &specPtr->proxyPort) != TCL_OK
        || specPtr->proxyPort < 1 || specPtr->proxyPort > 65535) {
        return NsTclFail(interp, "invalid proxy port");
    }
    if (values[2] != NULL
        && Tcl_GetBooleanFromObj(interp, values[2], &isTunneled) != TCL_OK) {
        return TCL_ERROR;
    }
    specPtr->proxyHost = Tcl_GetString(values[0]);
    specPtr->isTunneled = isTunneled != 0;
    return TCL_OK;
}

static int
SetBody(Tcl_Interp *interp, NsHttpOptions *optionsPtr, const Words *wordsPtr)
{
    NsHttpClientSpec *specPtr = &optionsPtr->spec;

    if (wordsPtr->bodyFile != NULL) {
        return SetBodyFile(interp, wordsPtr->bodyFile, wordsPtr->bodySize,
                           specPtr);
    }
    if (optionsPtr->bodyChannel != NULL) {
        return SetBodyChannel(interp, optionsPtr->bodyChannel,
                              wordsPtr->bodySize, specPtr);
    }
    if (wordsPtr->bodyObj != NULL) {
        SetBodyValue(optionsPtr, wordsPtr->bodyObj);
        if (wordsPtr->bodySize >= 0) {
            specPtr->bodyBytes = MIN(specPtr->bodyBytes,
                                     (uint64_t) wordsPtr->bodySize);
        }
    }
    return TCL_OK;
}

/*
 * The bytes live as long as the words do: what is encoded is kept by them.
 */
static void
SetBodyValue(NsHttpOptions *optionsPtr, Tcl_Obj *bodyObj)
{
    NsHttpClientSpec *specPtr = &optionsPtr->spec;
    const char       *type = optionsPtr->headers == NULL
              ? NULL
              : Ns_SetIGet(optionsPtr->headers, "Content-Type");
    int               length;

    optionsPtr->bodyObj = NsTclIsByteArray(bodyObj)
        ? bodyObj
        : Encoded(bodyObj, type);
    Tcl_IncrRefCount(optionsPtr->bodyObj);
    specPtr->body = (const char *) Tcl_GetByteArrayFromObj(optionsPtr->bodyObj,
                                                           &length);
    specPtr->bodyBytes = (uint64_t) length;
}

/*
 * Text becomes what its type says; without one, and with a type of no text,
 * each character is a byte if they all can be.
 */
static Tcl_Obj *
Encoded(Tcl_Obj *bodyObj, const char *type)
{
    Tcl_Encoding encoding = NULL;
    Tcl_DString  ds;
    const char  *text;
    int          length;
    Tcl_Obj     *result;

    if ((type == NULL || !NsHttpTypeIsText(type)) && FitsBytes(bodyObj)) {
        return Tcl_DuplicateObj(bodyObj);
    }
    if (type != NULL) {
        encoding = NsHttpTypeEncoding(type);
    }
    text = Tcl_GetStringFromObj(bodyObj, &length);
    /* NULL would be the encoding of the system. */
    (void) Tcl_UtfToExternalDString(encoding == NULL ? Ns_GetEncoding("utf-8")
                                                     : encoding,
                                    text, length, &ds);
    result = Tcl_NewByteArrayObj((const unsigned char *) Tcl_DStringValue(&ds),
                                 Tcl_DStringLength(&ds));
    Tcl_DStringFree(&ds);
    return result;
}

/*
 * Whether no character is above U+00FF: these begin with C4 or more in UTF-8.
 */
static bool
FitsBytes(Tcl_Obj *obj)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(obj, &length);

    for (int i = 0; i < length; i++) {
        if ((unsigned char) text[i] >= 0xc4u) {
            return false;
        }
    }
    return true;
}

static int
SetBodyFile(Tcl_Interp *interp, const char *file, Tcl_WideInt size,
            NsHttpClientSpec *specPtr)
{
    struct stat state;
    int         fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &state) != 0 || !S_ISREG(state.st_mode)) {
        if (fd >= 0) {
            NsClose(fd);
        }
        return NsTclFail(interp, "cannot stat: %s ", file);
    }
    specPtr->bodyFd = fd;
    specPtr->bodyBytes = (uint64_t) state.st_size;
    if (size >= 0) {
        specPtr->bodyBytes = MIN(specPtr->bodyBytes, (uint64_t) size);
    }
    return TCL_OK;
}

/*
 * The work is done by another thread, perhaps, which cannot read from a
 * channel: what is to be sent must be in a file.
 */
static int
SetBodyChannel(Tcl_Interp *interp, const char *name, Tcl_WideInt size,
               NsHttpClientSpec *specPtr)
{
    Tcl_Channel channel;
    int         fd;

    if (Ns_TclGetOpenChannel(interp, name, 0, 1, &channel) != TCL_OK
        || Tcl_SetChannelOption(interp, channel, "-translation", "binary")
            != TCL_OK
        || Tcl_SetChannelOption(interp, channel, "-blocking", "1") != TCL_OK) {
        return TCL_ERROR;
    }
    if (SetFromFileOf(channel, size, specPtr)) {
        return TCL_OK;
    }
    if (size < 0) {
        return NsTclFail(interp,
                         "option -body_size is needed for a channel that "
                         "cannot seek");
    }
    fd = NsTempFileOpen(NULL);
    if (fd < 0) {
        return NsTclFail(interp, "cannot store the body: %s",
                         Tcl_ErrnoMsg(errno));
    }
    if (CopyChannel(interp, channel, size, fd) != TCL_OK) {
        NsClose(fd);
        return TCL_ERROR;
    }
    specPtr->bodyFd = fd;
    specPtr->bodyBytes = (uint64_t) size;
    return TCL_OK;
}

/*
 * False: it is not a file, or something stands in between.
 */
static bool
SetFromFileOf(Tcl_Channel channel, Tcl_WideInt size, NsHttpClientSpec *specPtr)
{
    ClientData  handle;
    struct stat state;
    Tcl_WideInt offset;
    uint64_t    left;

    if (!STREQ(Tcl_ChannelName(Tcl_GetChannelType(channel)), "file")
        || Tcl_GetStackedChannel(channel) != NULL
        || Tcl_GetChannelHandle(channel, TCL_READABLE, &handle) != TCL_OK
        || fstat((int) (intptr_t) handle, &state) != 0
        || !S_ISREG(state.st_mode) || (offset = Tcl_Tell(channel)) < 0) {
        return false;
    }
    specPtr->bodyFd = fcntl((int) (intptr_t) handle, F_DUPFD_CLOEXEC, 3);
    if (specPtr->bodyFd < 0) {
        specPtr->bodyFd = 0;
        return false;
    }
    left = state.st_size > offset ? (uint64_t) (state.st_size - offset) : 0u;
    specPtr->bodyOffset = (off_t) offset;
    specPtr->bodyBytes = size < 0 ? left : MIN(left, (uint64_t) size);
    (void) Tcl_Seek(channel, (Tcl_WideInt) specPtr->bodyBytes, SEEK_CUR);
    return true;
}

static int
CopyChannel(Tcl_Interp *interp, Tcl_Channel channel, Tcl_WideInt size, int fd)
{
    char buffer[COPY_BYTES];

    while (size > 0) {
        int n = Tcl_Read(channel, buffer,
                         (int) MIN(size, (Tcl_WideInt) COPY_BYTES));

        if (n <= 0) {
            return NsTclFail(interp, "cannot read the body: %s",
                             n == 0 ? "the channel has ended"
                                    : Tcl_ErrnoMsg(Tcl_GetErrno()));
        }
        if (!NsWriteAll(fd, buffer, (size_t) n)) {
            return NsTclFail(interp, "cannot store the body: %s",
                             Tcl_ErrnoMsg(errno));
        }
        size -= n;
    }
    return TCL_OK;
}
