/* SPDX-License-Identifier: MPL-2.0
 * cookie.c --
 *
 *      Cookie and Set-Cookie fields.
 */

#include "http/cookie.h"

#include "base/chars.h"
#include "http/url.h"

static const char *SkipCookie(const char *p);
static bool HasAttribute(const char *field, const char *name, const char *value,
                         bool isHostName);
static void AppendAttribute(Ns_DString *dsPtr, const char *name,
                            const char *value);

bool
NsCookieFind(const char *header, const char *name, const char **valuePtr,
             size_t *lengthPtr)
{
    return NsCookieFindNext(&header, name, valuePtr, lengthPtr);
}

bool
NsCookieFindNext(const char **headerPtr, const char *name,
                 const char **valuePtr, size_t *lengthPtr)
{
    size_t      nameLength = strlen(name);
    const char *p = *headerPtr;

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
                *headerPtr = *next == ';' ? next + 1 : next;
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
    NsUrlDecode(dsPtr, value, length, NULL, NS_URL_COOKIE);
}

void
NsCookieAppend(Ns_DString *dsPtr, const NsCookie *cookiePtr)
{
    const char *data = cookiePtr->data == NULL ? "" : cookiePtr->data;
    char        seconds[32];

    Ns_DStringVarAppend(dsPtr, cookiePtr->name, "=\"", (char *) NULL);
    NsUrlEncode(dsPtr, data, strlen(data), NULL, NS_URL_COOKIE);
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
    if (cookiePtr->isDiscarded) {
        Ns_DStringAppend(dsPtr, "; Discard");
    }
    if (!cookiePtr->isScriptable) {
        Ns_DStringAppend(dsPtr, "; HttpOnly");
    }
    AppendAttribute(dsPtr, "SameSite",
                    cookiePtr->sameSite != NULL ? cookiePtr->sameSite : "Lax");
}

bool
NsCookieIsSame(const char *field, const NsCookie *cookiePtr)
{
    size_t nameLength = strlen(cookiePtr->name);

    return strncmp(field, cookiePtr->name, nameLength) == 0
        && field[nameLength] == '='
        && HasAttribute(field, "Domain", cookiePtr->domain, true)
        && HasAttribute(field, "Path", cookiePtr->path, false);
}

/*
 * Whether an attribute has the value; NULL and "": is absent.
 */
static bool
HasAttribute(const char *field, const char *name, const char *value,
             bool isHostName)
{
    size_t nameLength = strlen(name), length;

    value = value == NULL ? "" : value;
    length = strlen(value);
    for (const char *p = SkipCookie(field); *p == ';'; p += strcspn(p, ";")) {
        p = NsSkipSpace(p + 1);
        if (NsIsSameNoCase(p, name, nameLength) && p[nameLength] == '=') {
            p += nameLength + 1;
            return strcspn(p, ";") == length
                && (isHostName ? NsIsSameNoCase(p, value, length)
                               : memcmp(p, value, length) == 0);
        }
    }
    return length == 0;
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
