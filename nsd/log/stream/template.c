/* SPDX-License-Identifier: MPL-2.0
 * template.c --
 *
 *      Formats of one's own.
 *
 *      A template is compiled into pieces: each is a text, then a variable.  If
 *      these need no escape, as is usual, the stream that knows the layout of
 *      the record puts them together.
 */

#include "log/stream/template.h"

#include "base/assert.h"
#include "base/clock.h"
#include "log/stream/json.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define MICROS     INT64_C(1000000)
#define MAX_NUMBER 32

/*
 * How values are written: text, what stands for one that is missing, and for a
 * number that is.
 */
typedef void EscapeProc(NsLogOut *outPtr, const char *bytes, size_t length);

typedef struct Escape {
    const char *name;
    EscapeProc *proc;
    const char *missing;
    const char *missingNumber;
} Escape;

struct NsTemplate {
    const Escape *escapePtr;
    NsPieces      all;
};

static EscapeProc PutText, PutCsv, PutLogfmt;

static const Escape escapes[] = {
    {"text", PutText, "-", "-"},
    {"json", NsJsonText, "", "null"},
    {"csv", PutCsv, "", ""},
    {"logfmt", PutLogfmt, "", ""}};

#define ESCAPE "escape="
#define JSON   (&escapes[1])

static void        Judge(NsTemplate *templatePtr);
static const char *TakeEscape(NsTemplate *templatePtr, const char *text,
                              Ns_DString *errorPtr);
static const char *TakeText(NsPiece *piecePtr, const char *text,
                            Ns_DString *errorPtr);
static const char *TakeVariable(NsPiece *piecePtr, const char *text,
                                Ns_DString *errorPtr);

static void PutVariable(NsLogOut *outPtr, const NsTemplate *templatePtr,
                        const NsPiece *piecePtr, const NsFieldProcs *procsPtr,
                        const NsFields *fieldsPtr);
static void PutValue(NsLogOut *outPtr, const Escape *escapePtr,
                     NsFieldText text);
static void PutNumber(NsLogOut *outPtr, int64_t number);
static void PutSeconds(NsLogOut *outPtr, int64_t micros);
static void PutSpecial(NsLogOut *outPtr, const char *bytes, size_t n,
                       bool isQuoted);

NsTemplate *
NsTemplateCreate(const char *text, Ns_DString *errorPtr)
{
    NsTemplate *templatePtr = ns_calloc(1u, sizeof(*templatePtr));
    NsPieces   *allPtr = &templatePtr->all;
    const char *next = TakeEscape(templatePtr, text, errorPtr);

    while (next != NULL) {
        NsPiece *piecePtr;

        allPtr->pieces = ns_realloc(allPtr->pieces,
                                    (size_t) (allPtr->n + 1) * sizeof(NsPiece));
        piecePtr = &allPtr->pieces[allPtr->n++];
        *piecePtr = (NsPiece){NULL, 0, NULL, NULL};
        next = TakeText(piecePtr, next, errorPtr);
        if (next != NULL && *next == '\0') {
            break;
        }
        next = next == NULL ? NULL : TakeVariable(piecePtr, next, errorPtr);
        if (next != NULL && piecePtr->variablePtr->kind == NS_VARIABLE_EVENTS
            && templatePtr->escapePtr != JSON) {
            Ns_DStringAppend(errorPtr, "$events needs " ESCAPE "json");
            next = NULL;
        }
    }
    if (next == NULL) {
        NsTemplateDestroy(&templatePtr);
        return NULL;
    }
    NsAssert(allPtr->n > 0
             && allPtr->pieces[allPtr->n - 1].variablePtr == NULL);
    Judge(templatePtr);
    return templatePtr;
}

/*
 * Most templates are plain.
 */
static void
Judge(NsTemplate *templatePtr)
{
    NsPieces *allPtr = &templatePtr->all;

    allPtr->isPlain = templatePtr->escapePtr == &escapes[0];
    for (int i = 0; i < allPtr->n; i++) {
        const NsPiece *piecePtr = &allPtr->pieces[i];

        allPtr->textBytes += piecePtr->length;
        allPtr->isPlain &= piecePtr->variablePtr == NULL
            || NsVariableIsPlain(piecePtr->variablePtr);
    }
}

void
NsTemplateDestroy(NsTemplate **templatePtrPtr)
{
    NsTemplate *templatePtr = *templatePtrPtr;

    *templatePtrPtr = NULL;
    for (int i = 0; templatePtr != NULL && i < templatePtr->all.n; i++) {
        ns_free(templatePtr->all.pieces[i].text);
        ns_free(templatePtr->all.pieces[i].name);
    }
    if (templatePtr != NULL) {
        ns_free(templatePtr->all.pieces);
        ns_free(templatePtr);
    }
}

/*
 * Each of these returns where to go on, or NULL with an error.
 */
static const char *
TakeEscape(NsTemplate *templatePtr, const char *text, Ns_DString *errorPtr)
{
    const char *name = text + strlen(ESCAPE);
    size_t      n;

    templatePtr->escapePtr = &escapes[0];
    if (strncmp(text, ESCAPE, strlen(ESCAPE)) != 0) {
        return text;
    }
    n = strcspn(name, " ");
    for (int i = 0; i < Ns_NrElements(escapes); i++) {
        if (strlen(escapes[i].name) == n
            && memcmp(escapes[i].name, name, n) == 0) {
            templatePtr->escapePtr = &escapes[i];
            return name + n + strspn(name + n, " ");
        }
    }
    Ns_DStringPrintf(errorPtr,
                     "unknown escape \"%.*s\": should be text, json, csv, or "
                     "logfmt",
                     (int) n, name);
    return NULL;
}

/*
 * Up to a variable, or the end.  "$$" is a dollar sign.
 */
static const char *
TakeText(NsPiece *piecePtr, const char *text, Ns_DString *errorPtr)
{
    piecePtr->text = ns_calloc(1u, strlen(text) + 1 + NS_PIECE_ROOM);
    while (*text != '\0' && (*text != '$' || text[1] == '$')) {
        if (UCHAR(*text) < ' ' && *text != '\t') {
            Ns_DStringAppend(errorPtr, "a format is one line");
            return NULL;
        }
        piecePtr->text[piecePtr->length++] = *text;
        text += *text == '$' ? 2 : 1;
    }
    return text;
}

static const char *
TakeVariable(NsPiece *piecePtr, const char *text, Ns_DString *errorPtr)
{
    bool        hasBrace = text[1] == '{';
    const char *name = text + 1 + hasBrace, *end = name, *close;

    NsAssert(*text == '$');
    while ((*end >= 'a' && *end <= 'z') || *end == '_') {
        end++;
    }
    piecePtr->variablePtr = NsVariableFind(name, (size_t) (end - name));
    if (piecePtr->variablePtr == NULL) {
        Ns_DStringPrintf(errorPtr, "unknown variable \"$%.*s\"",
                         (int) (end - name), name);
        return NULL;
    }
    if (piecePtr->variablePtr->kind == NS_VARIABLE_PAIR) {
        close = *end == '(' ? strchr(end, ')') : NULL;
        if (close == NULL || close == end + 1) {
            Ns_DStringPrintf(errorPtr, "$%s needs a name in parentheses",
                             piecePtr->variablePtr->name);
            return NULL;
        }
        piecePtr->name = ns_malloc((size_t) (close - end));
        memcpy(piecePtr->name, end + 1, (size_t) (close - end) - 1);
        piecePtr->name[close - end - 1] = '\0';
        end = close + 1;
    }
    if (hasBrace && *end != '}') {
        Ns_DStringPrintf(errorPtr, "missing } behind \"${%.*s\"",
                         (int) (end - name), name);
        return NULL;
    }
    return end + hasBrace;
}

size_t
NsTemplateLine(const NsTemplate *templatePtr, const NsFieldProcs *procsPtr,
               const Ns_LogRecord *recordPtr, char *buffer, size_t room)
{
    NsLogOut out = {buffer, room, 0};
    NsFields fields;

    NsAssert(templatePtr->escapePtr != NULL);
    if (templatePtr->all.isPlain && procsPtr != NULL
        && procsPtr->piecesProc != NULL) {
        size_t length = procsPtr->piecesProc(&templatePtr->all, recordPtr,
                                             buffer, room);

        if (likely(length > 0)) {
            return length;
        }
    }
    if (!NsFieldsRead(procsPtr, recordPtr, &fields)) {
        return 0;
    }
    for (int i = 0; i < templatePtr->all.n; i++) {
        const NsPiece *piecePtr = &templatePtr->all.pieces[i];

        NsLogPut(&out, piecePtr->text, piecePtr->length);
        if (piecePtr->variablePtr != NULL) {
            PutVariable(&out, templatePtr, piecePtr, procsPtr, &fields);
        }
    }
    NsLogPut(&out, "\n", 1);
    return out.length;
}

bool
NsTemplateIsJson(const NsTemplate *templatePtr)
{
    return templatePtr->escapePtr == JSON;
}

void
NsTemplateHeaders(const NsTemplate *templatePtr, Ns_DString *dsPtr)
{
    Ns_DString word;

    Ns_DStringInit(&word);
    for (int i = 0; i < templatePtr->all.n; i++) {
        const NsPiece *piecePtr = &templatePtr->all.pieces[i];

        if (piecePtr->name != NULL) {
            Ns_DStringSetLength(&word, 0);
            Ns_DStringVarAppend(&word, piecePtr->variablePtr->prefix,
                                piecePtr->name, (char *) NULL);
            Ns_DStringAppendElement(dsPtr, Ns_DStringValue(&word));
        }
    }
    Ns_DStringFree(&word);
}

static void
PutVariable(NsLogOut *outPtr, const NsTemplate *templatePtr,
            const NsPiece *piecePtr, const NsFieldProcs *procsPtr,
            const NsFields *fieldsPtr)
{
    const NsVariable *variablePtr = piecePtr->variablePtr;
    const Escape     *escapePtr = templatePtr->escapePtr;
    int64_t           time = MAX(fieldsPtr->recordPtr->time, 0), number;

    switch (variablePtr->kind) {
    case NS_VARIABLE_TIME:
        NsLogPutUtc(outPtr, time / 1000);
        break;
    case NS_VARIABLE_LOCAL:
        NsLogPut(outPtr, NsLogZonedTimeText((time_t) (time / NS_STAMP_SECOND)),
                 NS_LOG_ZONED_TIME_LENGTH);
        break;
    case NS_VARIABLE_EPOCH:
        PutSeconds(outPtr, time / 1000);
        break;
    case NS_VARIABLE_EVENTS:
        if (procsPtr->eventsProc != NULL) {
            procsPtr->eventsProc(outPtr, fieldsPtr);
        } else {
            NsLogPut(outPtr, "null", 4);
        }
        break;
    case NS_VARIABLE_START:
        if (NsFieldHas(fieldsPtr, NS_FIELD_START)) {
            NsLogPutUtc(outPtr, fieldsPtr->numbers[NS_FIELD_START]);
        } else {
            NsLogPut(outPtr, escapePtr->missing, strlen(escapePtr->missing));
        }
        break;
    case NS_VARIABLE_NUMBER:
    case NS_VARIABLE_SECONDS:
        if (!NsVariableNumber(variablePtr, fieldsPtr, &number)) {
            NsLogPut(outPtr, escapePtr->missingNumber,
                     strlen(escapePtr->missingNumber));
        } else if (variablePtr->kind == NS_VARIABLE_NUMBER) {
            PutNumber(outPtr, number);
        } else {
            PutSeconds(outPtr, number);
        }
        break;
    default:
        PutValue(outPtr, escapePtr,
                 NsVariableText(variablePtr, piecePtr->name, procsPtr,
                                fieldsPtr));
        break;
    }
}

static void
PutValue(NsLogOut *outPtr, const Escape *escapePtr, NsFieldText text)
{
    if (text.length == 0) {
        NsLogPut(outPtr, escapePtr->missing, strlen(escapePtr->missing));
    } else {
        NsAssert(text.bytes != NULL);
        escapePtr->proc(outPtr, text.bytes, text.length);
    }
}

static void
PutNumber(NsLogOut *outPtr, int64_t number)
{
    char   text[MAX_NUMBER];
    size_t n =
        NsLogDigits(text,
                    number < 0 ? 0 - (uint64_t) number : (uint64_t) number, 1);

    NsAssert(n < sizeof(text));
    NsLogPut(outPtr, "-", number < 0);
    NsLogPut(outPtr, text, n);
}

/*
 * A record of a dead process may have anything.
 */
static void
PutSeconds(NsLogOut *outPtr, int64_t micros)
{
    char   text[MAX_NUMBER];
    size_t n;

    micros = MAX(micros, 0);
    n = NsLogDigits(text, (uint64_t) (micros / MICROS), 1);
    text[n++] = '.';
    n += NsLogDigits(text + n, (uint64_t) (micros % MICROS), 6);
    NsAssert(n < sizeof(text));
    NsLogPut(outPtr, text, n);
}

/*
 * For a field between blanks or quotes: as access lines have it.
 */
static void
PutText(NsLogOut *outPtr, const char *bytes, size_t length)
{
    PutSpecial(outPtr, bytes, length, true);
}

/*
 * RFC 4180, but that a record is always one line.
 */
static void
PutCsv(NsLogOut *outPtr, const char *bytes, size_t length)
{
    bool isQuoted = false;

    for (size_t i = 0; i < length; i++) {
        isQuoted |= bytes[i] == ',' || bytes[i] == '"' || bytes[i] == ' '
            || bytes[i] == ';' || bytes[i] == '\t';
    }
    NsLogPut(outPtr, "\"", isQuoted);
    while (length > 0) {
        const char *quote = memchr(bytes, '"', length);
        size_t      n = quote == NULL ? length : (size_t) (quote - bytes);

        PutSpecial(outPtr, bytes, n, false);
        NsLogPut(outPtr, "\"\"", quote == NULL ? 0 : 2);
        n += quote != NULL;
        bytes += n;
        length -= n;
    }
    NsLogPut(outPtr, "\"", isQuoted);
}

/*
 * Quoted, with the escapes of JSON, where its readers would see an end.
 */
static void
PutLogfmt(NsLogOut *outPtr, const char *bytes, size_t length)
{
    bool isPlain = true;

    for (size_t i = 0; i < length; i++) {
        isPlain &= bytes[i] > ' ' && bytes[i] < 0x7f && bytes[i] != '"'
            && bytes[i] != '=' && bytes[i] != '\\';
    }
    if (isPlain) {
        NsLogPut(outPtr, bytes, length);
    } else {
        NsJsonString(outPtr, bytes, length);
    }
}

/*
 * Quoted: quotes and backslashes get a backslash, and so do the letters of line
 * ends and tabs.  What is no text is \xHH.
 */
static void
PutSpecial(NsLogOut *outPtr, const char *bytes, size_t length, bool isQuoted)
{
    static const char letters[] = {
        ['"'] = '"', ['\\'] = '\\', ['\r'] = 'r', ['\n'] = 'n', ['\t'] = 't'};
    size_t start = 0, i = 0;
    char   text[8];

    while ((i += NsJsonPlainRun(bytes + i, length - i)) < length) {
        unsigned char c = UCHAR(bytes[i]);
        bool hasLetter = isQuoted && c < sizeof(letters) && letters[c] != '\0';
        size_t n = hasLetter ? 0 : Ns_LogCharBytes(bytes + i, length - i);

        if (n == 0) {
            int nText = hasLetter
                ? snprintf(text, sizeof(text), "\\%c", letters[c])
                : snprintf(text, sizeof(text), "\\x%02x", c);

            NsLogPut(outPtr, bytes + start, i - start);
            NsLogPut(outPtr, text, (size_t) nText);
            start = ++i;
        } else {
            i += n;
        }
    }
    NsAssert(i == length);
    NsLogPut(outPtr, bytes + start, length - start);
}
