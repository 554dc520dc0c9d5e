/* SPDX-License-Identifier: MPL-2.0
 * listener.c --
 *
 *      The thread of a pool that listens to channels, and publishes what others
 *      leave for it.
 *
 *      It has a link of its own for each of the two.  When the link was lost,
 *      messages may have been missed; every subscription hears of that once the
 *      new link has subscribed.  The first time counts as well: something may
 *      have happened between the start of the server and now.
 */

#include <assert.h>
#include <stdatomic.h>

#include "redis.h"

#define MIN_PAUSE (SECOND / 10)
#define MAX_PAUSE (SECOND * 5)
/*
 * A link on which nothing comes is asked this often; and how many messages wait
 * to be published, before one that stands for all of its channel does.
 */
#define ASK_TIME  (SECOND * 5)
#define MAX_QUEUE 10000

typedef struct Subscription {
    struct Subscription *nextPtr;
    int                  id;
    bool                 isPattern;
    bool                 isRemoved; /* The thread will free it. */
    bool                 isSent;    /* Asked for on this link: the thread's. */
    bool                 hasGap;    /* To be told; likewise. */
    ListenProc          *proc;
    Ns_Callback         *freeProc;
    void                *arg;
    char                 channel[];
} Subscription;

typedef struct Message {
    struct Message *nextPtr;
    char           *text;
    char            channel[];
} Message;

struct Listener {
    Pool       *poolPtr; /* Constant, as all up to the lock. */
    const char *purpose;

    /* A pipe, which the thread makes, so one that nobody needs has none. */
    int        waitFd; /* The thread's. */
    atomic_int wakeFd; /* Set once.  Whoever still finds -1 has changed the
                        * lists before the thread looks at them. */

    Ns_Mutex lock; /* Guards what follows. */
    Ns_Cond  ended;
    bool     isRunning;
    bool     isStopping;
    int      nextId;

    Subscription *firstPtr; /* In the order of their numbers; only the thread
                             * removes some. */
    Message  *firstMessagePtr;
    Message **lastMessagePtrPtr;
    int       nMessages;

    /* The thread's. */
    Link   *inPtr;
    Link   *outPtr;
    bool    isAway;
    bool    isAsked;  /* Whether it is there. */
    int64_t askStamp; /* When to ask; when the answer is late. */
    int64_t pause;
};

static void        StartLocked(Listener *listenerPtr);
static void        Wake(Listener *listenerPtr);
static void        Run(void *arg);
static bool        Step(Listener *listenerPtr);
static bool        OpenPipe(Listener *listenerPtr, Ns_DString *errorPtr);
static bool        Listen(Listener *listenerPtr, Ns_DString *errorPtr);
static bool        Subscribe(Listener *listenerPtr, Ns_DString *errorPtr);
static bool        IsWantedElsewhere(Listener           *listenerPtr,
                                     const Subscription *thisPtr);
static bool        Receive(Listener *listenerPtr, Ns_DString *errorPtr);
static bool        Ask(Listener *listenerPtr, Ns_DString *errorPtr);
static void        Hear(Listener *listenerPtr, const redisReply *replyPtr);
static const char *Word(const redisReply *replyPtr, size_t i);
static void        Tell(Listener *listenerPtr, bool isPattern, const char *name,
                        const char *channel, const redisReply *messagePtr);
static bool        Publish(Listener *listenerPtr, Ns_DString *errorPtr);
static LinkResult  PublishAll(Listener *listenerPtr, const Message *listPtr,
                              Ns_DString *errorPtr);
static Message    *TakeMessages(Listener *listenerPtr);
static void        PutBack(Listener *listenerPtr, Message *listPtr);
static void        FreeMessages(Message *listPtr);
static void        QueueLocked(Listener *listenerPtr, const char *channel,
                               const char *text);
static void        ShortenLocked(Listener *listenerPtr);
static void NoteState(Listener *listenerPtr, bool isAway, const char *reason);
static void Rest(Listener *listenerPtr, int64_t time);
static void DropLink(Link **linkPtrPtr);

Listener *
ListenerCreate(Pool *poolPtr, const char *purpose)
{
    Listener *listenerPtr = ns_calloc(1u, sizeof(*listenerPtr));

    listenerPtr->poolPtr = poolPtr;
    listenerPtr->purpose = purpose;
    listenerPtr->nextId = 1;
    listenerPtr->lastMessagePtrPtr = &listenerPtr->firstMessagePtr;
    listenerPtr->pause = MIN_PAUSE;
    Ns_MutexInit(&listenerPtr->lock);
    Ns_MutexSetName2(&listenerPtr->lock, purpose, poolPtr->name);
    Ns_CondInit(&listenerPtr->ended);
    listenerPtr->waitFd = -1;
    atomic_init(&listenerPtr->wakeFd, -1);
    (void) Ns_RegisterAtShutdown(ListenerStop, listenerPtr);
    return listenerPtr;
}

int
ListenerAdd(Listener *listenerPtr, const char *channel, bool isPattern,
            ListenProc *proc, Ns_Callback *freeProc, void *arg)
{
    size_t         length = strlen(channel) + 1;
    Subscription  *newPtr = ns_calloc(1u, sizeof(*newPtr) + length);
    Subscription **linkPtr = &listenerPtr->firstPtr;
    int            id;

    newPtr->isPattern = isPattern;
    newPtr->proc = proc;
    newPtr->freeProc = freeProc;
    newPtr->arg = arg;
    memcpy(newPtr->channel, channel, length);

    Ns_MutexLock(&listenerPtr->lock);
    id = newPtr->id = listenerPtr->nextId++;
    while (*linkPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = newPtr;
    StartLocked(listenerPtr);
    Ns_MutexUnlock(&listenerPtr->lock);
    Wake(listenerPtr);
    return id;
}

bool
ListenerRemove(Listener *listenerPtr, int id)
{
    Subscription *foundPtr;

    Ns_MutexLock(&listenerPtr->lock);
    foundPtr = listenerPtr->firstPtr;
    while (foundPtr != NULL && (foundPtr->id != id || foundPtr->isRemoved)) {
        foundPtr = foundPtr->nextPtr;
    }
    if (foundPtr != NULL) {
        foundPtr->isRemoved = true;
    }
    Ns_MutexUnlock(&listenerPtr->lock);
    Wake(listenerPtr);
    return foundPtr != NULL;
}

void
ListenerList(Listener *listenerPtr, Ns_DString *dsPtr)
{
    Ns_MutexLock(&listenerPtr->lock);
    for (const Subscription *subscriptionPtr = listenerPtr->firstPtr;
         subscriptionPtr != NULL; subscriptionPtr = subscriptionPtr->nextPtr) {
        if (!subscriptionPtr->isRemoved) {
            Tcl_DStringStartSublist(dsPtr);
            Ns_DStringPrintf(dsPtr, "id %d pattern %d channel",
                             subscriptionPtr->id, subscriptionPtr->isPattern);
            Ns_DStringAppendElement(dsPtr, subscriptionPtr->channel);
            Tcl_DStringEndSublist(dsPtr);
        }
    }
    Ns_MutexUnlock(&listenerPtr->lock);
}

void
ListenerPublish(Listener *listenerPtr, const char *channel, const char *message)
{
    Ns_MutexLock(&listenerPtr->lock);
    if (listenerPtr->nMessages >= MAX_QUEUE) {
        ShortenLocked(listenerPtr);
    }
    QueueLocked(listenerPtr, channel, message);
    StartLocked(listenerPtr);
    Ns_MutexUnlock(&listenerPtr->lock);
    Wake(listenerPtr);
}

static void
QueueLocked(Listener *listenerPtr, const char *channel, const char *text)
{
    size_t   length = strlen(channel) + 1;
    Message *messagePtr = ns_malloc(sizeof(*messagePtr) + length);

    messagePtr->nextPtr = NULL;
    messagePtr->text = ns_strdup(text);
    memcpy(messagePtr->channel, channel, length);
    *listenerPtr->lastMessagePtrPtr = messagePtr;
    listenerPtr->lastMessagePtrPtr = &messagePtr->nextPtr;
    listenerPtr->nMessages++;
}

/*
 * Instead of all that waits, one message for each channel that has the others
 * flush everything.
 */
static void
ShortenLocked(Listener *listenerPtr)
{
    Message      *listPtr = listenerPtr->firstMessagePtr;
    Tcl_HashTable seen;
    Ns_DString    all;

    assert(listPtr != NULL);
    Tcl_InitHashTable(&seen, TCL_STRING_KEYS);
    Ns_DStringInit(&all);
    Ns_BroadcastFlushAll(listenerPtr->poolPtr->server, &all);
    listenerPtr->firstMessagePtr = NULL;
    listenerPtr->lastMessagePtrPtr = &listenerPtr->firstMessagePtr;
    listenerPtr->nMessages = 0;
    for (const Message *messagePtr = listPtr; messagePtr != NULL;
         messagePtr = messagePtr->nextPtr) {
        int isNew;

        (void) Tcl_CreateHashEntry(&seen, messagePtr->channel, &isNew);
        if (isNew) {
            QueueLocked(listenerPtr, messagePtr->channel, all.string);
        }
    }
    FreeMessages(listPtr);
    Ns_DStringFree(&all);
    Tcl_DeleteHashTable(&seen);
}

static void
StartLocked(Listener *listenerPtr)
{
    if (!listenerPtr->isRunning && !listenerPtr->isStopping) {
        listenerPtr->isRunning = true;
        Ns_ThreadCreate(Run, listenerPtr, 0, NULL);
    }
}

/*
 * A full pipe wakes as well.
 */
static void
Wake(Listener *listenerPtr)
{
    int fd = atomic_load(&listenerPtr->wakeFd);

    if (fd >= 0 && write(fd, "", 1) < 0) {
        assert(errno == EAGAIN);
    }
}

void
ListenerStop(NS_API_CONST Ns_Time *toPtr, void *arg)
{
    Listener *listenerPtr = arg;
    int       status = NS_OK;

    Ns_MutexLock(&listenerPtr->lock);
    if (toPtr == NULL) {
        listenerPtr->isStopping = true;
    }
    while (toPtr != NULL && listenerPtr->isRunning && status == NS_OK) {
        status = Ns_CondTimedWait(&listenerPtr->ended, &listenerPtr->lock,
                                  (Ns_Time *) toPtr);
    }
    Ns_MutexUnlock(&listenerPtr->lock);
    Wake(listenerPtr);
}

/*
 * -------------------------------------------------------------- The thread
 */
static void
Run(void *arg)
{
    Listener *listenerPtr = arg;
    int       nLeft;

    Ns_ThreadSetName("-%s:%s-", listenerPtr->purpose,
                     listenerPtr->poolPtr->name);
    while (Step(listenerPtr)) {
        /* Go on. */
    }
    DropLink(&listenerPtr->inPtr);
    DropLink(&listenerPtr->outPtr);
    Ns_MutexLock(&listenerPtr->lock);
    nLeft = listenerPtr->nMessages;
    Ns_MutexUnlock(&listenerPtr->lock);
    if (nLeft > 0) {
        Ns_Log(Warning,
               "nsredis[%s]: %d flushes have not reached other machines",
               listenerPtr->poolPtr->name, nLeft);
    }
    Ns_MutexLock(&listenerPtr->lock);
    listenerPtr->isRunning = false;
    Ns_MutexUnlock(&listenerPtr->lock);
    Ns_CondBroadcast(&listenerPtr->ended);
}

/*
 * Do what there is to do, and wait for more.  False: it is time to end.
 */
static bool
Step(Listener *listenerPtr)
{
    Ns_DString error;
    char       bytes[64];
    bool       hasPipe, isStopping, isDone;

    Ns_DStringInit(&error);
    hasPipe = OpenPipe(listenerPtr, &error);
    while (hasPipe && read(listenerPtr->waitFd, bytes, sizeof(bytes)) > 0) {
        /* All wakeups up to now are this one. */
    }
    Ns_MutexLock(&listenerPtr->lock);
    isStopping = listenerPtr->isStopping;
    Ns_MutexUnlock(&listenerPtr->lock);

    isDone = Publish(listenerPtr, &error) && hasPipe;
    if (!isStopping && hasPipe) {
        isDone = Listen(listenerPtr, &error) && isDone;
    }
    if (!isDone) {
        NoteState(listenerPtr, true, error.string);
        if (!isStopping) {
            Rest(listenerPtr, listenerPtr->pause);
            listenerPtr->pause = MIN(listenerPtr->pause * 2, MAX_PAUSE);
        }
    } else {
        NoteState(listenerPtr, false, NULL);
        listenerPtr->pause = MIN_PAUSE;
        if (!isStopping && !Receive(listenerPtr, &error)) {
            DropLink(&listenerPtr->inPtr);
            NoteState(listenerPtr, true, error.string);
        }
    }
    Ns_DStringFree(&error);
    return !isStopping;
}

static bool
OpenPipe(Listener *listenerPtr, Ns_DString *errorPtr)
{
    int fds[2];

    if (listenerPtr->waitFd >= 0) {
        return true;
    }
    if (ns_pipe(fds) != 0) {
        Ns_DStringPrintf(errorPtr, "could not make a pipe: %s",
                         strerror(errno));
        return false;
    }
    for (int i = 0; i < 2; i++) {
        (void) Ns_SockSetNonBlocking(fds[i]);
        (void) fcntl(fds[i], F_SETFD, FD_CLOEXEC);
    }
    listenerPtr->waitFd = fds[0];
    atomic_store(&listenerPtr->wakeFd, fds[1]);
    return true;
}

/*
 * Once each time that it changes.
 */
static void
NoteState(Listener *listenerPtr, bool isAway, const char *reason)
{
    if (isAway != listenerPtr->isAway) {
        listenerPtr->isAway = isAway;
        if (isAway) {
            Ns_Log(Warning, "nsredis[%s]: cannot subscribe to channels: %s",
                   listenerPtr->poolPtr->name, reason);
        } else {
            Ns_Log(Notice, "nsredis[%s]: subscribed to channels again",
                   listenerPtr->poolPtr->name);
        }
    }
}

static void
DropLink(Link **linkPtrPtr)
{
    if (*linkPtrPtr != NULL) {
        LinkClose(*linkPtrPtr);
        *linkPtrPtr = NULL;
    }
}

/*
 * Until the time is over or somebody wakes.  Without a pipe nobody can.
 */
static void
Rest(Listener *listenerPtr, int64_t time)
{
    struct pollfd waiting = {.fd = listenerPtr->waitFd, .events = POLLIN};

    assert(time >= 0 || listenerPtr->waitFd >= 0);
    if (listenerPtr->waitFd < 0) {
        time = MIN_PAUSE;
    }
    (void) poll(&waiting, 1, time < 0 ? -1 : (int) (time / 1000));
}

/*
 * See that Redis has been asked for all channels that are wanted.
 */
static bool
Listen(Listener *listenerPtr, Ns_DString *errorPtr)
{
    const Pool *poolPtr = listenerPtr->poolPtr;
    bool        isNeeded;

    Ns_MutexLock(&listenerPtr->lock);
    isNeeded = listenerPtr->firstPtr != NULL;
    if (listenerPtr->inPtr == NULL) {
        for (Subscription *subscriptionPtr = listenerPtr->firstPtr;
             subscriptionPtr != NULL;
             subscriptionPtr = subscriptionPtr->nextPtr) {
            subscriptionPtr->isSent = false;
        }
    }
    Ns_MutexUnlock(&listenerPtr->lock);
    if (!isNeeded) {
        return true;
    }
    if (listenerPtr->inPtr == NULL) {
        listenerPtr->inPtr = LinkOpen(&poolPtr->endpoint,
                                      Now() + poolPtr->timeout, errorPtr);
        if (listenerPtr->inPtr == NULL) {
            return false;
        }
        listenerPtr->isAsked = false;
        listenerPtr->askStamp = Now() + ASK_TIME;
    }
    if (!Subscribe(listenerPtr, errorPtr)) {
        DropLink(&listenerPtr->inPtr);
        return false;
    }
    return true;
}

/*
 * Ask for what is new, and no longer for what has been removed.
 */
static bool
Subscribe(Listener *listenerPtr, Ns_DString *errorPtr)
{
    Subscription *removedPtr = NULL, **linkPtr = &listenerPtr->firstPtr;

    Ns_MutexLock(&listenerPtr->lock);
    while (*linkPtr != NULL) {
        Subscription *subscriptionPtr = *linkPtr;
        bool          isPattern = subscriptionPtr->isPattern;
        const char   *words[] = {
              isPattern ? "PSUBSCRIBE" : "SUBSCRIBE", subscriptionPtr->channel};

        if (subscriptionPtr->isRemoved) {
            *linkPtr = subscriptionPtr->nextPtr;
            subscriptionPtr->nextPtr = removedPtr;
            removedPtr = subscriptionPtr;
            if (subscriptionPtr->isSent
                && !IsWantedElsewhere(listenerPtr, subscriptionPtr)) {
                words[0] = isPattern ? "PUNSUBSCRIBE" : "UNSUBSCRIBE";
                LinkPut(listenerPtr->inPtr, 2, words, NULL);
            }
            continue;
        }
        if (!subscriptionPtr->isSent) {
            subscriptionPtr->isSent = subscriptionPtr->hasGap = true;
            LinkPut(listenerPtr->inPtr, 2, words, NULL);
        }
        linkPtr = &subscriptionPtr->nextPtr;
    }
    Ns_MutexUnlock(&listenerPtr->lock);

    while (removedPtr != NULL) {
        Subscription *nextPtr = removedPtr->nextPtr;

        removedPtr->freeProc(removedPtr->arg);
        ns_free(removedPtr);
        removedPtr = nextPtr;
    }
    return LinkSend(listenerPtr->inPtr, Now() + listenerPtr->poolPtr->timeout,
                    errorPtr)
        == LINK_OK;
}

static bool
IsWantedElsewhere(Listener *listenerPtr, const Subscription *thisPtr)
{
    const Subscription *otherPtr = listenerPtr->firstPtr;

    while (otherPtr != NULL
           && (otherPtr->isRemoved || otherPtr->isPattern != thisPtr->isPattern
               || !STREQ(otherPtr->channel, thisPtr->channel))) {
        otherPtr = otherPtr->nextPtr;
    }
    return otherPtr != NULL;
}

/*
 * Wait for a message or a wakeup.  False: the link is lost.
 */
static bool
Receive(Listener *listenerPtr, Ns_DString *errorPtr)
{
    redisReply *replyPtr = NULL;
    LinkResult  result;

    if (listenerPtr->inPtr == NULL) {
        Rest(listenerPtr, -1);
        return true;
    }
    if (!LinkWait(listenerPtr->inPtr, listenerPtr->waitFd,
                  listenerPtr->askStamp)) {
        return Now() < listenerPtr->askStamp || Ask(listenerPtr, errorPtr);
    }
    do {
        result = LinkReceive(listenerPtr->inPtr, 0, &replyPtr, errorPtr);
        if (result == LINK_OK) {
            listenerPtr->isAsked = false;
            listenerPtr->askStamp = Now() + ASK_TIME;
            Hear(listenerPtr, replyPtr);
            freeReplyObject(replyPtr);
        }
    } while (result == LINK_OK);
    Ns_DStringSetLength(errorPtr, 0);
    if (result == LINK_FAILED) {
        Ns_DStringAppend(errorPtr, "the connection is lost");
    }
    return result == LINK_TIMEOUT;
}

/*
 * Nothing has come for a while: is Redis there?
 */
static bool
Ask(Listener *listenerPtr, Ns_DString *errorPtr)
{
    const char *words[] = {"PING"};
    int64_t     timeout = listenerPtr->poolPtr->timeout;

    if (listenerPtr->isAsked) {
        Ns_DStringAppend(errorPtr, "Redis does not answer");
        return false;
    }
    listenerPtr->isAsked = true;
    listenerPtr->askStamp = Now() + timeout;
    LinkPut(listenerPtr->inPtr, 1, words, NULL);
    return LinkSend(listenerPtr->inPtr, Now() + timeout, errorPtr) == LINK_OK;
}

static void
Hear(Listener *listenerPtr, const redisReply *replyPtr)
{
    const char *kind = Word(replyPtr, 0), *name = Word(replyPtr, 1);

    if (kind == NULL || name == NULL) {
        return;
    }
    if (STREQ(kind, "message") && replyPtr->elements == 3) {
        Tell(listenerPtr, false, name, name, replyPtr->element[2]);
    } else if (STREQ(kind, "pmessage") && replyPtr->elements == 4
               && Word(replyPtr, 2) != NULL) {
        Tell(listenerPtr, true, name, Word(replyPtr, 2), replyPtr->element[3]);
    } else if (STREQ(kind, "subscribe")) {
        Tell(listenerPtr, false, name, name, NULL);
    } else if (STREQ(kind, "psubscribe")) {
        Tell(listenerPtr, true, name, name, NULL);
    }
}

static const char *
Word(const redisReply *replyPtr, size_t i)
{
    return replyPtr->type == REDIS_REPLY_ARRAY && replyPtr->elements > i
            && replyPtr->element[i]->type == REDIS_REPLY_STRING
        ? replyPtr->element[i]->str
        : NULL;
}

/*
 * Those who subscribed to the name: of the message (NULL: that they may have
 * missed some, if they may).
 */
static void
Tell(Listener *listenerPtr, bool isPattern, const char *name,
     const char *channel, const redisReply *messagePtr)
{
    Subscription *subscriptionPtr;

    Ns_MutexLock(&listenerPtr->lock);
    subscriptionPtr = listenerPtr->firstPtr;
    while (subscriptionPtr != NULL) {
        bool isMeant = !subscriptionPtr->isRemoved
            && subscriptionPtr->isPattern == isPattern
            && STREQ(subscriptionPtr->channel, name)
            && (messagePtr != NULL || subscriptionPtr->hasGap);

        if (isMeant) {
            if (messagePtr == NULL) {
                subscriptionPtr->hasGap = false;
            }
            Ns_MutexUnlock(&listenerPtr->lock);
            subscriptionPtr->proc(channel,
                                  messagePtr != NULL ? messagePtr->str : NULL,
                                  messagePtr != NULL ? messagePtr->len : 0,
                                  subscriptionPtr->arg);
            Ns_MutexLock(&listenerPtr->lock);
        }
        subscriptionPtr = subscriptionPtr->nextPtr;
    }
    Ns_MutexUnlock(&listenerPtr->lock);
}

/*
 * Publish what waits.  Messages whose arrival is uncertain stay, and are sent
 * again: a flush more does no harm.
 */
static bool
Publish(Listener *listenerPtr, Ns_DString *errorPtr)
{
    const Pool *poolPtr = listenerPtr->poolPtr;
    Message    *listPtr;

    while ((listPtr = TakeMessages(listenerPtr)) != NULL) {
        if (listenerPtr->outPtr != NULL && !LinkIsIdle(listenerPtr->outPtr)) {
            DropLink(&listenerPtr->outPtr);
        }
        if (listenerPtr->outPtr == NULL) {
            listenerPtr->outPtr = LinkOpen(&poolPtr->endpoint,
                                           Now() + poolPtr->timeout, errorPtr);
        }
        if (listenerPtr->outPtr == NULL
            || PublishAll(listenerPtr, listPtr, errorPtr) != LINK_OK) {
            DropLink(&listenerPtr->outPtr);
            PutBack(listenerPtr, listPtr);
            return false;
        }
        FreeMessages(listPtr);
    }
    return true;
}

static LinkResult
PublishAll(Listener *listenerPtr, const Message *listPtr, Ns_DString *errorPtr)
{
    int64_t    deadline = Now() + listenerPtr->poolPtr->timeout;
    LinkResult result;

    for (const Message *messagePtr = listPtr; messagePtr != NULL;
         messagePtr = messagePtr->nextPtr) {
        const char *words[] = {
            "PUBLISH", messagePtr->channel, messagePtr->text};

        LinkPut(listenerPtr->outPtr, 3, words, NULL);
    }
    result = LinkSend(listenerPtr->outPtr, deadline, errorPtr);
    for (const Message *messagePtr = listPtr;
         messagePtr != NULL && result == LINK_OK;
         messagePtr = messagePtr->nextPtr) {
        redisReply *replyPtr;

        result = LinkReceive(listenerPtr->outPtr, deadline, &replyPtr,
                             errorPtr);
        if (result == LINK_OK && replyPtr->type == REDIS_REPLY_ERROR) {
            Ns_DStringPrintf(errorPtr, "PUBLISH: %s", replyPtr->str);
            result = LINK_FAILED;
            freeReplyObject(replyPtr);
        } else if (result == LINK_OK) {
            freeReplyObject(replyPtr);
        }
    }
    return result;
}

/*
 * All that wait.
 */
static Message *
TakeMessages(Listener *listenerPtr)
{
    Message *listPtr;

    Ns_MutexLock(&listenerPtr->lock);
    listPtr = listenerPtr->firstMessagePtr;
    listenerPtr->firstMessagePtr = NULL;
    listenerPtr->lastMessagePtrPtr = &listenerPtr->firstMessagePtr;
    listenerPtr->nMessages = 0;
    Ns_MutexUnlock(&listenerPtr->lock);
    return listPtr;
}

/*
 * Before those that have come meanwhile.
 */
static void
PutBack(Listener *listenerPtr, Message *listPtr)
{
    Message **linkPtr = &listPtr;
    int       n = 0;

    while (*linkPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
        n++;
    }
    Ns_MutexLock(&listenerPtr->lock);
    *linkPtr = listenerPtr->firstMessagePtr;
    if (listenerPtr->firstMessagePtr == NULL) {
        listenerPtr->lastMessagePtrPtr = linkPtr;
    }
    listenerPtr->firstMessagePtr = listPtr;
    listenerPtr->nMessages += n;
    Ns_MutexUnlock(&listenerPtr->lock);
}

static void
FreeMessages(Message *listPtr)
{
    while (listPtr != NULL) {
        Message *nextPtr = listPtr->nextPtr;

        ns_free(listPtr->text);
        ns_free(listPtr);
        listPtr = nextPtr;
    }
}
