/* SPDX-License-Identifier: MPL-2.0
 * syslogaddress.h --
 *
 *      The address of a syslog daemon, as text: unix:PATH, udp:HOST:PORT,
 *      tcp:HOST:PORT, tls:HOST:PORT; an IPv6 address is in brackets.
 */

#ifndef NSD_LOG_SYSLOGADDRESS_H
#define NSD_LOG_SYSLOGADDRESS_H

#include "nstypes.h"

typedef enum {
    NS_SYSLOG_UNIX,
    NS_SYSLOG_UDP,
    NS_SYSLOG_TCP,
    NS_SYSLOG_TLS
} NsSyslogKind;

typedef struct NsSyslogAddress {
    NsSyslogKind kind;
    char         path[108]; /* unix: must fit a socket address. */
    char         host[256];
    char         port[16]; /* Without one: 514, or 6514 of TLS. */
} NsSyslogAddress;

/*
 * False: the text is none of these.
 */
bool NsSyslogParseAddress(const char *text, NsSyslogAddress *addressPtr);

#endif
