/*
 * proxies.c --
 *
 *      The proxies that the server believes.
 */

#include "request/proxies.h"
#include "nslog.h"
#include "nssockaddr.h"
#include "nsthread.h"
#include "base/assert.h"
#include "http/location.h"
#include "http/parse.h"

static NsProxies configured; /* Constant after start. */
static NsProxies nearby;     /* Likewise. */

static NsProxies Parse(const char *list);

void
NsProxiesConfigure(const char *list)
{
    static bool isDone;

    if (isDone) {
        return;
    }
    isDone = true;
    configured = Parse(list == NULL ? "" : list);
    nearby = Parse("127.0.0.0/8 ::1 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16"
                   " fc00::/7");
}

const char *
NsProxiesClient(NsMessage *messagePtr)
{
    char        buffer[NS_FORWARDED_BYTES];
    const char *client = NsProxiesClientText(messagePtr, buffer);

    return client != buffer
        ? client
        : NsArenaDup(&messagePtr->arena, buffer, strlen(buffer));
}

const char *
NsProxiesClientText(const NsMessage *messagePtr,
                    char             buffer[NS_FORWARDED_BYTES])
{
    return configured.n == 0
        ? messagePtr->peer
        : NsForwardedPeer(&messagePtr->head, messagePtr->peer, &configured,
                          buffer);
}

bool
NsProxiesTrust(const char *peer)
{
    return NsProxiesHave(&configured, peer);
}

bool
Ns_SockaddrTrustedReverseProxy(const struct sockaddr *saPtr)
{
    char text[NS_IPADDR_SIZE];

    return ns_inet_ntop(saPtr, text, sizeof(text)) != NULL
        && NsProxiesTrust(text);
}

/*
 * A list of several is not understood: which of them counts is not defined.
 */
void
NsProxiesLocation(const NsMessage *messagePtr, const char **schemePtr,
                  const char **authorityPtr)
{
    const NsHttpHead *headPtr = &messagePtr->head;
    const char       *scheme, *authority;

    if (!NsProxiesHave(&configured, messagePtr->peer)) {
        return;
    }
    scheme = NsHttpFind(headPtr, "X-Forwarded-Proto");
    authority = NsHttpFind(headPtr, "X-Forwarded-Host");
    if (scheme != NULL && (STRIEQ(scheme, "https") || STRIEQ(scheme, "http"))) {
        *schemePtr = STRIEQ(scheme, "https") ? "https" : "http";
    }
    if (authority != NULL && NsAuthorityIsValid(authority)) {
        *authorityPtr = authority;
    }
}

const char *
NsProxiesForwarded(const NsHttpHead *headPtr, const char *peer,
                   char buffer[NS_FORWARDED_BYTES])
{
    return NsForwardedPeer(headPtr, peer,
                           configured.n > 0 ? &configured : &nearby, buffer);
}

/*
 * Whom a misspelt entry would have named is not believed.
 */
static NsProxies
Parse(const char *list)
{
    NsProxies    proxies = {0};
    NsIpRange   *ranges;
    const char **words;
    int          nWords;

    if (Tcl_SplitList(NULL, list, &nWords, &words) != TCL_OK) {
        Ns_Log(Error, "config: trustedproxies is not a list: %s", list);
        return proxies;
    }
    ranges = ns_calloc((size_t) nWords + 1, sizeof(NsIpRange));
    for (int i = 0; i < nWords; i++) {
        if (NsIpRangeParse(words[i], &ranges[proxies.n])) {
            proxies.n++;
        } else {
            Ns_Log(Error,
                   "config: trustedproxies: '%s' is neither an address"
                   " nor a network (ADDRESS/BITS); it is ignored",
                   words[i]);
        }
    }
    NsAssert(proxies.n <= nWords);
    Tcl_Free((char *) words);
    proxies.ranges = ranges;
    return proxies;
}
