/* SPDX-License-Identifier: MPL-2.0
 * dns.c --
 *
 *      Names and addresses, with a cache of what was found.
 *
 *      A second thread that asks the same while the first still waits for the
 *      answer shares it.  Failures are not kept.
 */

#include "net/dns.h"
#include "nscache.h"
#include "nsparam.h"
#include "nslog.h"
#include "nssocket.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/clock.h"
#include "process/parameters.h"

typedef bool LookupProc(Ns_DString *dsPtr, const char *key);

static LookupProc LookupName, LookupAddresses;

#define SECTION "ns/parameters"

/*
 * Set before other threads exist.
 */
static Ns_Cache *nameCache;    /* Address -> name. */
static Ns_Cache *addressCache; /* Name -> list of addresses. */
static Ns_Time   waitTime;

typedef struct Settings {
    bool    isOn;
    size_t  maxSize;
    NsStamp timeout;
    NsStamp waitTimeout;
} Settings;

static const NsParameter rows[] = {
    NS_BOOL(Settings, isOn, "dnscache", "true",
            "Keep the results of name lookups."),
    NS_SIZE(Settings, maxSize, "dnscachemaxsize", "512000", 0,
            NS_PARAM_NO_LIMIT, "Size of each lookup cache; 0 = no cache."),
    NS_TIME(Settings, timeout, "dnscachetimeout", "1h", 0, NS_PARAM_NO_LIMIT,
            "Life time of a lookup result; without a unit, in minutes."),
    NS_TIME(Settings, waitTimeout, "dnswaittimeout", "5", 0, NS_PARAM_NO_LIMIT,
            "Wait at most this long for the same lookup in another thread."),
    NS_PARAM_END};

static int         TimeToLive(NsStamp span);
static const char *PreferIpv4(const char *addresses);
static bool        Cached(Ns_DString *dsPtr, Ns_Cache *cache, const char *key,
                          LookupProc *proc);

void
NsDnsInit(void)
{
    NsParametersRegister(SECTION, rows, sizeof(Settings));
}

void
NsDnsConfigure(void)
{
    Settings settings;
    int      timeToLive;

    NsParametersFill(rows, SECTION, &settings);
    timeToLive = TimeToLive(settings.timeout);
    waitTime = NsClockSpan(0, settings.waitTimeout);
    if (nameCache == NULL && settings.isOn && settings.maxSize > 0
        && timeToLive > 0) {
        nameCache = Ns_CacheCreateEx("ns:dnshost", TCL_STRING_KEYS, timeToLive,
                                     settings.maxSize, ns_free);
        addressCache = Ns_CacheCreateEx("ns:dnsaddr", TCL_STRING_KEYS,
                                        timeToLive, settings.maxSize, ns_free);
    }
}

/*
 * In seconds; a number without a unit is minutes.
 */
static int
TimeToLive(NsStamp span)
{
    const char *text = Ns_ConfigGetValue(SECTION, "dnscachetimeout");

    if (text != NULL && text[strspn(text, " 0123456789.")] == '\0') {
        span *= 60;
    }
    return (int) MIN((span + NS_STAMP_SECOND - 1) / NS_STAMP_SECOND, INT_MAX);
}

int
Ns_GetHostByAddr(Ns_DString *dsPtr, const char *address)
{
    return Cached(dsPtr, nameCache, address, LookupName);
}

int
Ns_GetAddrByHost(Ns_DString *dsPtr, const char *host)
{
    Ns_DString all;
    bool       isFound;

    Ns_DStringInit(&all);
    isFound = Cached(&all, addressCache, host, LookupAddresses);
    if (isFound) {
        const char *found = PreferIpv4(Ns_DStringValue(&all));

        Ns_DStringNAppend(dsPtr, found, (int) strcspn(found, " "));
    }
    Ns_DStringFree(&all);
    return isFound;
}

/*
 * The first IPv4 address, which every caller understands; without one, the
 * first of all.
 */
static const char *
PreferIpv4(const char *addresses)
{
    const char *next = addresses;

    while (*next != '\0') {
        size_t length = strcspn(next, " ");

        if (memchr(next, ':', length) == NULL) {
            return next;
        }
        next += length + strspn(next + length, " ");
    }
    return addresses;
}

int
Ns_GetAllAddrByHost(Ns_DString *dsPtr, const char *host)
{
    return Cached(dsPtr, addressCache, host, LookupAddresses);
}

static bool
Cached(Ns_DString *dsPtr, Ns_Cache *cache, const char *key, LookupProc *proc)
{
    Ns_DString ds;
    Ns_Entry  *entry;
    Ns_Time    limit;
    int        isNew;
    bool       isFound;

    if (cache == NULL) {
        return proc(dsPtr, key);
    }
    Ns_GetTime(&limit);
    Ns_IncrTime(&limit, waitTime.sec, waitTime.usec);
    Ns_CacheLock(cache);
    entry = Ns_CacheWaitCreateEntry(cache, key, &isNew, &limit);
    if (entry != NULL && !isNew) {
        Ns_DStringAppend(dsPtr, Ns_CacheGetValue(entry));
        Ns_CacheUnlock(cache);
        return true;
    }
    Ns_CacheUnlock(cache);
    if (entry == NULL) {
        Ns_Log(Notice, "dns: timeout waiting for the lookup of %s", key);
        return false;
    }

    Ns_DStringInit(&ds);
    isFound = proc(&ds, key);
    Ns_CacheLock(cache);
    entry = Ns_CacheCreateEntry(cache, key, &isNew);
    if (isFound) {
        Ns_CacheSetValueSz(entry, ns_strdup(Ns_DStringValue(&ds)),
                           (size_t) Ns_DStringLength(&ds) + 1u);
        Ns_DStringAppend(dsPtr, Ns_DStringValue(&ds));
    } else {
        Ns_CacheDeleteEntry(entry);
    }
    Ns_CacheUnlock(cache);
    Ns_DStringFree(&ds);
    return isFound;
}

static bool
LookupName(Ns_DString *dsPtr, const char *key)
{
    union {
        struct sockaddr     any;
        struct sockaddr_in  in;
        struct sockaddr_in6 in6;
    } addr;
    socklen_t length;
    char      host[NI_MAXHOST];
    int       result;

    memset(&addr, 0, sizeof(addr));
    if (inet_pton(AF_INET, key, &addr.in.sin_addr) == 1) {
        addr.in.sin_family = AF_INET;
        length = sizeof(addr.in);
    } else if (inet_pton(AF_INET6, key, &addr.in6.sin6_addr) == 1) {
        addr.in6.sin6_family = AF_INET6;
        length = sizeof(addr.in6);
    } else {
        return false;
    }
    result = getnameinfo(&addr.any, length, host, sizeof(host), NULL, 0,
                         NI_NAMEREQD);
    if (result == 0) {
        Ns_DStringAppend(dsPtr, host);
    } else if (result != EAI_NONAME) {
        Ns_Log(Error, "dns: getnameinfo failed for %s: %s", key,
               gai_strerror(result));
    }
    return result == 0;
}

static bool
LookupAddresses(Ns_DString *dsPtr, const char *key)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *listPtr = NULL;
    int              result = getaddrinfo(key, NULL, &hints, &listPtr);

    if (result != 0) {
        if (result != EAI_NONAME && result != EAI_NODATA) {
            Ns_Log(Error, "dns: getaddrinfo failed for %s: %s", key,
                   gai_strerror(result));
        }
        return false;
    }
    for (const struct addrinfo *p = listPtr; p != NULL; p = p->ai_next) {
        char text[NI_MAXHOST];

        if ((p->ai_family != AF_INET && p->ai_family != AF_INET6)
            || getnameinfo(p->ai_addr, p->ai_addrlen, text, sizeof(text), NULL,
                           0, NI_NUMERICHOST)
                != 0) {
            continue;
        }
        if (Ns_DStringLength(dsPtr) > 0) {
            Ns_DStringAppend(dsPtr, " ");
        }
        Ns_DStringAppend(dsPtr, text);
    }
    freeaddrinfo(listPtr);
    return Ns_DStringLength(dsPtr) > 0;
}
