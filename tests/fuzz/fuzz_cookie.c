/* SPDX-License-Identifier: MPL-2.0
 * fuzz_cookie.c --
 *
 *      Cookie, Authorization, Content-Type, and response header values: what is
 *      found lies inside the field, and no value ends its line.
 */

#include "fuzz.h"

#include "http/auth.h"
#include "http/charset.h"
#include "http/cookie.h"
#include "http/header.h"
#include "http/html.h"

static void CheckInside(const char *text, const char *start, size_t length);
static void CheckSetCookie(const char *text);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char       *text = FuzzString(data, length);
    Ns_Set     *setPtr = Ns_SetCreate(NULL);
    const char *start;
    size_t      n;
    bool        isClean = true;
    Ns_DString  ds;

    if (NsCookieFind(text, "a", &start, &n)) {
        CheckInside(text, start, n);
    }
    if (NsTypeCharset(text, &start, &n)) {
        CheckInside(text, start, n);
    }
    NsAuthParse(text, setPtr);
    Ns_ParseHeader(setPtr, text, ToUpper);
    Ns_SetFree(setPtr);

    Ns_DStringInit(&ds);
    Ns_DStringSetLength(&ds, (int) (4 + strlen(text) + NS_HEADER_EXTRA));
    NsHeaderWrite(Ns_DStringValue(&ds), "Name", 4, text, strlen(text),
                  &isClean);
    FuzzAssert(strpbrk(Ns_DStringValue(&ds), "\r\n")
               == Ns_DStringValue(&ds) + Ns_DStringLength(&ds) - 2);
    Ns_DStringSetLength(&ds, 0);
    NsHtmlQuote(&ds, text, strlen(text));
    FuzzAssert(strpbrk(Ns_DStringValue(&ds), "<>\"'") == NULL);
    Ns_DStringSetLength(&ds, 0);
    NsHtmlStrip(&ds, text, strlen(text));
    FuzzAssert(strchr(Ns_DStringValue(&ds), '<') == NULL);
    Ns_DStringFree(&ds);
    CheckSetCookie(text);
    free(text);
    return 0;
}

static void
CheckInside(const char *text, const char *start, size_t length)
{
    FuzzAssert(start >= text && start + length <= text + strlen(text));
}

/*
 * What is set is found again.
 */
static void
CheckSetCookie(const char *text)
{
    NsCookie    cookie = {.name = "a", .data = text, .path = "/"};
    const char *start;
    size_t      n;
    Ns_DString  set, found;

    Ns_DStringInit(&set);
    Ns_DStringInit(&found);
    NsCookieAppend(&set, &cookie);
    FuzzAssert(NsCookieFind(Ns_DStringValue(&set), "a", &start, &n));
    NsCookieDecode(&found, start, n);
    if (strlen(text) == strspn(text, "abcdefghijklmnopqrstuvwxyz \";=%&\n")) {
        FuzzAssert(strcmp(Ns_DStringValue(&found), text) == 0);
    }
    Ns_DStringFree(&found);
    Ns_DStringFree(&set);
}
