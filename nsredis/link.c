/* SPDX-License-Identifier: MPL-2.0
 * link.c --
 *
 *      One connection to Redis.  hiredis forms commands and reads replies; the
 *      transfer is done here, so that a deadline holds for all of it.
 */

#include <assert.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "redis.h"

#define PIECE      16384
#define AT_ONCE_MS 2 /* A longer wait is worth the note of its stack. */

struct Link {
    LinkPlace       place; /* First. */
    const Endpoint *endpointPtr;
    NS_SOCKET       sock;
    SSL            *sslPtr; /* NULL: none. */
    redisReader    *readerPtr;
    Ns_DString      toSend;
    size_t          nReceived; /* Bytes since the last reply. */
    bool            hasBytes;  /* The reader may have a whole reply. */
};

static bool Connect(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr);
static bool ConnectNoted(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr);
static bool Greet(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr);
static bool Demand(Link *linkPtr, int argc, const char **argv, int64_t deadline,
                   Ns_DString *errorPtr);
static LinkResult AwaitLonger(const Link *linkPtr, struct pollfd *waitingPtr,
                              int64_t deadline, Ns_DString *errorPtr);
static LinkResult Await(Link *linkPtr, short events, int64_t deadline,
                        Ns_DString *errorPtr);
static ssize_t Transfer(Link *linkPtr, bool isSending, char *buffer, size_t n,
                        short *eventsPtr);
static LinkResult Lose(const Link *linkPtr, const char *reason,
                       Ns_DString *errorPtr);
static Ns_Time    Left(int64_t deadline);

int64_t
Now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec / 1000;
}

static Ns_Time
Left(int64_t deadline)
{
    int64_t left = deadline - Now();

    left = left > 0 ? left : 0;
    return (Ns_Time){.sec = left / SECOND, .usec = left % SECOND};
}

Link *
LinkOpen(const Endpoint *endpointPtr, int64_t deadline, Ns_DString *errorPtr)
{
    Link *linkPtr = ns_calloc(1u, sizeof(*linkPtr));

    linkPtr->endpointPtr = endpointPtr;
    linkPtr->sock = NS_INVALID_SOCKET;
    linkPtr->readerPtr = redisReaderCreate();
    Ns_DStringInit(&linkPtr->toSend);
    if (!ConnectNoted(linkPtr, deadline, errorPtr)
        || !Greet(linkPtr, deadline, errorPtr)) {
        LinkClose(linkPtr);
        return NULL;
    }
    return linkPtr;
}

void
LinkClose(Link *linkPtr)
{
    if (linkPtr->sslPtr != NULL) {
        ERR_clear_error();
        SSL_free(linkPtr->sslPtr);
    }
    if (linkPtr->sock != NS_INVALID_SOCKET) {
        (void) close(linkPtr->sock);
    }
    redisReaderFree(linkPtr->readerPtr);
    Ns_DStringFree(&linkPtr->toSend);
    ns_free(linkPtr);
}

/*
 * The name of the host, the connection and TLS each may take as long as they
 * like, and together take longer than the note.
 */
static bool
ConnectNoted(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr)
{
    char what[300];
    bool isDone;

    snprintf(what, sizeof(what), "nsredis: connects to %s",
             linkPtr->endpointPtr->name);
    Ns_TclWaitBegin(what);
    isDone = Connect(linkPtr, deadline, errorPtr);
    Ns_TclWaitEnd();
    return isDone;
}

static bool
Connect(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr)
{
    const Endpoint *endpointPtr = linkPtr->endpointPtr;
    Ns_Time         left = Left(deadline);

    errno = 0;
    /* At a Unix-domain socket Redis accepts at once, or its queue is full. */
    linkPtr->sock = *endpointPtr->socketPath != '\0'
        ? Ns_SockConnectUnix(endpointPtr->socketPath,
                             SOCK_STREAM | SOCK_NONBLOCK, NULL)
        : Ns_SockTimedConnect(endpointPtr->host, endpointPtr->port, &left);
    if (linkPtr->sock == NS_INVALID_SOCKET) {
        Ns_DStringPrintf(errorPtr, "could not connect to %s: %s",
                         endpointPtr->name,
                         errno != 0 ? strerror(errno) : "unknown host");
        return false;
    }
    (void) Ns_SockSetNonBlocking(linkPtr->sock);
    if (endpointPtr->tlsPtr != NULL) {
        left = Left(deadline);
        if (Ns_TLS_SSLConnect_50(NULL, linkPtr->sock, endpointPtr->tlsPtr,
                                 endpointPtr->host, NULL, NULL, &left,
                                 &linkPtr->sslPtr)
            != NS_OK) {
            Ns_DStringPrintf(errorPtr, "%s: the TLS handshake failed",
                             endpointPtr->name);
            return false;
        }
    }
    return true;
}

/*
 * Say who we are, and which database is wanted.
 */
static bool
Greet(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr)
{
    const Endpoint *endpointPtr = linkPtr->endpointPtr;
    char            number[16];
    const char     *select[] = {"SELECT", number};
    const char     *name[] = {"CLIENT", "SETNAME", "nsd"};
    const char     *auth[] = {"AUTH", endpointPtr->user, endpointPtr->password};

    if (*endpointPtr->password != '\0') {
        if (*endpointPtr->user == '\0') {
            auth[1] = auth[2];
        }
        if (!Demand(linkPtr, *endpointPtr->user == '\0' ? 2 : 3, auth, deadline,
                    errorPtr)) {
            return false;
        }
    }
    snprintf(number, sizeof(number), "%d", endpointPtr->database);
    return Demand(linkPtr, 3, name, deadline, errorPtr)
        && (endpointPtr->database == 0
            || Demand(linkPtr, 2, select, deadline, errorPtr));
}

static bool
Demand(Link *linkPtr, int argc, const char **argv, int64_t deadline,
       Ns_DString *errorPtr)
{
    redisReply *replyPtr = NULL;
    bool        isDone;

    if (LinkAsk(linkPtr, argc, argv, deadline, &replyPtr, errorPtr)
        != LINK_OK) {
        return false;
    }
    isDone = replyPtr->type != REDIS_REPLY_ERROR;
    if (!isDone) {
        Ns_DStringPrintf(errorPtr, "%s: %s: %s", linkPtr->endpointPtr->name,
                         argv[0], replyPtr->str);
    }
    freeReplyObject(replyPtr);
    return isDone;
}

LinkResult
LinkAsk(Link *linkPtr, int argc, const char **argv, int64_t deadline,
        redisReply **replyPtr, Ns_DString *errorPtr)
{
    LinkResult result;

    LinkPut(linkPtr, argc, argv, NULL);
    result = LinkSend(linkPtr, deadline, errorPtr);
    return result == LINK_OK
        ? LinkReceive(linkPtr, deadline, replyPtr, errorPtr)
        : result;
}

void
LinkPut(Link *linkPtr, int argc, const char **argv, const size_t *lengths)
{
    char *text;
    int   n = redisFormatCommandArgv(&text, argc, argv, lengths);

    assert(argc > 0 && n > 0);
    Ns_DStringNAppend(&linkPtr->toSend, text, n);
    redisFreeCommand(text);
}

LinkResult
LinkSend(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr)
{
    char  *bytes = linkPtr->toSend.string;
    size_t n = (size_t) linkPtr->toSend.length;

    while (n > 0) {
        short   events = POLLOUT;
        ssize_t sent = Transfer(linkPtr, true, bytes, n, &events);

        if (sent > 0) {
            bytes += sent;
            n -= (size_t) sent;
        } else if (sent == 0) {
            return Lose(linkPtr, strerror(errno), errorPtr);
        } else {
            LinkResult result = Await(linkPtr, events, deadline, errorPtr);

            if (result != LINK_OK) {
                return result;
            }
        }
    }
    Ns_DStringSetLength(&linkPtr->toSend, 0);
    return LINK_OK;
}

LinkResult
LinkReceive(Link *linkPtr, int64_t deadline, redisReply **replyPtr,
            Ns_DString *errorPtr)
{
    char buffer[PIECE];

    for (;;) {
        void      *reply = NULL;
        short      events = POLLIN;
        LinkResult result;
        ssize_t    n;

        if (redisReaderGetReply(linkPtr->readerPtr, &reply) != REDIS_OK) {
            return Lose(linkPtr, linkPtr->readerPtr->errstr, errorPtr);
        }
        if (reply != NULL) {
            linkPtr->nReceived = 0;
            linkPtr->hasBytes = linkPtr->readerPtr->pos
                < linkPtr->readerPtr->len;
            *replyPtr = reply;
            return LINK_OK;
        }
        linkPtr->hasBytes = false;
        n = Transfer(linkPtr, false, buffer, sizeof(buffer), &events);
        if (n > 0) {
            linkPtr->nReceived += (size_t) n;
            if (linkPtr->nReceived > linkPtr->endpointPtr->maxReply) {
                return Lose(linkPtr, "the reply is longer than maxreply",
                            errorPtr);
            }
            (void) redisReaderFeed(linkPtr->readerPtr, buffer, (size_t) n);
        } else if (n == 0) {
            return Lose(linkPtr,
                        errno != 0 ? strerror(errno) : "it has been closed",
                        errorPtr);
        } else if ((result = Await(linkPtr, events, deadline, errorPtr))
                   != LINK_OK) {
            return result;
        }
    }
}

/*
 * Bytes; 0: the link is lost, by errno or its end; -1: wait for the events.
 */
static ssize_t
Transfer(Link *linkPtr, bool isSending, char *buffer, size_t n,
         short *eventsPtr)
{
    ssize_t result;

    assert(n > 0);
    errno = 0;
    if (linkPtr->sslPtr != NULL) {
        size_t done = 0;

        ERR_clear_error();
        if ((isSending ? SSL_write_ex(linkPtr->sslPtr, buffer, n, &done)
                       : SSL_read_ex(linkPtr->sslPtr, buffer, n, &done))
            == 1) {
            return (ssize_t) done;
        }
        switch (SSL_get_error(linkPtr->sslPtr, 0)) {
        case SSL_ERROR_WANT_READ:
            *eventsPtr = POLLIN;
            return -1;
        case SSL_ERROR_WANT_WRITE:
            *eventsPtr = POLLOUT;
            return -1;
        default:
            return 0;
        }
    }
    do {
        result = isSending ? send(linkPtr->sock, buffer, n, MSG_NOSIGNAL)
                           : recv(linkPtr->sock, buffer, n, 0);
    } while (result < 0 && errno == EINTR);
    if (result < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : 0;
    }
    return result;
}

static LinkResult
Await(Link *linkPtr, short events, int64_t deadline, Ns_DString *errorPtr)
{
    struct pollfd waiting = {.fd = linkPtr->sock, .events = events};
    int           n = poll(&waiting, 1, AT_ONCE_MS);
    LinkResult    result = LINK_OK;

    if (n <= 0) {
        char what[300];

        snprintf(what, sizeof(what), "nsredis: waits for %s",
                 linkPtr->endpointPtr->name);
        Ns_TclWaitBegin(what);
        result = AwaitLonger(linkPtr, &waiting, deadline, errorPtr);
        Ns_TclWaitEnd();
    }
    return result;
}

static LinkResult
AwaitLonger(const Link *linkPtr, struct pollfd *waitingPtr, int64_t deadline,
            Ns_DString *errorPtr)
{
    int n;

    do {
        int64_t left = deadline - Now();

        if (left <= 0) {
            Ns_DStringPrintf(errorPtr, "%s: no answer in time",
                             linkPtr->endpointPtr->name);
            return LINK_TIMEOUT;
        }
        n = poll(waitingPtr, 1, (int) MIN((left + 999) / 1000, INT_MAX));
    } while (n == 0 || (n < 0 && errno == EINTR));
    return n > 0 ? LINK_OK : Lose(linkPtr, strerror(errno), errorPtr);
}

static LinkResult
Lose(const Link *linkPtr, const char *reason, Ns_DString *errorPtr)
{
    Ns_DStringPrintf(errorPtr, "%s: the connection is lost: %s",
                     linkPtr->endpointPtr->name,
                     *reason != '\0' ? reason : "it has been closed");
    return LINK_FAILED;
}

bool
LinkIsIdle(Link *linkPtr)
{
    struct pollfd waiting = {.fd = linkPtr->sock, .events = POLLIN};

    return !linkPtr->hasBytes && poll(&waiting, 1, 0) == 0;
}

bool
LinkWait(Link *linkPtr, int wakeFd, int64_t deadline)
{
    struct pollfd waiting[] = {{.fd = linkPtr->sock, .events = POLLIN},
                               {.fd = wakeFd, .events = POLLIN}};
    int64_t       left = deadline - Now();

    if (linkPtr->hasBytes
        || (linkPtr->sslPtr != NULL && SSL_pending(linkPtr->sslPtr) > 0)) {
        return true;
    }
    left = left > 0 ? (left + 999) / 1000 : 0;
    return poll(waiting, 2, (int) MIN(left, INT_MAX)) > 0
        && waiting[0].revents != 0;
}
