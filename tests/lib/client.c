/* SPDX-License-Identifier: MPL-2.0
 * client.c --
 *
 *      A client that knows what became of each of its requests.
 *
 *      client PORT[:TLSPORT] ROUND CONNECTIONS MILLISECONDS PATH ...
 *
 *      Each connection asks for the paths in turn, with a query that no other
 *      request has, ?id=ROUND.CONNECTION.NUMBER, until its time is up (0: until
 *      the server is gone).  Then it prints a line for each request: what
 *      became of it, its id and its path, and for some a detail.
 *
 *      complete    answered to the last byte, and as it should be
 *      refused     answered to the last byte with an error; the status follows
 *      wrong       answered with something else than was asked for
 *      cut         the reply began and did not end
 *      none        no byte of a reply came
 *      connect     no connection could be had, so nothing was sent
 *
 *      Each fourth connection sends its heads in pieces, each fifth takes what
 *      it gets slowly, and with two ports each other one speaks TLS.
 *
 *      What a reply should be is told behind the path: PATH:LENGTH is that many
 *      bytes of the pattern 0123456789abcdef, PATH:LENGTH+ begins with the id
 *      and a newline in their place, PATH:LENGTH! is a POST of so many bytes of
 *      the pattern, answered by the id and a newline.  A path alone may be
 *      answered with anything.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MAX_REPLY (8 << 20)
#define PATIENCE  20 /* Seconds without an answer: give up. */
#define PATTERN   "0123456789abcdef"

typedef enum { COMPLETE, REFUSED, WRONG, CUT, NONE, CONNECT } Outcome;

static const char *const outcomeNames[] = {
    "complete", "refused", "wrong", "cut", "none", "connect"};

typedef struct Path {
    const char *name;
    int         nameLength;
    char        kind; /* 0: anything; ':', '+', '!' as above. */
    size_t      length;
} Path;

typedef struct Request {
    Outcome outcome;
    int     status;
} Request;

typedef struct Connection {
    pthread_t thread;
    int       number;
    bool      isSlow;
    int       fd;     /* -1: none. */
    SSL      *tlsPtr; /* NULL: plain. */
    Request  *requests;
    int       nRequests;
    int       room;
    char     *reply;
    size_t    got;
} Connection;

static int      port;
static int      tlsPort; /* 0: none. */
static SSL_CTX *tlsContext;
static Path    *paths;
static int      nPaths;
static int      roundNumber;
static int64_t  end; /* In milliseconds; 0: none. */

static void    ParsePath(Path *pathPtr, const char *word);
static void   *Ask(void *arg);
static bool    Connect(Connection *connPtr);
static void    Disconnect(Connection *connPtr);
static ssize_t Receive(Connection *connPtr, char *bytes, size_t length);
static ssize_t SendSome(Connection *connPtr, const char *bytes, size_t length);
static Outcome Exchange(Connection *connPtr, const Path *pathPtr,
                        const char *id, int *statusPtr);
static bool    Send(Connection *connPtr, const Path *pathPtr, const char *id);
static bool    SendHead(Connection *connPtr, const char *head, size_t length);
static bool    SendAll(Connection *connPtr, const char *bytes, size_t length);
static Outcome Judge(const Connection *connPtr, const Path *pathPtr,
                     const char *id, int *statusPtr);
static bool    IsPattern(const char *bytes, size_t first, size_t length);
static size_t  ReplyLength(const Connection *connPtr);
static size_t  ChunkedLength(const Connection *connPtr, const char *next);
static bool    IsEndedByClose(const Connection *connPtr);
static bool    HasField(const Connection *connPtr, const char *field);
static int64_t NowMs(void);

int
main(int argc, char **argv)
{
    Connection *connections;
    int         n;
    long        ms;

    if (argc < 6) {
        fprintf(stderr,
                "usage: %s PORT[:TLSPORT] ROUND CONNECTIONS "
                "MILLISECONDS PATH "
                "...\n",
                argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    port = atoi(argv[1]);
    if (strchr(argv[1], ':') != NULL) {
        tlsPort = atoi(strchr(argv[1], ':') + 1);
        tlsContext = SSL_CTX_new(TLS_client_method());
    }
    roundNumber = atoi(argv[2]);
    n = atoi(argv[3]);
    ms = atol(argv[4]);
    end = ms > 0 ? NowMs() + ms : 0;
    nPaths = argc - 5;
    paths = calloc((size_t) nPaths, sizeof(*paths));
    for (int i = 0; i < nPaths; i++) {
        ParsePath(&paths[i], argv[5 + i]);
    }
    connections = calloc((size_t) n, sizeof(*connections));
    for (int i = 0; i < n; i++) {
        connections[i].number = i;
        connections[i].isSlow = i % 5 == 4;
        pthread_create(&connections[i].thread, NULL, Ask, &connections[i]);
    }
    for (int i = 0; i < n; i++) {
        const Connection *connPtr = &connections[i];

        pthread_join(connPtr->thread, NULL);
        for (int k = 0; k < connPtr->nRequests; k++) {
            const Request *requestPtr = &connPtr->requests[k];
            const Path    *pathPtr = &paths[(i + k) % nPaths];

            printf("%s %d.%d.%d %.*s %d\n", outcomeNames[requestPtr->outcome],
                   roundNumber, i, k, pathPtr->nameLength, pathPtr->name,
                   requestPtr->status);
        }
    }
    return 0;
}

static void
ParsePath(Path *pathPtr, const char *word)
{
    const char *colon = strchr(word, ':');

    pathPtr->name = word;
    pathPtr->nameLength = (int) strlen(word);
    if (colon != NULL) {
        char *after;

        pathPtr->nameLength = (int) (colon - word);
        pathPtr->length = strtoul(colon + 1, &after, 10);
        pathPtr->kind = *after == '\0' ? ':' : *after;
    }
}

static void *
Ask(void *arg)
{
    Connection *connPtr = arg;
    bool        isGone = false;

    connPtr->fd = -1;
    connPtr->reply = malloc(MAX_REPLY + 1);
    while (!isGone && (end == 0 || NowMs() < end)) {
        const Path *pathPtr =
            &paths[(connPtr->number + connPtr->nRequests) % nPaths];
        Request *requestPtr;
        char     id[64];

        if (connPtr->nRequests == connPtr->room) {
            connPtr->room = connPtr->room == 0 ? 1024 : 2 * connPtr->room;
            connPtr->requests = realloc(connPtr->requests,
                                        (size_t) connPtr->room
                                            * sizeof(*connPtr->requests));
        }
        snprintf(id, sizeof(id), "%d.%d.%d", roundNumber, connPtr->number,
                 connPtr->nRequests);
        requestPtr = &connPtr->requests[connPtr->nRequests++];
        requestPtr->status = 0;
        if (connPtr->fd < 0 && !Connect(connPtr)) {
            requestPtr->outcome = CONNECT;
            usleep(10000);
        } else {
            requestPtr->outcome = Exchange(connPtr, pathPtr, id,
                                           &requestPtr->status);
        }
        isGone = end == 0 && requestPtr->outcome >= CUT;
        if (connPtr->fd >= 0
            && (requestPtr->outcome >= WRONG
                || HasField(connPtr, "Connection: close")
                || IsEndedByClose(connPtr))) {
            Disconnect(connPtr);
            /* Whoever is refused comes back a little later. */
            usleep(requestPtr->outcome == COMPLETE ? 0 : 2000);
        }
    }
    Disconnect(connPtr);
    free(connPtr->reply);
    return NULL;
}

static bool
Connect(Connection *connPtr)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {PATIENCE, 0};
    bool           isTls = tlsPort != 0 && connPtr->number % 2 == 1;
    int            on = 1, small = 4096;

    address.sin_port = htons((uint16_t) (isTls ? tlsPort : port));
    connPtr->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(connPtr->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(connPtr->fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
               sizeof(patience));
    setsockopt(connPtr->fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
               sizeof(patience));
    if (connPtr->isSlow) {
        setsockopt(connPtr->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    }
    if (connect(connPtr->fd, (struct sockaddr *) &address, sizeof(address))
        != 0) {
        Disconnect(connPtr);
    } else if (isTls) {
        connPtr->tlsPtr = SSL_new(tlsContext);
        SSL_set_fd(connPtr->tlsPtr, connPtr->fd);
        if (SSL_connect(connPtr->tlsPtr) != 1) {
            Disconnect(connPtr);
        }
    }
    return connPtr->fd >= 0;
}

static void
Disconnect(Connection *connPtr)
{
    if (connPtr->tlsPtr != NULL) {
        SSL_free(connPtr->tlsPtr);
        connPtr->tlsPtr = NULL;
    }
    if (connPtr->fd >= 0) {
        close(connPtr->fd);
        connPtr->fd = -1;
    }
}

/*
 * As recv and send; a TLS connection that breaks off is an error.
 */
static ssize_t
Receive(Connection *connPtr, char *bytes, size_t length)
{
    int n;

    if (connPtr->isSlow) {
        length = length < 16384 ? length : 16384;
        usleep(500);
    }
    if (connPtr->tlsPtr == NULL) {
        return recv(connPtr->fd, bytes, length, 0);
    }
    n = SSL_read(connPtr->tlsPtr, bytes, (int) length);
    return n > 0 ? n
        : SSL_get_error(connPtr->tlsPtr, n) == SSL_ERROR_ZERO_RETURN
        ? 0
        : -1;
}

static ssize_t
SendSome(Connection *connPtr, const char *bytes, size_t length)
{
    return connPtr->tlsPtr == NULL
        ? send(connPtr->fd, bytes, length, 0)
        : SSL_write(connPtr->tlsPtr, bytes, (int) length);
}

/*
 * One request and its answer.  An answer may come before all of the request is
 * sent, when the server refuses it.
 */
static Outcome
Exchange(Connection *connPtr, const Path *pathPtr, const char *id,
         int *statusPtr)
{
    (void) Send(connPtr, pathPtr, id);
    connPtr->got = 0;
    connPtr->reply[0] = '\0';
    for (;;) {
        ssize_t n;
        size_t  whole = ReplyLength(connPtr);

        if (whole > 0 && connPtr->got >= whole) {
            return connPtr->got == whole
                ? Judge(connPtr, pathPtr, id, statusPtr)
                : WRONG;
        }
        n = Receive(connPtr, connPtr->reply + connPtr->got,
                    MAX_REPLY - connPtr->got);
        if (n == 0 && IsEndedByClose(connPtr)) {
            return Judge(connPtr, pathPtr, id, statusPtr);
        }
        if (n <= 0) {
            *statusPtr = n < 0 ? errno : 0;
            return connPtr->got > 0 ? CUT : NONE;
        }
        connPtr->got += (size_t) n;
        connPtr->reply[connPtr->got] = '\0';
    }
}

static bool
Send(Connection *connPtr, const Path *pathPtr, const char *id)
{
    char   head[512];
    size_t left = pathPtr->kind == '!' ? pathPtr->length : 0;
    int    n = snprintf(head, sizeof(head),
                        "%s /%.*s?id=%s HTTP/1.1\r\n"
                           "Host: h\r\n",
                     left > 0 ? "POST" : "GET", pathPtr->nameLength,
                        pathPtr->name, id);
    bool   isSent;

    if (left > 0) {
        n += snprintf(head + n, sizeof(head) - (size_t) n,
                      "Content-Type: application/octet-stream\r\n"
                      "Content-Length: %zu\r\n",
                      left);
    }
    n += snprintf(head + n, sizeof(head) - (size_t) n, "\r\n");
    isSent = SendHead(connPtr, head, (size_t) n);
    while (isSent && left > 0) {
        char   bytes[16 * 1024];
        size_t length = left < sizeof(bytes) ? left : sizeof(bytes);

        for (size_t i = 0; i < length; i++) {
            bytes[i] = PATTERN[i % 16];
        }
        isSent = SendAll(connPtr, bytes, length);
        left -= length;
    }
    return isSent;
}

static bool
SendHead(Connection *connPtr, const char *head, size_t length)
{
    size_t piece = connPtr->number % 4 == 3
        ? 1 + (size_t) connPtr->nRequests % length
        : length;
    bool   isSent = SendAll(connPtr, head, piece);

    if (isSent && piece < length) {
        usleep(1000);
        isSent = SendAll(connPtr, head + piece, length - piece);
    }
    return isSent;
}

static bool
SendAll(Connection *connPtr, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = SendSome(connPtr, bytes, length);

        if (n <= 0) {
            return false;
        }
        bytes += n;
        length -= (size_t) n;
    }
    return true;
}

static Outcome
Judge(const Connection *connPtr, const Path *pathPtr, const char *id,
      int *statusPtr)
{
    const char *body = strstr(connPtr->reply, "\r\n\r\n") + 4;
    size_t      length = (size_t) (connPtr->reply + connPtr->got - body);
    size_t      idLength = strlen(id);
    bool        hasId = length > idLength && strncmp(body, id, idLength) == 0
        && body[idLength] == '\n';
    Outcome outcome = COMPLETE;

    *statusPtr = (int) strtol(connPtr->reply + strlen("HTTP/1.1 "), NULL, 10);
    if (pathPtr->kind != 0 && *statusPtr >= 400) {
        outcome = REFUSED;
    } else if (pathPtr->kind == ':') {
        outcome = length == pathPtr->length && IsPattern(body, 0, length)
            ? COMPLETE
            : WRONG;
    } else if (pathPtr->kind == '+') {
        outcome = hasId && length == pathPtr->length
                && IsPattern(body, idLength + 1, length)
            ? COMPLETE
            : WRONG;
    } else if (pathPtr->kind == '!') {
        outcome = hasId && length == idLength + 1 ? COMPLETE : WRONG;
    }
    return outcome;
}

static bool
IsPattern(const char *bytes, size_t first, size_t length)
{
    size_t i = first;

    while (i < length && bytes[i] == PATTERN[i % 16]) {
        i++;
    }
    return i == length;
}

/*
 * 0: not known yet.
 */
static size_t
ReplyLength(const Connection *connPtr)
{
    const char *head = strstr(connPtr->reply, "\r\n\r\n");
    const char *field;

    if (head == NULL) {
        return 0;
    }
    head += 4;
    field = strcasestr(connPtr->reply, "\r\nContent-Length: ");
    if (field != NULL && field < head) {
        return (size_t) (head - connPtr->reply) + strtoul(field + 18, NULL, 10);
    }
    return ChunkedLength(connPtr, head);
}

static size_t
ChunkedLength(const Connection *connPtr, const char *next)
{
    const char *last = connPtr->reply + connPtr->got;

    for (;;) {
        char  *after;
        size_t size = strtoul(next, &after, 16);

        if (after == next || strncmp(after, "\r\n", 2) != 0) {
            return 0;
        }
        next = after + 2 + size + 2;
        if (next > last) {
            return 0;
        }
        if (size == 0) {
            return (size_t) (next - connPtr->reply);
        }
    }
}

/*
 * A reply that does not tell its length, as a short refusal may be.
 */
static bool
IsEndedByClose(const Connection *connPtr)
{
    return strstr(connPtr->reply, "\r\n\r\n") != NULL
        && !HasField(connPtr, "Content-Length:")
        && !HasField(connPtr, "Transfer-Encoding:");
}

static bool
HasField(const Connection *connPtr, const char *field)
{
    const char *head = strstr(connPtr->reply, "\r\n\r\n");
    const char *found = strcasestr(connPtr->reply, field);

    return found != NULL && head != NULL && found < head;
}

static int64_t
NowMs(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
