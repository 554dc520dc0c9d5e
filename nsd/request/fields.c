/* SPDX-License-Identifier: MPL-2.0
 * fields.c --
 *
 *      Fields of the response header.
 */

#include "request/fields.h"

#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/set.h"
#include "http/charset.h"
#include "http/cookie.h"
#include "http/date.h"
#include "request/conn_int.h"

static void UpdateBorrowed(Ns_Conn *conn, const char *field, const char *value);

void
Ns_ConnSetHeaders(Ns_Conn *conn, const char *field, const char *value)
{
    (void) Ns_SetPut(conn->outputheaders, field, value);
}

void
Ns_ConnUpdateHeaders(Ns_Conn *conn, const char *field, const char *value)
{
    Ns_SetUpdate(conn->outputheaders, field, value);
}

void
Ns_ConnCondSetHeaders(Ns_Conn *conn, const char *field, const char *value)
{
    if (Ns_SetIFind(conn->outputheaders, field) < 0) {
        (void) Ns_SetPut(conn->outputheaders, field, value);
    }
}

void
Ns_ConnPrintfHeaders(Ns_Conn *conn, const char *field, const char *fmt, ...)
{
    Ns_DString ds;
    va_list    ap;

    Ns_DStringInit(&ds);
    va_start(ap, fmt);
    (void) Ns_DStringVPrintf(&ds, fmt, ap);
    va_end(ap);
    Ns_ConnSetHeaders(conn, field, Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

void
Ns_ConnReplaceHeaders(Ns_Conn *conn, Ns_Set *newPtr)
{
    Ns_Set *setPtr = conn->outputheaders;

    if (newPtr == setPtr) {
        return;
    }
    Ns_SetTrunc(setPtr, 0);
    for (int i = 0; i < Ns_SetSize(newPtr); i++) {
        (void) Ns_SetPut(setPtr, Ns_SetKey(newPtr, i), Ns_SetValue(newPtr, i));
    }
}

void
Ns_ConnSetTypeHeader(Ns_Conn *conn, const char *type)
{
    Ns_ConnUpdateHeaders(conn, "Content-Type", type);
}

/*
 * A charset in the type selects the output encoding; otherwise the type gets
 * that of the output encoding.
 */
void
Ns_ConnSetEncodedTypeHeader(Ns_Conn *conn, const char *type)
{
    static const char      word[] = "; charset=";
    const NsRequestServer *requestPtr = NsConnRequestServer(NsConnOf(conn));
    Tcl_Encoding           encoding;
    const char            *charset;
    char                  *value, *next;
    size_t                 length, typeBytes;

    conn->flags |= NS_CONN_WRITE_ENCODED;
    if (NsTypeCharset(type, &charset, &length)) {
        /* NULL for an unknown one: the text is sent as it is, UTF-8. */
        Ns_ConnSetEncoding(conn, Ns_GetCharsetEncodingEx(charset, length));
        Ns_ConnSetTypeHeader(conn, type);
        return;
    }
    encoding = Ns_ConnGetEncoding(conn);
    if (encoding == NULL) {
        Ns_ConnSetTypeHeader(conn, type);
        return;
    }
    charset = encoding == requestPtr->outputEncoding
        ? requestPtr->outputCharset
        : Ns_GetEncodingCharset(encoding);
    typeBytes = strlen(type);
    length = strlen(charset);
    value = NsArenaAlloc(NsConnArena(NsConnOf(conn)),
                         typeBytes + sizeof(word) + length);
    next = memcpy(value, type, typeBytes);
    next = memcpy(next + typeBytes, word, sizeof(word) - 1);
    memcpy(next + sizeof(word) - 1, charset, length + 1);
    UpdateBorrowed(conn, "Content-Type", value);
}

void
Ns_ConnSetLengthHeader(Ns_Conn *conn, Tcl_WideInt length)
{
    enum { ROOM = 24 };
    char *next = (char *) NsArenaAlloc(NsConnArena(NsConnOf(conn)), ROOM) + ROOM
        - 1;
    uint64_t left = length < 0 ? 0u - (uint64_t) length : (uint64_t) length;

    *next = '\0';
    do {
        *--next = (char) ('0' + left % 10u);
        left /= 10u;
    } while (left > 0u);
    if (length < 0) {
        *--next = '-';
    }
    UpdateBorrowed(conn, "Content-Length", next);
    NsConnOf(conn)->responseLength = length;
}

void
Ns_ConnSetLastModifiedHeader(Ns_Conn *conn, time_t *mtimePtr)
{
    char text[NS_HTTP_DATE_LENGTH + 1];

    /* Not later than Date (RFC 9110 8.8.2.1). */
    NsHttpDate(text, MIN(*mtimePtr, time(NULL)));
    Ns_ConnCondSetHeaders(conn, "Last-Modified", text);
}

void
Ns_ConnSetExpiresHeader(Ns_Conn *conn, const char *expires)
{
    Ns_ConnSetHeaders(conn, "Expires", expires);
}

void
Ns_ConnSetRequiredHeaders(Ns_Conn *conn, const char *type, size_t length)
{
    Ns_ConnSetTypeHeader(conn, type);
    Ns_ConnSetLengthHeader(conn, (Tcl_WideInt) length);
}

void
Ns_ConnSetCookie(Ns_Conn *conn, const char *name, const char *value,
                 time_t maxAge)
{
    Ns_ConnSetCookieEx(conn, name, value, maxAge, NULL, NULL, 0);
}

void
Ns_ConnSetSecureCookie(Ns_Conn *conn, const char *name, const char *value,
                       time_t maxAge)
{
    Ns_ConnSetCookieEx(conn, name, value, maxAge, NULL, NULL, NS_COOKIE_SECURE);
}

void
Ns_ConnSetCookieEx(Ns_Conn *conn, const char *name, const char *value,
                   time_t maxAge, const char *domain, const char *path,
                   int flags)
{
    NsCookie cookie = {
        .name = name,
        .data = value,
        .domain = domain,
        .path = path,
        .life = maxAge == TIME_T_MAX ? NS_COOKIE_NEVER_ENDS
            : maxAge > 0             ? NS_COOKIE_MAX_AGE
            : maxAge < 0             ? NS_COOKIE_DELETED
                                     : NS_COOKIE_SESSION,
        .maxAge = maxAge,
        .isSecure = (flags & NS_COOKIE_SECURE) != 0,
        .isScriptable = (flags & NS_COOKIE_SCRIPTABLE) != 0};

    NsConnAddCookie(conn, &cookie, false);
}

void
Ns_ConnDeleteCookie(Ns_Conn *conn, const char *name, const char *domain,
                    const char *path)
{
    NsConnAddCookie(conn,
                    &(NsCookie){.name = name,
                                .domain = domain,
                                .path = path,
                                .life = NS_COOKIE_DELETED},
                    false);
}

void
Ns_ConnDeleteSecureCookie(Ns_Conn *conn, const char *name, const char *domain,
                          const char *path)
{
    NsConnAddCookie(conn,
                    &(NsCookie){.name = name,
                                .domain = domain,
                                .path = path,
                                .life = NS_COOKIE_DELETED,
                                .isSecure = true},
                    false);
}

void
NsConnAddCookie(Ns_Conn *conn, const NsCookie *cookiePtr, bool replaces)
{
    Ns_Set    *setPtr = conn->outputheaders;
    Ns_DString ds;

    for (int i = Ns_SetSize(setPtr) - 1; replaces && i >= 0; i--) {
        if (STRIEQ(Ns_SetKey(setPtr, i), "Set-Cookie")
            && NsCookieIsSame(Ns_SetValue(setPtr, i), cookiePtr)) {
            Ns_SetDelete(setPtr, i);
        }
    }
    Ns_DStringInit(&ds);
    NsCookieAppend(&ds, cookiePtr);
    Ns_ConnSetHeaders(conn, "Set-Cookie", Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

char *
Ns_ConnGetCookie(Ns_DString *dsPtr, Ns_Conn *conn, const char *name)
{
    Ns_Set     *headers = conn->headers;
    const char *value;
    size_t      length;

    for (int i = 0; i < Ns_SetSize(headers); i++) {
        if (STRIEQ(Ns_SetKey(headers, i), "Cookie")
            && NsCookieFind(Ns_SetValue(headers, i), name, &value, &length)) {
            NsCookieDecode(dsPtr, value, length);
            return Ns_DStringValue(dsPtr);
        }
    }
    return NULL;
}

/*
 * Like Ns_ConnUpdateHeaders, but both strings live as long as the request.
 */
static void
UpdateBorrowed(Ns_Conn *conn, const char *field, const char *value)
{
    Ns_Set *setPtr = conn->outputheaders;
    int     old = Ns_SetFind(setPtr, field);

    (void) NsSetPutBorrowed(setPtr, field, value);
    Ns_SetDelete(setPtr, old);
}
