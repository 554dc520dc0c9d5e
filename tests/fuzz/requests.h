/* SPDX-License-Identifier: MPL-2.0
 * requests.h --
 *
 *      Requests made from the grammar of RFC 9112, most of them with something
 *      wrong, and a judge of them that shares nothing with the server.
 *
 *      The judge looks at all bytes at once, with the grammar in hand, where
 *      the server reads piece by piece and line by line.  It collects every
 *      fault that a request has: which of them the server names first is its
 *      affair.
 */

#ifndef TESTS_FUZZ_REQUESTS_H
#define TESTS_FUZZ_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#define REQUEST_ROOM 8192

typedef struct {
    char     bytes[REQUEST_ROOM];
    size_t   length;
    uint64_t random;
} Request;

typedef struct {
    size_t  maxLine, maxHead;
    int     maxFields;
    int64_t maxBody; /* Of an announced one. */
} RequestLimits;

#define MAX_FAULTS 64

/*
 * A request is incomplete if it has no fault so far and does not end.
 */
typedef struct {
    int    faults[MAX_FAULTS]; /* Statuses. */
    int    nFaults;
    bool   isIncomplete;
    size_t end; /* Where the next request begins. */
    char   method[40];
    bool   closes; /* The client wants no more replies. */
    bool   isChunked;
    bool   isForeign; /* Names a host in its URL. */
} Verdict;

/*
 * --- The generator.
 */

static inline uint32_t
Random(Request *r, uint32_t below)
{
    r->random = r->random * UINT64_C(6364136223846793005)
        + UINT64_C(1442695040888963407);
    return (uint32_t) (r->random >> 33) % below;
}

static inline void
Put(Request *r, const char *text, size_t length)
{
    if (length <= REQUEST_ROOM - 512u - r->length) {
        memcpy(r->bytes + r->length, text, length);
        r->length += length;
    }
}

static inline void
PutText(Request *r, const char *text)
{
    Put(r, text, strlen(text));
}

#define PICK(r, list) list[Random((r), sizeof(list) / sizeof((list)[0]))]

static inline void
PutOneOf(Request *r, const char *set, uint32_t min, uint32_t max)
{
    uint32_t n = min + Random(r, max - min + 1u);

    while (n-- > 0u) {
        Put(r, set + Random(r, (uint32_t) strlen(set)), 1u);
    }
}

static const char tokenSet[] = "abcdefghijklmnopqrstuvwxyzABCXYZ0129!#$%&'*+-."
                               "^_`|~";
static const char targetSet[] = "abcxyz019-._~!$&'()*+,;=:@/?%";

static inline void
PutLineEnd(Request *r)
{
    PutText(r, Random(r, 8) == 0 ? "\n" : "\r\n");
}

static inline void
PutField(Request *r, const char *name, const char *value)
{
    static const char *const blanks[] = {"", " ", " ", " ", " \t "};
    char                     cased[64];
    size_t                   i;

    for (i = 0; name[i] != '\0' && i + 1 < sizeof(cased); i++) {
        cased[i] = name[i];
        if (Random(r, 4) == 0 && name[i] >= 'a' && name[i] <= 'z') {
            cased[i] = (char) (name[i] - 32);
        }
    }
    cased[i] = '\0';
    PutText(r, cased);
    PutText(r, ":");
    PutText(r, PICK(r, blanks));
    PutText(r, value);
    PutText(r, PICK(r, blanks));
    PutLineEnd(r);
}

static inline void
PutRequestLine(Request *r)
{
    static const char *const methods[] = {
        "GET",  "GET",    "GET", "POST",    "POST",   "PUT",
        "HEAD", "DELETE", "get", "OPTIONS", "CONNECT"};
    static const char *const versions[] = {
        "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0",
        "HTTP/1.2", "HTTP/2.0", "HTTP/1",   "HTTP/01.1"};
    uint32_t form = Random(r, 20);

    while (Random(r, 10) == 0) {
        PutLineEnd(r);
    }
    if (Random(r, 20) == 0) {
        PutOneOf(r, tokenSet, 1, 36);
    } else {
        PutText(r, PICK(r, methods));
    }
    PutText(r, " ");
    if (form == 0) {
        PutText(r, "*");
    } else if (form == 1) {
        PutText(r, "http://h.example:80/x?y");
    } else if (form == 2) {
        PutText(r, "h.example:443");
    } else {
        PutText(r, "/");
        PutOneOf(r, targetSet, 0, form == 3 ? 260 : 12);
    }
    PutText(r, " ");
    PutText(r, Random(r, 4) != 0 ? "HTTP/1.1" : PICK(r, versions));
    PutLineEnd(r);
}

static inline void
PutChunks(Request *r)
{
    static const char *const extensions[] = {
        ";a", ";a=b", ";a=\"b;\\\"c\"", ";a;b=c", " ;a", ";", ";a="};
    static const char *const trailers[] = {
        "A: b\r\n",  "X-Y:\r\n", "Host: a\r\n", "Content-Length: 3\r\n",
        "A : b\r\n", "A: b\n"};
    uint32_t n = Random(r, 4);
    char     size[40];

    while (n-- > 0) {
        uint32_t length = 1 + Random(r, 40);

        snprintf(size, sizeof(size), Random(r, 3) == 0 ? "%04X" : "%x", length);
        PutText(r, size);
        if (Random(r, 6) == 0) {
            PutText(r, PICK(r, extensions));
        }
        PutText(r, "\r\n");
        PutOneOf(r, "ab\r\n019 :", length, length);
        PutText(r, "\r\n");
    }
    PutText(r, "0\r\n");
    while (Random(r, 6) == 0) {
        PutText(r, PICK(r, trailers));
    }
    PutText(r, "\r\n");
}

/*
 * Some bytes are replaced, left out, doubled, or put in between.
 */
static inline void
Mutate(Request *r)
{
    static const char bytes[] = "\0\r\n \t:,;=/#\x7f\x80\x01"
                                "0aG\"";
    size_t            at = Random(r, (uint32_t) r->length);
    char              c = bytes[Random(r, sizeof(bytes) - 1u)];

    switch (Random(r, 4)) {
    case 0:
        r->bytes[at] = c;
        break;
    case 1:
        memmove(r->bytes + at, r->bytes + at + 1, r->length - at - 1u);
        r->length--;
        break;
    case 2:
        c = r->bytes[at];
        /* Fall through. */
    default:
        memmove(r->bytes + at + 1, r->bytes + at, r->length - at);
        r->bytes[at] = c;
        r->length++;
        break;
    }
}

/*
 * The request of that number.
 */
static inline void
MakeRequest(Request *r, uint64_t seed)
{
    static const char *const names[] = {"Accept", "X-Forwarded-Proto", "Cookie",
                                        "!#$%&'*+-.^_`|~", "User-Agent"};
    static const char *const values[] = {
        "a",
        "text/html, */*;q=0.1",
        "\xc3\xa4\xff",
        "a\tb",
        "",
        "\"quoted, string\"",
        "0123456789012345678901234567890123456789"};
    static const char *const hosts[] = {
        "h.example",
        "h.example",
        "h.example:80",
        "[::1]:80",
        "127.0.0.1",
        "",
        "a b",
        "a/b",
        "u@h",
        "a,b",
        "h:x",
        "a..b",
        "[1:2:3:4:5:6:7:8]",
        "[::ffff:192.0.2.1]:80",
        "[1::2::3]",
        "[1:2:3:4:5:6:7:192.0.2.1]"};
    static const char *const connections[] = {
        "close", "keep-alive", "Close, TE", "x, , keep-alive"};
    static const char *const lengths[] = {
        "5",
        "5",
        "005",
        "5, 5",
        "5,6",
        "+5",
        "-5",
        "5a",
        "",
        "0x5",
        "5 ",
        "9223372036854775807",
        "9223372036854775808"};
    static const char *const codings[] = {
        "chunked",  "chunked", "CHUNKED",          "gzip, chunked",
        "identity", "",        "chunked, chunked", "xchunked"};
    static const char *const expectations[] = {"100-continue", "tea", ""};
    uint32_t                 n, body;

    r->length = 0;
    r->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1u;
    (void) Random(r, 2);
    PutRequestLine(r);
    if (Random(r, 12) != 0) {
        PutField(r, "host", Random(r, 4) != 0 ? "h.example" : PICK(r, hosts));
    }
    if (Random(r, 40) == 0) {
        PutField(r, "host", PICK(r, hosts));
    }
    for (n = Random(r, Random(r, 12) == 0 ? 14 : 4); n > 0; n--) {
        PutField(r, PICK(r, names), PICK(r, values));
    }
    if (Random(r, 6) == 0) {
        PutField(r, "connection", PICK(r, connections));
    }
    if (Random(r, 20) == 0) {
        PutField(r, "expect", PICK(r, expectations));
    }
    if (Random(r, 40) == 0) {
        PutText(r, "X-Folded: a\r\n b\r\n");
    }
    body = Random(r, 8);
    if (body == 0 || body == 1) {
        PutField(r, "content-length",
                 Random(r, 2) == 0 ? "5" : PICK(r, lengths));
        if (Random(r, 8) == 0) {
            PutField(r, "content-length", PICK(r, lengths));
        }
    }
    if (body == 2 || (body == 1 && Random(r, 8) == 0)) {
        PutField(r, "transfer-encoding",
                 Random(r, 2) == 0 ? "chunked" : PICK(r, codings));
        if (Random(r, 16) == 0) {
            PutField(r, "transfer-encoding", PICK(r, codings));
        }
    }
    PutLineEnd(r);
    if (body == 2) {
        PutChunks(r);
    } else if (body < 2) {
        PutText(r, "12345");
    }
    for (n = Random(r, 3) == 0 ? 0 : Random(r, 4); n > 0; n--) {
        Mutate(r);
    }
}

/*
 * --- The judge.
 */

typedef struct {
    const char *start, *end;
} Text;

static inline void
Fault(Verdict *v, int status)
{
    if (v->nFaults < MAX_FAULTS) {
        v->faults[v->nFaults++] = status;
    }
}

static inline bool
HasFault(const Verdict *v, int status)
{
    for (int i = 0; i < v->nFaults; i++) {
        if (v->faults[i] == status) {
            return true;
        }
    }
    return false;
}

static inline bool
In(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

#define DIGIT "0123456789"
#define ALPHA "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define TCHAR "!#$%&'*+-.^_`|~" DIGIT ALPHA

static inline bool
AllIn(Text t, const char *set)
{
    for (; t.start < t.end; t.start++) {
        if (!In(*t.start, set)) {
            return false;
        }
    }
    return true;
}

static inline bool
Is(Text t, const char *text)
{
    size_t n = strlen(text);

    return (size_t) (t.end - t.start) == n
        && strncasecmp(t.start, text, n) == 0;
}

static inline Text
Trim(Text t)
{
    while (t.start < t.end && In(*t.start, " \t")) {
        t.start++;
    }
    while (t.start < t.end && In(t.end[-1], " \t")) {
        t.end--;
    }
    return t;
}

/*
 * The text up to the first such byte, which is taken as well; false: none.
 */
static inline bool
Cut(Text *restPtr, char c, Text *partPtr)
{
    const char *at = memchr(restPtr->start, c,
                            (size_t) (restPtr->end - restPtr->start));

    if (at == NULL) {
        return false;
    }
    *partPtr = (Text){restPtr->start, at};
    restPtr->start = at + 1;
    return true;
}

/*
 * Four numbers up to 255.
 */
static inline bool
IsIPv4(Text t)
{
    int n = 0;

    for (const char *p = t.start, *start = p; p <= t.end; p++) {
        if (p < t.end && *p != '.') {
            continue;
        }
        if (p == start || p - start > 3 || (*start == '0' && p - start > 1)
            || !AllIn((Text){start, p}, DIGIT) || atoi(start) > 255) {
            return false;
        }
        start = p + 1;
        n++;
    }
    return n == 4;
}

/*
 * Eight groups of four hexadecimal digits, or fewer with one `::`; the last two
 * groups may be written as an address of IPv4 (RFC 4291 2.2).
 */
static inline bool
IsIPv6(Text t)
{
    const char *p = t.start;
    int         nGroups = 0;
    bool        hasGap = t.end - p >= 2 && p[0] == ':' && p[1] == ':';

    for (p += hasGap ? 2 : 0; p < t.end;) {
        const char *group = p;

        while (p < t.end && In(*p, DIGIT "abcdefABCDEF")) {
            p++;
        }
        if (p < t.end && *p == '.') {
            nGroups += 2;
            if (!IsIPv4((Text){group, t.end})) {
                return false;
            }
            break;
        }
        nGroups++;
        if (p == group || p - group > 4) {
            return false;
        }
        if (p == t.end) {
            break;
        }
        if (*p++ != ':' || p == t.end || (*p == ':' && hasGap)) {
            return false;
        }
        if (*p == ':') {
            hasGap = true;
            p++;
        }
    }
    return hasGap ? nGroups < 8 : nGroups == 8;
}

/*
 * name, address, or [address], and perhaps :port up to 65535.
 */
static inline bool
IsAuthority(Text t, bool needsPort)
{
    const char *p = t.start, *host = p;

    if (p < t.end && *p == '[') {
        for (; p < t.end && *p != ']'; p++) {
        }
        if (p == t.end || !IsIPv6((Text){host + 1, p})) {
            return false;
        }
        p++;
    } else {
        for (; p < t.end && In(*p, DIGIT ALPHA "-_."); p++) {
            if (*p == '.' && (p == host || p[-1] == '.')) {
                return false;
            }
        }
        if (p == host || *host == '-') {
            return false;
        }
    }
    if (p == t.end) {
        return !needsPort;
    }
    t.start = p + 1;
    return *p == ':' && t.start < t.end && t.end - t.start <= 5
        && AllIn(t, DIGIT) && atoi(t.start) <= 65535;
}

static inline void
JudgeTarget(Verdict *v, Text target)
{
    const char *p;

    if (strcmp(v->method, "CONNECT") == 0) {
        v->isForeign = true;
        if (!IsAuthority(target, true)) {
            Fault(v, 400);
        }
        return;
    }
    if (target.start < target.end && *target.start == '/') {
        return;
    }
    if (Is(target, "*")) {
        if (strcmp(v->method, "OPTIONS") != 0) {
            Fault(v, 400);
        }
        return;
    }
    for (p = target.start; p < target.end && *p != ':'; p++) {
        if (!In(*p, p == target.start ? ALPHA : ALPHA DIGIT "+-.")) {
            Fault(v, 400);
            return;
        }
    }
    if (p == target.start || target.end - p < 3 || memcmp(p, "://", 3) != 0) {
        Fault(v, 400);
        return;
    }
    target.start = p + 3;
    for (p = target.start; p < target.end && !In(*p, "/?"); p++) {
    }
    v->isForeign = true;
    if (!IsAuthority((Text){target.start, p}, false)) {
        Fault(v, 400);
    }
}

/*
 * The minor version, 0 or 1; with a fault any.
 */
static inline int
JudgeLine(Verdict *v, Text line, Text *targetPtr)
{
    Text   method;
    size_t n;

    *targetPtr = (Text){"/", "/"};
    if (!Cut(&line, ' ', &method) || !Cut(&line, ' ', targetPtr)) {
        Fault(v, 400);
        Fault(v, 501);
        return 1;
    }
    n = (size_t) (method.end - method.start);
    if (n == 0 || !AllIn(method, TCHAR)) {
        Fault(v, 400);
    } else if (n > 32) {
        Fault(v, 501);
    }
    snprintf(v->method, sizeof(v->method), "%.*s", (int) n, method.start);
    if (targetPtr->start == targetPtr->end) {
        Fault(v, 400);
    }
    for (const char *p = targetPtr->start; p < targetPtr->end; p++) {
        if (*p <= ' ' || *p >= 0x7f || *p == '#') {
            Fault(v, 400);
        }
    }
    if (line.end - line.start != 8 || memcmp(line.start, "HTTP/", 5) != 0
        || !In(line.start[5], DIGIT) || line.start[6] != '.'
        || !In(line.start[7], DIGIT)) {
        Fault(v, 400);
        return 1;
    }
    if (line.start[5] != '1') {
        Fault(v, 505);
    }
    return line.start[7] == '0' ? 0 : 1;
}

/*
 * What the fields of the head say together.
 */
typedef struct {
    int     minor, nFields, nHosts, nCodings, nExpects;
    bool    isChunked, isExpectBad, isLengthBad, asksKeep;
    int64_t length; /* -1: none. */
} Fields;

static inline void
JudgeLength(Fields *f, Text value)
{
    Text part;
    bool isLast = false;

    while (!isLast) {
        uint64_t n = 0;

        if (!Cut(&value, ',', &part)) {
            part = value;
            isLast = true;
        }
        part = Trim(part);
        if (part.start == part.end || !AllIn(part, DIGIT)) {
            f->isLengthBad = true;
            return;
        }
        for (; part.start < part.end; part.start++) {
            uint64_t digit = (uint64_t) (*part.start - '0');

            if (n > (INT64_MAX - digit) / 10u) {
                f->isLengthBad = true;
                return;
            }
            n = n * 10u + digit;
        }
        f->isLengthBad |= f->length >= 0 && f->length != (int64_t) n;
        f->length = (int64_t) n;
    }
}

static inline void
JudgeField(Verdict *v, Fields *f, Text line)
{
    Text name, part;

    if (!Cut(&line, ':', &name) || name.start == name.end
        || !AllIn(name, TCHAR)) {
        Fault(v, 400);
        return;
    }
    for (const char *p = line.start; p < line.end; p++) {
        if (((unsigned char) *p < ' ' && *p != '\t') || *p == 0x7f) {
            Fault(v, 400);
        }
    }
    line = Trim(line);
    if (Is(name, "host")) {
        f->nHosts++;
        if (!IsAuthority(line, false)) {
            f->nHosts++;
        }
    } else if (Is(name, "content-length")) {
        JudgeLength(f, line);
    } else if (Is(name, "transfer-encoding")) {
        f->nCodings++;
        f->isChunked = Is(line, "chunked");
    } else if (Is(name, "expect")) {
        f->nExpects++;
        f->isExpectBad |= line.start < line.end && !Is(line, "100-continue");
    } else if (Is(name, "connection")) {
        while (line.start < line.end) {
            if (!Cut(&line, ',', &part)) {
                part = line;
                line.start = line.end;
            }
            v->closes |= Is(Trim(part), "close");
            f->asksKeep |= Is(Trim(part), "keep-alive");
        }
    }
}

static inline void
JudgeFields(Verdict *v, const Fields *f)
{
    if (f->nHosts > 1 || (f->nHosts == 0 && f->minor >= 1)) {
        Fault(v, 400);
    }
    if (f->isLengthBad) {
        Fault(v, 400);
    }
    if (f->nCodings > 0) {
        if (f->length >= 0 || f->minor == 0) {
            Fault(v, 400);
        } else if (f->nCodings > 1 || !f->isChunked) {
            Fault(v, 501);
        }
    }
    if (f->minor >= 1 && (f->isExpectBad || f->nExpects > 1)) {
        Fault(v, 417);
    }
    v->closes |= f->minor == 0 && !f->asksKeep;
}

/*
 * --- Chunked bodies, by descent.  Each takes what it describes from p; NULL:
 * it is not there, or the bytes have ended.
 */

typedef struct {
    const char *end;
    bool        hasEnded; /* More bytes could make it valid. */
} Bytes;

static inline const char *
Literal(Bytes *b, const char *p, const char *text)
{
    for (; p != NULL && *text != '\0'; text++, p++) {
        if (p == b->end) {
            b->hasEnded = true;
            return NULL;
        }
        if (*p != *text) {
            return NULL;
        }
    }
    return p;
}

static inline const char *
Several(Bytes *b, const char *p, const char *set)
{
    const char *start = p;

    while (p != NULL && p < b->end && In(*p, set)) {
        p++;
    }
    if (p == b->end) {
        b->hasEnded = true;
        return NULL;
    }
    return p == start ? NULL : p;
}

static inline const char *
Quoted(Bytes *b, const char *p)
{
    for (p++; p < b->end; p++) {
        if (*p == '"') {
            return p + 1;
        }
        if (*p == '\\' && ++p == b->end) {
            break;
        }
        if ((unsigned char) *p < ' ' || *p == 0x7f) {
            return NULL;
        }
    }
    b->hasEnded = true;
    return NULL;
}

static inline const char *
Extensions(Bytes *b, const char *p)
{
    while (p != NULL && p < b->end && *p == ';') {
        p = Several(b, p + 1, TCHAR);
        if (p != NULL && *p == '=') {
            p++;
            if (p == b->end) {
                b->hasEnded = true;
                return NULL;
            }
            p = *p == '"' ? Quoted(b, p) : Several(b, p, TCHAR);
        }
    }
    return p;
}

static inline const char *
Trailer(Bytes *b, const char *p)
{
    static const char *const forbidden[] = {
        "host", "content-length", "transfer-encoding"};

    while (p != NULL && p < b->end && *p != '\r') {
        Text name = {p, p};

        p = Several(b, p, TCHAR);
        name.end = p;
        p = Literal(b, p, ":");
        for (int i = 0; p != NULL && i < 3; i++) {
            if (Is(name, forbidden[i])) {
                return NULL;
            }
        }
        while (p != NULL && p < b->end
               && ((unsigned char) *p >= ' ' || *p == '\t') && *p != 0x7f) {
            p++;
        }
        p = Literal(b, p, "\r\n");
    }
    return Literal(b, p, "\r\n");
}

static inline const char *
Chunks(Bytes *b, const char *p)
{
    for (;;) {
        const char *digits = p;
        uint64_t    size = 0;

        p = Several(b, p, DIGIT "abcdefABCDEF");
        /* The digits count as soon as they are there. */
        for (const char *d = digits; d < b->end && In(*d, DIGIT "abcdefABCDEF");
             d++) {
            if (d - digits >= 16 || size > (uint64_t) INT64_MAX / 16u) {
                b->hasEnded = false;
                return NULL;
            }
            size = size * 16u
                + (uint64_t) (*d <= '9' ? *d - '0' : (*d | 32) - 'a' + 10);
        }
        p = Literal(b, Extensions(b, p), "\r\n");
        if (p == NULL || size == 0) {
            return p == NULL ? NULL : Trailer(b, p);
        }
        if (size > (uint64_t) (b->end - p)) {
            b->hasEnded = true;
            return NULL;
        }
        p = Literal(b, p + size, "\r\n");
        if (p == NULL) {
            return NULL;
        }
    }
}

/*
 * Where a body of that framing ends.
 */
static inline void
JudgeBody(Verdict *v, const Fields *f, const char *bytes, size_t at, size_t n)
{
    Bytes       b = {bytes + n, false};
    const char *end = NULL;

    v->isChunked = f->nCodings > 0;
    if (f->nCodings > 0) {
        end = Chunks(&b, bytes + at);
    } else if ((uint64_t) MAX(f->length, 0) <= n - at) {
        end = bytes + at + MAX(f->length, 0);
    } else {
        b.hasEnded = true;
    }
    if (end != NULL) {
        v->end = (size_t) (end - bytes);
    } else if (b.hasEnded) {
        v->isIncomplete = true;
    } else {
        Fault(v, 400);
    }
}

/*
 * The verdict on the request at the beginning of the bytes.
 */
static inline Verdict
JudgeRequest(const char *bytes, size_t n, const RequestLimits *limitsPtr)
{
    Verdict v = {.nFaults = 0};
    Fields  f = {.minor = 1, .length = -1};
    Text    target = {NULL, NULL};
    size_t  at = 0;
    int     nEmpty = 0;

    for (;;) {
        const char *lf = memchr(bytes + at, '\n', n - at);
        size_t      end = lf == NULL ? n : (size_t) (lf - bytes);
        Text        line = {bytes + at, bytes + end};

        if (end - at > limitsPtr->maxLine
            || end + (lf != NULL) > limitsPtr->maxHead) {
            Fault(&v, target.start == NULL ? 414 : 431);
            return v;
        }
        if (lf == NULL) {
            v.isIncomplete = v.nFaults == 0;
            return v;
        }
        at = end + 1u;
        if (line.end > line.start && line.end[-1] == '\r') {
            line.end--;
        }
        if (target.start != NULL && line.start == line.end) {
            break;
        }
        if (target.start != NULL) {
            JudgeField(&v, &f, line);
            if (++f.nFields > limitsPtr->maxFields) {
                Fault(&v, 431);
            }
        } else if (line.start < line.end) {
            f.minor = JudgeLine(&v, line, &target);
        } else if (++nEmpty > 8) {
            Fault(&v, 400);
            return v;
        }
    }
    JudgeTarget(&v, target);
    JudgeFields(&v, &f);
    if ((f.length > 0 || f.isChunked) && strcmp(v.method, "CONNECT") == 0) {
        Fault(&v, 400);
    }
    if (f.length > limitsPtr->maxBody) {
        Fault(&v, 413);
    }
    if (v.nFaults == 0) {
        JudgeBody(&v, &f, bytes, at, n);
    }
    return v;
}

#endif
