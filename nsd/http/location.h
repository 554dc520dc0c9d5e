/* SPDX-License-Identifier: MPL-2.0
 * location.h --
 *
 *      Taking URLs and host names apart; RFC 3986.
 */

#ifndef NSD_HTTP_LOCATION_H
#define NSD_HTTP_LOCATION_H

#include "nsstring.h"

/*
 * Whether the text is `host` or `host:port`, with a name or an address as it
 * may be in a Host field, and in a reply: letters, digits, `-`, `_` and dots
 * between them, or an IPv6 address in brackets.
 */
bool NsAuthorityIsValid(const char *text);

/*
 * Whether host[:port] and a name or address, perhaps with port and path, are of
 * the same host.
 */
bool NsHostIsSame(const char *authority, const char *host);

#endif
