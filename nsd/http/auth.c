/* SPDX-License-Identifier: MPL-2.0
 * auth.c --
 *
 *      The Authorization field.
 */

#include "http/auth.h"

#include "base/chars.h"
#include "http/base64.h"
#include "http/form.h"

static const char *SchemeCredentials(const char *value, const char *scheme);
static void        ParseBasic(const char *credentials, Ns_Set *setPtr);
static void        ParseDigest(const char *p, Ns_Set *setPtr);
static const char *TakeValue(const char *p, Ns_DString *dsPtr);

void
NsAuthParse(const char *authorization, Ns_Set *setPtr)
{
    const char *credentials;

    credentials = SchemeCredentials(authorization, "Basic");
    if (credentials != NULL) {
        ParseBasic(credentials, setPtr);
        return;
    }
    credentials = SchemeCredentials(authorization, "Digest");
    if (credentials != NULL) {
        ParseDigest(credentials, setPtr);
    }
}

/*
 * The text behind the scheme and blanks; NULL if it is another scheme.
 */
static const char *
SchemeCredentials(const char *value, const char *scheme)
{
    size_t length = strlen(scheme);

    value = NsSkipSpace(value);
    if (strncasecmp(value, scheme, length) != 0 || !NsIsSpace(value[length])) {
        return NULL;
    }
    return NsSkipSpace(value + length);
}

/*
 * user:password, as UTF-8 or else Latin-1.
 */
static void
ParseBasic(const char *credentials, Ns_Set *setPtr)
{
    size_t     length = strlen(credentials), n;
    Ns_DString bytes, text;
    char      *user, *colon;

    Ns_DStringInit(&bytes);
    Ns_DStringInit(&text);
    Ns_DStringSetLength(&bytes, (int) NsBase64DecodedBytes(length));
    n = NsBase64Decode(credentials, length,
                       (unsigned char *) Ns_DStringValue(&bytes));
    NsFormDecode(&text, Ns_DStringValue(&bytes), n, NULL);
    user = Ns_DStringValue(&text);

    Ns_SetPut(setPtr, "AuthMethod", "Basic");
    colon = strchr(user, ':');
    if (colon != NULL) {
        *colon = '\0';
        Ns_SetPut(setPtr, "Password", colon + 1);
    }
    Ns_SetPut(setPtr, "Username", user);
    Ns_DStringFree(&text);
    Ns_DStringFree(&bytes);
}

/*
 * name=value, name="value", ...
 */
static void
ParseDigest(const char *p, Ns_Set *setPtr)
{
    Ns_DString name, value;

    Ns_DStringInit(&name);
    Ns_DStringInit(&value);
    Ns_SetPut(setPtr, "AuthMethod", "Digest");
    while (*p != '\0') {
        const char *start = p;

        p += strcspn(p, "=,");
        if (*p == '=') {
            const char *end = p;

            end = NsTrimEnd(start, end);
            Ns_DStringSetLength(&name, 0);
            Ns_DStringNAppend(&name, start, (int) (end - start));
            Ns_DStringSetLength(&value, 0);
            p = TakeValue(NsSkipSpace(p + 1), &value);
            Ns_SetPut(setPtr, Ns_DStringValue(&name), Ns_DStringValue(&value));
            p += strcspn(p, ",");
        }
        while (*p == ',' || NsIsSpace(*p)) {
            p++;
        }
    }
    Ns_DStringFree(&value);
    Ns_DStringFree(&name);
}

/*
 * Append a value without its quotes; a backslash inside protects the next
 * character.  Returns the end of the value.
 */
static const char *
TakeValue(const char *p, Ns_DString *dsPtr)
{
    if (*p != '"') {
        size_t length = strcspn(p, ", \t");

        Ns_DStringNAppend(dsPtr, p, (int) length);
        return p + length;
    }
    for (p++; *p != '"' && *p != '\0'; p++) {
        if (*p == '\\' && p[1] != '\0') {
            p++;
        }
        Ns_DStringNAppend(dsPtr, p, 1);
    }
    return *p == '"' ? p + 1 : p;
}
