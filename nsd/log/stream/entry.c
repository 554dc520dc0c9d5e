/* SPDX-License-Identifier: MPL-2.0
 * entry.c --
 *
 *      The path of an entry through the thread that logs it.
 */

#include "log/stream/entry.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "base/fatal.h"
#include "log/ring/ring.h"
#include "log/stream/addresses.h"
#include "log/stream/filter.h"
#include "log/stream/identity.h"
#include "log/stream/severity.h"
#include "nssockaddr.h"
#include "nsstring.h"
#include "nsthread.h"

#define FORMAT_BYTES 2048 /* Longer messages are formatted in the heap. */

/*
 * Entries that a thread keeps; texts has their messages, one after the other.
 */
typedef struct Kept {
    int64_t        time;
    Ns_LogSeverity severity;
    size_t         offset;
    size_t         length;
} Kept;

typedef struct Buffer {
    bool       isHolding;
    int        nKept;
    int        maxKept;
    Kept      *kept;
    Ns_DString texts;
} Buffer;

/*
 * What this thread has logged while it worked for a sink.
 */
typedef struct Deferred {
    struct Deferred *nextPtr;
    int64_t          time;
    Ns_LogSeverity   severity;
    size_t           length;
    char             message[];
} Deferred;

static _Thread_local int        nDeferring;
static _Thread_local Deferred  *firstDeferred;
static _Thread_local Deferred **lastDeferredPtr;

static atomic_bool             hidesAddresses; /* masklogaddr. */
static NsEntryProcs            procs;          /* Constant after NsEntryInit. */
static atomic_int              pid; /* Set by that, and after a fork. */
static Ns_Tls                  bufferTls;
static NsLogFatalProc *_Atomic fatalProc;

static inline void LogEntry(const NsLogEntry *entryPtr);
static void        LogHiding(Ns_LogSeverity severity, const char *message,
                             size_t length) __attribute__((cold, noinline));
static inline void LogMessage(Ns_LogSeverity severity, const char *message,
                              size_t length);
static void        AddDeferred(Ns_LogSeverity severity, const char *message,
                               size_t length) __attribute__((noinline));
static void        NoteFork(void);
static void        FreeBuffer(void *arg);
static Buffer     *ThreadBuffer(void);
static void        Keep(Buffer *bufferPtr, const NsLogEntry *entryPtr);
static void        SendKept(Buffer *bufferPtr);
static void        CheckKept(const Kept *keptPtr, Ns_DString *textsPtr);
static void        Send(const NsLogEntry *entryPtr);

void
NsEntryInit(const NsEntryProcs *procsPtr)
{
    NsAssert(procsPtr->noteProc != NULL && procsPtr->writeProc != NULL
             && procsPtr->drainProc != NULL);
    procs = *procsPtr;
    Ns_TlsAlloc(&bufferTls, FreeBuffer);
    NoteFork();
    NsMust(pthread_atfork(NULL, NULL, NoteFork));
}

static void
NoteFork(void)
{
    atomic_store(&pid, getpid());
}

void
NsEntryDescribe(NsLogEntry *entryPtr, Ns_LogSeverity severity,
                const char *message, size_t length)
{
    const NsLogIdentity *identityPtr = NsLogIdentityGet();

    *entryPtr = (NsLogEntry){
        .time = NsLogClock(),
        .severity = (int) severity,
        .severityName = Ns_LogSeverityName(severity),
        .pid = atomic_load_explicit(&pid, memory_order_relaxed),
        .thread = Ns_ThreadId(),
        .threadName = Ns_ThreadGetName(),
        .message = message,
        .messageLength = length,
        .requestId = identityPtr->requestId,
        .traceId = identityPtr->traceId,
        .spanId = identityPtr->spanId};
}

void
Ns_Log(Ns_LogSeverity severity, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    Ns_VALog(severity, fmt, &ap);
    va_end(ap);
}

void
Ns_VALog(Ns_LogSeverity severity, const char *fmt, va_list *apPtr)
{
    char    text[FORMAT_BYTES];
    va_list again;
    int     length;

    if (!Ns_LogSeverityEnabled(severity)) {
        return;
    }
    va_copy(again, *apPtr);
    length = vsnprintf(text, sizeof(text), fmt, *apPtr);
    if (likely(length >= 0 && (size_t) length < sizeof(text))) {
        NsEntryLog(severity, text, (size_t) length);
    } else if (length >= 0) {
        char *longText = ns_malloc((size_t) length + 1);

        vsnprintf(longText, (size_t) length + 1, fmt, again);
        NsEntryLog(severity, longText, (size_t) length);
        ns_free(longText);
    } else {
        /* Wide characters that cannot be converted: the format says most of it.
         */
        NsEntryLog(severity, fmt, strlen(fmt));
    }
    va_end(again);
}

void
NsEntryLog(Ns_LogSeverity severity, const char *message, size_t length)
{
    if (!Ns_LogSeverityEnabled(severity)) {
        return;
    }
    if (unlikely(atomic_load_explicit(&hidesAddresses, memory_order_relaxed))) {
        LogHiding(severity, message, length);
    } else {
        LogMessage(severity, message, length);
    }
}

void
NsEntryHideAddresses(bool hides)
{
    atomic_store_explicit(&hidesAddresses, hides, memory_order_relaxed);
}

/*
 * The one place that all entries pass, before anything gets them: log memory,
 * filters, buffers of threads, requests' units.
 */
static void
LogHiding(Ns_LogSeverity severity, const char *message, size_t length)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsAddressesHide(&ds, message, length);
    LogMessage(severity, Ns_DStringValue(&ds), (size_t) Ns_DStringLength(&ds));
    Ns_DStringFree(&ds);
}

static inline void
LogMessage(Ns_LogSeverity severity, const char *message, size_t length)
{
    NsLogEntry entry;

    if (unlikely(nDeferring > 0)) {
        AddDeferred(severity, message, length);
        return;
    }
    NsEntryDescribe(&entry, severity, message, length);
    LogEntry(&entry);
}

/*
 * To where the thread's entries go now.
 */
static inline void
LogEntry(const NsLogEntry *entryPtr)
{
    Ns_LogSeverity severity = (Ns_LogSeverity) entryPtr->severity;
    Buffer        *bufferPtr;

    NsSeverityCountEntry(severity);
    procs.noteProc(severity, entryPtr->message, entryPtr->messageLength);
    if (NsFilterIsRunning()) {
        procs.writeProc(entryPtr);
        return;
    }
    bufferPtr = Ns_TlsGet(&bufferTls);
    if (likely(bufferPtr == NULL
               || (!bufferPtr->isHolding && bufferPtr->nKept == 0))) {
        Send(entryPtr);
        return;
    }
    if (bufferPtr->isHolding && severity != Fatal) {
        Keep(bufferPtr, entryPtr);
    } else {
        SendKept(bufferPtr);
        Send(entryPtr);
    }
}

void
NsEntryDefer(void)
{
    nDeferring++;
}

void
NsEntrySendDeferred(void)
{
    NsAssert(nDeferring > 0);
    nDeferring--;
    while (nDeferring == 0 && firstDeferred != NULL) {
        Deferred  *deferredPtr = firstDeferred;
        NsLogEntry entry;

        firstDeferred = deferredPtr->nextPtr;
        NsEntryDescribe(&entry, deferredPtr->severity, deferredPtr->message,
                        deferredPtr->length);
        entry.time = deferredPtr->time;
        LogEntry(&entry);
        ns_free(deferredPtr);
    }
}

bool
NsEntryIsDeferring(void)
{
    return nDeferring > 0;
}

static void
AddDeferred(Ns_LogSeverity severity, const char *message, size_t length)
{
    Deferred *deferredPtr = ns_malloc(sizeof(*deferredPtr) + length);

    deferredPtr->nextPtr = NULL;
    deferredPtr->time = NsLogClock();
    deferredPtr->severity = severity;
    deferredPtr->length = length;
    memcpy(deferredPtr->message, message, length);
    NsAssert(nDeferring > 0);
    if (firstDeferred == NULL) {
        firstDeferred = deferredPtr;
    } else {
        NsAssert(*lastDeferredPtr == NULL);
        *lastDeferredPtr = deferredPtr;
    }
    lastDeferredPtr = &deferredPtr->nextPtr;
}

void
NsLogSetFatalProc(NsLogFatalProc *proc)
{
    atomic_store(&fatalProc, proc);
}

void
NsEntryTellFatal(const char *message, size_t length)
{
    NsLogFatalProc *proc = atomic_load(&fatalProc);

    if (proc != NULL) {
        proc(message, length);
    }
}

void
Ns_Fatal(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    Ns_VALog(Fatal, fmt, &ap);
    va_end(ap);
    procs.drainProc();
    NsFatalEnd();
    _exit(1);
}

Ns_LogSeverity
Ns_CreateLogSeverity(const char *name)
{
    int severity = NsSeverityCreate(name);

    if (severity < 0) {
        Ns_Fatal("max log severities exceeded");
    }
    return (Ns_LogSeverity) severity;
}

void
NsEntryHold(void)
{
    ThreadBuffer()->isHolding = true;
}

void
NsEntryFlush(void)
{
    SendKept(ThreadBuffer());
}

void
NsEntryRelease(void)
{
    Buffer *bufferPtr = ThreadBuffer();

    bufferPtr->isHolding = false;
    SendKept(bufferPtr);
}

int
NsEntryCount(void)
{
    return ThreadBuffer()->nKept;
}

void
NsEntryAppendLines(Ns_DString *dsPtr)
{
    Buffer    *bufferPtr = ThreadBuffer();
    NsLogStyle style = nsLogStyle;

    style.sanitize = 0;
    nsLogContext = (NsLogContext){.start = nsLogStyle.start};
    for (int i = 0; i < bufferPtr->nKept; i++) {
        const Kept *keptPtr = &bufferPtr->kept[i];
        NsLogEntry  entry;
        NsLogOut    out = {NULL, 0, 0};
        int         start = Ns_DStringLength(dsPtr);

        CheckKept(keptPtr, &bufferPtr->texts);
        NsEntryDescribe(&entry, keptPtr->severity,
                        Ns_DStringValue(&bufferPtr->texts) + keptPtr->offset,
                        keptPtr->length);
        entry.time = keptPtr->time;
        NsLogLine(&out, &entry, &style);
        Ns_DStringSetLength(dsPtr, start + (int) out.length);
        out = (NsLogOut){Ns_DStringValue(dsPtr) + start, out.length, 0};
        NsLogLine(&out, &entry, &style);
        nsLogContext.previous = entry.time;
    }
}

void
NsEntryTruncate(int n)
{
    Buffer *bufferPtr = ThreadBuffer();

    if (n < bufferPtr->nKept) {
        bufferPtr->nKept = MAX(n, 0);
    }
    if (bufferPtr->nKept == 0) {
        Ns_DStringSetLength(&bufferPtr->texts, 0);
    }
}

void
Ns_LogDeprecated(Tcl_Obj *const *objv, int objc, const char *alternative,
                 const char *explanation)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringAppend(&ds, "'");
    for (int i = 0; i < objc; i++) {
        Ns_DStringVarAppend(&ds, i > 0 ? " " : "", Tcl_GetString(objv[i]),
                            NULL);
    }
    Ns_DStringAppend(&ds, "' is deprecated.");
    if (alternative != NULL) {
        Ns_DStringVarAppend(&ds, " Use '", alternative, "' instead.", NULL);
    }
    if (explanation != NULL) {
        Ns_DStringVarAppend(&ds, " ", explanation, NULL);
    }
    NsEntryLog(Deprecated, Ns_DStringValue(&ds),
               (size_t) Ns_DStringLength(&ds));
    Ns_DStringFree(&ds);
}

void
Ns_LogDeprecatedParameter(const char *oldSection, const char *oldKey,
                          const char *newSection, const char *newKey,
                          const char *explanation)
{
    Ns_Log(Deprecated,
           "config: parameter '%s' of section '%s' is deprecated. Use '%s' of "
           "section '%s' instead.%s%s",
           oldKey, oldSection, newKey, newSection,
           explanation == NULL ? "" : " ",
           explanation == NULL ? "" : explanation);
}

void
Ns_LogSockaddr(Ns_LogSeverity severity, const char *prefix,
               const struct sockaddr *saPtr)
{
    char text[NS_IPADDR_SIZE];

    if (ns_inet_ntop(saPtr, text, sizeof(text)) == NULL) {
        Ns_Log(severity, "%s: address of family %d", prefix, saPtr->sa_family);
    } else {
        Ns_Log(severity, "%s: address %s port %hu", prefix, text,
               Ns_SockaddrGetPort(saPtr));
    }
}

void
Ns_SetLogFlushProc(Ns_LogFlushProc *proc)
{
    Ns_Fatal("log: Ns_SetLogFlushProc is gone: use Ns_AddLogFilter");
}

void
Ns_SetNsLogProc(Ns_LogProc *proc)
{
    Ns_Fatal("log: Ns_SetNsLogProc is gone: use Ns_AddLogFilter");
}

static void
FreeBuffer(void *arg)
{
    Buffer *bufferPtr = arg;

    bufferPtr->isHolding = false;
    SendKept(bufferPtr);
    Ns_DStringFree(&bufferPtr->texts);
    ns_free(bufferPtr->kept);
    ns_free(bufferPtr);
}

static Buffer *
ThreadBuffer(void)
{
    Buffer *bufferPtr = Ns_TlsGet(&bufferTls);

    if (bufferPtr == NULL) {
        bufferPtr = ns_calloc(1u, sizeof(*bufferPtr));
        Ns_DStringInit(&bufferPtr->texts);
        Ns_TlsSet(&bufferTls, bufferPtr);
    }
    return bufferPtr;
}

static void
Keep(Buffer *bufferPtr, const NsLogEntry *entryPtr)
{
    if (bufferPtr->nKept == bufferPtr->maxKept) {
        bufferPtr->maxKept = MAX(16, 2 * bufferPtr->maxKept);
        bufferPtr->kept = ns_realloc(bufferPtr->kept,
                                     (size_t) bufferPtr->maxKept
                                         * sizeof(Kept));
    }
    bufferPtr->kept[bufferPtr->nKept++] = (Kept){
        .time = entryPtr->time,
        .severity = (Ns_LogSeverity) entryPtr->severity,
        .offset = (size_t) Ns_DStringLength(&bufferPtr->texts),
        .length = entryPtr->messageLength};
    Ns_DStringNAppend(&bufferPtr->texts, entryPtr->message,
                      (int) entryPtr->messageLength);
}

/*
 * Filters may log, or use this buffer themselves, so take the entries out
 * first.
 */
static void
SendKept(Buffer *bufferPtr)
{
    Kept      *kept = bufferPtr->kept;
    int        nKept = bufferPtr->nKept;
    Ns_DString texts;

    if (nKept == 0) {
        return;
    }
    Ns_DStringInit(&texts);
    Ns_DStringNAppend(&texts, Ns_DStringValue(&bufferPtr->texts),
                      Ns_DStringLength(&bufferPtr->texts));
    Ns_DStringSetLength(&bufferPtr->texts, 0);
    bufferPtr->kept = NULL;
    bufferPtr->nKept = bufferPtr->maxKept = 0;

    for (int i = 0; i < nKept; i++) {
        NsLogEntry entry;

        CheckKept(&kept[i], &texts);
        NsEntryDescribe(&entry, kept[i].severity,
                        Ns_DStringValue(&texts) + kept[i].offset,
                        kept[i].length);
        entry.time = kept[i].time;
        Send(&entry);
    }
    Ns_DStringFree(&texts);
    ns_free(kept);
}

/*
 * The message is one of the texts.
 */
static void
CheckKept(const Kept *keptPtr, Ns_DString *textsPtr)
{
    size_t length = (size_t) Ns_DStringLength(textsPtr);

    NsAssert(keptPtr->offset <= length);
    NsAssert(keptPtr->length <= length - keptPtr->offset);
}

static void
Send(const NsLogEntry *entryPtr)
{
    if (entryPtr->severity != Fatal) {
        NsFilterRun(entryPtr);
    } else {
        NsEntryTellFatal(entryPtr->message, entryPtr->messageLength);
    }
    procs.writeProc(entryPtr);
}
