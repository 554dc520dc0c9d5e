/* SPDX-License-Identifier: MPL-2.0
 * proxies.c --
 *
 *      The proxies that the server believes.
 */

#include "request/proxies.h"
#include "nslog.h"
#include "nssockaddr.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/episode.h"
#include "http/location.h"
#include "http/parse.h"
#include "process/parameters.h"

typedef struct Settings {
    const char *trustedProxies;
    bool        isReverseProxyMode;
    bool        isEnabled;
    const char *trustedServers;
    bool        skipsNonPublic;
} Settings;

static const NsParameter processRows[] = {
    NS_LIST(Settings, trustedProxies, "trustedproxies", "",
            "Addresses and networks (ADDRESS/BITS) of proxies that are "
            "believed when they name the client."),
    NS_BOOL(Settings, isReverseProxyMode, "reverseproxymode", "false",
            "As enabled in section ns/reverseproxymode."),
    NS_PARAM_END};

static const NsParameter modeRows[] = {
    NS_BOOL(Settings, isEnabled, "enabled", "false",
            "The server is behind proxies, which name the client."),
    NS_LIST(Settings, trustedServers, "trustedservers", "",
            "Those proxies, like trustedproxies in ns/parameters. Empty both:"
            " those on this machine and in private networks."),
    NS_BOOL(Settings, skipsNonPublic, "skipnonpublic", "false",
            "A client has a public address; others that proxies name are "
            "passed over."),
    NS_PARAM_END};

static NsProxies configured; /* Constant after start. */
static NsProxies nearby;     /* Likewise. */

static void Add(NsProxies *proxiesPtr, const char *key, const char *list);
static void NoteJunk(const NsMessage *messagePtr);

void
NsProxiesInit(void)
{
    NsParametersRegister("ns/parameters", processRows, sizeof(Settings));
    NsParametersRegister("ns/reverseproxymode", modeRows, sizeof(Settings));
}

void
NsProxiesConfigure(void)
{
    static bool isDone;
    Settings    settings;
    bool        isMode;

    if (isDone) {
        return;
    }
    isDone = true;
    NsParametersFill(processRows, "ns/parameters", &settings);
    NsParametersFill(modeRows, "ns/reverseproxymode", &settings);
    isMode = settings.isReverseProxyMode || settings.isEnabled;

    Add(&nearby, "built in",
        "127.0.0.0/8 ::1 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7");
    Add(&configured, "trustedproxies", settings.trustedProxies);
    if (isMode) {
        Add(&configured, "trustedservers", settings.trustedServers);
    }
    if (isMode && configured.n == 0) {
        Ns_Log(Security,
               "config: reverse proxy mode without a list of proxies: those on "
               "this machine and in private networks are believed; set "
               "trustedservers in ns/reverseproxymode, or trustedproxies in "
               "ns/parameters");
        configured = nearby;
    }
    configured.skipsNonPublic = settings.skipsNonPublic;
}

const char *
NsProxiesClient(NsMessage *messagePtr)
{
    char        buffer[NS_FORWARDED_BYTES];
    const char *client = NsProxiesClientText(messagePtr, buffer);

    NsAssert(client == buffer || client == messagePtr->peer);
    if (client == buffer) {
        return NsArenaDup(&messagePtr->arena, buffer, strlen(buffer));
    }
    if (unlikely(configured.n > 0)) {
        NoteJunk(messagePtr);
    }
    return client;
}

/*
 * Clients may send it with every request, so it is reported once as long as it
 * comes.
 */
static void
NoteJunk(const NsMessage *messagePtr)
{
    static NsEpisode episode;
    size_t           length;
    const char      *junk = NsForwardedJunk(&messagePtr->head, messagePtr->peer,
                                            &configured, &length);

    if (junk != NULL && NsEpisodeBegins(&episode)) {
        Ns_Log(Warning,
               "proxies: invalid content in x-forwarded-for header: '%.*s'",
               (int) length, junk);
    }
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
static void
Add(NsProxies *proxiesPtr, const char *key, const char *list)
{
    NsIpRange   *ranges;
    const char **words;
    int          nWords, n = proxiesPtr->n;

    if (list == NULL || *list == '\0') {
        return;
    }
    if (Tcl_SplitList(NULL, list, &nWords, &words) != TCL_OK) {
        Ns_Log(Error, "config: %s is not a list: %s", key, list);
        return;
    }
    ranges = ns_calloc((size_t) (n + nWords) + 1, sizeof(NsIpRange));
    if (n > 0) {
        memcpy(ranges, proxiesPtr->ranges, (size_t) n * sizeof(NsIpRange));
    }
    for (int i = 0; i < nWords; i++) {
        if (NsIpRangeParse(words[i], &ranges[n])) {
            n++;
        } else {
            Ns_Log(Error,
                   "config: %s: '%s' is neither an address"
                   " nor a network (ADDRESS/BITS); it is ignored",
                   key, words[i]);
        }
    }
    NsAssert(n >= proxiesPtr->n && n <= proxiesPtr->n + nWords);
    Tcl_Free((char *) words);
    ns_free((void *) proxiesPtr->ranges);
    proxiesPtr->ranges = ranges;
    proxiesPtr->n = n;
}
