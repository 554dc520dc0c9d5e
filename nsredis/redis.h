/* SPDX-License-Identifier: MPL-2.0
 * redis.h --
 *
 *      Redis, inside the module: links, pools of links, the thread that listens
 *      to channels, and the command.
 *
 *      Times are microseconds.  A deadline is a moment of the monotonic clock.
 */

#ifndef NSREDIS_REDIS_H
#define NSREDIS_REDIS_H

#include <hiredis/hiredis.h>

#include "ns.h"
#include "nsbroadcast.h"

#define SECOND ((int64_t) 1000000)

/*
 * Where a pool's links lead, and as whom.  Constant.
 */
typedef struct Endpoint {
    const char     *host;
    int             port;
    const char     *socketPath; /* Instead of host and port; "": none. */
    const char     *user;       /* "": the default one. */
    const char     *password;   /* "": none. */
    int             database;
    NS_TLS_SSL_CTX *tlsPtr; /* NULL: without TLS. */
    size_t          maxReply;
    char            name[256]; /* HOST:PORT or the path, for the log. */
} Endpoint;

/*
 * -------------------------------------------------------------------- Links
 *
 * A connection, used by one thread at a time.  After anything but LINK_OK it is
 * of no more use than to be closed.
 */
typedef struct Link Link;

/*
 * What a link begins with: the pool's.
 */
typedef struct LinkPlace {
    Link   *nextPtr;
    int64_t idleStamp;
} LinkPlace;

typedef enum { LINK_OK, LINK_TIMEOUT, LINK_FAILED } LinkResult;

int64_t Now(void);

/*
 * NULL: errorPtr says why.
 */
Link *LinkOpen(const Endpoint *endpointPtr, int64_t deadline,
               Ns_DString *errorPtr);
void  LinkClose(Link *linkPtr);

/*
 * One command, appended to the bytes to be sent; then all of them are sent.
 */
void LinkPut(Link *linkPtr, int argc, const char **argv, const size_t *lengths);
LinkResult LinkSend(Link *linkPtr, int64_t deadline, Ns_DString *errorPtr);

/*
 * The next reply, for freeReplyObject.  After LINK_TIMEOUT one can go on: what
 * has come of it is kept.
 */
LinkResult LinkReceive(Link *linkPtr, int64_t deadline, redisReply **replyPtr,
                       Ns_DString *errorPtr);

/*
 * Put, send, receive.
 */
LinkResult LinkAsk(Link *linkPtr, int argc, const char **argv, int64_t deadline,
                   redisReply **replyPtr, Ns_DString *errorPtr);

/*
 * Whether an idle link still leads to somebody, who has said nothing unasked.
 */
bool LinkIsIdle(Link *linkPtr);

/*
 * Wait for something to receive, or for wakeFd to be readable: true if the
 * former.
 */
bool LinkWait(Link *linkPtr, int wakeFd, int64_t deadline);

/*
 * -------------------------------------------------------------------- Pools
 */
typedef struct Listener Listener;

typedef struct Pool {
    struct Pool *nextPtr;
    const char  *name; /* Constant, and so are all up to the lock. */
    const char  *server;
    Endpoint     endpoint;
    int          maxLinks;
    int64_t      timeout;     /* For a command, with all it waits for. */
    int64_t      idleTimeout; /* 0: none. */
    int64_t      retryTime;   /* For so long nobody tries to connect once it
                               * has failed. */

    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  freed;
    Link    *firstIdlePtr; /* The one used last is first. */
    int      nIdle;
    int      nOpen; /* Idle or in use or being made. */
    int      nWaiting;
    int64_t  retryStamp; /* 0: the last attempt succeeded. */
    char     failure[200];
    uint64_t nCommands;
    uint64_t nErrors; /* Of the link; not errors that Redis answers. */
    uint64_t nTimeouts;
    uint64_t nConnects;
    uint64_t nWaits;

    Listener *listenerPtr; /* For scripts; constant. */
} Pool;

void PoolInit(Pool *poolPtr);

/*
 * A link by the deadline, or NULL: errorPtr says why.
 */
Link *PoolTake(Pool *poolPtr, int64_t deadline, Ns_DString *errorPtr);

/*
 * Back; result says whether it is of further use.
 */
void PoolPut(Pool *poolPtr, Link *linkPtr, LinkResult result, int nCommands);

/*
 * Append the figures as a dictionary.
 */
void PoolStats(Pool *poolPtr, Ns_DString *dsPtr);

/*
 * Close what is idle.
 */
void PoolClose(Pool *poolPtr);

/*
 * ---------------------------------------------------------------- Listeners
 *
 * A thread that listens to channels, begun by the first subscription, and
 * publishes.
 */

/*
 * A message of a channel; NULL: some may have been missed.  In the listener's
 * thread, without a lock held.
 */
typedef void ListenProc(const char *channel, const char *message, size_t length,
                        void *arg);

Listener *ListenerCreate(Pool *poolPtr, const char *purpose);

/*
 * The number of the subscription.  freeProc gets arg, in the thread, when it is
 * over.
 */
int  ListenerAdd(Listener *listenerPtr, const char *channel, bool isPattern,
                 ListenProc *proc, Ns_Callback *freeProc, void *arg);
bool ListenerRemove(Listener *listenerPtr, int id);
void ListenerList(Listener *listenerPtr, Ns_DString *dsPtr);

/*
 * Have a message published as soon as possible; does not wait.
 */
void ListenerPublish(Listener *listenerPtr, const char *channel,
                     const char *message);

/*
 * End the thread once all is published, or what is left cannot be; wait for
 * that.
 */
Ns_ShutdownProc ListenerStop;

/*
 * ------------------------------------------------------------------ Command
 */
typedef struct Server {
    const char *server;
    Pool       *firstPoolPtr; /* The default one. */
    Listener   *carrierPtr;   /* Of what caches and arrays tell. */
    const char *prefix;       /* Of their channels. */
} Server;

/*
 * For each server, when the module is initialized.
 */
void RedisCmdInit(void);

Tcl_ObjCmdProc RedisCmd;

#endif
