/*
 * prebind.c --
 *
 *      Sockets bound before the user is switched.
 */

#include "process/prebind.h"

#include "nslog.h"
#include "nsthread.h"

#include <sys/un.h>

typedef struct Bound {
    struct Bound *nextPtr;
    NsPrebindSpec spec;
    int           fd;           /* -1: taken. */
} Bound;

static Bound *firstBoundPtr;    /* Main thread; before start-up is complete. */

static const char *const kindNames[] = {"tcp", "udp", "icmp", "unix"};

static void AddElement(const char *text);
static bool IsBound(const NsPrebindSpec *specPtr);
static void AddSpec(const NsPrebindSpec *specPtr);
static bool ParsePort(const char *text, int *portPtr);
static bool IsSame(const NsPrebindSpec *specPtr, NsPrebindKind kind,
                   const char *address, int port);
static int BindInternet(const NsPrebindSpec *specPtr);
static int BindUnix(const NsPrebindSpec *specPtr);
static int CloseAfter(int fd);


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
        return true;
    }
    mark = strchr(word, '/');
    if (mark != NULL) {
        *mark++ = '\0';
    }
    if (STREQ(word, "icmp")) {
        specPtr->kind = NS_PREBIND_ICMP;
        specPtr->port = 1;
        return mark == NULL || (ParsePort(mark, &specPtr->port)
                                && specPtr->port > 0);
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
    for (Bound *boundPtr = firstBoundPtr; boundPtr != NULL;
            boundPtr = boundPtr->nextPtr) {
        if (boundPtr->fd >= 0
                && IsSame(&boundPtr->spec, kind, address, port)) {
            int fd = boundPtr->fd;

            boundPtr->fd = -1;
            return fd;
        }
    }
    return -1;
}

void
NsPrebindClose(void)
{
    while (firstBoundPtr != NULL) {
        Bound *boundPtr = firstBoundPtr;
        const NsPrebindSpec *specPtr = &boundPtr->spec;

        firstBoundPtr = boundPtr->nextPtr;
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
        return BindUnix(specPtr);
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
        AddSpec(&spec);
    }
}

static bool
IsBound(const NsPrebindSpec *specPtr)
{
    for (Bound *boundPtr = firstBoundPtr; boundPtr != NULL;
            boundPtr = boundPtr->nextPtr) {
        if (IsSame(&boundPtr->spec, specPtr->kind, specPtr->address,
                   specPtr->port)) {
            return true;
        }
    }
    return false;
}

static void
AddSpec(const NsPrebindSpec *specPtr)
{
    const char *kind = kindNames[specPtr->kind];
    Bound      *boundPtr;
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
    boundPtr = ns_calloc(1, sizeof(Bound));
    boundPtr->spec = *specPtr;
    boundPtr->fd = fd;
    boundPtr->nextPtr = firstBoundPtr;
    firstBoundPtr = boundPtr;
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
    struct addrinfo hints = {
        .ai_socktype = specPtr->kind == NS_PREBIND_UDP ? SOCK_DGRAM
                                                       : SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV
    };
    struct addrinfo *addressPtr;
    char             service[8];
    int              fd, on = 1;

    snprintf(service, sizeof(service), "%d", specPtr->port);
    if (getaddrinfo(specPtr->address, service, &hints, &addressPtr) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    fd = socket(addressPtr->ai_family, addressPtr->ai_socktype | SOCK_CLOEXEC,
                0);
    if (fd >= 0) {
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (bind(fd, addressPtr->ai_addr, addressPtr->ai_addrlen) != 0) {
            fd = CloseAfter(fd);
        }
    }
    freeaddrinfo(addressPtr);
    return fd;
}

static int
BindUnix(const NsPrebindSpec *specPtr)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int                fd;

    memcpy(address.sun_path, specPtr->address,
           MIN(sizeof(address.sun_path), sizeof(specPtr->address)));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    (void) unlink(specPtr->address);
    if (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0
            || (specPtr->port != 0
                && chmod(specPtr->address, (mode_t) specPtr->port) != 0)) {
        return CloseAfter(fd);
    }
    return fd;
}

/*
 * Close, keeping the errno that led here.
 */
static int
CloseAfter(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return -1;
}
