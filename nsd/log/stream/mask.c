/* SPDX-License-Identifier: MPL-2.0
 * mask.c --
 *
 *      Personal data that a sink does not get.
 *
 *      The record is written again without them, so what formats it need not
 *      know.
 */

#include "log/stream/mask.h"

#include <arpa/inet.h>

#include "base/assert.h"
#include "base/chars.h"
#include "base/ipaddress.h"
#include "log/stream/kinds.h"
#include "log/stream/pairs.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define MAX_BITS4 32
#define MAX_BITS6 128

struct NsMask {
    /* Constant after creation. */
    int     bits4; /* That are kept. */
    int     bits6;
    bool    dropsQuery;
    NsKinds parameters;
    NsKinds headers;

    /* The thread's that uses it. */
    char      *bytes;
    size_t     room;
    Ns_DString request;
    Ns_DString referer;
    char       peer[INET6_ADDRSTRLEN];
};

static bool        SetOne(NsMask *maskPtr, const char *key, const char *value,
                          Ns_DString *errorPtr);
static bool        SetBits(int *bitsPtr, const char *value, int max);
static NsFieldText MaskPeer(NsMask *maskPtr, NsFieldText peer);
static NsFieldText MaskUrl(const NsMask *maskPtr, NsFieldText text,
                           Ns_DString *dsPtr);
static void AppendQuery(const NsMask *maskPtr, const char *bytes, size_t length,
                        Ns_DString *dsPtr);
static bool HasParameter(const NsKinds *wordsPtr, const char *bytes,
                         size_t length);
static bool HasWord(const NsKinds *wordsPtr, const char *bytes, size_t length);
static NsFieldHidesProc Hides;

NsMask *
NsMaskCreate(const char *text, Ns_DString *errorPtr)
{
    NsMask      *maskPtr;
    int          n;
    const char **words = NsPairsSplit(text, &n);
    bool         isOk = true;

    if (words == NULL) {
        Ns_DStringAppend(errorPtr, "not a list of names and values");
        return NULL;
    }
    maskPtr = ns_calloc(1u, sizeof(*maskPtr));
    maskPtr->bits4 = MAX_BITS4;
    maskPtr->bits6 = MAX_BITS6;
    Ns_DStringInit(&maskPtr->request);
    Ns_DStringInit(&maskPtr->referer);
    for (int i = 0; i < n && isOk; i += 2) {
        isOk = SetOne(maskPtr, words[i], words[i + 1], errorPtr);
    }
    Tcl_Free((char *) words);
    if (!isOk) {
        NsMaskDestroy(&maskPtr);
    }
    return maskPtr;
}

void
NsMaskDestroy(NsMask **maskPtrPtr)
{
    NsMask *maskPtr = *maskPtrPtr;

    *maskPtrPtr = NULL;
    if (maskPtr == NULL) {
        return;
    }
    NsKindsFree(&maskPtr->parameters);
    NsKindsFree(&maskPtr->headers);
    Ns_DStringFree(&maskPtr->request);
    Ns_DStringFree(&maskPtr->referer);
    ns_free(maskPtr->bytes);
    ns_free(maskPtr);
}

static bool
SetOne(NsMask *maskPtr, const char *key, const char *value,
       Ns_DString *errorPtr)
{
    NsKinds *listPtr = NULL;

    if ((STREQ(key, "ipv4") && SetBits(&maskPtr->bits4, value, MAX_BITS4))
        || (STREQ(key, "ipv6") && SetBits(&maskPtr->bits6, value, MAX_BITS6))) {
        return true;
    }
    if (STREQ(key, "query") && STREQ(value, "remove")) {
        maskPtr->dropsQuery = true;
        return true;
    }
    if (STREQ(key, "parameters")) {
        listPtr = &maskPtr->parameters;
    } else if (STREQ(key, "headers")) {
        listPtr = &maskPtr->headers;
    }
    if (listPtr != NULL && listPtr->names == NULL
        && NsKindsInit(listPtr, value)) {
        return true;
    }
    Ns_DStringPrintf(errorPtr, "\"%s %s\" is none of these", key, value);
    return false;
}

static bool
SetBits(int *bitsPtr, const char *value, int max)
{
    return Ns_StrToInt(value, bitsPtr) == NS_OK && *bitsPtr >= 0
        && *bitsPtr <= max;
}

Ns_LogRecord
NsMaskRecord(NsMask *maskPtr, const NsFieldProcs *procsPtr,
             const Ns_LogRecord *recordPtr)
{
    Ns_LogRecord masked = *recordPtr;
    NsFieldText  texts[NS_FIELD_TEXTS] = {{NULL, 0}};
    NsFields     fields;
    NsLogOut     out;

    if (procsPtr == NULL || procsPtr->replaceProc == NULL
        || !NsFieldsRead(procsPtr, recordPtr, &fields)) {
        return masked;
    }
    texts[NS_FIELD_PEER] = MaskPeer(maskPtr, fields.texts[NS_FIELD_PEER]);
    texts[NS_FIELD_REQUEST] = MaskUrl(maskPtr, fields.texts[NS_FIELD_REQUEST],
                                      &maskPtr->request);
    texts[NS_FIELD_REFERER] = MaskUrl(maskPtr, fields.texts[NS_FIELD_REFERER],
                                      &maskPtr->referer);
    out = (NsLogOut){maskPtr->bytes, maskPtr->room, 0};
    procsPtr->replaceProc(&out, &fields, texts, Hides, maskPtr);
    if (out.length > maskPtr->room) {
        maskPtr->room = 2 * out.length;
        maskPtr->bytes = ns_realloc(maskPtr->bytes, maskPtr->room);
        out = (NsLogOut){maskPtr->bytes, maskPtr->room, 0};
        procsPtr->replaceProc(&out, &fields, texts, Hides, maskPtr);
        NsAssert(out.length <= maskPtr->room);
    }
    masked.bytes = maskPtr->bytes;
    masked.length = out.length;
    return masked;
}

/*
 * An IPv4 address that stands in one of IPv6 is masked as the former.  What is
 * no address is not changed.
 */
static NsFieldText
MaskPeer(NsMask *maskPtr, NsFieldText peer)
{
    if ((maskPtr->bits4 == MAX_BITS4 && maskPtr->bits6 == MAX_BITS6)
        || peer.length == 0 || peer.length >= sizeof(maskPtr->peer)) {
        return (NsFieldText){NULL, 0};
    }
    memcpy(maskPtr->peer, peer.bytes, peer.length);
    maskPtr->peer[peer.length] = '\0';
    if (!NsIpCutText(maskPtr->peer, maskPtr->bits4, maskPtr->bits6)) {
        return (NsFieldText){NULL, 0};
    }
    return (NsFieldText){maskPtr->peer, strlen(maskPtr->peer)};
}

/*
 * A request line or a URL: the query ends with the text, or at a blank.
 */
static NsFieldText
MaskUrl(const NsMask *maskPtr, NsFieldText text, Ns_DString *dsPtr)
{
    const char *end = text.bytes + text.length, *question, *blank;

    question = text.length == 0 ? NULL : memchr(text.bytes, '?', text.length);
    if (question == NULL
        || (!maskPtr->dropsQuery && maskPtr->parameters.n == 0)) {
        return (NsFieldText){NULL, 0};
    }
    blank = memrchr(question, ' ', (size_t) (end - question));
    blank = blank == NULL ? end : blank;
    Ns_DStringSetLength(dsPtr, 0);
    Ns_DStringNAppend(dsPtr, text.bytes, (int) (question - text.bytes));
    if (!maskPtr->dropsQuery) {
        AppendQuery(maskPtr, question, (size_t) (blank - question), dsPtr);
    }
    Ns_DStringNAppend(dsPtr, blank, (int) (end - blank));
    return (NsFieldText){Ns_DStringValue(dsPtr),
                         (size_t) Ns_DStringLength(dsPtr)};
}

/*
 * From the question mark on: of parameters that are listed, the name alone.
 */
static void
AppendQuery(const NsMask *maskPtr, const char *bytes, size_t length,
            Ns_DString *dsPtr)
{
    const char *end = bytes + length;

    NsAssert(length == 0 || *bytes == '?');
    while (bytes < end) {
        const char *name = bytes + 1, *next = name, *equals;

        NsAssert(*bytes == '?' || *bytes == '&' || *bytes == ';');
        while (next < end && *next != '&' && *next != ';') {
            next++;
        }
        equals = memchr(name, '=', (size_t) (next - name));
        if (equals != NULL
            && HasParameter(&maskPtr->parameters, name,
                            (size_t) (equals - name))) {
            Ns_DStringNAppend(dsPtr, bytes, (int) (equals + 1 - bytes));
            Ns_DStringAppend(dsPtr, NS_FIELD_HIDDEN);
        } else {
            Ns_DStringNAppend(dsPtr, bytes, (int) (next - bytes));
        }
        bytes = next;
    }
}

/*
 * Whether the name, as it was sent, is one of these: browsers send brackets as
 * %5B and %5D, and a blank as a plus.
 */
static bool
HasParameter(const NsKinds *wordsPtr, const char *bytes, size_t length)
{
    for (int i = 0; i < wordsPtr->n; i++) {
        const char *word = wordsPtr->names[i], *at = bytes;
        const char *end = bytes + length;

        for (; at < end && *word != '\0'; at++, word++) {
            char c = *at == '+' ? ' ' : *at;

            if (c == '%' && end - at > 2 && NsHexValue(at[1]) >= 0
                && NsHexValue(at[2]) >= 0) {
                c = (char) (16 * NsHexValue(at[1]) + NsHexValue(at[2]));
                at += 2;
            }
            if (NsToLower(c) != NsToLower(*word)) {
                break;
            }
        }
        if (at == end && *word == '\0') {
            return true;
        }
    }
    return false;
}

static bool
HasWord(const NsKinds *wordsPtr, const char *bytes, size_t length)
{
    for (int i = 0; i < wordsPtr->n; i++) {
        if (strlen(wordsPtr->names[i]) == length
            && strncasecmp(wordsPtr->names[i], bytes, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool
Hides(const NsFieldText *namePtr, const void *arg)
{
    const NsMask *maskPtr = arg;

    NsAssert(namePtr->bytes != NULL);
    return HasWord(&maskPtr->headers, namePtr->bytes, namePtr->length);
}
