/* SPDX-License-Identifier: MPL-2.0
 * net_echo.h --
 *
 *      A small server for tests of drivers: it answers every request with what
 *      it received, in the driver thread or in one of its own.
 */

#ifndef NET_ECHO_H
#define NET_ECHO_H

#include "unit.h"

#include "net/driver_info.h"
#include "net/driver_int.h"
#include "net/handover.h"
#include "net/init.h"
#include "log/init.h"
#include "process/config.h"
#include "process/init.h"
#include "nsparam.h"
#include "nslog.h"
#include "nssocket.h"
#include "nsstring.h"

#ifndef ECHO_POLLER
#define ECHO_POLLER "epoll"
#endif

static bool       answersDirectly;
static atomic_int nEchoed;   /* Answers given, and sockets given back. */
static atomic_int nEchoOpen; /* Connections. */
static int        bigBytes;  /* Length of the answer to /big. */
static int        echoPort;
static NsServer  *echoServer;

static Ns_Mutex   queueLock;
static Ns_Cond    queueCond;
static NsMessage *queue[4096];
static int        queueHead, queueTail;

static bool EchoIs(const NsMessage *messagePtr, const char *target);

static NS_SOCKET
EchoListen(Ns_Driver *driver, const char *address, int port, int backlog)
{
    NS_SOCKET sock = Ns_SockListenEx(address, port, backlog);

    Ns_SockSetNonBlocking(sock);
    return sock;
}

static NS_DRIVER_ACCEPT_STATUS
EchoAccept(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *saPtr,
           int *lengthPtr)
{
    socklen_t length = (socklen_t) *lengthPtr;

    sock->sock = accept4(listensock, saPtr, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
    atomic_fetch_add(&nEchoOpen, sock->sock >= 0);
    return sock->sock < 0 ? NS_DRIVER_ACCEPT_ERROR : NS_DRIVER_ACCEPT;
}

static ssize_t
EchoRecv(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
         int flags)
{
    return Ns_SockRecvBufs(sock->sock, bufs, nbufs, timeoutPtr, flags);
}

static ssize_t
EchoSend(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
         int flags)
{
    return Ns_SockSendBufs(sock, bufs, nbufs, timeoutPtr, flags);
}

static ssize_t
EchoSendFile(Ns_Sock *sock, Ns_FileVec *bufs, int nbufs, Ns_Time *timeoutPtr,
             int flags)
{
    return Ns_SockSendFileBufs(sock, bufs, nbufs, timeoutPtr, flags);
}

static int
EchoKeep(Ns_Sock *sock)
{
    return NS_TRUE;
}

static void
EchoClose(Ns_Sock *sock)
{
    atomic_fetch_sub(&nEchoOpen, 1);
}

/*
 * The answer: "METHOD TARGET LENGTH STATUS BODY", the body being cut at 100.
 */
static void
EchoAnswer(NsMessage *messagePtr)
{
    NsSock     *sockPtr = messagePtr->sockPtr;
    NsHttpHead *headPtr = &messagePtr->head;
    const char *connection = NsHttpKnown(headPtr, NS_FIELD_CONNECTION);
    bool        keep = !messagePtr->mustClose
        && (connection == NULL || strcasecmp(connection, "close") != 0);
    char    body[512], head[256], content[101] = "";
    NsPiece pieces[3] = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
    char   *big = NULL;
    int     nPieces = 2;

    if (messagePtr->contentFd >= 0) {
        assert_true(pread(messagePtr->contentFd, content, 100, 0) >= 0);
    } else if (messagePtr->content != NULL) {
        assert_int_equal(strlen(messagePtr->content),
                         messagePtr->contentLength);
        snprintf(content, sizeof(content), "%s", messagePtr->content);
    }
    snprintf(body, sizeof(body), "%.*s %.*s %zu %d %s",
             (int) headPtr->methodLength, headPtr->method,
             (int) headPtr->targetLength, headPtr->target,
             messagePtr->contentLength, messagePtr->refusal, content);
    if (EchoIs(messagePtr, "/big")) {
        big = ns_malloc((size_t) bigBytes);
        memset(big, 'b', (size_t) bigBytes);
        pieces[2].base = big;
        pieces[2].length = (size_t) bigBytes;
        nPieces = 3;
    }
    snprintf(head, sizeof(head),
             "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
             strlen(body) + pieces[2].length);
    pieces[0].base = head;
    pieces[0].length = strlen(head);
    pieces[1].base = body;
    pieces[1].length = strlen(body);
    (void) NsSockSend(sockPtr, pieces, nPieces);
    ns_free(big);
    NsSockFinish(sockPtr, keep);
    messagePtr->sockPtr = NULL;
    NsMessageRelease(&messagePtr);
    atomic_fetch_add(&nEchoed, 1);
}

/*
 * Requests for /hold keep the driver thread until the test lets it go; those
 * for /defer leave something to be done.
 */
static atomic_bool isHeld;
static atomic_int  nToDo;      /* Was left. */
static atomic_int  nDone;      /* Of that. */
static atomic_int  nDoneEarly; /* While a request was looked at. */
static atomic_bool isLooking;

static void
EchoDo(void *arg)
{
    assert_ptr_equal(arg, &nToDo);
    atomic_fetch_add(&nDoneEarly, atomic_load(&isLooking));
    atomic_fetch_add(&nDone, 1);
}

/*
 * Set by a test: sees each request first; and what comes before them.
 */
static void (*echoSeenProc)(const NsMessage *messagePtr);
static Ns_DriverSetupProc *echoSetupProc;

static void
EchoReady(NsMessage *messagePtr)
{
    if (echoSeenProc != NULL) {
        echoSeenProc(messagePtr);
    }
    atomic_store(&isLooking, true);
    if (EchoIs(messagePtr, "/hold")) {
        atomic_store(&isHeld, true);
        while (atomic_load(&isHeld)) {
            usleep(1000);
        }
    } else if (EchoIs(messagePtr, "/defer") && NsDriverDefer(EchoDo, &nToDo)) {
        atomic_fetch_add(&nToDo, 1);
    }
    atomic_store(&isLooking, false);
    if (answersDirectly) {
        EchoAnswer(messagePtr);
        return;
    }
    Ns_MutexLock(&queueLock);
    queue[queueTail++ % 4096] = messagePtr;
    Ns_CondSignal(&queueCond);
    Ns_MutexUnlock(&queueLock);
}

static bool
EchoIs(const NsMessage *messagePtr, const char *target)
{
    const NsHttpHead *headPtr = &messagePtr->head;

    return headPtr->targetLength == strlen(target)
        && memcmp(headPtr->target, target, headPtr->targetLength) == 0;
}

static void
EchoThread(void *arg)
{
    for (;;) {
        NsMessage *messagePtr;

        Ns_MutexLock(&queueLock);
        while (queueHead == queueTail) {
            Ns_CondWait(&queueCond, &queueLock);
        }
        messagePtr = queue[queueHead++ % 4096];
        Ns_MutexUnlock(&queueLock);
        if (messagePtr == NULL) {
            return;
        }
        EchoAnswer(messagePtr);
    }
}

/*
 * Start with parameters `key value ...`, ended by NULL.
 */
static void
EchoStart(const char *key, ...)
{
    Ns_DriverInitData init = {
        .version = NS_DRIVER_VERSION_OWN,
        .setupProc = echoSetupProc,
        .name = (char *) "echo",
        .listenProc = EchoListen,
        .acceptProc = EchoAccept,
        .recvProc = EchoRecv,
        .sendProc = EchoSend,
        .sendFileProc = EchoSendFile,
        .keepProc = EchoKeep,
        .closeProc = EchoClose,
        .opts = NS_DRIVER_ASYNC | NS_DRIVER_FULLIO | NS_DRIVER_LINGER,
        .path = (char *) "ns/server/s1/module/echo"};
    struct sockaddr_in sa;
    socklen_t          length = sizeof(sa);
    va_list            args;

    NsLogInit();
    NsProcessInit();
    NsNetInit();
    NsConfigOpen("ns/parameters", (NsConfigPlace){NULL, 0});
    NsConfigSet("ns/parameters", "poller", ECHO_POLLER);
    NsConfigOpen("ns/server/s1/module/echo", (NsConfigPlace){NULL, 0});
    NsConfigSet("ns/server/s1/module/echo", "port", "0");
    NsConfigSet("ns/server/s1/module/echo", "address", "127.0.0.1");
    va_start(args, key);
    while (key != NULL) {
        NsConfigSet("ns/server/s1/module/echo", key,
                    va_arg(args, const char *));
        key = va_arg(args, const char *);
    }
    va_end(args);
    echoServer = NsServerCreate("s1");
    assert_int_equal(Ns_DriverInit("s1", "echo", &init), NS_OK);
    NsDriverSetReadyProc(EchoReady);
    for (int i = 0; i < 2; i++) {
        Ns_Thread thread;

        Ns_ThreadCreate(EchoThread, NULL, 0, &thread);
    }
    assert_int_equal(NsDriversStart(), NS_OK);
    assert_int_equal(getsockname(NsFirstDriver->threads[0]->listeners[0].fd,
                                 (struct sockaddr *) &sa, &length),
                     0);
    echoPort = ntohs(sa.sin_port);
}

static int
EchoConnect(void)
{
    int fd = Ns_SockConnect("127.0.0.1", echoPort);

    assert_true(fd >= 0);
    return fd;
}

static void
EchoWrite(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/*
 * Read one reply; its body, in a buffer that lasts until the next call; NULL at
 * the end of the connection.
 */
static char *
EchoReadReply(int fd)
{
    static char  head[1024];
    static char *body;
    size_t       length, n = 0;
    const char  *field;

    while (n < sizeof(head) - 1) {
        if (read(fd, head + n, 1) != 1) {
            return NULL;
        }
        head[++n] = '\0';
        if (n >= 4 && strcmp(head + n - 4, "\r\n\r\n") == 0) {
            break;
        }
    }
    field = strstr(head, "Content-Length: ");
    if (field == NULL) {
        return head;
    }
    length = strtoul(field + 16, NULL, 10);
    ns_free(body);
    body = ns_malloc(length + 1);
    for (n = 0; n < length;) {
        ssize_t got = read(fd, body + n, length - n);

        if (got <= 0) {
            return NULL;
        }
        n += (size_t) got;
    }
    body[length] = '\0';
    return body;
}

#endif
