/* SPDX-License-Identifier: MPL-2.0
 * syslogaddress.c --
 *
 *      Where a syslog daemon listens, as text.
 */

#include "log/target/syslogaddress.h"

#define DEFAULT_PORT "514"
#define TLS_PORT     "6514"

static bool IsPort(const char *text);
static bool Copy(char *to, size_t room, const char *from, size_t length);

bool
NsSyslogParseAddress(const char *text, NsSyslogAddress *addressPtr)
{
    const char *host, *end, *port;

    memset(addressPtr, 0, sizeof(*addressPtr));
    if (strncmp(text, "unix:", 5) == 0) {
        addressPtr->kind = NS_SYSLOG_UNIX;
        return Copy(addressPtr->path, sizeof(addressPtr->path), text + 5,
                    strlen(text + 5));
    }
    if (strncmp(text, "udp:", 4) == 0) {
        addressPtr->kind = NS_SYSLOG_UDP;
    } else if (strncmp(text, "tcp:", 4) == 0) {
        addressPtr->kind = NS_SYSLOG_TCP;
    } else if (strncmp(text, "tls:", 4) == 0) {
        addressPtr->kind = NS_SYSLOG_TLS;
    } else {
        return false;
    }
    host = text + 4;
    if (*host == '[') {
        end = strchr(++host, ']');
        port = end == NULL ? NULL : end + 1;
    } else {
        end = port = strchrnul(host, ':');
    }
    if (end == NULL || (*port != ':' && *port != '\0')) {
        return false;
    }
    port = *port == ':' ? port + 1
        : addressPtr->kind == NS_SYSLOG_TLS
        ? TLS_PORT
        : DEFAULT_PORT;
    return IsPort(port)
        && Copy(addressPtr->host, sizeof(addressPtr->host), host,
                (size_t) (end - host))
        && Copy(addressPtr->port, sizeof(addressPtr->port), port, strlen(port));
}

/*
 * False: a number that no port has.  Names are looked up later.
 */
static bool
IsPort(const char *text)
{
    char *end;
    long  number = strtol(text, &end, 10);

    return *end != '\0' || (number > 0 && number <= UINT16_MAX);
}

/*
 * False: the text is empty or does not fit.
 */
static bool
Copy(char *to, size_t room, const char *from, size_t length)
{
    if (length == 0 || length >= room) {
        return false;
    }
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}
