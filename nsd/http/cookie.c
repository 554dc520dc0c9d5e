/*
 * cookie.c --
 *
 *      Cookie and Set-Cookie fields.
 */

#include "http/cookie.h"

#include "base/chars.h"
#include "http/url.h"

static const char *SkipCookie(const char *p);
static void        AppendAttribute(Ns_DString *dsPtr, const char *name,
                                   const char *value);

bool
NsCookieFind(const char *header, const char *name, const char **valuePtr,
             size_t *lengthPtr)
{
    size_t      nameLength = strlen(name);
    const char *p = header;

    while (*p != '\0') {
        const char *next = SkipCookie(p);

        p = NsSkipSpace(p);
        if (strncmp(p, name, nameLength) == 0) {
            p += nameLength;
            p = NsSkipSpace(p);
            if (*p == '=') {
                do {
                    p++;
                } while (NsIsSpace(*p));
                p += *p == '"';
                *valuePtr = p;
                *lengthPtr = strcspn(p, "\";");
                return true;
            }
        }
        p = *next == ';' ? next + 1 : next;
    }
    return false;
}

void
NsCookieDecode(Ns_DString *dsPtr, const char *value, size_t length)
{
    NsUrlDecode(dsPtr, value, length, NULL, NS_URL_QUERY);
}

void
NsCookieAppend(Ns_DString *dsPtr, const NsCookie *cookiePtr)
{
    const char *data = cookiePtr->data == NULL ? "" : cookiePtr->data;
    char        seconds[32];

    Ns_DStringVarAppend(dsPtr, cookiePtr->name, "=\"", (char *) NULL);
    NsUrlEncode(dsPtr, data, strlen(data), NULL, NS_URL_QUERY);
    Ns_DStringNAppend(dsPtr, "\"", 1);

    switch (cookiePtr->life) {
    case NS_COOKIE_SESSION:
        break;
    case NS_COOKIE_MAX_AGE:
        snprintf(seconds, sizeof(seconds), "%" PRId64, cookiePtr->maxAge);
        AppendAttribute(dsPtr, "Max-Age", seconds);
        break;
    case NS_COOKIE_NEVER_ENDS:
        AppendAttribute(dsPtr, "Expires", "Fri, 01-Jan-2035 01:00:00 GMT");
        break;
    case NS_COOKIE_DELETED:
        AppendAttribute(dsPtr, "Expires", "Fri, 01-Jan-1980 01:00:00 GMT");
        break;
    }
    AppendAttribute(dsPtr, "Domain", cookiePtr->domain);
    AppendAttribute(dsPtr, "Path", cookiePtr->path);
    if (cookiePtr->isSecure) {
        Ns_DStringAppend(dsPtr, "; Secure");
    }
    if (cookiePtr->isHttpOnly) {
        Ns_DStringAppend(dsPtr, "; HttpOnly");
    }
    AppendAttribute(dsPtr, "SameSite", cookiePtr->sameSite);
}

/*
 * To the semicolon that ends a cookie, or to the end.  One inside quotes does
 * not count, unless the quotes are never closed.
 */
static const char *
SkipCookie(const char *p)
{
    const char *end = p + strcspn(p, ";\"");

    if (*end == '"') {
        const char *partner = strchr(end + 1, '"');

        end = partner == NULL ? end + strcspn(end, ";")
                              : partner + strcspn(partner, ";");
    }
    return end;
}

static void
AppendAttribute(Ns_DString *dsPtr, const char *name, const char *value)
{
    if (value != NULL && *value != '\0') {
        Ns_DStringVarAppend(dsPtr, "; ", name, "=", value, (char *) NULL);
    }
}
