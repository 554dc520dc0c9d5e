/*
 * numbered_client.c --
 *
 *      A client that knows which of its requests were answered completely.
 *
 *      numbered_client PORT ROUND CONNECTIONS PATH ...
 *
 *      Each connection asks for the paths in turn, with a query that no other
 *      request has, ?id=ROUND.CONNECTION.NUMBER, until the server is gone.
 *      Then the numbers of the answers that had arrived to the last byte are
 *      printed, one line each.
 */

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_REPLY (4 << 20)
#define PATIENCE  20            /* Seconds without an answer: give up. */

typedef struct Connection {
    pthread_t thread;
    int       number;
    int       fd;
    int       nAsked;
    int      *complete;         /* Numbers of complete answers. */
    int       nComplete;
    char     *reply;
    size_t    got;
} Connection;

static int    port;
static char **paths;
static int    nPaths;
static int    roundNumber;

static void  *Ask(void *arg);
static bool   Connect(Connection *connPtr);
static bool   Exchange(Connection *connPtr);
static size_t ReplyLength(const Connection *connPtr);
static size_t ChunkedLength(const Connection *connPtr, const char *next);

int
main(int argc, char **argv)
{
    Connection *connections;
    int         n;

    if (argc < 5) {
        fprintf(stderr, "usage: %s PORT ROUND CONNECTIONS PATH ...\n", argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    port = atoi(argv[1]);
    roundNumber = atoi(argv[2]);
    n = atoi(argv[3]);
    paths = argv + 4;
    nPaths = argc - 4;
    connections = calloc((size_t) n, sizeof(*connections));
    for (int i = 0; i < n; i++) {
        connections[i].number = i;
        pthread_create(&connections[i].thread, NULL, Ask, &connections[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(connections[i].thread, NULL);
        for (int k = 0; k < connections[i].nComplete; k++) {
            printf("%d.%d.%d\n", roundNumber, i, connections[i].complete[k]);
        }
    }
    return 0;
}

static void *
Ask(void *arg)
{
    Connection *connPtr = arg;
    int         room = 0;

    connPtr->reply = malloc(MAX_REPLY + 1);
    if (Connect(connPtr)) {
        while (Exchange(connPtr)) {
            if (connPtr->nComplete == room) {
                room = room == 0 ? 1024 : 2 * room;
                connPtr->complete = realloc(connPtr->complete,
                                            (size_t) room * sizeof(int));
            }
            connPtr->complete[connPtr->nComplete++] = connPtr->nAsked++;
        }
        close(connPtr->fd);
    }
    free(connPtr->reply);
    return NULL;
}

static bool
Connect(Connection *connPtr)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t) port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    struct timeval patience = {PATIENCE, 0};
    int            on = 1;

    connPtr->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(connPtr->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(connPtr->fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
               sizeof(patience));
    return connect(connPtr->fd, (struct sockaddr *) &address, sizeof(address))
        == 0;
}

/*
 * One request and its answer.  False: the answer is not complete, and no more
 * will come.
 */
static bool
Exchange(Connection *connPtr)
{
    char request[512];
    int  length = snprintf(request, sizeof(request),
                           "GET /%s?id=%d.%d.%d HTTP/1.1\r\nHost: h\r\n\r\n",
                           paths[(connPtr->number + connPtr->nAsked) % nPaths],
                           roundNumber, connPtr->number, connPtr->nAsked);

    if (send(connPtr->fd, request, (size_t) length, 0) != length) {
        return false;
    }
    connPtr->got = 0;
    connPtr->reply[0] = '\0';
    for (;;) {
        ssize_t n;
        size_t  whole = ReplyLength(connPtr);

        if (whole > 0 && connPtr->got >= whole) {
            return connPtr->got == whole;
        }
        n = recv(connPtr->fd, connPtr->reply + connPtr->got,
                 MAX_REPLY - connPtr->got, 0);
        if (n <= 0) {
            return false;
        }
        connPtr->got += (size_t) n;
        connPtr->reply[connPtr->got] = '\0';
    }
}

/*
 * 0: not known yet.
 */
static size_t
ReplyLength(const Connection *connPtr)
{
    const char *end = strstr(connPtr->reply, "\r\n\r\n");
    const char *field;

    if (end == NULL) {
        return 0;
    }
    end += 4;
    field = strcasestr(connPtr->reply, "\r\nContent-Length: ");
    if (field != NULL && field < end) {
        return (size_t) (end - connPtr->reply) + strtoul(field + 18, NULL, 10);
    }
    return ChunkedLength(connPtr, end);
}

static size_t
ChunkedLength(const Connection *connPtr, const char *next)
{
    const char *end = connPtr->reply + connPtr->got;

    for (;;) {
        char  *after;
        size_t size = strtoul(next, &after, 16);

        if (after == next || strncmp(after, "\r\n", 2) != 0) {
            return 0;
        }
        next = after + 2 + size + 2;
        if (next > end) {
            return 0;
        }
        if (size == 0) {
            return (size_t) (next - connPtr->reply);
        }
    }
}
