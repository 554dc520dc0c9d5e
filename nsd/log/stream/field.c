/* SPDX-License-Identifier: MPL-2.0
 * field.c --
 *
 *      What a record says, by name.
 */

#include "log/stream/field.h"

#include "base/assert.h"
#include "nslog.h"
#include "nsstring.h"

static NsFieldText PairValue(const NsVariable *variablePtr, const char *name,
                             const NsFieldProcs *procsPtr,
                             const NsFields     *fieldsPtr);
static bool IsNamed(NsFieldText text, const char *prefix, const char *name);
static NsFieldText TextOf(const char *string);

static const NsVariable variables[] = {
    {"time", NS_VARIABLE_TIME, 0, NULL},
    {"localtime", NS_VARIABLE_LOCAL, 0, NULL},
    {"epoch", NS_VARIABLE_EPOCH, 0, NULL},
    {"stream", NS_VARIABLE_STREAM, 0, NULL},
    {"severity", NS_VARIABLE_SEVERITY, NS_FIELD_SEVERITY, NULL},
    {"server", NS_VARIABLE_TEXT, NS_FIELD_SERVER, NULL},
    {"thread", NS_VARIABLE_TEXT, NS_FIELD_THREAD, NULL},
    {"driver", NS_VARIABLE_TEXT, NS_FIELD_DRIVER, NULL},
    {"peer", NS_VARIABLE_TEXT, NS_FIELD_PEER, NULL},
    {"user", NS_VARIABLE_TEXT, NS_FIELD_USER, NULL},
    {"request_id", NS_VARIABLE_TEXT, NS_FIELD_REQUEST_ID, NULL},
    {"trace_id", NS_VARIABLE_TEXT, NS_FIELD_TRACE_ID, NULL},
    {"span_id", NS_VARIABLE_TEXT, NS_FIELD_SPAN_ID, NULL},
    {"request", NS_VARIABLE_TEXT, NS_FIELD_REQUEST, NULL},
    {"method", NS_VARIABLE_METHOD, NS_FIELD_REQUEST, NULL},
    {"url", NS_VARIABLE_URL, NS_FIELD_REQUEST, NULL},
    {"path", NS_VARIABLE_PATH, NS_FIELD_REQUEST, NULL},
    {"query", NS_VARIABLE_QUERY, NS_FIELD_REQUEST, NULL},
    {"protocol", NS_VARIABLE_PROTOCOL, NS_FIELD_REQUEST, NULL},
    {"referer", NS_VARIABLE_TEXT, NS_FIELD_REFERER, NULL},
    {"agent", NS_VARIABLE_TEXT, NS_FIELD_AGENT, NULL},
    {"message", NS_VARIABLE_TEXT, NS_FIELD_MESSAGE, NULL},
    {"kind", NS_VARIABLE_TEXT, NS_FIELD_KIND, NULL},
    {"status", NS_VARIABLE_NUMBER, NS_FIELD_STATUS, NULL},
    {"bytes", NS_VARIABLE_NUMBER, NS_FIELD_BYTES, NULL},
    {"nevents", NS_VARIABLE_NUMBER, NS_FIELD_EVENTS, NULL},
    {"error", NS_VARIABLE_NUMBER, NS_FIELD_ERROR, NULL},
    {"pid", NS_VARIABLE_NUMBER, NS_FIELD_PID, NULL},
    {"start", NS_VARIABLE_START, NS_FIELD_START, NULL},
    {"duration", NS_VARIABLE_SECONDS, NS_FIELD_DURATION, NULL},
    {"accept", NS_VARIABLE_SECONDS, NS_FIELD_ACCEPT, NULL},
    {"queue", NS_VARIABLE_SECONDS, NS_FIELD_QUEUE, NULL},
    {"filter", NS_VARIABLE_SECONDS, NS_FIELD_FILTER, NULL},
    {"run", NS_VARIABLE_SECONDS, NS_FIELD_RUN, NULL},
    {"header", NS_VARIABLE_PAIR, 0, ""},
    {"reply", NS_VARIABLE_PAIR, 0, "response:"},
    {"key", NS_VARIABLE_PAIR, 0, ""},
    {"events", NS_VARIABLE_EVENTS, 0, NULL}};

const NsVariable *
NsVariableFind(const char *name, size_t length)
{
    for (int i = 0; i < Ns_NrElements(variables); i++) {
        if (strlen(variables[i].name) == length
            && memcmp(variables[i].name, name, length) == 0) {
            return &variables[i];
        }
    }
    return NULL;
}

bool
NsVariableIsPlain(const NsVariable *variablePtr)
{
    switch (variablePtr->kind) {
    case NS_VARIABLE_LOCAL:
    case NS_VARIABLE_EPOCH:
    case NS_VARIABLE_METHOD:
    case NS_VARIABLE_URL:
    case NS_VARIABLE_PATH:
    case NS_VARIABLE_QUERY:
    case NS_VARIABLE_PROTOCOL:
        return true;
    case NS_VARIABLE_TEXT:
        return variablePtr->index >= NS_FIELD_PEER
            && variablePtr->index <= NS_FIELD_AGENT;
    case NS_VARIABLE_NUMBER:
        return variablePtr->index <= NS_FIELD_BYTES;
    case NS_VARIABLE_SECONDS:
        return true;
    default:
        return false;
    }
}

bool
NsFieldsRead(const NsFieldProcs *procsPtr, const Ns_LogRecord *recordPtr,
             NsFields *fieldsPtr)
{
    NsAssert(recordPtr->stream != NULL);
    *fieldsPtr = (NsFields){.recordPtr = recordPtr};
    return procsPtr != NULL && procsPtr->readProc(recordPtr, fieldsPtr);
}

Ns_LogSeverity
NsFieldsSeverity(const NsFields *fieldsPtr)
{
    Ns_LogSeverity own = (Ns_LogSeverity) fieldsPtr->recordPtr->severity;
    int64_t        status = NsFieldHas(fieldsPtr, NS_FIELD_STATUS)
               ? fieldsPtr->numbers[NS_FIELD_STATUS]
               : 0;

    if (own == Error || own == Bug || own == Fatal) {
        return own;
    }
    return status >= 500 ? Error : status >= 400 ? Warning : own;
}

NsFieldText
NsVariableText(const NsVariable *variablePtr, const char *name,
               const NsFieldProcs *procsPtr, const NsFields *fieldsPtr)
{
    NsFieldText text = {NULL, 0};

    NsAssert(!NsVariableIsNumber(variablePtr));
    switch (variablePtr->kind) {
    case NS_VARIABLE_TEXT:
        return fieldsPtr->texts[variablePtr->index];
    case NS_VARIABLE_STREAM:
        return TextOf(fieldsPtr->recordPtr->stream);
    case NS_VARIABLE_SEVERITY:
        if (fieldsPtr->texts[NS_FIELD_SEVERITY].bytes != NULL) {
            return fieldsPtr->texts[NS_FIELD_SEVERITY];
        }
        return TextOf(Ns_LogSeverityName((Ns_LogSeverity)
                                             fieldsPtr->recordPtr->severity));
    case NS_VARIABLE_PAIR:
        return PairValue(variablePtr, name, procsPtr, fieldsPtr);
    case NS_VARIABLE_METHOD:
    case NS_VARIABLE_URL:
    case NS_VARIABLE_PATH:
    case NS_VARIABLE_QUERY:
    case NS_VARIABLE_PROTOCOL:
        return NsPartOfRequest(variablePtr->kind,
                               fieldsPtr->texts[NS_FIELD_REQUEST]);
    default:
        return text;
    }
}

/*
 * The request line is what the client sent, or, with suppressquery, a path.
 */
NsFieldText
NsPartOfRequest(NsVariableKind kind, NsFieldText request)
{
    const char *first, *last, *question;
    NsFieldText url = request, none = {NULL, 0};

    NsAssert(request.bytes != NULL || request.length == 0);
    if (request.length == 0) {
        return none;
    }
    first = *request.bytes == '/' ? NULL
                                  : memchr(request.bytes, ' ', request.length);
    last = first == NULL ? NULL : memrchr(request.bytes, ' ', request.length);
    if (first != NULL) {
        const char *end = last > first ? last : request.bytes + request.length;

        url = (NsFieldText){first + 1, (size_t) (end - first - 1)};
    }
    question = url.length == 0 ? NULL : memchr(url.bytes, '?', url.length);
    switch (kind) {
    case NS_VARIABLE_METHOD:
        return first == NULL
            ? none
            : (NsFieldText){request.bytes, (size_t) (first - request.bytes)};
    case NS_VARIABLE_PROTOCOL:
        return last == NULL || last == first
            ? none
            : (NsFieldText){
                last + 1, (size_t) (request.bytes + request.length - last) - 1};
    case NS_VARIABLE_PATH:
        return question == NULL
            ? url
            : (NsFieldText){url.bytes, (size_t) (question - url.bytes)};
    case NS_VARIABLE_QUERY:
        return question == NULL
            ? none
            : (NsFieldText){question + 1,
                            (size_t) (url.bytes + url.length - question) - 1};
    default:
        return url;
    }
}

static NsFieldText
PairValue(const NsVariable *variablePtr, const char *name,
          const NsFieldProcs *procsPtr, const NsFields *fieldsPtr)
{
    NsFields    rest = *fieldsPtr;
    NsFieldText pair, value;

    NsAssert(name != NULL && variablePtr->prefix != NULL);
    while (procsPtr != NULL && procsPtr->nextProc != NULL
           && procsPtr->nextProc(&rest, &pair, &value)) {
        if (IsNamed(pair, variablePtr->prefix, name)) {
            return value;
        }
    }
    return (NsFieldText){NULL, 0};
}

/*
 * The case of a header field's name does not matter.
 */
static bool
IsNamed(NsFieldText text, const char *prefix, const char *name)
{
    size_t n = strlen(prefix);

    return text.length == n + strlen(name)
        && strncasecmp(text.bytes, prefix, n) == 0
        && strncasecmp(text.bytes + n, name, text.length - n) == 0;
}

static NsFieldText
TextOf(const char *string)
{
    return (NsFieldText){string, strlen(string)};
}

bool
NsVariableIsNumber(const NsVariable *variablePtr)
{
    return variablePtr->kind == NS_VARIABLE_NUMBER
        || variablePtr->kind == NS_VARIABLE_SECONDS;
}

bool
NsVariableNumber(const NsVariable *variablePtr, const NsFields *fieldsPtr,
                 int64_t *numberPtr)
{
    NsAssert(NsVariableIsNumber(variablePtr));
    *numberPtr = fieldsPtr->numbers[variablePtr->index];
    return NsFieldHas(fieldsPtr, (NsFieldNumberIndex) variablePtr->index);
}
