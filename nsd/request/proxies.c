/* SPDX-License-Identifier: MPL-2.0
 * proxies.c --
 *
 *      The proxies that the server believes.
 */

#include "request/proxies.h"
#include "nslog.h"
#include "nssockaddr.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/chars.h"
#include "base/episode.h"
#include "base/lock.h"
#include "http/location.h"
#include "http/parse.h"
#include "process/parameters.h"
#include "process/setting.h"

typedef struct Settings {
    const char *trustedProxies;
    bool        isReverseProxyMode;
    bool        isEnabled;
    const char *trustedServers;
    bool        skipsNonPublic;
} Settings;

static NsSettingProc AccessProxies;

#define LIVE .settingProc = AccessProxies

static const NsParameter processRows[] = {
    NS_LIST(
        Settings, trustedProxies, "trustedproxies", "",
        "Addresses and networks (ADDRESS/BITS) of proxies that are trusted to "
        "name the client.",
        LIVE),
    NS_BOOL(Settings, isReverseProxyMode, "reverseproxymode", "false",
            "As enabled in section ns/reverseproxymode.", LIVE),
    NS_PARAM_END};

static const NsParameter modeRows[] = {
    NS_BOOL(Settings, isEnabled, "enabled", "false",
            "The server is behind proxies, which name the client.", LIVE),
    NS_LIST(Settings, trustedServers, "trustedservers", "",
            "Those proxies, like trustedproxies in ns/parameters. If both are "
            "empty: those on this machine and in private networks.",
            LIVE),
    NS_BOOL(Settings, skipsNonPublic, "skipnonpublic", "false",
            "Skip addresses reported by proxies that are not public.", LIVE),
    NS_PARAM_END};

static const NsProxies            none;
static _Atomic(const NsProxies *) configuredPtr = &none;
static NsProxies                  nearby; /* Constant after start. */

static Ns_Mutex lock;
static Settings settings; /* Guarded by the lock. */

static void             Take(void);
static const NsProxies *Configured(void);
static void Add(NsProxies *proxiesPtr, const char *key, const char *list);
static void NoteJunk(const NsMessage *messagePtr);
static void TakePort(const NsHttpHead *headPtr, bool isOfProxy,
                     const char *scheme, const char **authorityPtr,
                     char buffer[NS_PROXIES_BYTES]);
static const char *OnlyField(const NsHttpHead *headPtr, const char *name);

void
NsProxiesInit(void)
{
    NsParametersRegister("ns/parameters", processRows, sizeof(Settings));
    NsParametersRegister("ns/reverseproxymode", modeRows, sizeof(Settings));
    NsMutexSetup(&lock, NS_RANK_LIMITS, "ns:proxies", NULL);
}

void
NsProxiesConfigure(void)
{
    static bool isDone;

    if (isDone) {
        return;
    }
    isDone = true;
    NsParametersFill(processRows, "ns/parameters", &settings);
    NsParametersFill(modeRows, "ns/reverseproxymode", &settings);
    Add(&nearby, "built in",
        "127.0.0.0/8 ::1 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7");
    Take();
}

/*
 * Whoever is reading the former lists goes on with them: they stay.
 */
static void
Take(void)
{
    bool       isMode = settings.isReverseProxyMode || settings.isEnabled;
    NsProxies *newPtr = ns_calloc(1, sizeof(*newPtr));

    Add(newPtr, "trustedproxies", settings.trustedProxies);
    if (isMode) {
        Add(newPtr, "trustedservers", settings.trustedServers);
    }
    if (isMode && newPtr->n == 0) {
        Ns_Log(Security,
               "config: reverse proxy mode without a list of proxies: those on "
               "this machine and in private networks are trusted; set "
               "trustedservers in ns/reverseproxymode, or trustedproxies in "
               "ns/parameters");
        *newPtr = nearby;
    }
    newPtr->skipsNonPublic = settings.skipsNonPublic;
    newPtr->formerPtr = Configured();
    atomic_store_explicit(&configuredPtr, newPtr, memory_order_release);
}

static Ns_ReturnCode
AccessProxies(const char *section, NsSettingAccess *accessPtr)
{
    Ns_ReturnCode result;

    Ns_MutexLock(&lock);
    result = NsSettingAccessStruct(accessPtr, &settings);
    if (result == NS_OK && accessPtr->nChanges > 0 && !accessPtr->isTrial) {
        Take();
    }
    Ns_MutexUnlock(&lock);
    return result;
}

static const NsProxies *
Configured(void)
{
    return atomic_load_explicit(&configuredPtr, memory_order_acquire);
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
    if (unlikely(Configured()->n > 0)) {
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
                                            Configured(), &length);

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
    return Configured()->n == 0
        ? messagePtr->peer
        : NsForwardedPeer(&messagePtr->head, messagePtr->peer, Configured(),
                          buffer);
}

bool
NsProxiesTrust(const char *peer)
{
    return NsProxiesHave(Configured(), peer);
}

bool
Ns_SockaddrTrustedReverseProxy(const struct sockaddr *saPtr)
{
    char text[NS_IPADDR_SIZE];

    return ns_inet_ntop(saPtr, text, sizeof(text)) != NULL
        && NsProxiesTrust(text);
}

/*
 * The value of a field; "" if there are several: the first of them may be what
 * the client sent to the proxy.
 */
static const char *
OnlyField(const NsHttpHead *headPtr, const char *name)
{
    const char *value = NULL;
    size_t      length = strlen(name);

    for (int i = 0; i < headPtr->nFields; i++) {
        const NsHttpField *fieldPtr = &headPtr->fields[i];

        if (fieldPtr->nameLength == length
            && NsIsSameNoCase(fieldPtr->name, name, length)) {
            value = value == NULL ? fieldPtr->value : "";
        }
    }
    return value;
}

/*
 * A list of several is not understood: which of them counts is not defined.
 */
void
NsProxiesLocation(const NsMessage *messagePtr, const char **schemePtr,
                  const char **authorityPtr, char buffer[NS_PROXIES_BYTES])
{
    const NsHttpHead *headPtr = &messagePtr->head;
    const char       *scheme, *authority;
    char              word[8];

    if (!NsProxiesHave(Configured(), messagePtr->peer)) {
        return;
    }
    scheme = OnlyField(headPtr, "X-Forwarded-Proto");
    authority = OnlyField(headPtr, "X-Forwarded-Host");
    if (scheme == NULL
        && NsForwardedParameter(headPtr, "proto", word, sizeof(word))) {
        scheme = word;
    }
    if (authority == NULL
        && NsForwardedParameter(headPtr, "host", buffer, NS_PROXIES_BYTES)) {
        authority = buffer;
    }
    if (scheme != NULL && (STRIEQ(scheme, "https") || STRIEQ(scheme, "http"))) {
        *schemePtr = STRIEQ(scheme, "https") ? "https" : "http";
    }
    if (authority != NULL && NsAuthorityIsValid(authority)) {
        *authorityPtr = authority;
    }
    if (authority != buffer) {
        TakePort(headPtr, authority != NULL && *authorityPtr == authority,
                 *schemePtr, authorityPtr, buffer);
    }
}

/*
 * The port that a proxy names beside the host.  A host that comes with a port
 * of its own from the proxy keeps that; the port of a Host field may be that of
 * this server.
 */
static void
TakePort(const NsHttpHead *headPtr, bool isOfProxy, const char *scheme,
         const char **authorityPtr, char buffer[NS_PROXIES_BYTES])
{
    const char *port = OnlyField(headPtr, "X-Forwarded-Port");
    const char *host = *authorityPtr, *colon;
    int         number;

    if (host == NULL || !NsAuthorityIsValid(host) || port == NULL
        || strspn(port, "0123456789") != strlen(port) || strlen(port) > 5
        || Ns_StrToInt(port, &number) != NS_OK || number < 1
        || number > 65535) {
        return;
    }
    colon = strchr(*host == '[' ? strchr(host, ']') : host, ':');
    if ((colon != NULL && isOfProxy)
        || strlen(host) + 7u > (size_t) NS_PROXIES_BYTES) {
        return;
    }
    snprintf(buffer, NS_PROXIES_BYTES, "%.*s",
             (int) (colon != NULL ? (size_t) (colon - host) : strlen(host)),
             host);
    if (number != (STREQ(scheme, "https") ? 443 : 80)) {
        size_t length = strlen(buffer);

        snprintf(buffer + length, NS_PROXIES_BYTES - length, ":%d", number);
    }
    *authorityPtr = buffer;
}

const char *
NsProxiesForwarded(const NsHttpHead *headPtr, const char *peer,
                   char buffer[NS_FORWARDED_BYTES])
{
    return NsForwardedPeer(headPtr, peer,
                           Configured()->n > 0 ? Configured() : &nearby,
                           buffer);
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
