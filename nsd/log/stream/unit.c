/* SPDX-License-Identifier: MPL-2.0
 * unit.c --
 *
 *      Log units: one request's events as one record.
 *
 *      The record: a head, the strings of the request, then the events, each a
 *      head, its kind and its text.
 */

#include "log/stream/unit.h"

#include "base/assert.h"
#include "log/stream/field.h"
#include "log/stream/json.h"
#include "log/stream/line.h"
#include "log/stream/stream.h"
#include "nsstring.h"
#include "nsthread.h"

#define STATUS_ERROR 500
#define TRACE_DIGITS 32 /* What follows is the id of the span. */
/* No request takes longer; the record of a dead process may be damaged. */
#define SPAN_MAX (INT64_C(1) << 50)

typedef struct UnitHead {
    int64_t  start;      /* Microseconds since 1970. */
    int64_t  acceptSpan; /* Microseconds. */
    int64_t  queueSpan;
    int64_t  filterSpan;
    int64_t  runSpan;
    int64_t  bytesSent;
    int32_t  status;
    uint32_t hasError;
    uint32_t nEvents;
    uint16_t serverLength; /* The strings, in this order. */
    uint16_t threadLength;
    uint16_t driverLength;
    uint16_t peerLength;
    uint16_t userLength;
    uint8_t  requestIdLength; /* These two are behind the line. */
    uint8_t  traceIdLength;   /* With the span's. */
    uint32_t lineLength;
} UnitHead;

typedef struct EventHead {
    int64_t  time; /* Wall clock, nanoseconds. */
    uint32_t kindLength;
    uint32_t textLength;
} EventHead;

/*
 * The events that a thread has collected.
 */
typedef struct Unit {
    bool       isOpen;
    bool       hasError;
    uint32_t   nEvents;
    Ns_DString events;
} Unit;

/*
 * The bytes of a record, taken off one by one.
 */
typedef struct Rest {
    const char *next;
    size_t      left;
} Rest;

static Ns_Tls              unitTls;
static _Thread_local Unit *myUnit;

static void             FreeUnit(void *arg);
static Ns_LogFormatProc FormatUnit;
static void             PutEvents(NsLogOut *outPtr, Rest *restPtr, uint32_t n);
static void        PutString(NsLogOut *outPtr, const char *name, Rest *restPtr,
                             size_t length);
static void        PutId(NsLogOut *outPtr, const char *name, Rest *restPtr,
                         size_t length);
static void        PutSpan(NsLogOut *outPtr, const char *name, int64_t micros);
static int64_t     Span(int64_t micros);
static const char *Take(Rest *restPtr, size_t length);
static void        CopyBytes(NsLogOut *outPtr, Rest *restPtr, size_t length);
static size_t      TraceLength(const UnitHead *headPtr);
static int64_t     Micros(const Ns_Time *timePtr);
static uint16_t    ShortLength(const char *string);
static bool ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr);
static void ReplaceFields(NsLogOut *outPtr, const NsFields *fieldsPtr,
                          const NsFieldText *texts, NsFieldHidesProc *hidesProc,
                          const void *arg);
static void PutEventsOf(NsLogOut *outPtr, const NsFields *fieldsPtr);

static const NsFieldProcs fieldProcs = {.readProc = ReadFields,
                                        .replaceProc = ReplaceFields,
                                        .eventsProc = PutEventsOf};

/*
 * The strings of a record, in this order.
 */
static const NsFieldTextIndex textOrder[] = {
    NS_FIELD_SERVER,     NS_FIELD_THREAD,   NS_FIELD_DRIVER,
    NS_FIELD_PEER,       NS_FIELD_USER,     NS_FIELD_REQUEST,
    NS_FIELD_REQUEST_ID, NS_FIELD_TRACE_ID, NS_FIELD_SPAN_ID};

void
NsUnitInit(void)
{
    Ns_TlsAlloc(&unitTls, FreeUnit);
    (void) Ns_LogStreamCreate("operation", FormatUnit, NULL);
    (void) Ns_LogStreamAddFormat(nsOperationStream, "json", FormatUnit, NULL);
    NsStreamSetFields(nsOperationStream, &fieldProcs);
    Ns_LogStreamSetBytesSent(nsOperationStream, offsetof(UnitHead, bytesSent));
}

void
NsUnitBegin(void)
{
    Unit *unitPtr = myUnit;

    if (likely(!Ns_LogStreamWanted(nsOperationStream))) {
        if (unitPtr != NULL) {
            unitPtr->isOpen = false;
        }
        return;
    }
    if (unitPtr == NULL) {
        unitPtr = myUnit = ns_calloc(1u, sizeof(*unitPtr));
        Ns_DStringInit(&unitPtr->events);
        Ns_TlsSet(&unitTls, unitPtr);
    }
    unitPtr->isOpen = true;
    unitPtr->hasError = false;
    unitPtr->nEvents = 0;
    Ns_DStringSetLength(&unitPtr->events, 0);
}

bool
NsUnitIsOpen(void)
{
    return myUnit != NULL && myUnit->isOpen;
}

void
NsUnitNoteEntry(Ns_LogSeverity severity, const char *message, size_t length)
{
    if (unlikely(NsUnitIsOpen())) {
        NsUnitEvent(Ns_LogSeverityName(severity), message, length);
    }
}

bool
NsUnitIsWanted(void)
{
    return Ns_LogStreamWanted(nsOperationStream);
}

void
NsUnitEvent(const char *kind, const char *text, size_t length)
{
    Unit     *unitPtr = myUnit;
    EventHead head;

    if (unitPtr == NULL || !unitPtr->isOpen) {
        return;
    }
    /* An error counts for the unit even if no sink wants to read it. */
    unitPtr->hasError |= STREQ(kind, "Error") || STREQ(kind, "Bug");
    if (NsStreamIgnores(nsOperationStream, kind)) {
        return;
    }
    NsAssert(unitPtr->nEvents > 0 || Ns_DStringLength(&unitPtr->events) == 0);
    head = (EventHead){
        .time = NsLogClock(),
        .kindLength = (uint32_t) strlen(kind),
        .textLength = (uint32_t) MIN(length, (size_t) INT_MAX / 2)};
    Ns_DStringNAppend(&unitPtr->events, (const char *) &head,
                      (int) sizeof(head));
    Ns_DStringNAppend(&unitPtr->events, kind, (int) head.kindLength);
    Ns_DStringNAppend(&unitPtr->events, text, (int) head.textLength);
    unitPtr->nEvents++;
}

void
NsUnitEnd(const Ns_Access *accessPtr)
{
    Unit        *unitPtr = myUnit;
    bool         hasEvents = unitPtr != NULL && unitPtr->isOpen;
    const char  *thread = Ns_ThreadGetName();
    size_t       traceLength = ShortLength(accessPtr->traceId);
    size_t       spanLength = ShortLength(accessPtr->spanId);
    UnitHead     head;
    struct iovec pieces[11];

    if (hasEvents && accessPtr->stage == NS_ACCESS_FINISHED) {
        unitPtr->isOpen = false;
    }
    if (likely(!Ns_LogStreamWanted(nsOperationStream))) {
        return;
    }
    NsAssert(traceLength == 0 || traceLength == TRACE_DIGITS);
    head = (UnitHead){
        .start = Micros(&accessPtr->start),
        .acceptSpan = Micros(&accessPtr->acceptSpan),
        .queueSpan = Micros(&accessPtr->queueSpan),
        .filterSpan = Micros(&accessPtr->filterSpan),
        .runSpan = Micros(&accessPtr->runSpan),
        .bytesSent = accessPtr->bytesSent,
        .status = accessPtr->status,
        .hasError = accessPtr->status >= STATUS_ERROR
            || (hasEvents && unitPtr->hasError),
        .nEvents = hasEvents ? unitPtr->nEvents : 0,
        .serverLength = ShortLength(accessPtr->server),
        .threadLength = ShortLength(thread),
        .driverLength = ShortLength(accessPtr->driver),
        .peerLength = ShortLength(accessPtr->peer),
        .userLength = ShortLength(accessPtr->user),
        .requestIdLength = (uint8_t) ShortLength(accessPtr->requestId),
        .traceIdLength = (uint8_t) (traceLength + spanLength),
        .lineLength =
            (uint32_t) (accessPtr->line == NULL ? 0 : accessPtr->lineLength)};
    pieces[0] = (struct iovec){&head, sizeof(head)};
    pieces[1] = (struct iovec){(void *) accessPtr->server, head.serverLength};
    pieces[2] = (struct iovec){(void *) thread, head.threadLength};
    pieces[3] = (struct iovec){(void *) accessPtr->driver, head.driverLength};
    pieces[4] = (struct iovec){(void *) accessPtr->peer, head.peerLength};
    pieces[5] = (struct iovec){(void *) accessPtr->user, head.userLength};
    pieces[6] = (struct iovec){(void *) accessPtr->line, head.lineLength};
    pieces[7] = (struct iovec){
        (void *) accessPtr->requestId, head.requestIdLength};
    pieces[8] = (struct iovec){(void *) accessPtr->traceId, traceLength};
    pieces[9] = (struct iovec){(void *) accessPtr->spanId, spanLength};
    pieces[10] = (struct iovec){
        hasEvents ? Ns_DStringValue(&unitPtr->events) : NULL,
        hasEvents ? (size_t) Ns_DStringLength(&unitPtr->events) : 0};
    if (accessPtr->stage == NS_ACCESS_SENDING) {
        (void) Ns_LogStreamPrepare(nsOperationStream, Notice, pieces,
                                   Ns_NrElements(pieces));
    } else {
        (void) Ns_LogStreamPut(nsOperationStream, Notice, pieces,
                               Ns_NrElements(pieces));
    }
}

int64_t
NsUnitNanos(const Ns_LogRecord *recordPtr)
{
    UnitHead head;

    if (recordPtr->length < sizeof(head)) {
        return 0;
    }
    memcpy(&head, recordPtr->bytes, sizeof(head));
    return (Span(head.acceptSpan) + Span(head.queueSpan) + Span(head.filterSpan)
            + Span(head.runSpan))
        * 1000;
}

bool
NsUnitHasError(const Ns_LogRecord *recordPtr)
{
    UnitHead head;

    if (recordPtr->length < sizeof(head)) {
        return false;
    }
    memcpy(&head, recordPtr->bytes, sizeof(head));
    return head.hasError != 0;
}

Ns_LogRecord
NsUnitWithout(const Ns_LogRecord *recordPtr, const NsKinds *kindsPtr,
              char **bufferPtr, size_t *bufferBytesPtr)
{
    Ns_LogRecord reduced = *recordPtr;
    Rest         rest = {recordPtr->bytes, recordPtr->length};
    UnitHead     head;
    NsLogOut     out;
    uint32_t     nLeft = 0;

    if (recordPtr->length < sizeof(head)) {
        return reduced;
    }
    if (recordPtr->length > *bufferBytesPtr) {
        *bufferBytesPtr = recordPtr->length;
        *bufferPtr = ns_realloc(*bufferPtr, recordPtr->length);
    }
    memcpy(&head, recordPtr->bytes, sizeof(head));
    out = (NsLogOut){*bufferPtr, *bufferBytesPtr, 0};
    CopyBytes(&out, &rest,
              sizeof(head) + head.serverLength + head.threadLength
                  + head.driverLength + head.peerLength + head.userLength
                  + head.lineLength + head.requestIdLength
                  + head.traceIdLength);
    for (uint32_t i = 0; i < head.nEvents; i++) {
        Rest        event = rest;
        const char *bytes = Take(&rest, sizeof(EventHead)), *kind;
        EventHead   eventHead;

        if (bytes == NULL) {
            break;
        }
        memcpy(&eventHead, bytes, sizeof(eventHead));
        kind = Take(&rest, eventHead.kindLength);
        if (Take(&rest, eventHead.textLength) != NULL
            && !NsKindsHave(kindsPtr, kind, eventHead.kindLength)) {
            CopyBytes(&out, &event, event.left - rest.left);
            nLeft++;
        }
    }
    NsAssert(nLeft <= head.nEvents && out.length <= recordPtr->length);
    head.nEvents = nLeft;
    memcpy(*bufferPtr, &head, sizeof(head));
    reduced.bytes = *bufferPtr;
    reduced.length = out.length;
    return reduced;
}

static void
FreeUnit(void *arg)
{
    Unit *unitPtr = arg;

    myUnit = NULL;
    Ns_DStringFree(&unitPtr->events);
    ns_free(unitPtr);
}

static size_t
FormatUnit(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    NsLogOut out = {buffer, room, 0};
    UnitHead head;
    Rest     rest;
    char     number[32];
    int      n;

    if (recordPtr->length < sizeof(head)) {
        return 0;
    }
    memcpy(&head, recordPtr->bytes, sizeof(head));
    rest = (Rest){(const char *) recordPtr->bytes + sizeof(head),
                  recordPtr->length - sizeof(head)};
    NsLogPut(&out, "{", 1);
    NsJsonName(&out, "time", true);
    NsJsonTime(&out, MIN(MAX(head.start, 0), INT64_MAX / 1000) * 1000);
    PutString(&out, "server", &rest, head.serverLength);
    PutString(&out, "thread", &rest, head.threadLength);
    PutString(&out, "driver", &rest, head.driverLength);
    PutString(&out, "peer", &rest, head.peerLength);
    PutString(&out, "user", &rest, head.userLength);
    PutString(&out, "request", &rest, head.lineLength);
    PutId(&out, "request_id", &rest, head.requestIdLength);
    PutId(&out, "trace_id", &rest, TraceLength(&head));
    PutId(&out, "span_id", &rest, head.traceIdLength - TraceLength(&head));
    n = snprintf(number, sizeof(number), ",\"status\":%d", head.status);
    NsLogPut(&out, number, (size_t) n);
    n = snprintf(number, sizeof(number), ",\"bytes\":%" PRId64, head.bytesSent);
    NsLogPut(&out, number, (size_t) n);
    PutSpan(&out, "accept", head.acceptSpan);
    PutSpan(&out, "queue", head.queueSpan);
    PutSpan(&out, "filter", head.filterSpan);
    PutSpan(&out, "run", head.runSpan);
    NsJsonName(&out, "events", false);
    PutEvents(&out, &rest, head.nEvents);
    NsLogPut(&out, "}\n", 2);
    return out.length;
}

static void
PutEvents(NsLogOut *outPtr, Rest *restPtr, uint32_t n)
{
    NsLogPut(outPtr, "[", 1);
    for (uint32_t i = 0; i < n; i++) {
        const char *bytes = Take(restPtr, sizeof(EventHead));
        EventHead   event;

        if (bytes == NULL) {
            break;
        }
        memcpy(&event, bytes, sizeof(event));
        NsLogPut(outPtr, ",", i > 0);
        NsLogPut(outPtr, "{", 1);
        NsJsonName(outPtr, "time", true);
        NsJsonTime(outPtr, MAX(event.time, 0));
        PutString(outPtr, "kind", restPtr, event.kindLength);
        PutString(outPtr, "text", restPtr, event.textLength);
        NsLogPut(outPtr, "}", 1);
    }
    NsLogPut(outPtr, "]", 1);
}

static void
PutString(NsLogOut *outPtr, const char *name, Rest *restPtr, size_t length)
{
    const char *bytes = Take(restPtr, length);

    if (bytes != NULL) {
        NsJsonName(outPtr, name, false);
        NsJsonString(outPtr, bytes, length);
    }
}

/*
 * Requests need not have one.
 */
static void
PutId(NsLogOut *outPtr, const char *name, Rest *restPtr, size_t length)
{
    if (length > 0) {
        PutString(outPtr, name, restPtr, length);
    }
}

static void
PutSpan(NsLogOut *outPtr, const char *name, int64_t micros)
{
    NsJsonName(outPtr, name, false);
    NsJsonSeconds(outPtr, Span(micros));
}

static int64_t
Span(int64_t micros)
{
    return MIN(MAX(micros, 0), SPAN_MAX);
}

/*
 * NULL if the record ends before, and ever after.
 */
static const char *
Take(Rest *restPtr, size_t length)
{
    const char *taken = restPtr->next;

    if (taken == NULL || length > restPtr->left) {
        restPtr->next = NULL;
        return NULL;
    }
    restPtr->next += length;
    restPtr->left -= length;
    return taken;
}

/*
 * As far as there are that many.
 */
static void
CopyBytes(NsLogOut *outPtr, Rest *restPtr, size_t length)
{
    const char *bytes = Take(restPtr, length);

    if (bytes != NULL) {
        NsLogPut(outPtr, bytes, length);
    }
}

static size_t
TraceLength(const UnitHead *headPtr)
{
    return MIN(headPtr->traceIdLength, TRACE_DIGITS);
}

static int64_t
Micros(const Ns_Time *timePtr)
{
    return (int64_t) timePtr->sec * 1000000 + timePtr->usec;
}

static uint16_t
ShortLength(const char *string)
{
    return string == NULL ? 0 : (uint16_t) MIN(strlen(string), UINT16_MAX);
}

static bool
ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr)
{
    Rest     rest = {recordPtr->bytes, recordPtr->length};
    UnitHead head;
    size_t   lengths[Ns_NrElements(textOrder)];

    if (Take(&rest, sizeof(head)) == NULL) {
        return false;
    }
    memcpy(&head, recordPtr->bytes, sizeof(head));
    lengths[0] = head.serverLength;
    lengths[1] = head.threadLength;
    lengths[2] = head.driverLength;
    lengths[3] = head.peerLength;
    lengths[4] = head.userLength;
    lengths[5] = head.lineLength;
    lengths[6] = head.requestIdLength;
    lengths[7] = TraceLength(&head);
    lengths[8] = head.traceIdLength - lengths[7];
    for (int i = 0; i < Ns_NrElements(textOrder); i++) {
        const char *bytes = Take(&rest, lengths[i]);

        if (bytes == NULL) {
            return false;
        }
        fieldsPtr->texts[textOrder[i]] = (NsFieldText){bytes, lengths[i]};
    }
    NsFieldSetNumber(fieldsPtr, NS_FIELD_STATUS, head.status);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_BYTES, head.bytesSent);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_START,
                     MIN(MAX(head.start, 0), INT64_MAX / 1000));
    NsFieldSetNumber(fieldsPtr, NS_FIELD_DURATION,
                     Span(head.queueSpan) + Span(head.filterSpan)
                         + Span(head.runSpan));
    NsFieldSetNumber(fieldsPtr, NS_FIELD_ACCEPT, Span(head.acceptSpan));
    NsFieldSetNumber(fieldsPtr, NS_FIELD_QUEUE, Span(head.queueSpan));
    NsFieldSetNumber(fieldsPtr, NS_FIELD_FILTER, Span(head.filterSpan));
    NsFieldSetNumber(fieldsPtr, NS_FIELD_RUN, Span(head.runSpan));
    NsFieldSetNumber(fieldsPtr, NS_FIELD_EVENTS, head.nEvents);
    NsFieldSetNumber(fieldsPtr, NS_FIELD_ERROR, head.hasError != 0);
    fieldsPtr->pairs = rest.next;
    fieldsPtr->pairsEnd = rest.next + rest.left;
    return true;
}

/*
 * Events have no names that could be hidden.
 */
static void
ReplaceFields(NsLogOut *outPtr, const NsFields *fieldsPtr,
              const NsFieldText *texts, NsFieldHidesProc *hidesProc,
              const void *arg)
{
    NsFieldText put[NS_FIELD_TEXTS];
    UnitHead    head;

    NsAssert(fieldsPtr->recordPtr->length >= sizeof(head));
    NsAssert(fieldsPtr->pairs <= fieldsPtr->pairsEnd);
    memcpy(&head, fieldsPtr->recordPtr->bytes, sizeof(head));
    for (int i = 0; i < NS_FIELD_TEXTS; i++) {
        put[i] = texts[i].bytes != NULL ? texts[i] : fieldsPtr->texts[i];
        if (i != NS_FIELD_REQUEST) {
            put[i].length = MIN(put[i].length, UINT16_MAX);
        }
    }
    head.peerLength = (uint16_t) put[NS_FIELD_PEER].length;
    head.userLength = (uint16_t) put[NS_FIELD_USER].length;
    head.lineLength = (uint32_t) put[NS_FIELD_REQUEST].length;
    NsLogPut(outPtr, (const char *) &head, sizeof(head));
    for (int i = 0; i < Ns_NrElements(textOrder); i++) {
        NsLogPut(outPtr, put[textOrder[i]].bytes, put[textOrder[i]].length);
    }
    NsLogPut(outPtr, fieldsPtr->pairs,
             (size_t) (fieldsPtr->pairsEnd - fieldsPtr->pairs));
}

static void
PutEventsOf(NsLogOut *outPtr, const NsFields *fieldsPtr)
{
    Rest rest = {fieldsPtr->pairs,
                 (size_t) (fieldsPtr->pairsEnd - fieldsPtr->pairs)};

    NsAssert(NsFieldHas(fieldsPtr, NS_FIELD_EVENTS));
    PutEvents(outPtr, &rest, (uint32_t) fieldsPtr->numbers[NS_FIELD_EVENTS]);
}
