/* SPDX-License-Identifier: MPL-2.0
 * reply.c --
 *
 *      The head of a reply to a request of ours.
 */

#include "http/reply.h"
#include "nshttp.h"

#include <limits.h>

#include "base/assert.h"
#include "base/chars.h"
#include "nsstring.h"
#include "nsthread.h"
#include "http/status.h"

/*
 * The shortest status line: `HTTP/1.1 200`.
 */
#define STATUS_BYTES 12u

static const char *ParseStatusLine(const char *text, const char *end,
                                   NsReplyHead *headPtr);
static const char *ParseFields(const char *text, const char *end,
                               Ns_Set *fields);
static const char *PutField(Ns_Set *fields, const char *text, const char *end);
static void AppendFolded(Ns_Set *fields, const char *text, const char *end);
static bool HasControls(const char *text, const char *end);
static const char *LineEnd(const char *text, const char *end,
                           const char **nextPtr);
static const char *SetFraming(NsReplyHead *headPtr, const Ns_Set *fields,
                              bool hasBody);
static bool ParseLength(const Ns_Set *fields, uint64_t *lengthPtr, int *nPtr);
static bool HasWordIn(const Ns_Set *fields, const char *name, const char *word);
static bool HasWord(const char *list, const char *word);

bool
NsReplyMayBegin(const char *text, size_t length)
{
    static const char pattern[] = "HTTP/0.0 000";

    for (size_t i = 0; i < MIN(length, STATUS_BYTES); i++) {
        if (pattern[i] == '0' ? !NsIsDigit(text[i]) : text[i] != pattern[i]) {
            return false;
        }
    }
    return true;
}

size_t
NsReplyHeadBytes(const char *text, size_t length, size_t scanned)
{
    const char *end = text + length;
    /* The empty line may have begun before. */
    const char *next = text + (scanned > 3u ? scanned - 3u : 0u);

    NsAssert(scanned <= length);
    for (; (next = memchr(next, '\n', (size_t) (end - next))) != NULL; next++) {
        const char *after = next + 1;

        if (after < end && *after == '\r') {
            after++;
        }
        if (after < end && *after == '\n') {
            return (size_t) (after + 1 - text);
        }
    }
    return 0u;
}

const char *
NsReplyParse(const char *text, size_t length, bool hasBody,
             NsReplyHead *headPtr, Ns_Set *fields)
{
    const char *end = text + length;
    const char *next;
    const char *lineEnd = LineEnd(text, end, &next);
    const char *problem = ParseStatusLine(text, lineEnd, headPtr);

    NsAssert(length > 0 && end[-1] == '\n');
    if (problem == NULL) {
        problem = ParseFields(next, end, fields);
    }
    if (problem == NULL) {
        problem = SetFraming(headPtr, fields, hasBody);
    }
    return problem;
}

Ns_ReturnCode
Ns_HttpMessageParse(char *message, size_t size, size_t *firstLineBytesPtr,
                    Ns_Set *fields, char **payloadPtr)
{
    size_t      headBytes = NsReplyHeadBytes(message, size, 0u);
    const char *end = message + headBytes, *next;

    if (headBytes == 0u) {
        return NS_ERROR;
    }
    *firstLineBytesPtr = (size_t) (LineEnd(message, end, &next) - message);
    *payloadPtr = message + headBytes;
    return ParseFields(next, end, fields) == NULL ? NS_OK : NS_ERROR;
}

Ns_ReturnCode
Ns_HttpResponseMessageParse(char *message, size_t size, Ns_Set *fields,
                            int *majorPtr, int *minorPtr, int *statusPtr,
                            char **payloadPtr)
{
    NsReplyHead head;
    size_t      headBytes = NsReplyHeadBytes(message, size, 0u);

    if (headBytes == 0u
        || NsReplyParse(message, headBytes, true, &head, fields) != NULL) {
        return NS_ERROR;
    }
    *majorPtr = message[5] - '0';
    *minorPtr = message[7] - '0';
    *statusPtr = head.status;
    *payloadPtr = message + headBytes;
    return NS_OK;
}

static const char *
ParseStatusLine(const char *text, const char *end, NsReplyHead *headPtr)
{
    size_t length = (size_t) (end - text);

    if (length < STATUS_BYTES || !NsReplyMayBegin(text, length)
        || text[9] == '0'
        || (length > STATUS_BYTES && text[STATUS_BYTES] != ' ')) {
        return "the reply is not HTTP";
    }
    *headPtr = (NsReplyHead){
        .status = (text[9] - '0') * 100 + (text[10] - '0') * 10
            + (text[11] - '0'),
        .line = text,
        .lineBytes = length,
        .phrase = text + MIN(length, STATUS_BYTES + 1u),
        /* The word of later versions; a peer may do without it. */
        .isPersistent = text[5] == '1' && text[7] >= '1',
    };
    headPtr->phraseBytes = (size_t) (end - headPtr->phrase);
    return HasControls(text, end) ? "control characters in the reply's header"
                                  : NULL;
}

/*
 * Up to the empty line.  A folded line counts as a field does: each copies the
 * value before it.
 */
static const char *
ParseFields(const char *text, const char *end, Ns_Set *fields)
{
    const char *problem = NULL;
    int         nLines = 0;

    while (text < end && problem == NULL) {
        const char *next;
        const char *lineEnd = LineEnd(text, end, &next);

        if (HasControls(text, lineEnd)) {
            problem = "control characters in the reply's header";
        } else if (lineEnd == text) {
            break;
        } else if (++nLines > NS_REPLY_MAX_FIELDS) {
            problem = "too many fields in the reply";
        } else if (NsIsSpace(*text)) {
            AppendFolded(fields, text, lineEnd);
        } else {
            problem = PutField(fields, text, lineEnd);
        }
        text = next;
    }
    return problem;
}

static const char *
PutField(Ns_Set *fields, const char *text, const char *end)
{
    const char *colon = memchr(text, ':', (size_t) (end - text));
    const char *value;
    char       *name;

    if (colon == NULL || colon == text || NsIsSpace(colon[-1])) {
        return "malformed field in the reply's header";
    }
    name = ns_strncopy(text, (int) (colon - text));
    value = NsSkipSpaceTo(colon + 1, end);
    end = NsTrimEnd(value, end);
    (void) Ns_SetPutSz_33(fields, Ns_StrToLower(name), -1, value,
                          (TCL_SIZE_T) (end - value));
    ns_free(name);
    return NULL;
}

/*
 * Section 5.2.  A line before the first field belongs to none.
 */
static void
AppendFolded(Ns_Set *fields, const char *text, const char *end)
{
    int        last = (int) Ns_SetSize(fields) - 1;
    Ns_DString ds;

    if (last < 0) {
        return;
    }
    text = NsSkipSpaceTo(text, end);
    end = NsTrimEnd(text, end);
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, Ns_SetValue(fields, last), " ", NULL);
    Ns_DStringNAppend(&ds, text, (int) (end - text));
    Ns_SetPutValue(fields, last, Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

/*
 * The end of the line without its CR, which may stand nowhere else.
 */
static const char *
LineEnd(const char *text, const char *end, const char **nextPtr)
{
    const char *newline = memchr(text, '\n', (size_t) (end - text));

    NsAssert(newline != NULL);
    *nextPtr = newline + 1;
    return newline > text && newline[-1] == '\r' ? newline - 1 : newline;
}

static bool
HasControls(const char *text, const char *end)
{
    return memchr(text, '\0', (size_t) (end - text)) != NULL
        || memchr(text, '\r', (size_t) (end - text)) != NULL;
}

/*
 * Section 6.3.
 */
static const char *
SetFraming(NsReplyHead *headPtr, const Ns_Set *fields, bool hasBody)
{
    const char *coding = Ns_SetGet((Ns_Set *) fields, "transfer-encoding");
    const char *entity = Ns_SetGet((Ns_Set *) fields, "content-encoding");
    int         nLengths;

    if (!ParseLength(fields, &headPtr->length, &nLengths)) {
        return "invalid Content-Length in the reply";
    }
    headPtr->isPersistent = headPtr->isPersistent
        ? !HasWordIn(fields, "connection", "close")
        : HasWordIn(fields, "connection", "keep-alive");
    headPtr->isGzip = entity != NULL
        && (STRIEQ(entity, "gzip") || STRIEQ(entity, "x-gzip"));
    if (!hasBody || NsStatusHasNoBody(headPtr->status)) {
        headPtr->framing = NS_REPLY_NO_BODY;
        /* What comes behind a 101 is no HTTP. */
        headPtr->isPersistent &= headPtr->status != 101;
    } else if (coding != NULL) {
        if (!STRIEQ(coding, "chunked")) {
            return "unknown transfer coding of the reply";
        }
        headPtr->framing = NS_REPLY_CHUNKED;
        /* Somebody on the way may have read it otherwise. */
        headPtr->isPersistent &= nLengths == 0;
    } else if (nLengths > 0) {
        headPtr->framing = NS_REPLY_LENGTH;
    } else {
        headPtr->framing = NS_REPLY_TO_CLOSE;
        headPtr->isPersistent = false;
    }
    return NULL;
}

/*
 * Several must be the same.
 */
static bool
ParseLength(const Ns_Set *fields, uint64_t *lengthPtr, int *nPtr)
{
    *nPtr = 0;
    for (int i = 0; i < (int) Ns_SetSize(fields); i++) {
        const char *text = Ns_SetValue(fields, i);
        uint64_t    length = 0u;

        if (!STREQ(Ns_SetKey(fields, i), "content-length")) {
            continue;
        }
        if (*text == '\0') {
            return false;
        }
        for (; *text != '\0'; text++) {
            if (!NsIsDigit(*text) || length > (INT64_MAX - 9) / 10) {
                return false;
            }
            length = length * 10u + (uint64_t) (*text - '0');
        }
        if (*nPtr > 0 && length != *lengthPtr) {
            return false;
        }
        *lengthPtr = length;
        ++*nPtr;
    }
    return true;
}

static bool
HasWordIn(const Ns_Set *fields, const char *name, const char *word)
{
    for (int i = 0; i < (int) Ns_SetSize(fields); i++) {
        if (STREQ(Ns_SetKey(fields, i), name)
            && HasWord(Ns_SetValue(fields, i), word)) {
            return true;
        }
    }
    return false;
}

/*
 * Whether a list of words has this one.
 */
static bool
HasWord(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (*list != '\0') {
        size_t      n = strcspn(list, ",");
        const char *start = NsSkipSpaceTo(list, list + n);
        const char *end = NsTrimEnd(start, list + n);

        if ((size_t) (end - start) == length
            && strncasecmp(start, word, length) == 0) {
            return true;
        }
        list += n + (list[n] == ',');
    }
    return false;
}
