/* SPDX-License-Identifier: MPL-2.0
 * info.c --
 *
 *      Facts about the process.
 */

#include "process/info.h"

#include "base/clock.h"
#include "base/lock.h"
#include "log/sink/sink.h"
#include "nsfile.h"
#include "nsstring.h"
#include "nsthread.h"

#include <stdatomic.h>
#include <sys/utsname.h>

#ifndef NS_BUILD_TAG
#define NS_BUILD_TAG "nsd-" NS_PATCH_LEVEL
#endif

/*
 * Written by the main thread before others are made; constant from then on.
 */
static struct {
    int          argc;
    char *const *argv;
    time_t       bootTime;
    NsStamp      bootStamp;
    pid_t        pid;
    char        *executable;
    char        *prefix;
    char        *home;
    char        *configFile;
    char        *errorLog;
    char         hostname[256];
    char         platform[65];
} info;

static struct {
    Ns_Mutex   lock; /* Only to wait for `changed`. */
    Ns_Cond    changed;
    atomic_int value; /* NsLife; the main thread writes. */
} life;

static atomic_bool isDraining; /* As asked by the operator. */

static bool  HasRequiredLogs(void);
static void  FindExecutable(const char *argv0);
static void  FindPrefix(void);
static char *FindAddress(void);

void
NsInfoInit(int argc, char *const *argv)
{
    struct utsname names;

    info.argc = argc;
    info.argv = argv;
    info.bootTime = time(NULL);
    info.bootStamp = NsClockNow();
    info.pid = getpid();
    FindExecutable(argv[0]);
    FindPrefix();
    if (gethostname(info.hostname, sizeof(info.hostname) - 1) != 0) {
        snprintf(info.hostname, sizeof(info.hostname), "localhost");
    }
    if (uname(&names) == 0) {
        size_t i;

        for (i = 0; names.sysname[i] != '\0' && i < sizeof(info.platform) - 1;
             i++) {
            info.platform[i] = (char) tolower(UCHAR(names.sysname[i]));
        }
        info.platform[i] = '\0';
    }
}

void
NsInfoInitLife(void)
{
    NsMutexSetup(&life.lock, NS_RANK_PROCESS_MISC, "ns:life", NULL);
}

int
NsInfoArgc(void)
{
    return info.argc;
}

char *const *
NsInfoArgv(void)
{
    return info.argv;
}

void
NsInfoSetConfigFile(const char *file)
{
    info.configFile = ns_strcopy(file);
}

void
NsInfoSetHome(const char *home)
{
    info.home = ns_strdup(home);
}

void
NsInfoSetErrorLog(const char *file)
{
    info.errorLog = ns_strcopy(file);
}

const char *
NsInfoPrefix(void)
{
    return info.prefix;
}

void
NsInfoSetLife(NsLife value)
{
    Ns_MutexLock(&life.lock);
    atomic_store_explicit(&life.value, (int) value, memory_order_release);
    Ns_CondBroadcast(&life.changed);
    Ns_MutexUnlock(&life.lock);
}

NsLife
NsInfoLife(void)
{
    return (NsLife) atomic_load_explicit(&life.value, memory_order_acquire);
}

void
NsInfoSetDraining(bool newValue)
{
    atomic_store_explicit(&isDraining, newValue, memory_order_release);
}

bool
NsInfoIsDraining(void)
{
    return atomic_load_explicit(&isDraining, memory_order_acquire);
}

bool
NsInfoIsReady(void)
{
    return NsInfoLife() == NS_LIFE_RUNNING && !NsInfoIsDraining()
        && HasRequiredLogs();
}

static bool
HasRequiredLogs(void)
{
    bool hasAll;

    NsSinkEnter();
    hasAll = NsSinkRequiredInTrouble(NULL) == NULL;
    NsSinkLeave();
    return hasAll;
}

const char *
NsInfoReadiness(void)
{
    switch (NsInfoLife()) {
    case NS_LIFE_STARTING:
        return "starting";
    case NS_LIFE_STOPPING:
        return "stopping";
    default:
        return NsInfoIsReady()   ? "ready"
            : NsInfoIsDraining() ? "draining"
                                 : "log";
    }
}

void
NsInfoForked(void)
{
    info.pid = getpid();
}

int
Ns_WaitForStartup(void)
{
    if (NsInfoLife() == NS_LIFE_STARTING) {
        Ns_MutexLock(&life.lock);
        while (NsInfoLife() == NS_LIFE_STARTING) {
            Ns_CondWait(&life.changed, &life.lock);
        }
        Ns_MutexUnlock(&life.lock);
    }
    return NS_OK;
}

char *
Ns_InfoHomePath(void)
{
    return info.home != NULL ? info.home : info.prefix;
}

char *
Ns_InfoServerName(void)
{
    static char name[] = NS_PRODUCT_NAME;

    return name;
}

char *
Ns_InfoServerVersion(void)
{
    static char version[] = NS_PATCH_LEVEL;

    return version;
}

char *
Ns_InfoConfigFile(void)
{
    return info.configFile;
}

char *
Ns_InfoNameOfExecutable(void)
{
    return info.executable;
}

char *
Ns_InfoErrorLog(void)
{
    return info.errorLog;
}

int
Ns_InfoPid(void)
{
    return (int) info.pid;
}

char *
Ns_InfoPlatform(void)
{
    return info.platform;
}

char *
Ns_InfoBuildDate(void)
{
    static char date[] = __DATE__ " at " __TIME__;

    return date;
}

char *
Ns_InfoTag(void)
{
    static char tag[] = NS_BUILD_TAG;

    return tag;
}

int
Ns_InfoUptime(void)
{
    return (int) ((NsClockNow() - info.bootStamp) / NS_STAMP_SECOND);
}

time_t
Ns_InfoBootTime(void)
{
    return info.bootTime;
}

char *
Ns_InfoHostname(void)
{
    return info.hostname;
}

/*
 * Asked for seldom, and a name server may take long: not before it is needed.
 */
char *
Ns_InfoAddress(void)
{
    static _Atomic(char *) known;
    char *address = atomic_load_explicit(&known, memory_order_acquire);

    if (address == NULL) {
        char *found = FindAddress();

        if (atomic_compare_exchange_strong(&known, &address, found)) {
            return found;
        }
        ns_free(found);
    }
    return address;
}

int
Ns_InfoShutdownPending(void)
{
    return NsInfoLife() == NS_LIFE_STOPPING ? NS_TRUE : NS_FALSE;
}

/*
 * What is waited for may never come, so look at the server each second.
 */
int
Ns_ShutdownCondWait(Ns_Cond *condPtr, Ns_Mutex *mutexPtr,
                    const Ns_Time *timePtr, const int64_t *nGotPtr)
{
    bool    isStopping = Ns_InfoShutdownPending();
    int64_t nGot = *nGotPtr;
    Ns_Time second, until;

    Ns_GetTime(&second);
    Ns_IncrTime(&second, 1, 0);
    until = timePtr != NULL ? *timePtr : second;
    if (timePtr != NULL && Ns_DiffTime(&until, &second, NULL) <= 0) {
        return Ns_CondTimedWait(condPtr, mutexPtr, &until);
    }
    if (Ns_CondTimedWait(condPtr, mutexPtr, &second) == NS_OK) {
        return NS_OK;
    }
    return isStopping && *nGotPtr == nGot ? NS_ERROR : NS_OK;
}

int
Ns_InfoStarted(void)
{
    return NsInfoLife() != NS_LIFE_STARTING ? NS_TRUE : NS_FALSE;
}

int
Ns_InfoServersStarted(void)
{
    return Ns_InfoStarted();
}

void
Ns_GetVersion(int *majorPtr, int *minorPtr, int *patchPtr, int *typePtr)
{
    if (majorPtr != NULL) {
        *majorPtr = NS_MAJOR_VERSION;
    }
    if (minorPtr != NULL) {
        *minorPtr = NS_MINOR_VERSION;
    }
    if (patchPtr != NULL) {
        *patchPtr = NS_RELEASE_SERIAL;
    }
    if (typePtr != NULL) {
        *typePtr = NS_RELEASE_LEVEL;
    }
}

static void
FindExecutable(const char *argv0)
{
    char    path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length > 0) {
        path[length] = '\0';
    } else if (realpath(argv0, path) == NULL) {
        snprintf(path, sizeof(path), "%s", argv0);
    }
    info.executable = ns_strdup(path);
}

static void
FindPrefix(void)
{
    char *slash, *bin;

    info.prefix = ns_strdup(info.executable);
    slash = strrchr(info.prefix, '/');
    if (slash == NULL) {
        ns_free(info.prefix);
        info.prefix = ns_strdup(".");
        return;
    }
    *slash = '\0';
    bin = strrchr(info.prefix, '/');
    if (bin != NULL && STREQ(bin, "/bin")) {
        *bin = '\0';
    }
    if (*info.prefix == '\0') {
        ns_free(info.prefix);
        info.prefix = ns_strdup("/");
    }
}

/*
 * The first address of the host name, of whatever family.
 */
static char *
FindAddress(void)
{
    struct addrinfo  hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *listPtr = NULL;
    char             address[NI_MAXHOST] = "0.0.0.0";

    if (getaddrinfo(info.hostname, NULL, &hints, &listPtr) == 0) {
        (void) getnameinfo(listPtr->ai_addr, listPtr->ai_addrlen, address,
                           sizeof(address), NULL, 0, NI_NUMERICHOST);
        freeaddrinfo(listPtr);
    }
    return ns_strdup(address);
}
