/* SPDX-License-Identifier: MPL-2.0
 * multipart.c --
 *
 *      Forms as multipart/form-data.
 *
 *      A delimiter is a line that begins with two dashes and the boundary; the
 *      line break before it belongs to it.  Delimiters are searched with
 *      memmem, so the body's size costs one pass over it.
 */

#include "http/multipart.h"
#include <sys/mman.h>

#include "nsthread.h"

#include "base/chars.h"
#include "http/form.h"
#include "http/header.h"

#define MAX_BOUNDARY 256

typedef struct {
    const char *end; /* Of the source. */
    char        delimiter[MAX_BOUNDARY + 2];
    size_t      delimiterLength;
} Scanner;

static bool        FindBoundary(const char *contentType, const char **startPtr,
                                size_t *lengthPtr);
static const char *FindDelimiter(const Scanner *scannerPtr, const char *start,
                                 const char *from);
static bool        IsDelimiterEnd(const char *p, const char *end);
static const char *LineEnd(const char *p, const char *end,
                           const char **nextPtr);
static const char *TakeHeaders(const Scanner *scannerPtr, const char *p,
                               NsFormPart *partPtr);
static void TakeHeader(const char *line, const char *end, NsFormPart *partPtr);
static bool TakeDisposition(const NsFormPart *partPtr, Tcl_Encoding encoding,
                            Ns_DString *namePtr, Ns_DString *fileNamePtr,
                            bool *hasFileNamePtr);
static const char *TakeParameter(const char *p, const char *end,
                                 const char **namePtr, size_t *nameLengthPtr,
                                 Ns_DString *valuePtr);
static const char *TakeQuoted(const char *p, const char *end,
                              Ns_DString *valuePtr);
static bool        IsName(const char *name, size_t length, const char *wanted);

Ns_ReturnCode
NsFormSourceOpen(NsFormSource *sourcePtr, int fd)
{
    struct stat st;
    void       *address;

    *sourcePtr = (NsFormSource){.data = ""};
    if (fstat(fd, &st) != 0 || st.st_size < 0) {
        return NS_ERROR;
    }
    if (st.st_size > 0) {
        address = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd,
                       0);
        if (address == MAP_FAILED) {
            return NS_ERROR;
        }
        *sourcePtr = (NsFormSource){address, (size_t) st.st_size, true};
    }
    return NS_OK;
}

void
NsFormSourceClose(NsFormSource *sourcePtr)
{
    if (sourcePtr->isMapped) {
        munmap((void *) (uintptr_t) sourcePtr->data, sourcePtr->length);
    }
    *sourcePtr = (NsFormSource){0};
}

bool
NsFormIsMultipart(const char *contentType)
{
    const char *boundary;
    size_t      length;

    return FindBoundary(contentType, &boundary, &length);
}

Ns_ReturnCode
NsFormParseMultipart(const NsFormSource *sourcePtr, const char *contentType,
                     Tcl_Encoding encoding, NsFormPartProc *proc, void *arg)
{
    Scanner     scanner = {.end = sourcePtr->data + sourcePtr->length};
    const char *boundary, *p, *next;
    size_t      length;
    Ns_DString  name, fileName;

    if (!FindBoundary(contentType, &boundary, &length)) {
        return NS_ERROR;
    }
    memcpy(scanner.delimiter, "--", 2);
    memcpy(scanner.delimiter + 2, boundary, length);
    scanner.delimiterLength = length + 2;

    Ns_DStringInit(&name);
    Ns_DStringInit(&fileName);
    p = FindDelimiter(&scanner, sourcePtr->data, sourcePtr->data);
    while (p != NULL) {
        NsFormPart part = {0};
        bool       hasFileName;

        p += scanner.delimiterLength;
        if (scanner.end - p >= 2 && p[0] == '-' && p[1] == '-') {
            break;
        }
        LineEnd(p, scanner.end, &p);
        part.content = TakeHeaders(&scanner, p, &part);
        next = FindDelimiter(&scanner, part.content, part.content);
        p = next == NULL ? scanner.end : next;

        /* The line break before a delimiter is not content. */
        if (next != NULL && p > part.content && p[-1] == '\n') {
            p--;
            p -= p > part.content && p[-1] == '\r';
        }
        part.contentLength = (size_t) (p - part.content);
        part.contentOffset = (size_t) (part.content - sourcePtr->data);
        if (TakeDisposition(&part, encoding, &name, &fileName, &hasFileName)
            && !NsFormIsServerKey(Ns_DStringValue(&name))) {
            part.name = Ns_DStringValue(&name);
            part.fileName = hasFileName ? Ns_DStringValue(&fileName) : NULL;
            proc(&part, arg);
        }
        p = next;
    }
    Ns_DStringFree(&fileName);
    Ns_DStringFree(&name);
    return NS_OK;
}

/*
 * The boundary ends at white space or a semicolon, unless it is quoted.
 */
static bool
FindBoundary(const char *contentType, const char **startPtr, size_t *lengthPtr)
{
    const char *p = contentType == NULL
        ? NULL
        : strcasestr(contentType, "multipart/form-data");

    if (p == NULL) {
        return false;
    }
    p = strcasestr(p, "boundary=");
    if (p == NULL) {
        return false;
    }
    p += strlen("boundary=");
    if (*p == '"') {
        p++;
        *lengthPtr = strcspn(p, "\"");
    } else {
        *lengthPtr = strcspn(p, "; \t\r\n\v\f");
    }
    *startPtr = p;
    return *lengthPtr > 0 && *lengthPtr <= MAX_BOUNDARY;
}

/*
 * The next delimiter at or behind from that is at the beginning of a line;
 * start counts as one.
 */
static const char *
FindDelimiter(const Scanner *scannerPtr, const char *start, const char *from)
{
    while (from != NULL) {
        from = memmem(from, (size_t) (scannerPtr->end - from),
                      scannerPtr->delimiter, scannerPtr->delimiterLength);
        if (from == NULL
            || ((from == start || from[-1] == '\n')
                && IsDelimiterEnd(from + scannerPtr->delimiterLength,
                                  scannerPtr->end))) {
            break;
        }
        /* Not just one byte on: a body of nothing but dashes would take as many
         * searches as it has bytes. */
        from = memchr(from, '\n', (size_t) (scannerPtr->end - from));
        from = from == NULL ? NULL : from + 1;
    }
    return from;
}

/*
 * One boundary may be the beginning of another's.
 */
static bool
IsDelimiterEnd(const char *p, const char *end)
{
    return p == end || NsIsSpace(*p)
        || (end - p >= 2 && p[0] == '-' && p[1] == '-');
}

/*
 * The end of the line at p, without CR LF or LF; *nextPtr is the next line.
 */
static const char *
LineEnd(const char *p, const char *end, const char **nextPtr)
{
    const char *lf = memchr(p, '\n', (size_t) (end - p));
    const char *lineEnd = lf == NULL ? end : lf;

    *nextPtr = lf == NULL ? end : lf + 1;
    return lineEnd - (lineEnd > p && lineEnd[-1] == '\r');
}

/*
 * Header lines up to the empty one.  Where the content begins.
 */
static const char *
TakeHeaders(const Scanner *scannerPtr, const char *p, NsFormPart *partPtr)
{
    const char *next, *lineEnd;

    while (p < scannerPtr->end) {
        lineEnd = LineEnd(p, scannerPtr->end, &next);
        if (lineEnd == p) {
            return next;
        }
        if ((size_t) (lineEnd - p) >= scannerPtr->delimiterLength
            && memcmp(p, scannerPtr->delimiter, scannerPtr->delimiterLength)
                == 0) {
            return p; /* A part without content. */
        }
        TakeHeader(p, lineEnd, partPtr);
        p = next;
    }
    return p;
}

static void
TakeHeader(const char *line, const char *end, NsFormPart *partPtr)
{
    const char   *colon = memchr(line, ':', (size_t) (end - line));
    NsFormHeader *headerPtr;

    if (colon == NULL || partPtr->nHeaders == NS_FORM_MAX_HEADERS) {
        return;
    }
    headerPtr = &partPtr->headers[partPtr->nHeaders++];
    headerPtr->name = line;
    headerPtr->nameLength = (size_t) (colon - line);
    do {
        colon++;
    } while (colon < end && NsIsSpace(*colon));
    headerPtr->value = colon;
    headerPtr->valueLength = (size_t) (end - colon);
}

/*
 * Names from Content-Disposition; false without one that has a name.
 */
static bool
TakeDisposition(const NsFormPart *partPtr, Tcl_Encoding encoding,
                Ns_DString *namePtr, Ns_DString *fileNamePtr,
                bool *hasFileNamePtr)
{
    const NsFormHeader *headerPtr = NULL;
    const char         *p, *end;
    bool                hasName = false;
    Ns_DString          value;

    *hasFileNamePtr = false;
    for (int i = 0; i < partPtr->nHeaders && headerPtr == NULL; i++) {
        if (IsName(partPtr->headers[i].name, partPtr->headers[i].nameLength,
                   "content-disposition")) {
            headerPtr = &partPtr->headers[i];
        }
    }
    if (headerPtr == NULL) {
        return false;
    }
    Ns_DStringInit(&value);
    p = headerPtr->value;
    end = p + headerPtr->valueLength;
    while (p < end) {
        const char *name;
        size_t      nameLength;
        Ns_DString *targetPtr = NULL;

        Ns_DStringSetLength(&value, 0);
        p = TakeParameter(p, end, &name, &nameLength, &value);
        if (!hasName && IsName(name, nameLength, "name")) {
            hasName = true;
            targetPtr = namePtr;
        } else if (!*hasFileNamePtr && IsName(name, nameLength, "filename")) {
            *hasFileNamePtr = true;
            targetPtr = fileNamePtr;
        }
        if (targetPtr != NULL) {
            Ns_DStringSetLength(targetPtr, 0);
            NsFormDecode(targetPtr, Ns_DStringValue(&value),
                         (size_t) Ns_DStringLength(&value), encoding);
        }
    }
    Ns_DStringFree(&value);
    return hasName;
}

/*
 * One word or name=value; an unquoted value ends at white space or a
 * semicolon.  Where the next one may begin.
 */
static const char *
TakeParameter(const char *p, const char *end, const char **namePtr,
              size_t *nameLengthPtr, Ns_DString *valuePtr)
{
    while (p < end && (NsIsSpace(*p) || *p == ';')) {
        p++;
    }
    *namePtr = p;
    while (p < end && !NsIsSpace(*p) && *p != ';' && *p != '=') {
        p++;
    }
    *nameLengthPtr = (size_t) (p - *namePtr);
    if (p == end || *p != '=') {
        *nameLengthPtr = 0; /* A word is not a name. */
        return p;
    }
    p++;
    if (p < end && (*p == '"' || *p == '\'')) {
        return TakeQuoted(p, end, valuePtr);
    }
    while (p < end && !NsIsSpace(*p) && *p != ';') {
        Ns_DStringNAppend(valuePtr, p, 1);
        p++;
    }
    return p;
}

/*
 * A backslash protects the enclosing quote and vanishes then; others stay.
 */
static const char *
TakeQuoted(const char *p, const char *end, Ns_DString *valuePtr)
{
    char quote = *p++;

    while (p < end && *p != quote) {
        if (*p == '\\' && p + 1 < end) {
            if (p[1] != quote) {
                Ns_DStringNAppend(valuePtr, p, 1);
            }
            p++;
        }
        Ns_DStringNAppend(valuePtr, p, 1);
        p++;
    }
    return p < end ? p + 1 : p;
}

static bool
IsName(const char *name, size_t length, const char *wanted)
{
    return length == strlen(wanted) && NsIsSameNoCase(name, wanted, length);
}
