/*
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
#include "process/parameter_value.h"

typedef bool (LookupProc)(Ns_DString *dsPtr, const char *key);

static LookupProc LookupName, LookupAddresses;

/*
 * Set before other threads exist.
 */
static Ns_Cache *nameCache;             /* Address -> name. */
static Ns_Cache *addressCache;          /* Name -> list of addresses. */
static Ns_Time   waitTime;

static int TimeToLive(NsParameters from);
static bool Cached(Ns_DString *dsPtr, Ns_Cache *cache, const char *key,
                   LookupProc *proc);

void
NsDnsConfigure(void)
{
    static const char path[] = "ns/parameters";
    static const NsParameters from = {path, path};
    size_t size = (size_t) NsParameterSize(from, "dnscachemaxsize");
    int    timeToLive = TimeToLive(from);

    waitTime = NsClockSpan(0, NsParameterSpan(from, "dnswaittimeout"));
    if (nameCache == NULL && NsParameterBool(from, "dnscache") && size > 0
            && timeToLive > 0) {
        nameCache = Ns_CacheCreateEx("ns:dnshost", TCL_STRING_KEYS, timeToLive,
                                     size, ns_free);
        addressCache = Ns_CacheCreateEx("ns:dnsaddr", TCL_STRING_KEYS,
                                        timeToLive, size, ns_free);
    }
}

/*
 * In seconds; a number without a unit is minutes.
 */
static int
TimeToLive(NsParameters from)
{
    NsStamp     span = NsParameterSpan(from, "dnscachetimeout");
    const char *text = Ns_ConfigGetValue(from.section, "dnscachetimeout");

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
        const char *first = Ns_DStringValue(&all);

        Ns_DStringNAppend(dsPtr, first, (int) strcspn(first, " "));
    }
    Ns_DStringFree(&all);
    return isFound;
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
    struct addrinfo  hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
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
        const struct sockaddr_in *inPtr = (const void *) p->ai_addr;
        char text[INET_ADDRSTRLEN];

        inet_ntop(AF_INET, &inPtr->sin_addr, text, sizeof(text));
        if (Ns_DStringLength(dsPtr) > 0) {
            Ns_DStringAppend(dsPtr, " ");
        }
        Ns_DStringAppend(dsPtr, text);
    }
    freeaddrinfo(listPtr);
    return Ns_DStringLength(dsPtr) > 0;
}
