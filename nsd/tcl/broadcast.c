/* SPDX-License-Identifier: MPL-2.0
 * broadcast.c --
 *
 *      What this server flushes, told to others, and what they flush, done
 *      here.
 *
 *      A message is a list: the sender, the kind, the name of the thing,
 *      whether keys are patterns, the keys.  Without a kind, it is about
 *      everything of the channel.  The sender is a number that each server of
 *      each process draws for itself.
 */

#include "tcl/broadcast.h"

#include "ns.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/random.h"
#include "tcl/perserver.h"

enum { SENDER, KIND, NAME, IS_GLOB, KEYS };

/*
 * A thing that has, or had, a channel.  Members are never removed.
 */
typedef struct Member {
    struct Member  *nextPtr;
    NsBroadcastKind kind;
    const char     *channel; /* NULL: none now. */
    char            name[];
} Member;

/*
 * Of one server.  The lock guards all but the sender.
 */
typedef struct Broadcast {
    Ns_Mutex              lock;
    char                  sender[17];
    Tcl_HashTable         channels; /* Names, for ever. */
    Member               *firstPtr; /* Things. */
    Ns_BroadcastSendProc *sendProc; /* NULL: there is no carrier. */
    Ns_BroadcastJoinProc *joinProc;
    void                 *arg;
} Broadcast;

static NsPerServer      broadcasts;
static NsBroadcastProc *procs[NS_BROADCAST_ARRAY + 1];

static const char *const kindNames[] = {
    [NS_BROADCAST_CACHE] = "cache", [NS_BROADCAST_ARRAY] = "nsv"};

static NsPerServerProc CreateBroadcast;
static Broadcast      *BroadcastOf(NsServer *serverPtr);
static Ns_Callback     CheckCarrier;
static Member *FindLocked(const Broadcast *broadcastPtr, NsBroadcastKind kind,
                          const char *name);
static bool    HasChannel(Broadcast *broadcastPtr, const Member *memberPtr,
                          const char *channel);
static void    FlushChannel(NsServer *serverPtr, const char *channel);
static void FlushMember(NsServer *serverPtr, const char *channel, TCL_SIZE_T n,
                        const char **words);

void
NsBroadcastSetProc(NsBroadcastKind kind, NsBroadcastProc *proc)
{
    NsAssert(kind < Ns_NrElements(procs) && procs[kind] == NULL);
    procs[kind] = proc;
}

static Broadcast *
BroadcastOf(NsServer *serverPtr)
{
    return NsPerServerGet(&broadcasts, serverPtr, CreateBroadcast);
}

static void *
CreateBroadcast(NsServer *serverPtr)
{
    Broadcast *broadcastPtr = ns_calloc(1u, sizeof(*broadcastPtr));
    uint64_t   sender;

    NsMutexSetup(&broadcastPtr->lock, NS_RANK_TCL_MISC, "ns:broadcast",
                 serverPtr->name);
    Tcl_InitHashTable(&broadcastPtr->channels, TCL_STRING_KEYS);
    NsRandomBytes(&sender, sizeof(sender));
    snprintf(broadcastPtr->sender, sizeof(broadcastPtr->sender), "%016" PRIx64,
             sender);
    return broadcastPtr;
}

Ns_ReturnCode
Ns_BroadcastCarry(const char *server, Ns_BroadcastSendProc *sendProc,
                  Ns_BroadcastJoinProc *joinProc, void *arg)
{
    NsServer      *serverPtr = NsServerFind(server);
    Broadcast     *broadcastPtr;
    Tcl_HashSearch search;
    Tcl_DString    names;
    TCL_SIZE_T     n = 0;
    const char   **channels = NULL;

    NsAssert(sendProc != NULL && joinProc != NULL);
    if (serverPtr == NULL) {
        return NS_ERROR;
    }
    broadcastPtr = BroadcastOf(serverPtr);
    Tcl_DStringInit(&names);
    Ns_MutexLock(&broadcastPtr->lock);
    if (broadcastPtr->sendProc != NULL) {
        Ns_MutexUnlock(&broadcastPtr->lock);
        return NS_ERROR;
    }
    broadcastPtr->sendProc = sendProc;
    broadcastPtr->joinProc = joinProc;
    broadcastPtr->arg = arg;
    for (Tcl_HashEntry *hPtr =
             Tcl_FirstHashEntry(&broadcastPtr->channels, &search);
         hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        Tcl_DStringAppendElement(&names,
                                 Tcl_GetHashKey(&broadcastPtr->channels, hPtr));
    }
    Ns_MutexUnlock(&broadcastPtr->lock);

    NsAssert(Tcl_SplitList(NULL, names.string, &n, &channels) == TCL_OK);
    for (TCL_SIZE_T i = 0; i < n; i++) {
        joinProc(channels[i], arg);
    }
    Tcl_Free((char *) channels);
    Tcl_DStringFree(&names);
    return NS_OK;
}

const char *
NsBroadcastJoin(NsServer *serverPtr, NsBroadcastKind kind, const char *name,
                const char *channel)
{
    Broadcast            *broadcastPtr = BroadcastOf(serverPtr);
    Ns_BroadcastJoinProc *joinProc;
    Member               *memberPtr;
    const char           *keptChannel = NULL;
    void                 *arg;
    int                   isNew = 0;

    Ns_MutexLock(&broadcastPtr->lock);
    if (*channel != '\0') {
        keptChannel =
            Tcl_GetHashKey(&broadcastPtr->channels,
                           Tcl_CreateHashEntry(&broadcastPtr->channels, channel,
                                               &isNew));
    }
    memberPtr = FindLocked(broadcastPtr, kind, name);
    if (memberPtr == NULL) {
        size_t length = strlen(name) + 1;

        memberPtr = ns_malloc(sizeof(*memberPtr) + length);
        memberPtr->kind = kind;
        memcpy(memberPtr->name, name, length);
        memberPtr->nextPtr = broadcastPtr->firstPtr;
        broadcastPtr->firstPtr = memberPtr;
    }
    memberPtr->channel = keptChannel;
    joinProc = broadcastPtr->joinProc;
    arg = broadcastPtr->arg;
    Ns_MutexUnlock(&broadcastPtr->lock);

    if (isNew && joinProc != NULL) {
        joinProc(keptChannel, arg);
    } else if (isNew && Ns_InfoStarted()) {
        CheckCarrier(serverPtr);
    } else if (isNew) {
        (void) Ns_RegisterAtStartup(CheckCarrier, serverPtr);
    }
    return keptChannel;
}

static Member *
FindLocked(const Broadcast *broadcastPtr, NsBroadcastKind kind,
           const char *name)
{
    Member *memberPtr;

    NsAssertLocked(&broadcastPtr->lock);
    for (memberPtr = broadcastPtr->firstPtr; memberPtr != NULL;
         memberPtr = memberPtr->nextPtr) {
        if (memberPtr->kind == kind && STREQ(memberPtr->name, name)) {
            break;
        }
    }
    return memberPtr;
}

/*
 * Somebody wants to tell others, and perhaps nothing carries it.
 */
static void
CheckCarrier(void *arg)
{
    const NsServer *serverPtr = arg;
    Broadcast      *broadcastPtr = BroadcastOf(arg);
    Tcl_HashSearch  search;
    Tcl_HashEntry  *hPtr;
    const char     *channel;
    bool            hasCarrier;

    Ns_MutexLock(&broadcastPtr->lock);
    hasCarrier = broadcastPtr->sendProc != NULL;
    hPtr = Tcl_FirstHashEntry(&broadcastPtr->channels, &search);
    channel = Tcl_GetHashKey(&broadcastPtr->channels, hPtr);
    Ns_MutexUnlock(&broadcastPtr->lock);
    if (!hasCarrier) {
        Ns_Log(
            Warning,
            "broadcast[%s]: flushes on channel %s do not reach other machines: "
            "the server has no module, such as nsredis, that sends them",
            serverPtr->name, channel);
    }
}

void
NsBroadcastTell(NsServer *serverPtr, const char *channel, NsBroadcastKind kind,
                const char *name, const NsBroadcastKeys *keysPtr)
{
    Broadcast            *broadcastPtr;
    Ns_BroadcastSendProc *sendProc;
    void                 *arg;
    Ns_DString            message;

    if (channel == NULL) {
        return;
    }
    broadcastPtr = BroadcastOf(serverPtr);
    Ns_MutexLock(&broadcastPtr->lock);
    sendProc = broadcastPtr->sendProc;
    arg = broadcastPtr->arg;
    Ns_MutexUnlock(&broadcastPtr->lock);
    if (sendProc == NULL) {
        return;
    }
    Ns_DStringInit(&message);
    Ns_DStringVarAppend(&message, broadcastPtr->sender, " ", kindNames[kind],
                        NULL);
    Ns_DStringAppendElement(&message, name);
    Ns_DStringAppendElement(&message, keysPtr->isGlob ? "1" : "0");
    for (TCL_SIZE_T i = 0; i < keysPtr->n; i++) {
        Ns_DStringAppendElement(&message, keysPtr->keys[i]);
    }
    sendProc(channel, message.string, arg);
    Ns_DStringFree(&message);
}

void
Ns_BroadcastFlushAll(const char *server, Ns_DString *dsPtr)
{
    NsServer *serverPtr = NsServerFind(server);

    NsAssert(serverPtr != NULL);
    Ns_DStringAppend(dsPtr, BroadcastOf(serverPtr)->sender);
}

void
Ns_BroadcastGap(const char *server, const char *channel)
{
    NsServer *serverPtr = NsServerFind(server);

    NsAssert(serverPtr != NULL);
    FlushChannel(serverPtr, channel);
}

void
Ns_BroadcastDeliver(const char *server, const char *channel,
                    const char *message)
{
    NsServer    *serverPtr = NsServerFind(server);
    TCL_SIZE_T   n;
    const char **words;

    NsAssert(serverPtr != NULL);
    if (Tcl_SplitList(NULL, message, &n, &words) != TCL_OK) {
        n = 0;
        words = NULL;
    }
    if (n == 1) {
        if (!STREQ(words[SENDER], BroadcastOf(serverPtr)->sender)) {
            FlushChannel(serverPtr, channel);
        }
    } else if (n >= KEYS) {
        FlushMember(serverPtr, channel, n, words);
    } else {
        Ns_Log(Warning,
               "broadcast[%s]: a message on channel %s is ignored: it does not "
               "come from a server: %.100s",
               serverPtr->name, channel, message);
    }
    if (words != NULL) {
        Tcl_Free((char *) words);
    }
}

static void
FlushMember(NsServer *serverPtr, const char *channel, TCL_SIZE_T n,
            const char **words)
{
    Broadcast      *broadcastPtr = BroadcastOf(serverPtr);
    NsBroadcastKeys keys = {.isGlob = STREQ(words[IS_GLOB], "1"),
                            .n = n - KEYS,
                            .keys = words + KEYS};

    NsAssert(n >= KEYS);
    if (STREQ(words[SENDER], broadcastPtr->sender)) {
        return;
    }
    for (NsBroadcastKind kind = 0; kind < Ns_NrElements(kindNames); kind++) {
        const Member *memberPtr;

        if (!STREQ(words[KIND], kindNames[kind])) {
            continue;
        }
        Ns_MutexLock(&broadcastPtr->lock);
        memberPtr = FindLocked(broadcastPtr, kind, words[NAME]);
        Ns_MutexUnlock(&broadcastPtr->lock);
        if (memberPtr != NULL && HasChannel(broadcastPtr, memberPtr, channel)) {
            procs[kind](serverPtr, memberPtr->name, &keys);
        }
    }
}

static bool
HasChannel(Broadcast *broadcastPtr, const Member *memberPtr,
           const char *channel)
{
    bool hasChannel;

    Ns_MutexLock(&broadcastPtr->lock);
    hasChannel = memberPtr->channel != NULL
        && STREQ(memberPtr->channel, channel);
    Ns_MutexUnlock(&broadcastPtr->lock);
    return hasChannel;
}

static void
FlushChannel(NsServer *serverPtr, const char *channel)
{
    static const NsBroadcastKeys all = {0};
    Broadcast                   *broadcastPtr = BroadcastOf(serverPtr);
    const Member                *memberPtr;

    Ns_MutexLock(&broadcastPtr->lock);
    memberPtr = broadcastPtr->firstPtr;
    Ns_MutexUnlock(&broadcastPtr->lock);
    /* What follows a member does not change. */
    for (; memberPtr != NULL; memberPtr = memberPtr->nextPtr) {
        if (HasChannel(broadcastPtr, memberPtr, channel)) {
            procs[memberPtr->kind](serverPtr, memberPtr->name, &all);
        }
    }
}
