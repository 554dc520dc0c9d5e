/* SPDX-License-Identifier: MPL-2.0
 * proxies.h --
 *
 *      The proxies that the server believes: parameters trustedproxies and
 *      reverseproxymode, section ns/reverseproxymode.
 */

#ifndef NSD_REQUEST_PROXIES_H
#define NSD_REQUEST_PROXIES_H

#include "http/forwarded.h"
#include "net/message.h"

#define NS_PROXIES_BYTES 300 /* Longest name of a host, and port. */

/*
 * Register the parameters; read them, when the configuration is there: later
 * calls do nothing.
 */
void NsProxiesInit(void);
void NsProxiesConfigure(void);

/*
 * The client of a request for all purposes: the true peer unless proxies are
 * configured.  The text is in the message's arena, or its own.  A proxy that
 * names nobody is logged.
 */
const char *NsProxiesClient(NsMessage *messagePtr);

/*
 * Likewise; the text is the peer's, or in buffer.
 */
const char *NsProxiesClientText(const NsMessage *messagePtr,
                                char             buffer[NS_FORWARDED_BYTES]);

/*
 * Whether a direct peer is one of them.
 */
bool NsProxiesTrust(const char *peer);

/*
 * Scheme and authority as the client used them, where one of trustedproxies
 * says so with X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Port, or
 * else Forwarded; unchanged otherwise.  The authority may be in buffer.
 */
void NsProxiesLocation(const NsMessage *messagePtr, const char **schemePtr,
                       const char **authorityPtr,
                       char         buffer[NS_PROXIES_BYTES]);

/*
 * The client for somebody who asks for what proxies say: without trustedproxies
 * those of this machine and of private networks are believed.  The text is
 * peer, or in buffer.
 */
const char *NsProxiesForwarded(const NsHttpHead *headPtr, const char *peer,
                               char buffer[NS_FORWARDED_BYTES]);

#endif
