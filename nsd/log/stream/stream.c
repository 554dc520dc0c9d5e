/* SPDX-License-Identifier: MPL-2.0
 * stream.c --
 *
 *      Streams: names, and the path of a record to the sinks.
 */

#include "log/stream/stream.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "log/ring/bell.h"
#include "log/stream/json.h"
#include "log/stream/kinds.h"
#include "log/stream/line.h"
#include "log/stream/severity.h"
#include "nslog.h"
#include "nsthread.h"

typedef struct Route {
    struct Route *olderPtr;   /* Of those that the stream has had. */
    bool          isWanted;   /* By a sink. */
    bool          isFiltered; /* What follows leaves out something. */
    int           minWeight;
    NsKinds       ignored;
    char         *ignore; /* What that was made from; or NULL. */
} Route;

struct Ns_LogStream_ {
    char name[NS_RING_NAME]; /* Constant. */
    int  index;              /* Constant. */
    NsLaneClass class;       /* Constant; of severities below Error. */
    struct {
        void                       *arg; /* Constant once proc is set. */
        _Atomic(Ns_LogFormatProc *) proc;
    } formats[NS_LOG_NFORMATS];
    _Atomic(const NsFieldProcs *) fieldsPtr;
    _Atomic(const Route *)        routePtr;
    Route *routes; /* Written with the table of sinks locked, */
    _Atomic(NsStreamSinks *) sinksPtr; /* likewise. */
    atomic_size_t sentOffset; /* Of the count of bytes sent; 0: none. */
    atomic_int    nIdle;      /* Sinks to be woken by the next record. */
    atomic_size_t nudgeBytes; /* After these many a sink is to be told. */
    atomic_int    overflow;   /* NsOverflow */
    atomic_uint_fast64_t nIgnored;
    atomic_uint_fast64_t nDropped;
    atomic_int_fast64_t  firstDrop;
    atomic_int_fast64_t  lastDrop;
};

#define EPISODE_NANOS NS_STAMP_SECOND
#define MAX_ROOMS     100

Ns_LogStream nsSystemStream;
Ns_LogStream nsAuditStream;
Ns_LogStream nsOperationStream;
atomic_bool  nsStreamHasLanes;

static const char *const formatNames[NS_LOG_NFORMATS] = {
    [NS_LOG_NATIVE] = "native",
    [NS_LOG_COMMON] = "common",
    [NS_LOG_COMBINED] = "combined",
    [NS_LOG_JSON] = "json"};

static const Route         nowhere = {.isWanted = false};
static NsStreamSinks      *oldLists; /* To be freed; table of sinks locked. */
static const NsStreamSinks nobody = {.n = 0};

static Ns_Mutex             lock; /* Guards growth of the table, and ringPtr. */
static struct Ns_LogStream_ streams[NS_RING_MAX_STREAMS];
static atomic_int           nStreams;
static NsRing              *ring;

/*
 * The number of streams in which this thread could not prepare a record.  The
 * record was put at once, so the one that would replace it is not put.  These
 * streams are marked (NsLaneMark).
 */
static _Thread_local int nPutEarly __attribute__((tls_model("initial-exec")));

static _Thread_local NsStreamHoldProc *holdProc
    __attribute__((tls_model("initial-exec")));

static int         LimitLocked(void);
static void        RefuseStream(const char *name, int limit);
static size_t      FormatNatively(Ns_LogStream stream, int format,
                                  const Ns_LogRecord *recordPtr, char *buffer,
                                  size_t room) __attribute__((noinline));
static size_t      WrapInJson(char *buffer, size_t room,
                              const Ns_LogRecord *recordPtr, size_t length);
static void        NoteFork(void);
static inline void FillRecord(NsLaneRecord *recordPtr, Ns_LogStream stream,
                              int severity, int64_t time,
                              const struct iovec *pieces, int n);
static bool Passes(const Route *routePtr, Ns_LogStream stream, int severity,
                   const char *kind);
static Ns_ReturnCode PutInLane(Ns_LogStream        stream,
                               const NsLaneRecord *recordPtr);
static bool PutWithRoom(Ns_LogStream stream, const NsLaneRecord *recordPtr)
    __attribute__((noinline));
static Ns_ReturnCode PutCut(Ns_LogStream stream, const NsLaneRecord *recordPtr)
    __attribute__((noinline));
static void NotePutEarly(Ns_LogStream stream);
static bool TakePutEarly(Ns_LogStream stream) __attribute__((noinline));
static inline NsLaneClass ClassOf(Ns_LogStream stream, int severity);
static void               CountDrop(Ns_LogStream stream, int64_t time);
static void               NoteOverflowLocked(Ns_LogStream stream);
static void               NameInRingLocked(Ns_LogStream stream);
static bool   IsRoute(const Route *routePtr, const NsStreamRoute *fromPtr);
static Route *NewRoute(const NsStreamRoute *fromPtr);
static void   SetSinks(Ns_LogStream stream, const NsStreamRoute *fromPtr);

void
NsStreamInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LOG_STREAMS, "ns:log", "streams");
    nsSystemStream = Ns_LogStreamCreate("system", NULL, NULL);
    nsAuditStream = Ns_LogStreamCreate("audit", NULL, NULL);
    nsAuditStream->class = NS_LANE_CRITICAL;
    NsStreamSetOverflow(nsAuditStream, NS_OVERFLOW_BLOCK);
    nsOperationStream = Ns_LogStreamCreate("operation", NULL, NULL);
}

Ns_LogStream
Ns_LogStreamCreate(const char *name, Ns_LogFormatProc *proc, void *arg)
{
    Ns_LogStream stream;
    bool         isNew = false;

    Ns_MutexLock(&lock);
    stream = NsStreamFind(name);
    if (stream == NULL) {
        int n = atomic_load(&nStreams), limit = LimitLocked();

        if (n == limit || strlen(name) >= NS_RING_NAME) {
            Ns_MutexUnlock(&lock);
            RefuseStream(name, limit);
            return NULL;
        }
        NsAssert(n < limit && limit <= NS_RING_MAX_STREAMS);
        stream = &streams[n];
        strcpy(stream->name, name);
        stream->index = n;
        stream->class = NS_LANE_NORMAL;
        atomic_store(&stream->overflow, NS_OVERFLOW_DROPNEWEST);
        atomic_store(&stream->routePtr, &nowhere);
        atomic_store(&stream->nudgeBytes, SIZE_MAX);
        atomic_store_explicit(&nStreams, n + 1, memory_order_release);
        NameInRingLocked(stream);
        isNew = true;
    }
    if (proc != NULL) {
        stream->formats[NS_LOG_NATIVE].arg = arg;
        atomic_store(&stream->formats[NS_LOG_NATIVE].proc, proc);
    }
    Ns_MutexUnlock(&lock);

    if (isNew) {
        nsBell.streamProc(stream->index);
    }
    return stream;
}

/*
 * The number of streams that the mapping has room for; without a mapping, that
 * of the table.
 */
static int
LimitLocked(void)
{
    NsAssertLocked(&lock);
    return ring == NULL ? NS_RING_MAX_STREAMS
                        : (int) ring->headerPtr->maxStreams;
}

static void
RefuseStream(const char *name, int limit)
{
    if (strlen(name) >= NS_RING_NAME) {
        Ns_Log(Error,
               "log: cannot create stream '%s': a name has at most %d "
               "bytes",
               name, NS_RING_NAME - 1);
        errno = ENAMETOOLONG;
    } else {
        Ns_Log(Error,
               "log: cannot create stream '%s': the limit is %d "
               "streams; raise maxlogs in ns/parameters",
               name, limit);
        errno = NS_STREAM_TOO_MANY;
    }
}

int
Ns_LogStreamWanted(Ns_LogStream stream)
{
    const Route *routePtr = atomic_load_explicit(&stream->routePtr,
                                                 memory_order_acquire);

    return routePtr->isWanted;
}

int
Ns_LogStreamPut(Ns_LogStream stream, Ns_LogSeverity severity,
                const struct iovec *pieces, int n)
{
    size_t offset = atomic_load_explicit(&stream->sentOffset,
                                         memory_order_relaxed);

    if (!Ns_LogStreamWanted(stream)) {
        return NS_OK;
    }
    if (unlikely(offset != 0 && holdProc != NULL)) {
        holdProc(stream, (int) severity, pieces, n, offset);
        return NS_OK;
    }
    return NsStreamPut(stream, (int) severity, NsLogClock(), pieces, n);
}

void
NsStreamHold(NsStreamHoldProc *proc)
{
    NsAssert(proc == NULL || holdProc == NULL);
    holdProc = proc;
}

int
Ns_LogStreamPrepare(Ns_LogStream stream, Ns_LogSeverity severity,
                    const struct iovec *pieces, int n)
{
    const Route *routePtr = atomic_load_explicit(&stream->routePtr,
                                                 memory_order_acquire);
    NsLaneRecord record;

    if (!routePtr->isWanted || !NsStreamHasLanes()
        || (unlikely(routePtr->isFiltered)
            && !Passes(routePtr, stream, (int) severity, NULL))) {
        return NS_OK;
    }
    FillRecord(&record, stream, (int) severity, NsLogClock(), pieces, n);
    if (likely(NsLanePrepare(stream->index, &record))) {
        return NS_OK;
    }
    if (!TakePutEarly(stream) && PutInLane(stream, &record) != NS_OK) {
        return NS_ERROR;
    }
    NotePutEarly(stream);
    return NS_OK;
}

static void
NotePutEarly(Ns_LogStream stream)
{
    nPutEarly += !NsLaneMark(stream->index, true);
}

/*
 * This thread has put a record of the stream early; not any more.
 */
static bool
TakePutEarly(Ns_LogStream stream)
{
    bool isPut = nPutEarly > 0 && NsLaneMark(stream->index, false);

    nPutEarly -= isPut;
    NsAssert(nPutEarly >= 0);
    return isPut;
}

void
Ns_LogStreamForget(Ns_LogStream stream)
{
    (void) NsStreamForget(stream);
}

const void *
Ns_LogStreamPrepared(Ns_LogStream stream, size_t *lengthPtr)
{
    return NsLanePrepared(stream->index, lengthPtr);
}

bool
NsStreamForget(Ns_LogStream stream)
{
    NsLaneForget(stream->index);
    return TakePutEarly(stream);
}

Ns_ReturnCode
NsStreamPut(Ns_LogStream stream, int severity, int64_t time,
            const struct iovec *pieces, int n)
{
    const Route *routePtr = atomic_load_explicit(&stream->routePtr,
                                                 memory_order_acquire);
    NsLaneRecord record;

    if (unlikely(routePtr->isFiltered)
        && !Passes(routePtr, stream, severity, NULL)) {
        atomic_fetch_add(&stream->nIgnored, 1);
        /* It may have been prepared when it still was to be taken. */
        Ns_LogStreamForget(stream);
        return NS_OK;
    }
    if (!routePtr->isWanted || unlikely(!NsStreamHasLanes())) {
        return NS_OK;
    }
    FillRecord(&record, stream, severity, time, pieces, n);
    if (unlikely(nPutEarly > 0) && TakePutEarly(stream)) {
        return NS_OK;
    }
    return PutInLane(stream, &record);
}

static inline void
FillRecord(NsLaneRecord *recordPtr, Ns_LogStream stream, int severity,
           int64_t time, const struct iovec *pieces, int n)
{
    *recordPtr = (NsLaneRecord){
        .severity = severity,
        .class = ClassOf(stream, severity),
        .overflow = (NsOverflow) atomic_load_explicit(&stream->overflow,
                                                      memory_order_relaxed),
        .nudgeBytes = atomic_load_explicit(&stream->nudgeBytes,
                                           memory_order_relaxed),
        .time = time,
        .pieces = pieces,
        .nPieces = n};
    if (unlikely(recordPtr->class == NS_LANE_CRITICAL)) {
        recordPtr->nudgeBytes = 0;
    }
    for (int i = 0; i < n; i++) {
        recordPtr->length += pieces[i].iov_len;
    }
}

static bool
Passes(const Route *routePtr, Ns_LogStream stream, int severity,
       const char *kind)
{
    if (NsSeverityWeight(severity) < routePtr->minWeight) {
        return false;
    }
    if (kind == NULL && stream == nsSystemStream) {
        kind = Ns_LogSeverityName((Ns_LogSeverity) severity);
    }
    return kind == NULL || !NsKindsHave(&routePtr->ignored, kind, strlen(kind));
}

static Ns_ReturnCode
PutInLane(Ns_LogStream stream, const NsLaneRecord *recordPtr)
{
    if (unlikely(recordPtr->length > nsLaneMaxRecord)) {
        return PutCut(stream, recordPtr);
    }
    if (unlikely(!NsLanePut(stream->index, recordPtr))
        && !PutWithRoom(stream, recordPtr)) {
        CountDrop(stream, recordPtr->time);
        return NS_ERROR;
    }
    /*
     * A sink that goes to sleep counts itself in nIdle, runs a barrier in all
     * threads, and looks at the lanes once more.  So the record's release and
     * this load need only stay in the order they are written here.
     */
    NsBellBarrier();
    if (atomic_load_explicit(&stream->nIdle, memory_order_relaxed) > 0) {
        nsBell.recordProc(stream->index, recordPtr->time);
    }
    return NS_OK;
}

/*
 * Other threads may take the room first, so try again, but not for ever.
 */
static bool
PutWithRoom(Ns_LogStream stream, const NsLaneRecord *recordPtr)
{
    for (int i = 0; i < MAX_ROOMS && nsBell.roomProc(); i++) {
        if (NsLanePut(stream->index, recordPtr)) {
            return true;
        }
    }
    return false;
}

/*
 * Put as much of a record as the lanes can take, followed by a note of its real
 * length.  A message or a line ends with the note; in an audit record the last
 * string does, and its null byte follows.
 */
static Ns_ReturnCode
PutCut(Ns_LogStream stream, const NsLaneRecord *recordPtr)
{
    const char   *end = stream == nsSystemStream ? ""
          : stream == nsAuditStream              ? "\0"
                                                 : "\n";
    char          mark[64];
    int           n = snprintf(mark, sizeof(mark) - 1, " ... [cut: %zu bytes]",
                               recordPtr->length);
    NsLaneRecord  cut = *recordPtr;
    struct iovec *pieces = ns_calloc((size_t) recordPtr->nPieces + 1,
                                     sizeof(*pieces));
    Ns_ReturnCode status;

    if (stream != nsSystemStream) {
        mark[n++] = *end;
    }
    cut.pieces = pieces;
    cut.nPieces = 0;
    cut.length = 0;
    for (int i = 0; i < recordPtr->nPieces; i++) {
        struct iovec piece = recordPtr->pieces[i];

        piece.iov_len = MIN(piece.iov_len,
                            nsLaneMaxRecord - sizeof(mark) - cut.length);
        cut.length += piece.iov_len;
        pieces[cut.nPieces++] = piece;
    }
    pieces[cut.nPieces++] = (struct iovec){mark, (size_t) n};
    cut.length += (size_t) n;
    NsAssert(cut.length <= nsLaneMaxRecord
             && cut.nPieces == recordPtr->nPieces + 1);
    status = PutInLane(stream, &cut);
    ns_free(pieces);
    return status;
}

Ns_LogStream
NsStreamAt(int index)
{
    return index < atomic_load_explicit(&nStreams, memory_order_acquire)
        ? &streams[index]
        : NULL;
}

Ns_LogStream
NsStreamFind(const char *name)
{
    Ns_LogStream stream;

    for (int i = 0; (stream = NsStreamAt(i)) != NULL; i++) {
        if (STREQ(stream->name, name)) {
            return stream;
        }
    }
    return NULL;
}

bool
NsStreamsHaveRoom(void)
{
    int limit;

    Ns_MutexLock(&lock);
    limit = LimitLocked();
    Ns_MutexUnlock(&lock);
    return atomic_load(&nStreams) < limit - limit / 4;
}

const char *
NsStreamName(Ns_LogStream stream)
{
    return stream->name;
}

int
NsStreamIndex(Ns_LogStream stream)
{
    return stream->index;
}

bool
NsStreamMatches(Ns_LogStream stream, const char *wanted)
{
    size_t n = strlen(wanted);

    return strncmp(stream->name, wanted, n) == 0
        && (stream->name[n] == '\0' || stream->name[n] == '/');
}

int
Ns_LogStreamAddFormat(Ns_LogStream stream, const char *format,
                      Ns_LogFormatProc *proc, void *arg)
{
    int index = NsStreamFormatByName(format);

    if (index < 0) {
        return NS_ERROR;
    }
    stream->formats[index].arg = arg;
    atomic_store(&stream->formats[index].proc, proc);
    return NS_OK;
}

void
Ns_LogStreamSetBytesSent(Ns_LogStream stream, size_t offset)
{
    atomic_store(&stream->sentOffset, offset);
}

int
NsStreamFormatByName(const char *name)
{
    for (int i = 0; i < NS_LOG_NFORMATS; i++) {
        if (STREQ(name, formatNames[i])) {
            return i;
        }
    }
    return -1;
}

const char *
NsStreamFormatName(int format)
{
    NsAssert(format >= 0 && format < NS_LOG_NFORMATS);
    return formatNames[format];
}

bool
NsStreamHasFormat(Ns_LogStream stream)
{
    return atomic_load(&stream->formats[NS_LOG_NATIVE].proc) != NULL;
}

void
NsStreamSetFields(Ns_LogStream stream, const NsFieldProcs *procsPtr)
{
    atomic_store(&stream->fieldsPtr, procsPtr);
}

const NsFieldProcs *
NsStreamFields(Ns_LogStream stream)
{
    return atomic_load_explicit(&stream->fieldsPtr, memory_order_acquire);
}

size_t
NsStreamFormat(Ns_LogStream stream, int format, const Ns_LogRecord *recordPtr,
               char *buffer, size_t room)
{
    Ns_LogFormatProc *proc = atomic_load_explicit(&stream->formats[format].proc,
                                                  memory_order_acquire);

    return likely(proc != NULL)
        ? proc(buffer, room, recordPtr, stream->formats[format].arg)
        : FormatNatively(stream, format, recordPtr, buffer, room);
}

/*
 * Kept apart from the function above, which every record passes through.
 */
static size_t
FormatNatively(Ns_LogStream stream, int format, const Ns_LogRecord *recordPtr,
               char *buffer, size_t room)
{
    Ns_LogFormatProc *proc =
        atomic_load_explicit(&stream->formats[NS_LOG_NATIVE].proc,
                             memory_order_acquire);
    size_t n = proc == NULL
        ? 0
        : proc(buffer, room, recordPtr, stream->formats[NS_LOG_NATIVE].arg);

    return format == NS_LOG_JSON && n > 0
        ? WrapInJson(buffer, room, recordPtr, n)
        : n;
}

bool
NsStreamKnowsFormat(Ns_LogStream stream, int format)
{
    return format == NS_LOG_JSON || !NsStreamHasFormat(stream)
        || atomic_load(&stream->formats[format].proc) != NULL;
}

bool
NsStreamTakes(Ns_LogStream stream, int severity, const char *kind)
{
    const Route *routePtr = atomic_load_explicit(&stream->routePtr,
                                                 memory_order_acquire);

    if (likely(!routePtr->isFiltered)
        || Passes(routePtr, stream, severity, kind)) {
        return true;
    }
    atomic_fetch_add(&stream->nIgnored, 1);
    return false;
}

bool
NsStreamIgnores(Ns_LogStream stream, const char *kind)
{
    const Route *routePtr = atomic_load_explicit(&stream->routePtr,
                                                 memory_order_acquire);

    return unlikely(routePtr->isFiltered)
        && NsKindsHave(&routePtr->ignored, kind, strlen(kind));
}

uint64_t
NsStreamIgnored(Ns_LogStream stream)
{
    return atomic_load(&stream->nIgnored);
}

NsOverflow
NsStreamOverflow(Ns_LogStream stream)
{
    return (NsOverflow) atomic_load(&stream->overflow);
}

void
NsStreamSetOverflow(Ns_LogStream stream, NsOverflow overflow)
{
    atomic_store(&stream->overflow, (int) overflow);
    Ns_MutexLock(&lock);
    if (ring != NULL) {
        NoteOverflowLocked(stream);
    }
    Ns_MutexUnlock(&lock);
}

void
NsStreamGetDrops(Ns_LogStream stream, NsStreamDrops *dropsPtr)
{
    dropsPtr->n = atomic_load(&stream->nDropped);
    dropsPtr->first = atomic_load(&stream->firstDrop);
    dropsPtr->last = atomic_load(&stream->lastDrop);
}

void
NsStreamUseRing(NsRing *ringPtr)
{
    Ns_LogStream stream;

    NsMust(pthread_atfork(NULL, NULL, NoteFork));
    Ns_MutexLock(&lock);
    NsAssert(ring == NULL);
    ring = ringPtr;
    for (int i = 0; (stream = NsStreamAt(i)) != NULL; i++) {
        NameInRingLocked(stream);
    }
    Ns_MutexUnlock(&lock);
}

void
NsStreamUseLanes(void)
{
    atomic_store(&nsStreamHasLanes, true);
}

/*
 * Readers may be in any route that there has been, so none is freed; one that
 * comes back is used again.
 */
bool
NsStreamSetRoute(Ns_LogStream stream, const NsStreamRoute *fromPtr)
{
    Route *routePtr = stream->routes;

    NsAssert(fromPtr->nSinks == 0 || fromPtr->sinks != NULL);
    while (routePtr != NULL && !IsRoute(routePtr, fromPtr)) {
        routePtr = routePtr->olderPtr;
    }
    if (routePtr == NULL) {
        routePtr = NewRoute(fromPtr);
        routePtr->olderPtr = stream->routes;
        stream->routes = routePtr;
    }
    SetSinks(stream, fromPtr);
    atomic_store(&stream->nudgeBytes, fromPtr->nudgeBytes);
    atomic_store(&stream->routePtr, routePtr);
    return oldLists != NULL;
}

const NsStreamSinks *
NsStreamGetSinks(int index)
{
    const NsStreamSinks *sinksPtr = atomic_load(&streams[index].sinksPtr);

    NsAssert(index >= 0 && index < NS_RING_MAX_STREAMS);
    return sinksPtr != NULL ? sinksPtr : &nobody;
}

static void
SetSinks(Ns_LogStream stream, const NsStreamRoute *fromPtr)
{
    NsStreamSinks *oldPtr = atomic_load(&stream->sinksPtr), *sinksPtr;
    size_t         bytes = (size_t) fromPtr->nSinks * sizeof(oldPtr->sinks[0]);

    if (oldPtr != NULL && oldPtr->n == fromPtr->nSinks
        && memcmp(oldPtr->sinks, fromPtr->sinks, bytes) == 0) {
        return;
    }
    sinksPtr = ns_calloc(1u, sizeof(*sinksPtr) + bytes);
    sinksPtr->n = fromPtr->nSinks;
    if (bytes > 0) {
        memcpy(sinksPtr->sinks, fromPtr->sinks, bytes);
    }
    atomic_store(&stream->sinksPtr, sinksPtr);
    if (oldPtr != NULL) {
        oldPtr->nextPtr = oldLists;
        oldLists = oldPtr;
    }
}

void
NsStreamFreeListsLocked(void)
{
    while (oldLists != NULL) {
        NsStreamSinks *sinksPtr = oldLists;

        oldLists = sinksPtr->nextPtr;
        ns_free(sinksPtr);
    }
}

static bool
IsRoute(const Route *routePtr, const NsStreamRoute *fromPtr)
{
    const char *left = routePtr->ignore, *right = fromPtr->filter.ignore;

    return routePtr->isWanted == (fromPtr->nSinks > 0)
        && routePtr->minWeight == fromPtr->filter.minWeight
        && STREQ(left != NULL ? left : "", right != NULL ? right : "");
}

static Route *
NewRoute(const NsStreamRoute *fromPtr)
{
    Route *routePtr = ns_calloc(1u, sizeof(*routePtr));

    routePtr->isWanted = fromPtr->nSinks > 0;
    routePtr->minWeight = fromPtr->filter.minWeight;
    routePtr->ignore = ns_strcopy(fromPtr->filter.ignore);
    (void) NsKindsInit(&routePtr->ignored, fromPtr->filter.ignore);
    routePtr->isFiltered = routePtr->minWeight > 0 || routePtr->ignored.n > 0;
    return routePtr;
}

void
NsStreamCountIdle(int index, int change)
{
    int n;

    NsAssert(index >= 0 && index < NS_RING_MAX_STREAMS);
    n = atomic_fetch_add(&streams[index].nIdle, change) + change;
    NsAssert(n >= 0);
}

/*
 * The buffer has a line of the stream's own, of that length if there is room:
 * make it a member of an object.
 */
static size_t
WrapInJson(char *buffer, size_t room, const Ns_LogRecord *recordPtr,
           size_t length)
{
    const char *severity =
        Ns_LogSeverityName((Ns_LogSeverity) recordPtr->severity);
    NsLogOut out = {buffer, room, 0};
    char    *line;

    if (length > room) {
        return length;
    }
    line = ns_malloc(length);
    memcpy(line, buffer, length);
    NsLogPut(&out, "{", 1);
    NsJsonName(&out, "time", true);
    NsJsonTime(&out, recordPtr->time);
    NsJsonName(&out, "stream", false);
    NsJsonString(&out, recordPtr->stream, strlen(recordPtr->stream));
    NsJsonName(&out, "severity", false);
    NsJsonString(&out, severity, strlen(severity));
    NsJsonName(&out, "line", false);
    NsJsonString(&out, line, length - (line[length - 1] == '\n'));
    NsLogPut(&out, "}\n", 2);
    ns_free(line);
    return out.length;
}

/*
 * The mapping is shared with the parent, whose lanes are not ours.
 */
static void
NoteFork(void)
{
    atomic_store(&nsStreamHasLanes, false);
}

static inline NsLaneClass
ClassOf(Ns_LogStream stream, int severity)
{
    if (severity == Error || severity == Fatal || severity == Bug) {
        return NS_LANE_CRITICAL;
    }
    return severity >= Debug && stream->class == NS_LANE_NORMAL
        ? NS_LANE_DETAIL
        : stream->class;
}

/*
 * A drop begins a new episode if there was none for a while.
 */
static void
CountDrop(Ns_LogStream stream, int64_t time)
{
    int64_t last = atomic_exchange(&stream->lastDrop, time);

    if (time - last > EPISODE_NANOS) {
        atomic_store(&stream->firstDrop, time);
    }
    atomic_fetch_add(&stream->nDropped, 1);
}

/*
 * For a process that finds the mapping.
 */
static void
NoteOverflowLocked(Ns_LogStream stream)
{
    NsAssertLocked(&lock);
    NsAssert(stream->index < (int) ring->headerPtr->maxStreams);
    atomic_store(&NsRingStreamAt(ring, (uint32_t) stream->index)->isBlocking,
                 NsStreamOverflow(stream) == NS_OVERFLOW_BLOCK);
}

static void
NameInRingLocked(Ns_LogStream stream)
{
    NsAssertLocked(&lock);
    if (ring != NULL) {
        NsAssert(stream->index < (int) ring->headerPtr->maxStreams);
        strcpy(NsRingStreamAt(ring, (uint32_t) stream->index)->name,
               stream->name);
        NoteOverflowLocked(stream);
        NsAssert(atomic_load(&ring->headerPtr->nStreams)
                 <= (unsigned) stream->index);
        atomic_store_explicit(&ring->headerPtr->nStreams,
                              (unsigned) stream->index + 1,
                              memory_order_release);
    }
}
