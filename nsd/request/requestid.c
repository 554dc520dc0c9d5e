/* SPDX-License-Identifier: MPL-2.0
 * requestid.c --
 *
 *      The ids of a request that other programs know, too.
 */

#include "request/requestid.h"

#include "base/assert.h"
#include "base/random.h"
#include "http/parse.h"
#include "http/token.h"
#include "nslog.h"
#include "nsstring.h"
#include "request/conn_int.h"
#include "request/proxies.h"

/* version-traceid-parentid-flags */
#define PARENT_BYTES 55
#define TRACE_START  3
#define TRACE_DIGITS (NS_TRACE_ID_BYTES - 1)
#define SPAN_START   36
#define SPAN_DIGITS  (NS_SPAN_ID_BYTES - 1)
#define FLAGS_START  53

static bool  IsFieldName(const char *name);
static bool  IsId(const char *text);
static char *PutHex(char *to, uint64_t number);
static bool  AreDigits(const char *text, int n);
static bool  AreZero(const char *text, int n);

void
NsRequestIdServerInit(NsRequestServer *requestPtr)
{
    const char *field = requestPtr->requestIdField;

    NsRandomBytes(&requestPtr->idStart, sizeof(requestPtr->idStart));
    if (field != NULL && (*field == '\0' || !IsFieldName(field))) {
        if (*field != '\0') {
            Ns_Log(Error,
                   "config: requestid: '%s' cannot be the name of a header "
                   "field",
                   field);
        }
        requestPtr->requestIdField = NULL;
    }
}

static bool
IsFieldName(const char *name)
{
    const char *text = name;

    while (NsIsTokenChar(*text)) {
        text++;
    }
    return *text == '\0' && text - name <= NS_REQUEST_ID_NAME;
}

bool
NsRequestIdsFill(NsRequestIds *idsPtr, const NsMessage *messagePtr,
                 uint64_t number)
{
    const char *parent = NsRequestTraceParent(messagePtr);

    idsPtr->identity = (NsLogIdentity){NULL, NULL, NULL};
    if (messagePtr->serverPtr->requestPtr->requestIdField != NULL) {
        NsRequestIdText(idsPtr->id, messagePtr, number);
        idsPtr->identity.requestId = idsPtr->id;
    }
    if (parent != NULL) {
        memcpy(idsPtr->trace, parent + TRACE_START, TRACE_DIGITS);
        idsPtr->trace[TRACE_DIGITS] = '\0';
        idsPtr->identity.traceId = idsPtr->trace;
        memcpy(idsPtr->span, parent + SPAN_START, SPAN_DIGITS);
        idsPtr->span[SPAN_DIGITS] = '\0';
        idsPtr->identity.spanId = idsPtr->span;
    }
    return idsPtr->identity.requestId != NULL
        || idsPtr->identity.traceId != NULL;
}

const NsLogIdentity *
NsConnMakeIdentity(NsConn *connPtr)
{
    NsRequestIds *idsPtr;

    NsAssert(NsRequestHasIds(connPtr->messagePtr));
    if (connPtr->identityPtr == NULL) {
        idsPtr = NsArenaAlloc(NsConnArena(connPtr), sizeof(*idsPtr));
        (void) NsRequestIdsFill(idsPtr, connPtr->messagePtr, connPtr->work.id);
        connPtr->identityPtr = &idsPtr->identity;
    }
    return connPtr->identityPtr;
}

void
NsRequestIdText(char buffer[NS_REQUEST_ID_BYTES], const NsMessage *messagePtr,
                uint64_t number)
{
    const NsRequestServer *requestPtr = messagePtr->serverPtr->requestPtr;
    const char            *field = requestPtr->requestIdField;
    const char            *given = NULL;
    char                  *end;

    if (field != NULL && NsProxiesTrust(messagePtr->peer)) {
        given = NsHttpFind(&messagePtr->head, field);
    }
    if (given != NULL && IsId(given)) {
        strcpy(buffer, given);
        return;
    }
    end = PutHex(PutHex(buffer, requestPtr->idStart), number);
    NsAssert(end < buffer + NS_REQUEST_ID_BYTES);
    *end = '\0';
}

/*
 * Short, and of characters that no log and no page has to escape.
 */
static bool
IsId(const char *text)
{
    size_t n = strspn(text,
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                      "abcdefghijklmnopqrstuvwxyz0123456789._-");

    return n > 0 && n < NS_REQUEST_ID_BYTES && text[n] == '\0';
}

static char *
PutHex(char *to, uint64_t number)
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 15; i >= 0; i--) {
        to[i] = digits[number & 15];
        number >>= 4;
    }
    return to + 16;
}

/*
 * A later version may have more behind the flags, after a hyphen; ff is none.
 */
const char *
NsRequestTraceParent(const NsMessage *messagePtr)
{
    const char *text = NsHttpKnown(&messagePtr->head, NS_FIELD_TRACEPARENT);

    if (likely(text == NULL) || strlen(text) < PARENT_BYTES
        || !AreDigits(text, 2) || strncmp(text, "ff", 2) == 0
        || text[TRACE_START - 1] != '-'
        || !AreDigits(text + TRACE_START, TRACE_DIGITS)
        || AreZero(text + TRACE_START, TRACE_DIGITS)
        || text[SPAN_START - 1] != '-'
        || !AreDigits(text + SPAN_START, SPAN_DIGITS)
        || AreZero(text + SPAN_START, SPAN_DIGITS)
        || text[FLAGS_START - 1] != '-' || !AreDigits(text + FLAGS_START, 2)) {
        return NULL;
    }
    if (text[PARENT_BYTES] != '\0'
        && (strncmp(text, "00", 2) == 0 || text[PARENT_BYTES] != '-')) {
        return NULL;
    }
    return text;
}

/*
 * In lower case.
 */
static bool
AreDigits(const char *text, int n)
{
    for (int i = 0; i < n; i++) {
        if (!((text[i] >= '0' && text[i] <= '9')
              || (text[i] >= 'a' && text[i] <= 'f'))) {
            return false;
        }
    }
    return true;
}

static bool
AreZero(const char *text, int n)
{
    for (int i = 0; i < n; i++) {
        if (text[i] != '0') {
            return false;
        }
    }
    return true;
}
