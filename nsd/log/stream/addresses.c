/* SPDX-License-Identifier: MPL-2.0
 * addresses.c --
 *
 *      Numeric addresses in the text of messages.
 *
 *      IPv4: four numbers with dots, whatever stands before and behind them, as
 *      a port.  IPv6: a word of hexadecimal digits and colons.  Names of Tcl
 *      commands may be such words, as ::add is; so one that begins with colons
 *      is an address only as ::1.  The IPv4 address at the end of another is
 *      one of IPv4.
 */

#include "log/stream/addresses.h"

#include <arpa/inet.h>

#include "base/assert.h"
#include "base/chars.h"
#include "base/ipaddress.h"

#define BITS4 24
#define BITS6 64

static size_t Length4(const char *text, const char *end);
static size_t Length6(const char *text, const char *end);
static size_t Cut(Ns_DString *dsPtr, const char *text, size_t length);
static bool   IsWord(char c);

void
NsAddressesHide(Ns_DString *dsPtr, const char *text, size_t length)
{
    const char *end = text + length, *from = text, *at = text;
    char        before = ' ';

    while (at < end) {
        size_t n = 0;

        if (NsIsDigit(*at) && !NsIsDigit(before) && before != '.') {
            n = Length4(at, end);
        }
        if (n == 0 && !IsWord(before) && before != ':') {
            n = Length6(at, end);
        }
        if (n > 0) {
            Ns_DStringNAppend(dsPtr, from, (int) (at - from));
            from = at + Cut(dsPtr, at, n);
        }
        at = MAX(from, at + 1);
        before = at[-1];
    }
    Ns_DStringNAppend(dsPtr, from, (int) (end - from));
}

/*
 * Bytes of four numbers with dots between them; 0: there are none.
 */
static size_t
Length4(const char *text, const char *end)
{
    const char *at = text;

    for (int i = 0; i < 4; i++) {
        int nDigits = 0;

        if (i > 0 && (at == end || *at++ != '.')) {
            return 0;
        }
        while (at < end && NsIsDigit(*at) && nDigits < 3) {
            at++;
            nDigits++;
        }
        if (nDigits == 0) {
            return 0;
        }
    }
    return at < end && NsIsDigit(*at) ? 0 : (size_t) (at - text);
}

/*
 * Bytes of what may be an address of IPv6; 0: nothing may be.
 */
static size_t
Length6(const char *text, const char *end)
{
    const char *at = text;
    int         nColons = 0;
    size_t      n;

    while (at < end && (*at == ':' || NsHexValue(*at) >= 0)) {
        nColons += *at++ == ':';
    }
    if (nColons < 2 || (at < end && IsWord(*at))
        || (end - at > 1 && *at == '.' && NsIsDigit(at[1]))) {
        return 0;
    }
    n = (size_t) (at - text);
    if (text[n - 1] == ':' && text[n - 2] != ':') {
        n--; /* The reason follows. */
    }
    return *text == ':' && (n != 3 || text[2] != '1') ? 0 : n;
}

/*
 * What is no address all the same stays as it is.  The bytes that are done.
 */
static size_t
Cut(Ns_DString *dsPtr, const char *text, size_t length)
{
    char address[INET6_ADDRSTRLEN];

    NsAssert(length > 0);
    if (length >= sizeof(address)) {
        Ns_DStringNAppend(dsPtr, text, (int) length);
        return length;
    }
    memcpy(address, text, length);
    address[length] = '\0';
    (void) NsIpCutText(address, BITS4, BITS6);
    Ns_DStringAppend(dsPtr, address);
    return length;
}

static bool
IsWord(char c)
{
    return NsIsAlpha(c) || NsIsDigit(c) || c == '_';
}
