/* SPDX-License-Identifier: MPL-2.0
 * otlprecord.c --
 *
 *      Records in the JSON of OTLP.
 *
 *      Numbers of 64 bits are strings there, and ids are hexadecimal.  The
 *      names of attributes are those of the semantic conventions, and begin
 *      with nsd. where there is none.
 */

#include "log/target/otlprecord.h"

#include "base/assert.h"
#include "http/json.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/stream/field.h"
#include "log/stream/json.h"
#include "log/stream/severity.h"
#include "log/stream/system.h"
#include "nsstring.h"
#include "nsthread.h"

#define TRACE_DIGITS 32
#define SPAN_DIGITS  16
#define MIN_LINE     4096

/* Of what a server answers. */
static const NsJsonLimits answerLimits = {8, 4096, 64};

static void PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr,
                    const NsFields *fieldsPtr);
static bool PutBody(Ns_LogSink sink, Ns_LogStream stream,
                    const Ns_LogRecord *recordPtr, NsOtlpScratch *scratchPtr,
                    NsLogOut *outPtr);
static void PutAttributes(NsLogOut *outPtr, Ns_LogStream stream,
                          const NsFields *fieldsPtr);
static void PutNumber(NsLogOut *outPtr, const NsVariable *variablePtr,
                      const char *key, int64_t number);
static void PutId(NsLogOut *outPtr, const char *name,
                  const NsFieldText *textPtr, size_t digits);
static void PutText(NsLogOut *outPtr, const char *text);
static int  SeverityNumber(int severity);

/*
 * What attributes say, as variables of formats.
 */
static const struct {
    const char *key;
    const char *variable;
} attributes[] = {
    {"nsd.server", "server"},
    {"thread.name", "thread"},
    {"nsd.driver", "driver"},
    {"client.address", "peer"},
    {"user.name", "user"},
    {"http.request.method", "method"},
    {"url.path", "path"},
    {"url.query", "query"},
    {"nsd.referer", "referer"},
    {"user_agent.original", "agent"},
    {"nsd.kind", "kind"},
    {"nsd.request_id", "request_id"},
    {"http.response.status_code", "status"},
    {"nsd.bytes", "bytes"},
    {"nsd.duration", "duration"},
    {"nsd.error", "error"}};

bool
NsOtlpPutRecord(Ns_LogSink sink, Ns_LogStream stream,
                const Ns_LogRecord *recordPtr, NsOtlpScratch *scratchPtr,
                NsLogOut *outPtr)
{
    Ns_LogRecord masked;
    NsFields     fields;

    PutText(outPtr, "{");
    if (!PutBody(sink, stream, recordPtr, scratchPtr, outPtr)) {
        return false;
    }
    /* What the body is made of is masked by itself. */
    masked = NsFormRecord(sink->form, stream, recordPtr);
    if (!NsFieldsRead(NsStreamFields(stream), &masked, &fields)) {
        fields = (NsFields){.recordPtr = &masked};
    }
    PutHead(outPtr, recordPtr, &fields);
    PutAttributes(outPtr, stream, &fields);
    PutText(outPtr, "}");
    return true;
}

/*
 * A message of the system log as it was written, unless the sink has a format;
 * of others the line, as a string.
 */
static bool
PutBody(Ns_LogSink sink, Ns_LogStream stream, const Ns_LogRecord *recordPtr,
        NsOtlpScratch *scratchPtr, NsLogOut *outPtr)
{
    NsLogEntry entry;
    size_t     n;

    PutText(outPtr, "\"body\":{\"stringValue\":");
    if (sink->settings.format == NS_LOG_NATIVE
        && NsSystemLogDecode(recordPtr, stream, &entry)) {
        NsJsonString(outPtr, entry.message, entry.messageLength);
    } else {
        while ((n = NsFormLine(sink->form, stream, recordPtr,
                               sink->buffer->isNote, scratchPtr->line,
                               scratchPtr->room))
               > scratchPtr->room) {
            scratchPtr->room = MAX(n, MIN_LINE);
            scratchPtr->line = ns_realloc(scratchPtr->line, scratchPtr->room);
        }
        if (n == 0) {
            return false;
        }
        NsAssert(scratchPtr->line[n - 1] == '\n');
        NsJsonString(outPtr, scratchPtr->line, n - 1);
    }
    PutText(outPtr, "}");
    return true;
}

/*
 * It was observed when it happened.
 */
static void
PutHead(NsLogOut *outPtr, const Ns_LogRecord *recordPtr,
        const NsFields *fieldsPtr)
{
    Ns_LogSeverity severity = NsFieldsSeverity(fieldsPtr);
    NsFieldText name = NsVariableText(NsVariableFind("severity", 8), NULL, NULL,
                                      fieldsPtr);
    char        text[160];
    int         n = snprintf(text, sizeof(text),
                             ",\"timeUnixNano\":\"%" PRId64
                             "\",\"observedTimeUnixNano\":\"%" PRId64
                             "\",\"severityNumber\":%d,\"severityText\":",
                             recordPtr->time, recordPtr->time,
                             SeverityNumber((int) severity));

    NsAssert(n > 0 && (size_t) n < sizeof(text));
    NsLogPut(outPtr, text, (size_t) n);
    if ((int) severity != recordPtr->severity) {
        name.bytes = Ns_LogSeverityName(severity);
        name.length = strlen(name.bytes);
    }
    NsJsonString(outPtr, name.bytes, name.length);
    PutId(outPtr, ",\"traceId\":\"", &fieldsPtr->texts[NS_FIELD_TRACE_ID],
          TRACE_DIGITS);
    PutId(outPtr, ",\"spanId\":\"", &fieldsPtr->texts[NS_FIELD_SPAN_ID],
          SPAN_DIGITS);
}

/*
 * A record of a dead process may be damaged: an id is put if it is one.
 */
static void
PutId(NsLogOut *outPtr, const char *name, const NsFieldText *textPtr,
      size_t digits)
{
    if (textPtr->length == digits) {
        for (size_t i = 0; i < digits; i++) {
            if (!isxdigit(UCHAR(textPtr->bytes[i]))) {
                return;
            }
        }
        PutText(outPtr, name);
        NsLogPut(outPtr, textPtr->bytes, digits);
        PutText(outPtr, "\"");
    }
}

static void
PutAttributes(NsLogOut *outPtr, Ns_LogStream stream, const NsFields *fieldsPtr)
{
    const char *name = NsStreamName(stream);

    PutText(outPtr, ",\"attributes\":[");
    NsOtlpPutText(outPtr, "nsd.stream", name, strlen(name), true);
    for (int i = 0; i < Ns_NrElements(attributes); i++) {
        const NsVariable *variablePtr =
            NsVariableFind(attributes[i].variable,
                           strlen(attributes[i].variable));
        int64_t     number;
        NsFieldText text;

        NsAssert(variablePtr != NULL);
        if (NsVariableIsNumber(variablePtr)) {
            if (NsVariableNumber(variablePtr, fieldsPtr, &number)) {
                PutNumber(outPtr, variablePtr, attributes[i].key, number);
            }
            continue;
        }
        text = NsVariableText(variablePtr, NULL, NULL, fieldsPtr);
        if (text.length > 0) {
            NsOtlpPutText(outPtr, attributes[i].key, text.bytes, text.length,
                          false);
        }
    }
    PutText(outPtr, "]");
}

void
NsOtlpPutText(NsLogOut *outPtr, const char *key, const char *bytes,
              size_t length, bool isFirst)
{
    PutText(outPtr, isFirst ? "{\"key\":" : ",{\"key\":");
    NsJsonString(outPtr, key, strlen(key));
    PutText(outPtr, ",\"value\":{\"stringValue\":");
    NsJsonString(outPtr, bytes, length);
    PutText(outPtr, "}}");
}

static void
PutNumber(NsLogOut *outPtr, const NsVariable *variablePtr, const char *key,
          int64_t number)
{
    char text[160];
    int  n = variablePtr->kind == NS_VARIABLE_SECONDS
         ? snprintf(text, sizeof(text),
                    ",{\"key\":\"%s\",\"value\":{\"doubleValue\":%.6f}}", key,
                    (double) number / 1e6)
         : snprintf(text, sizeof(text),
                    ",{\"key\":\"%s\",\"value\":{\"intValue\":"
                     "\"%" PRId64 "\"}}",
                    key, number);

    NsAssert(n > 0 && (size_t) n < sizeof(text));
    NsLogPut(outPtr, text, (size_t) n);
}

static void
PutText(NsLogOut *outPtr, const char *text)
{
    NsLogPut(outPtr, text, strlen(text));
}

/*
 * Each range of the protocol begins with the number for its name: TRACE 1,
 * DEBUG 5, INFO 9, WARN 13, ERROR 17, FATAL 21.
 */
static int
SeverityNumber(int severity)
{
    switch (severity) {
    case Notice:
    case Deprecated:
        return 9;
    case Warning:
    case Security:
        return 13;
    case Error:
        return 17;
    case Bug:
        return 18;
    case Fatal:
        return 21;
    case Dev:
        return 1;
    default:
        return 5;
    }
}

void
NsOtlpMessage(const char *text, size_t length, char *message, size_t size)
{
    NsJsonReader reader;
    NsJsonEvent  event;
    bool         isMessage = false;

    message[0] = '\0';
    NsJsonInit(&reader, text, length, &answerLimits);
    while ((event = NsJsonNext(&reader)) != NS_JSON_DONE
           && event != NS_JSON_ERROR) {
        const char *value = Ns_DStringValue(&reader.value);

        if (event == NS_JSON_KEY) {
            isMessage = STREQ(value, "message");
        } else if (isMessage && event == NS_JSON_STRING) {
            snprintf(message, size, "%s", value);
        }
    }
    NsJsonFree(&reader);
}

uint64_t
NsOtlpRejected(const char *text, size_t length, char *reason, size_t size)
{
    NsJsonReader reader;
    NsJsonEvent  event;
    bool         isCount = false, isReason = false;
    uint64_t     n = 0;

    snprintf(reason, size, "the server does not say why");
    NsJsonInit(&reader, text, length, &answerLimits);
    while ((event = NsJsonNext(&reader)) != NS_JSON_DONE
           && event != NS_JSON_ERROR) {
        const char *value = Ns_DStringValue(&reader.value);

        if (event == NS_JSON_KEY) {
            isCount = STREQ(value, "rejectedLogRecords");
            isReason = STREQ(value, "errorMessage");
        } else if (isCount
                   && (event == NS_JSON_STRING || event == NS_JSON_NUMBER)) {
            n = *value == '-' ? 0 : strtoull(value, NULL, 10);
        } else if (isReason && event == NS_JSON_STRING && *value != '\0') {
            snprintf(reason, size, "%s", value);
        }
    }
    NsJsonFree(&reader);
    return n;
}
