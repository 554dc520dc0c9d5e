/* SPDX-License-Identifier: MPL-2.0
 * load.c --
 *
 *      A client of one server on this machine.
 *
 *      load PORT paced PATH RATE SECONDS CONNECTIONS
 *          So many requests per second in all, evenly over the connections.
 *          Prints percentiles of the latency in microseconds, counted from the
 *          moment when the request was due: a server that makes the client
 *          late is not let off.
 *      load PORT random PATH RATE SECONDS CONNECTIONS
 *          The same, but each connection's requests are due at moments that do
 *          not depend on each other.  With many connections these are almost
 *          the arrivals of many clients.
 *      load PORT users PATH FIRST STEP EVERY MOST SECONDS THINK
 *          FIRST users, STEP more every EVERY seconds up to MOST.  Each has a
 *          connection, makes a request, takes the reply, and thinks before the
 *          next: exponentially distributed, THINK seconds in the mean, the same
 *          sequence in every run.  Prints requests per second, and the mean
 *          and percentiles of the time to the reply.
 *      load PORT hold PATH CONNECTIONS
 *          Each connection makes a request and then idles.
 *      load PORT slow PATH CONNECTIONS
 *          Each connection asks for the page and takes 1 KB of it ten times a
 *          second, one after the other: clients far away do not read in step.
 *
 *      The last two print "ready" and go on until standard input ends.
 */

#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"

#define SLOW_BYTES   1024
#define SLOW_TURNS   100 /* In which all take something, */
#define SLOW_PAUSE   1   /* with so many milliseconds between two. */
#define SMALL_BUFFER 4096
#define PATIENCE     5      /* Seconds until a reply is an error. */
#define PER_ADDRESS  20000  /* Connections from one address: ports are few. */
#define DESCRIPTORS  200000 /* Wanted, where the limit may be raised. */

typedef struct Paced {
    pthread_t      thread;
    int64_t        first;    /* When the first request is due. */
    int64_t        interval; /* In the mean. */
    bool           isRandom;
    int64_t        end; /* Then no random request is due. */
    unsigned short random[3];
    int            nRequests;
    int            nErrors;
    BenchHistogram histogram;
} Paced;

typedef struct User {
    pthread_t      thread;
    int64_t        first; /* When the first request is due, */
    int64_t        end;   /* and when no further one is. */
    double         think; /* Nanoseconds, mean. */
    unsigned short random[3];
    int            nErrors;
    int64_t        sum; /* Of all times. */
    BenchHistogram histogram;
} User;

static int         port;
static atomic_int  nConnections; /* Made so far. */
static const char *path;
static char        request[1024];

static int   Connect(int receiveBytes);
static void  SendRequest(int fd);
static bool  ReadReply(int fd);
static long  BodyLength(const char *header);
static void  Seed(unsigned short *random, int i);
static int   RunPaced(double rate, int seconds, int n, bool isRandom);
static void *PacedThread(void *arg);
static int   RunUsers(char **argv);
static void *UserThread(void *arg);
static int   Hold(int n);
static int   ReadSlowly(int n);
static bool  InputEnded(int waitMs);
static void  RaiseLimit(void);

int
main(int argc, char **argv)
{
    const char *mode = argc > 4 ? argv[2] : "";

    RaiseLimit();
    if (argc > 4) {
        port = atoi(argv[1]);
        path = argv[3];
        snprintf(request, sizeof(request),
                 "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
    }
    if (strcmp(mode, "paced") == 0 && argc == 7) {
        return RunPaced(atof(argv[4]), atoi(argv[5]), atoi(argv[6]), false);
    }
    if (strcmp(mode, "random") == 0 && argc == 7) {
        return RunPaced(atof(argv[4]), atoi(argv[5]), atoi(argv[6]), true);
    }
    if (strcmp(mode, "users") == 0 && argc == 10) {
        return RunUsers(argv + 4);
    }
    if (strcmp(mode, "hold") == 0) {
        return Hold(atoi(argv[4]));
    }
    if (strcmp(mode, "slow") == 0) {
        return ReadSlowly(atoi(argv[4]));
    }
    fprintf(stderr, "usage: load PORT paced|random|users|hold|slow PATH ...\n");
    return 1;
}

static int
Connect(int receiveBytes)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t) port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval     patience = {PATIENCE, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    if (fd >= 0 && receiveBytes > 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receiveBytes,
                   sizeof(receiveBytes));
    }
    if (fd >= 0 && ++nConnections > PER_ADDRESS) {
        struct sockaddr_in own = {.sin_family = AF_INET};

        own.sin_addr.s_addr = htonl(INADDR_LOOPBACK
                                    + (uint32_t) (nConnections / PER_ADDRESS));
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
        if (bind(fd, (struct sockaddr *) &own, sizeof(own)) != 0) {
            perror("load: bind");
        }
    }
    if (fd < 0
        || connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        perror("load: connect");
        exit(1);
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static void
SendRequest(int fd)
{
    size_t length = strlen(request);

    if (send(fd, request, length, MSG_NOSIGNAL) != (ssize_t) length) {
        perror("load: send");
    }
}

/*
 * A whole reply.  False: it is not a good one.
 */
static bool
ReadReply(int fd)
{
    char   buffer[16384];
    size_t length = 0;
    char  *end = NULL;
    long   left;
    bool   isGood;

    while (end == NULL) {
        ssize_t n = recv(fd, buffer + length, sizeof(buffer) - 1 - length, 0);

        if (n <= 0) {
            return false;
        }
        length += (size_t) n;
        buffer[length] = '\0';
        end = strstr(buffer, "\r\n\r\n");
    }
    isGood = strncmp(buffer, "HTTP/1.1 200", 12) == 0;
    left = BodyLength(buffer) - (long) (length - (size_t) (end + 4 - buffer));
    while (left > 0) {
        ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

        if (n <= 0) {
            return false;
        }
        left -= n;
    }
    return isGood;
}

static long
BodyLength(const char *header)
{
    const char *field = strcasestr(header, "\r\ncontent-length:");

    return field == NULL ? 0 : strtol(field + 17, NULL, 10);
}

static int
RunPaced(double rate, int seconds, int n, bool isRandom)
{
    Paced         *all = calloc((size_t) n, sizeof(Paced));
    BenchHistogram sum = {0};
    int64_t        start = BenchNow() + 20000000;
    int            nErrors = 0;

    for (int i = 0; i < n; i++) {
        all[i].interval = (int64_t) (1e9 * n / rate);
        all[i].first = isRandom ? start : start + all[i].interval * i / n;
        all[i].nRequests = (int) (rate * seconds / n);
        all[i].isRandom = isRandom;
        all[i].end = start + (int64_t) seconds * 1000000000;
        Seed(all[i].random, i);
        if (pthread_create(&all[i].thread, NULL, PacedThread, &all[i]) != 0) {
            perror("load: thread");
            return 1;
        }
    }
    for (int i = 0; i < n; i++) {
        pthread_join(all[i].thread, NULL);
        BenchAdd(&sum, &all[i].histogram);
        nErrors += all[i].nErrors;
    }
    BenchPrint(stdout, &sum, 0.001, 0);
    printf(" errors %d\n", nErrors);
    free(all);
    return 0;
}

/*
 * Numbers whose seeds are close to each other stay so for long, so the seeds of
 * neighbours are far apart (splitmix64, by Guy Steele and others, 2014).
 */
static void
Seed(unsigned short *random, int i)
{
    uint64_t z = ((uint64_t) i + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    for (int k = 0; k < 3; k++) {
        random[k] = (unsigned short) (z >> (16 * k));
    }
}

static void *
PacedThread(void *arg)
{
    Paced  *p = arg;
    int     fd = Connect(0);
    int64_t due = p->first;

    for (int i = 0; p->isRandom || i < p->nRequests; i++) {
        due += p->isRandom
            ? (int64_t) (-log(1 - erand48(p->random)) * (double) p->interval)
            : i > 0 ? p->interval
                    : 0;
        if (p->isRandom && due >= p->end) {
            break;
        }
        if (BenchNow() < due) {
            BenchSleepUntil(due);
        }
        SendRequest(fd);
        if (!ReadReply(fd)) {
            p->nErrors++;
            close(fd);
            fd = Connect(0);
        }
        BenchRecord(&p->histogram, (uint64_t) (BenchNow() - due));
    }
    close(fd);
    return NULL;
}

static int
RunUsers(char **argv)
{
    int            nFirst = atoi(argv[0]), step = atoi(argv[1]);
    int            most = atoi(argv[3]);
    double         every = atof(argv[2]), seconds = atof(argv[4]);
    double         think = atof(argv[5]) * 1e9;
    User          *all = calloc((size_t) most, sizeof(User));
    BenchHistogram sum = {0};
    int64_t        start = BenchNow() + 20000000, total = 0;
    int            nErrors = 0;

    for (int i = 0; i < most; i++) {
        int nSteps = i < nFirst ? 0 : (i - nFirst) / step + 1;

        all[i].first = start + (int64_t) (nSteps * every * 1e9);
        all[i].end = start + (int64_t) (seconds * 1e9);
        all[i].think = think;
        all[i].random[0] = (unsigned short) i;
        if (pthread_create(&all[i].thread, NULL, UserThread, &all[i]) != 0) {
            perror("load: thread");
            return 1;
        }
    }
    for (int i = 0; i < most; i++) {
        pthread_join(all[i].thread, NULL);
        BenchAdd(&sum, &all[i].histogram);
        total += all[i].sum;
        nErrors += all[i].nErrors;
    }
    BenchPrint(stdout, &sum, 0.001, 0);
    printf(" mean %.1f rate %.2f errors %d\n",
           (double) total / 1000 / (double) sum.count,
           (double) sum.count / seconds, nErrors);
    free(all);
    return 0;
}

static void *
UserThread(void *arg)
{
    User   *u = arg;
    int64_t due = u->first;
    int     fd = -1;

    /* Who has just come thinks first, so that not all ask at once. */
    for (;;) {
        int64_t begin;

        due += (int64_t) (-log(1 - erand48(u->random)) * u->think);
        if (due >= u->end) {
            break;
        }
        BenchSleepUntil(due);
        begin = BenchNow();
        if (fd < 0) {
            fd = Connect(0);
        }
        SendRequest(fd);
        if (!ReadReply(fd)) {
            u->nErrors++;
            close(fd);
            fd = -1;
        }
        due = BenchNow();
        u->sum += due - begin;
        BenchRecord(&u->histogram, (uint64_t) (due - begin));
    }
    if (fd >= 0) {
        close(fd);
    }
    return NULL;
}

static int
Hold(int n)
{
    for (int i = 0; i < n; i++) {
        int fd = Connect(0);

        SendRequest(fd);
        if (!ReadReply(fd)) {
            fprintf(stderr, "load: connection %d got no reply\n", i);
            return 1;
        }
    }
    printf("ready\n");
    fflush(stdout);
    while (!InputEnded(-1)) {
    }
    return 0;
}

static int
ReadSlowly(int n)
{
    int *fds = calloc((size_t) n, sizeof(int));
    char buffer[SLOW_BYTES];
    int  nLost = 0, turn = 0;

    for (int i = 0; i < n; i++) {
        fds[i] = Connect(SMALL_BUFFER);
        SendRequest(fds[i]);
    }
    /* The rush of requests is over when each has the start of its reply. */
    for (int i = 0; i < n; i++) {
        if (recv(fds[i], buffer, sizeof(buffer), 0) <= 0) {
            fprintf(stderr, "load: connection %d got no reply\n", i);
            return 1;
        }
    }
    printf("ready\n");
    fflush(stdout);
    while (!InputEnded(SLOW_PAUSE)) {
        turn = (turn + 1) % SLOW_TURNS;
        for (int i = turn; i < n; i += SLOW_TURNS) {
            if (fds[i] >= 0
                && recv(fds[i], buffer, sizeof(buffer), MSG_DONTWAIT) == 0) {
                close(fds[i]);
                fds[i] = -1;
                nLost++;
            }
        }
    }
    if (nLost > 0) {
        fprintf(stderr, "load: %d of %d connections were closed\n", nLost, n);
    }
    free(fds);
    return 0;
}

static bool
InputEnded(int waitMs)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char          c;

    return poll(&input, 1, waitMs) > 0 && read(STDIN_FILENO, &c, 1) <= 0;
}

static void
RaiseLimit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        struct rlimit wanted = {
            .rlim_cur = DESCRIPTORS, .rlim_max = DESCRIPTORS};

        limit.rlim_cur = limit.rlim_max;
        if (limit.rlim_max >= DESCRIPTORS
            || setrlimit(RLIMIT_NOFILE, &wanted) != 0) {
            setrlimit(RLIMIT_NOFILE, &limit);
        }
    }
}
