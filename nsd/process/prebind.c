/* SPDX-License-Identifier: MPL-2.0
 * prebind.c --
 *
 *      Sockets bound before the user is switched.
 */

#include "process/prebind.h"

#include "base/assert.h"
#include "base/lock.h"
#include "nslog.h"
#include "nsthread.h"

#include <sys/un.h>

typedef struct Bound {
    struct Bound *nextPtr;
    NsPrebindSpec spec;
    int           fd; /* -1: taken. */
} Bound;

static Ns_Mutex lock; /* Guards the list. */
static Bound   *firstBoundPtr;

static const char *const kindNames[] = {"tcp", "udp", "icmp", "unix"};

static void AddElement(const char *text);
static bool IsBound(const NsPrebindSpec *specPtr);
static void AddSpec(const NsPrebindSpec *specPtr);
static void AddBound(const NsPrebindSpec *specPtr, int fd);
static bool ParsePort(const char *text, int *portPtr);
static bool IsSame(const NsPrebindSpec *specPtr, NsPrebindKind kind,
                   const char *address, int port);
static int  BindInternet(const NsPrebindSpec *specPtr);
static bool HasListener(const struct sockaddr_un *addressPtr, int type);

void
NsPrebindInit(void)
{
    NsMutexSetup(&lock, NS_RANK_PROCESS_MISC, "ns:prebind", NULL);
}

bool
NsPrebindParse(const char *text, NsPrebindSpec *specPtr)
{
    char  word[sizeof(specPtr->address)];
    char *mark;

    memset(specPtr, 0, sizeof(*specPtr));
    if (strlen(text) >= sizeof(word)) {
        return false;
    }
    strcpy(word, text);
    if (*word == '/') {
        specPtr->kind = NS_PREBIND_UNIX;
        mark = strrchr(word, '|');
        if (mark != NULL) {
            char *end;

            *mark = '\0';
            specPtr->port = (int) strtol(mark + 1, &end, 8);
            if (*end != '\0' || end == mark + 1) {
                return false;
            }
        }
        strcpy(specPtr->address, word);
        return strlen(word) < sizeof(((struct sockaddr_un *) NULL)->sun_path);
    }
    mark = strchr(word, '/');
    if (mark != NULL) {
        *mark++ = '\0';
    }
    if (STREQ(word, "icmp")) {
        specPtr->kind = NS_PREBIND_ICMP;
        specPtr->port = 1;
        return mark == NULL
            || (ParsePort(mark, &specPtr->port) && specPtr->port > 0);
    }
    if (mark != NULL && STREQ(mark, "udp")) {
        specPtr->kind = NS_PREBIND_UDP;
    } else if (mark != NULL && !STREQ(mark, "tcp")) {
        return false;
    }
    mark = strrchr(word, ':');
    if (mark == NULL) {
        strcpy(specPtr->address, "0.0.0.0");
        return ParsePort(word, &specPtr->port);
    }
    *mark = '\0';
    if (*word == '[' && mark > word + 2 && mark[-1] == ']') {
        mark[-1] = '\0';
        strcpy(specPtr->address, word + 1);
    } else {
        strcpy(specPtr->address, word);
    }
    return *specPtr->address != '\0' && ParsePort(mark + 1, &specPtr->port);
}

void
NsPrebindList(const char *list)
{
    char *copy = ns_strdup(list), *rest = copy, *word;

    while ((word = strsep(&rest, ", \t\r\n")) != NULL) {
        if (*word != '\0') {
            AddElement(word);
        }
    }
    ns_free(copy);
}

void
NsPrebindFile(const char *file)
{
    FILE *stream = fopen(file, "re");
    char  line[4096];

    if (stream == NULL) {
        Ns_Log(Error, "prebind: can't open '%s': '%s'", file, strerror(errno));
        return;
    }
    while (fgets(line, sizeof(line), stream) != NULL) {
        NsPrebindList(line);
    }
    fclose(stream);
}

int
NsPrebindTake(NsPrebindKind kind, const char *address, int port)
{
    int fd = -1;

    Ns_MutexLock(&lock);
    for (Bound *boundPtr = firstBoundPtr; boundPtr != NULL && fd < 0;
         boundPtr = boundPtr->nextPtr) {
        if (boundPtr->fd >= 0 && IsSame(&boundPtr->spec, kind, address, port)) {
            fd = boundPtr->fd;
            boundPtr->fd = -1;
        }
    }
    Ns_MutexUnlock(&lock);
    return fd;
}

void
NsPrebindKeep(const char *address, int port, int fd)
{
    NsPrebindSpec spec = {.kind = NS_PREBIND_TCP, .port = port};

    snprintf(spec.address, sizeof(spec.address), "%s", address);
    AddBound(&spec, fd);
}

void
NsPrebindKeepSpec(const NsPrebindSpec *specPtr, int fd)
{
    AddBound(specPtr, fd);
}

void
NsPrebindClose(void)
{
    Bound *nextPtr;

    Ns_MutexLock(&lock);
    nextPtr = firstBoundPtr;
    firstBoundPtr = NULL;
    Ns_MutexUnlock(&lock);
    while (nextPtr != NULL) {
        Bound               *boundPtr = nextPtr;
        const NsPrebindSpec *specPtr = &boundPtr->spec;

        nextPtr = boundPtr->nextPtr;
        if (boundPtr->fd >= 0) {
            static const char *const labels[] = {"TCP", "UDP", "ICMP", "Unix"};

            if (specPtr->kind == NS_PREBIND_ICMP) {
                Ns_Log(Warning, "prebind: closed unused ICMP socket: %d",
                       boundPtr->fd);
            } else if (specPtr->kind == NS_PREBIND_UNIX) {
                Ns_Log(Warning, "prebind: closed unused %s socket: %s = %d",
                       labels[specPtr->kind], specPtr->address, boundPtr->fd);
            } else {
                Ns_Log(Warning, "prebind: closed unused %s socket: %s:%d = %d",
                       labels[specPtr->kind], specPtr->address, specPtr->port,
                       boundPtr->fd);
            }
            close(boundPtr->fd);
        }
        ns_free(boundPtr);
    }
}

int
NsPrebindBind(const NsPrebindSpec *specPtr)
{
    switch (specPtr->kind) {
    case NS_PREBIND_ICMP:
        return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
    case NS_PREBIND_UNIX:
        return NsBindUnix(specPtr->address, SOCK_STREAM, specPtr->port);
    default:
        return BindInternet(specPtr);
    }
}

static void
AddElement(const char *text)
{
    NsPrebindSpec spec;

    if (!NsPrebindParse(text, &spec)) {
        Ns_Log(Error, "prebind: invalid address: '%s'", text);
    } else if (spec.kind == NS_PREBIND_ICMP) {
        for (int i = 0; i < spec.port; i++) {
            AddSpec(&spec);
        }
    } else if (IsBound(&spec)) {
        Ns_Log(Error, "prebind: duplicate entry: '%s'", text);
    } else {
        spec.mode = NS_BIND_ALONE;
        AddSpec(&spec);
    }
}

static bool
IsBound(const NsPrebindSpec *specPtr)
{
    bool isBound = false;

    Ns_MutexLock(&lock);
    for (Bound *boundPtr = firstBoundPtr; boundPtr != NULL && !isBound;
         boundPtr = boundPtr->nextPtr) {
        isBound = IsSame(&boundPtr->spec, specPtr->kind, specPtr->address,
                         specPtr->port);
    }
    Ns_MutexUnlock(&lock);
    return isBound;
}

static void
AddSpec(const NsPrebindSpec *specPtr)
{
    const char *kind = kindNames[specPtr->kind];
    int         fd = NsPrebindBind(specPtr);

    if (fd < 0) {
        Ns_Log(Error, "prebind: %s: failed to bind %s:%d: '%s'", kind,
               specPtr->address, specPtr->port, strerror(errno));
        return;
    }
    if (specPtr->kind == NS_PREBIND_ICMP) {
        Ns_Log(Notice, "prebind: %s: %d", kind, fd);
    } else if (specPtr->kind == NS_PREBIND_UNIX) {
        Ns_Log(Notice, "prebind: %s: %s = %d", kind, specPtr->address, fd);
    } else {
        Ns_Log(Notice, "prebind: %s: %s:%d = %d", kind, specPtr->address,
               specPtr->port, fd);
    }
    AddBound(specPtr, fd);
}

static void
AddBound(const NsPrebindSpec *specPtr, int fd)
{
    Bound *boundPtr = ns_calloc(1, sizeof(Bound));

    boundPtr->spec = *specPtr;
    boundPtr->fd = fd;
    Ns_MutexLock(&lock);
    boundPtr->nextPtr = firstBoundPtr;
    firstBoundPtr = boundPtr;
    Ns_MutexUnlock(&lock);
}

static bool
ParsePort(const char *text, int *portPtr)
{
    char *end;
    long  port;

    if (!isdigit(UCHAR(*text))) {
        return false;
    }
    port = strtol(text, &end, 10);
    if (*end != '\0' || port > 65535) {
        return false;
    }
    *portPtr = (int) port;
    return true;
}

static bool
IsSame(const NsPrebindSpec *specPtr, NsPrebindKind kind, const char *address,
       int port)
{
    if (specPtr->kind != kind) {
        return false;
    }
    if (kind == NS_PREBIND_ICMP) {
        return true;
    }
    if (kind == NS_PREBIND_UNIX) {
        return STREQ(specPtr->address, address);
    }
    if (address == NULL || *address == '\0' || STREQ(address, "*")) {
        address = "0.0.0.0";
    }
    return specPtr->port == port && STREQ(specPtr->address, address);
}

static int
BindInternet(const NsPrebindSpec *specPtr)
{
    struct addrinfo  hints = {.ai_socktype = specPtr->kind == NS_PREBIND_UDP
                                  ? SOCK_DGRAM
                                  : SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addressPtr;
    char             service[8];
    int              fd;

    snprintf(service, sizeof(service), "%d", specPtr->port);
    if (getaddrinfo(specPtr->address, service, &hints, &addressPtr) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    fd = NsBindAddress(addressPtr->ai_addr, addressPtr->ai_addrlen,
                       addressPtr->ai_socktype, specPtr->mode);
    freeaddrinfo(addressPtr);
    return fd;
}

/*
 * SO_REUSEADDR is what lets a server have its port back from its predecessor's
 * connections, but also lets two processes bind it as long as neither listens.
 * So who is to be alone gives it up once the port is bound.
 */
int
NsBindAddress(const struct sockaddr *addressPtr, socklen_t length, int type,
              NsBindMode mode)
{
    int on = 1, off = 0, status = -1;
    int fd = socket(addressPtr->sa_family, type | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return fd;
    }
    if (addressPtr->sa_family == AF_INET6) {
        (void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    }
    if (mode == NS_BIND_SHARED) {
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    } else if (mode == NS_BIND_ALONE) {
        status = bind(fd, addressPtr, length);
    }
    if (status != 0
        && (mode != NS_BIND_ALONE
            || (errno == EADDRINUSE && type == SOCK_STREAM))) {
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        status = bind(fd, addressPtr, length);
        if (mode == NS_BIND_ALONE) {
            (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &off, sizeof(off));
        }
    }
    return status == 0 ? fd : NsCloseAfter(fd);
}

int
NsBindUnix(const char *path, int type, int permissions)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int                fd;

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    if (HasListener(&address, type)) {
        errno = EADDRINUSE;
        return -1;
    }
    (void) unlink(path);
    fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (fd >= 0
        && (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0
            || (permissions > 0 && chmod(path, (mode_t) permissions) != 0))) {
        return NsCloseAfter(fd);
    }
    return fd;
}

static bool
HasListener(const struct sockaddr_un *addressPtr, int type)
{
    int  fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool hasListener;

    if (fd < 0) {
        return false;
    }
    hasListener = connect(fd, (const struct sockaddr *) addressPtr,
                          sizeof(*addressPtr))
            == 0
        || errno == EAGAIN || errno == EPROTOTYPE;
    close(fd);
    return hasListener;
}
