/* SPDX-License-Identifier: MPL-2.0
 * cookie.h --
 *
 *      Cookie and Set-Cookie fields.
 */

#ifndef NSD_HTTP_COOKIE_H
#define NSD_HTTP_COOKIE_H

#include "nsstring.h"

/*
 * Find the first cookie of exactly that name in the value of a Cookie field.
 * The value comes as sent, coded, without optional double quotes; decode it
 * with NsCookieDecode.
 */
bool NsCookieFind(const char *header, const char *name, const char **valuePtr,
                  size_t *lengthPtr);

/*
 * Likewise; *headerPtr moves behind it, to where the next may be.
 */
bool NsCookieFindNext(const char **headerPtr, const char *name,
                      const char **valuePtr, size_t *lengthPtr);

/*
 * Append the value, decoded as Ns_ConnSetCookie codes it: a plus is a plus.
 */
void NsCookieDecode(Ns_DString *dsPtr, const char *value, size_t length);

typedef enum {
    NS_COOKIE_SESSION, /* No attribute: ends with the browser. */
    NS_COOKIE_MAX_AGE, /* Lives for maxAge seconds. */
    NS_COOKIE_NEVER_ENDS,
    NS_COOKIE_DELETED /* A date in the past. */
} NsCookieLife;

typedef struct NsCookie {
    const char  *name;
    const char  *data;     /* Not coded yet; NULL is empty. */
    const char  *domain;   /* NULL: no attribute. */
    const char  *path;     /* NULL: no attribute. */
    const char  *sameSite; /* NULL: Lax. */
    NsCookieLife life;
    int64_t      maxAge;
    bool         isSecure;
    bool         isScriptable; /* Not HttpOnly. */
    bool         isDiscarded;
} NsCookie;

/*
 * Append the value of a Set-Cookie field.
 */
void NsCookieAppend(Ns_DString *dsPtr, const NsCookie *cookiePtr);

/*
 * Whether a browser would take the cookie of such a field for the same, to be
 * replaced: name, domain and path agree.
 */
bool NsCookieIsSame(const char *field, const NsCookie *cookiePtr);

#endif
