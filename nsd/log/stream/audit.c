/* SPDX-License-Identifier: MPL-2.0
 * audit.c --
 *
 *      The stream `audit`: who did what.
 *
 *      The record is a row of strings, each with its null byte: thread, kind,
 *      then keys and values.  The line is one JSON object.
 */

#include "log/stream/audit.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "log/stream/field.h"
#include "log/stream/identity.h"
#include "log/stream/json.h"
#include "log/stream/stream.h"
#include "log/stream/unit.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

static void WarnOnce(void);
static bool IsOurs(const char *key);
static void AppendPair(Ns_DString *dsPtr, const char *key, const char *value);
static Ns_LogFormatProc FormatAudit;
static const char      *Next(const char **nextPtr, const char *end);
static bool ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr);
static bool NextPair(NsFields *fieldsPtr, NsFieldText *keyPtr,
                     NsFieldText *valuePtr);
static void ReplaceFields(NsLogOut *outPtr, const NsFields *fieldsPtr,
                          const NsFieldText *texts, NsFieldHidesProc *hidesProc,
                          const void *arg);

static const NsFieldProcs fieldProcs = {
    .readProc = ReadFields, .nextProc = NextPair, .replaceProc = ReplaceFields};

/*
 * Keys of the server's own that are fields, too.
 */
static const struct {
    const char      *key;
    NsFieldTextIndex index;
} ownFields[] = {
    {"server", NS_FIELD_SERVER},     {"peer", NS_FIELD_PEER},
    {"user", NS_FIELD_USER},         {"request_id", NS_FIELD_REQUEST_ID},
    {"trace_id", NS_FIELD_TRACE_ID}, {"span_id", NS_FIELD_SPAN_ID}};

void
NsAuditInit(void)
{
    (void) Ns_LogStreamCreate("audit", FormatAudit, NULL);
    (void) Ns_LogStreamAddFormat(nsAuditStream, "json", FormatAudit, NULL);
    NsStreamSetFields(nsAuditStream, &fieldProcs);
}

Ns_ReturnCode
NsAuditWrite(const NsAuditRecord *recordPtr)
{
    Ns_DString    ds;
    struct iovec  piece;
    Ns_ReturnCode status = NS_OK;

    NsUnitEvent("audit", recordPtr->kind, strlen(recordPtr->kind));
    if (!Ns_LogStreamWanted(nsAuditStream)) {
        WarnOnce();
        errno = ENODEV;
        return NS_ERROR;
    }
    if (!NsStreamTakes(nsAuditStream, Notice, recordPtr->kind)) {
        errno = ENOMSG;
        return NS_ERROR;
    }
    Ns_DStringInit(&ds);
    Ns_DStringAppendArg(&ds, Ns_ThreadGetName());
    Ns_DStringAppendArg(&ds, recordPtr->kind);
    AppendPair(&ds, "server", recordPtr->server);
    AppendPair(&ds, "peer", recordPtr->peer);
    AppendPair(&ds, "user", recordPtr->user);
    AppendPair(&ds, "request_id", NsLogIdentityGet()->requestId);
    AppendPair(&ds, "trace_id", NsLogIdentityGet()->traceId);
    AppendPair(&ds, "span_id", NsLogIdentityGet()->spanId);
    for (int i = 0; i + 1 < recordPtr->nWords; i += 2) {
        Ns_DStringAppend(&ds, IsOurs(recordPtr->words[i]) ? "_" : "");
        AppendPair(&ds, recordPtr->words[i], recordPtr->words[i + 1]);
    }
    piece = (struct iovec){
        Ns_DStringValue(&ds), (size_t) Ns_DStringLength(&ds)};
    /* Each string has its null byte; the kind is the second one. */
    NsAssert(Ns_DStringValue(&ds)[piece.iov_len - 1] == '\0');
    if (Ns_LogStreamPut(nsAuditStream, Notice, &piece, 1) != NS_OK) {
        errno = ENOMEM;
        status = NS_ERROR;
    }
    Ns_DStringFree(&ds);
    return status;
}

/*
 * Nothing takes the stream: a site that writes audit records should know.
 */
static void
WarnOnce(void)
{
    static atomic_bool isTold;

    if (!atomic_exchange(&isTold, true)) {
        Ns_Log(Warning,
               "audit: no log sink takes stream 'audit': records of "
               "ns_audit are lost; add a sink to ns/logsinks");
    }
}

const char *
NsAuditKind(const Ns_LogRecord *recordPtr)
{
    const char *next = recordPtr->bytes;
    const char *end = next + recordPtr->length;

    (void) Next(&next, end); /* The thread. */
    return Next(&next, end);
}

/*
 * The caller's keys cannot repeat those of the server.
 */
static bool
IsOurs(const char *key)
{
    static const char *const ours[] = {
        "time", "kind",       "thread",   "server", "peer",
        "user", "request_id", "trace_id", "span_id"};

    for (int i = 0; i < Ns_NrElements(ours); i++) {
        if (STREQ(key, ours[i])) {
            return true;
        }
    }
    return false;
}

static void
AppendPair(Ns_DString *dsPtr, const char *key, const char *value)
{
    if (value != NULL) {
        Ns_DStringAppendArg(dsPtr, key);
        Ns_DStringAppendArg(dsPtr, value);
    }
}

static size_t
FormatAudit(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    NsLogOut    out = {buffer, room, 0};
    const char *next = recordPtr->bytes;
    const char *end = next + recordPtr->length;
    const char *thread = Next(&next, end), *kind = Next(&next, end);
    const char *key, *value;

    if (kind == NULL) {
        return 0;
    }
    NsLogPut(&out, "{", 1);
    NsJsonName(&out, "time", true);
    NsJsonTime(&out, recordPtr->time);
    NsJsonName(&out, "kind", false);
    NsJsonString(&out, kind, strlen(kind));
    NsJsonName(&out, "thread", false);
    NsJsonString(&out, thread, strlen(thread));
    while ((key = Next(&next, end)) != NULL
           && (value = Next(&next, end)) != NULL) {
        NsJsonName(&out, key, false);
        NsJsonString(&out, value, strlen(value));
    }
    NsLogPut(&out, "}\n", 2);
    return out.length;
}

/*
 * The next string; NULL if there is no more.
 */
static const char *
Next(const char **nextPtr, const char *end)
{
    const char *string = *nextPtr;
    const char *null = string < end
        ? memchr(string, '\0', (size_t) (end - string))
        : NULL;

    if (null == NULL) {
        return NULL;
    }
    *nextPtr = null + 1;
    NsAssert(*nextPtr <= end);
    return string;
}

static bool
ReadFields(const Ns_LogRecord *recordPtr, NsFields *fieldsPtr)
{
    const char *next = recordPtr->bytes;
    const char *end = next + recordPtr->length;
    const char *thread = Next(&next, end), *kind = Next(&next, end);
    NsFields    rest;
    NsFieldText key, value;

    if (kind == NULL) {
        return false;
    }
    fieldsPtr->texts[NS_FIELD_THREAD] = (NsFieldText){thread, strlen(thread)};
    fieldsPtr->texts[NS_FIELD_KIND] = (NsFieldText){kind, strlen(kind)};
    fieldsPtr->pairs = next;
    fieldsPtr->pairsEnd = end;
    rest = *fieldsPtr;
    while (NextPair(&rest, &key, &value)) {
        for (int i = 0; i < Ns_NrElements(ownFields); i++) {
            if (STREQ(key.bytes, ownFields[i].key)) {
                fieldsPtr->texts[ownFields[i].index] = value;
            }
        }
    }
    return true;
}

static bool
NextPair(NsFields *fieldsPtr, NsFieldText *keyPtr, NsFieldText *valuePtr)
{
    const char *key = Next(&fieldsPtr->pairs, fieldsPtr->pairsEnd);
    const char *value = key == NULL
        ? NULL
        : Next(&fieldsPtr->pairs, fieldsPtr->pairsEnd);

    if (value == NULL) {
        return false;
    }
    *keyPtr = (NsFieldText){key, strlen(key)};
    *valuePtr = (NsFieldText){value, strlen(value)};
    return true;
}

static void
ReplaceFields(NsLogOut *outPtr, const NsFields *fieldsPtr,
              const NsFieldText *texts, NsFieldHidesProc *hidesProc,
              const void *arg)
{
    NsFields    rest = *fieldsPtr;
    NsFieldText key, value;

    NsAssert(fieldsPtr->pairs <= fieldsPtr->pairsEnd);
    NsLogPut(outPtr, fieldsPtr->recordPtr->bytes,
             (size_t) (fieldsPtr->pairs
                       - (const char *) fieldsPtr->recordPtr->bytes));
    while (NextPair(&rest, &key, &value)) {
        if (STREQ(key.bytes, "peer") && texts[NS_FIELD_PEER].bytes != NULL) {
            value = texts[NS_FIELD_PEER];
        } else if (hidesProc(&key, arg)) {
            value = (NsFieldText){NS_FIELD_HIDDEN, strlen(NS_FIELD_HIDDEN)};
        }
        NsLogPut(outPtr, key.bytes, key.length + 1);
        NsLogPut(outPtr, value.bytes, value.length);
        NsLogPut(outPtr, "", 1);
    }
}
