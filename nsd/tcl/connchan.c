/* SPDX-License-Identifier: MPL-2.0
 * connchan.c --
 *
 *      Connections that no thread is tied to.
 *
 *      The table holds a reference to each channel, and so does a callback
 *      while the thread -socks- waits for it.  The last reference closes the
 *      socket, so its number is not reused while the channel is in use.
 *
 *      Of several threads that write, one sends, without a lock; the others
 *      leave their data to it.
 */

#include "tcl/connchan.h"

#include <poll.h>

#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/episode.h"
#include "base/lock.h"
#include "http/wsdeflate.h"
#include "http/wsframe.h"
#include "net/listen.h"
#include "net/sockcallback.h"
#include "tcl/interp.h"

#define READ_BYTES  65536
#define MAX_MESSAGE ((size_t) 1 << 20)      /* As the default of maxinput. */
#define MAX_UNSENT  ((size_t) INT_MAX / 4u) /* Tcl doubles it, in an int. */

struct NsChan {
    /* Constant. */
    NsServer  *serverPtr;
    char      *name;
    char      *driver;
    char      *peer;
    char      *clientData;
    char      *thread; /* The thread that made it. */
    Ns_Time    start;
    NS_SOCKET  sock; /* That of ioPtr. */
    NsChanIo  *ioPtr;
    bool       isServer;
    bool       isListening;
    atomic_int nRefs;
    atomic_int debugLevel;

    Ns_Mutex   lock; /* Guards the rest. */
    Ns_DString unsent;
    size_t     nInFlight; /* Bytes that the thread that sends has taken. */
    size_t     maxUnsent;
    bool       isSending; /* A thread is sending; it also takes what is added
                           * here. */
    int64_t nSent;
    int64_t nReceived;
    int     sendError; /* errno, or 0. */
    int     receiveError;
    bool    isAtEnd; /* The peer sends nothing more. */
    bool    hasMore; /* TLS may hold bytes that the socket does not tell. */
    Ns_Time receiveTimeout;
    Ns_Time timeout; /* Of the callback. */

    Ns_DString    frames;  /* Received, but not parsed yet. */
    Ns_DString    message; /* Payloads of an unfinished message. */
    NsWsRules     rules;
    int           nFragments;
    int           opcode;     /* Of that message. */
    bool          isDeflated; /* Likewise. */
    bool          isWebSocket;
    NsWsInflater *inflaterPtr; /* NULL: messages are not compressed. */

    char *script; /* NULL: no callback. */
    int   when;
    bool  isRunning; /* The script runs; the callback is armed again
                      * afterwards. */
    bool isArmed;    /* The thread -socks- has a reference until it is told to
                      * forget the channel. */
    int  nArming;    /* Threads that are about to arm a callback there. */
    bool isStale;    /* Some did so at a time: one may have been the last that
                      * knows less. */
    bool awaitsWriting; /* It is armed for writing. */
    bool isClosed;
};

static Ns_Mutex      tableLock; /* Guards the table. */
static Tcl_HashTable table;     /* NsChan by name. */
static uint64_t      nNames;

static Ns_SockProc   RunCallback, ForgetCallback;
static void          Take(NsChan *chanPtr);
static void          Move(Ns_DString *toPtr, Ns_DString *fromPtr);
static void          DropBytes(Ns_DString *dsPtr, size_t n);
static void          NoteTraffic(NsChan *chanPtr, const char *what, int64_t n);
static bool          AwaitData(NsChan *chanPtr, NsStamp *limitPtr);
static int           Receive(NsChan *chanPtr, Ns_DString *dsPtr);
static int           RunScript(const NsChan *chanPtr, const char *script,
                               const char *word);
static const char   *NameOf(int why);
static int           AcceptAll(NsChan *chanPtr, const char *script);
static Ns_ReturnCode Arm(NsChan *chanPtr);
static bool          AwaitsFlushLocked(const NsChan *chanPtr);
static bool          HasPeerLeftLocked(NsChan *chanPtr);
static void          Cancel(NsChan *chanPtr);
static int           SendLocked(NsChan *chanPtr, int64_t *nSentPtr);
static bool          FlushUnsent(NsChan *chanPtr);
static bool          HasMore(NsChan *chanPtr);
static char         *CopyScript(NsChan *chanPtr);
static NsWsStatus    ParseLocked(const NsChan *chanPtr, NsWsFrame *framePtr);
static NsWsStatus    TakeFrameLocked(NsChan *chanPtr, Ns_DString *messagePtr,
                                     Tcl_Obj *dictObj);
static NsWsStatus AddFragmentLocked(NsChan *chanPtr, const NsWsFrame *framePtr);
static NsWsStatus TakeMessageLocked(NsChan *chanPtr, Ns_DString *messagePtr);
static void       PutVerdict(Tcl_Obj *dictObj, NsWsStatus status, int n);
static void       PutInt(Tcl_Obj *dictObj, const char *key, int64_t value);
static void       PutText(Tcl_Obj *dictObj, const char *key, const char *text);
static void       AppendWhen(Ns_DString *dsPtr, int when);

void
NsChanInit(void)
{
    NsMutexSetup(&tableLock, NS_RANK_TCL_MISC, "ns:connchans", NULL);
    Tcl_InitHashTable(&table, TCL_STRING_KEYS);
}

NsChan *
NsChanCreate(const NsChanSpec *specPtr)
{
    NsChan *chanPtr = ns_calloc(1, sizeof(NsChan));
    char    name[32];
    int     isNew;

    NsAssert(specPtr->ioPtr != NULL);
    chanPtr->serverPtr = specPtr->serverPtr;
    chanPtr->driver = ns_strdup(specPtr->driver);
    chanPtr->peer = ns_strdup(specPtr->peer);
    chanPtr->clientData = ns_strcopy(specPtr->clientData);
    chanPtr->thread = ns_strdup(Ns_ThreadGetName());
    chanPtr->start = specPtr->start;
    chanPtr->ioPtr = specPtr->ioPtr;
    chanPtr->sock = NsChanIoSock(specPtr->ioPtr);
    chanPtr->isServer = specPtr->isServer;
    chanPtr->isListening = specPtr->isListening;
    chanPtr->receiveTimeout = (Ns_Time){1, 0};
    chanPtr->maxUnsent = MAX_UNSENT;
    chanPtr->rules = (NsWsRules){
        .maxLength = MAX_MESSAGE, .isMasked = specPtr->isServer};
    atomic_init(&chanPtr->nRefs, 2); /* The table's and the caller's. */
    NsMutexSetup(&chanPtr->lock, NS_RANK_TCL_MISC, "ns:connchan:channel", NULL);
    Ns_DStringInit(&chanPtr->unsent);
    Ns_DStringInit(&chanPtr->frames);
    Ns_DStringInit(&chanPtr->message);

    Ns_MutexLock(&tableLock);
    snprintf(name, sizeof(name), "conn%" PRIu64, nNames++);
    chanPtr->name = ns_strdup(name);
    Tcl_SetHashValue(Tcl_CreateHashEntry(&table, name, &isNew), chanPtr);
    Ns_MutexUnlock(&tableLock);
    NsAssert(isNew);
    return chanPtr;
}

const char *
NsChanName(const NsChan *chanPtr)
{
    return chanPtr->name;
}

NsChan *
NsChanRef(NsServer *serverPtr, const char *name)
{
    Tcl_HashEntry *entryPtr;
    NsChan        *chanPtr = NULL;

    Ns_MutexLock(&tableLock);
    entryPtr = Tcl_FindHashEntry(&table, name);
    if (entryPtr != NULL) {
        chanPtr = Tcl_GetHashValue(entryPtr);
        if (chanPtr->serverPtr != serverPtr) {
            chanPtr = NULL;
        } else {
            Take(chanPtr);
        }
    }
    Ns_MutexUnlock(&tableLock);
    return chanPtr;
}

static void
Take(NsChan *chanPtr)
{
    NsAssert(chanPtr->nRefs > 0);
    atomic_fetch_add(&chanPtr->nRefs, 1);
}

void
NsChanUnref(NsChan **chanPtrPtr)
{
    NsChan *chanPtr = *chanPtrPtr;

    *chanPtrPtr = NULL;
    NsAssert(chanPtr->nRefs > 0);
    if (atomic_fetch_sub(&chanPtr->nRefs, 1) > 1) {
        return;
    }
    NsAssert(chanPtr->isClosed && !chanPtr->isArmed && !chanPtr->isSending);
    NsChanIoDestroy(&chanPtr->ioPtr);
    Ns_MutexDestroy(&chanPtr->lock);
    Ns_DStringFree(&chanPtr->unsent);
    Ns_DStringFree(&chanPtr->frames);
    Ns_DStringFree(&chanPtr->message);
    if (chanPtr->inflaterPtr != NULL) {
        NsWsInflaterDestroy(&chanPtr->inflaterPtr);
    }
    ns_free(chanPtr->script);
    ns_free(chanPtr->name);
    ns_free(chanPtr->driver);
    ns_free(chanPtr->peer);
    ns_free(chanPtr->clientData);
    ns_free(chanPtr->thread);
    ns_free(chanPtr);
}

/*
 * The shutdown wakes threads that wait on the socket, and informs the peer at
 * once.
 */
void
NsChanClose(NsChan *chanPtr)
{
    Tcl_HashEntry *entryPtr;
    bool           isFirst, isArmed;

    Ns_MutexLock(&chanPtr->lock);
    isFirst = !chanPtr->isClosed;
    chanPtr->isClosed = true;
    isArmed = chanPtr->isArmed && !chanPtr->isRunning && chanPtr->nArming == 0;
    Ns_MutexUnlock(&chanPtr->lock);
    if (!isFirst) {
        return;
    }
    Ns_MutexLock(&tableLock);
    entryPtr = Tcl_FindHashEntry(&table, chanPtr->name);
    NsAssert(entryPtr != NULL);
    Tcl_DeleteHashEntry(entryPtr);
    Ns_MutexUnlock(&tableLock);
    NsChanIoShut(chanPtr->ioPtr);
    if (isArmed) {
        Cancel(chanPtr);
    }
    NsChanUnref(&chanPtr);
}

/* ---- Writing. ---- */

int64_t
NsChanWrite(NsChan *chanPtr, const char *bytes, size_t length)
{
    int64_t nSent = 0;
    size_t  nWaiting;
    int     error = 0;
    bool    isToSend, isToArm;

    Ns_MutexLock(&chanPtr->lock);
    nWaiting = (size_t) Ns_DStringLength(&chanPtr->unsent) + chanPtr->nInFlight;
    if (length > MAX_UNSENT - (size_t) Ns_DStringLength(&chanPtr->unsent)
        || (length > 0 && nWaiting >= chanPtr->maxUnsent)) {
        chanPtr->sendError = ENOBUFS;
        Ns_MutexUnlock(&chanPtr->lock);
        errno = ENOBUFS;
        return -1;
    }
    Ns_DStringNAppend(&chanPtr->unsent, bytes, (int) length);
    isToSend = !chanPtr->isSending;
    if (isToSend) {
        error = SendLocked(chanPtr, &nSent);
    }
    isToArm = isToSend && error == 0 && AwaitsFlushLocked(chanPtr)
        && !chanPtr->awaitsWriting && !chanPtr->isRunning;
    Ns_MutexUnlock(&chanPtr->lock);
    if (isToArm) {
        (void) Arm(chanPtr);
    }
    if (isToSend) {
        NoteTraffic(chanPtr, "sent", error != 0 ? -1 : nSent);
    }
    errno = error;
    return error != 0 ? -1 : nSent;
}

/*
 * Send what is there, and what other threads add meanwhile; without the lock
 * while sending.  errno, or 0.
 */
static int
SendLocked(NsChan *chanPtr, int64_t *nSentPtr)
{
    Ns_DString sending;
    int64_t    n;
    int        error;

    NsAssertLocked(&chanPtr->lock);
    chanPtr->isSending = true;
    chanPtr->sendError = 0;
    do {
        Move(&sending, &chanPtr->unsent);
        chanPtr->nInFlight = (size_t) Ns_DStringLength(&sending);
        Ns_MutexUnlock(&chanPtr->lock);

        n = NsChanIoSend(chanPtr->ioPtr, Ns_DStringValue(&sending),
                         (size_t) Ns_DStringLength(&sending));
        error = n < 0 ? errno : 0;

        Ns_MutexLock(&chanPtr->lock);
        n = MAX(n, 0);
        *nSentPtr += n;
        if (error == 0) {
            bool isBlocked = n < Ns_DStringLength(&sending);

            /*
             * Data that came meanwhile goes behind the rest, so that a long
             * rest is not copied again by each write that the socket does not
             * take.
             */
            DropBytes(&sending, (size_t) n);
            Ns_DStringNAppend(&sending, Ns_DStringValue(&chanPtr->unsent),
                              Ns_DStringLength(&chanPtr->unsent));
            Ns_DStringFree(&chanPtr->unsent);
            Move(&chanPtr->unsent, &sending);
            n = isBlocked ? 0 : n;
        }
        Ns_DStringFree(&sending);
    } while (error == 0 && n > 0 && Ns_DStringLength(&chanPtr->unsent) > 0);
    chanPtr->isSending = false;
    chanPtr->nInFlight = 0;
    chanPtr->nSent += *nSentPtr;
    chanPtr->sendError = error;
    return error;
}

/*
 * Whether a callback is there by which we send what was kept.
 */
static bool
AwaitsFlushLocked(const NsChan *chanPtr)
{
    NsAssertLocked(&chanPtr->lock);
    return chanPtr->isWebSocket && chanPtr->script != NULL && !chanPtr->isClosed
        && Ns_DStringLength(&chanPtr->unsent) > 0;
}

/*
 * fromPtr is empty afterwards.
 */
static void
Move(Ns_DString *toPtr, Ns_DString *fromPtr)
{
    *toPtr = *fromPtr;
    if (fromPtr->string == fromPtr->staticSpace) {
        toPtr->string = toPtr->staticSpace;
    }
    Ns_DStringInit(fromPtr);
}

/*
 * Drop bytes at the start.
 */
static void
DropBytes(Ns_DString *dsPtr, size_t n)
{
    size_t left = (size_t) Ns_DStringLength(dsPtr) - n;

    NsAssert(n <= (size_t) Ns_DStringLength(dsPtr));
    if (n > 0) {
        memmove(dsPtr->string, dsPtr->string + n, left);
        Ns_DStringSetLength(dsPtr, (int) left);
    }
}

/* ---- Reading. ---- */

int
NsChanRead(NsChan *chanPtr, Ns_DString *dsPtr)
{
    NsStamp limit = 0;
    int     n, error;

    n = Receive(chanPtr, dsPtr);
    while (n < 0 && errno == EAGAIN) {
        n = AwaitData(chanPtr, &limit) ? Receive(chanPtr, dsPtr) : 0;
    }
    error = n < 0 ? errno : 0;
    Ns_MutexLock(&chanPtr->lock);
    chanPtr->nReceived += MAX(n, 0);
    chanPtr->receiveError = error;
    Ns_MutexUnlock(&chanPtr->lock);
    NoteTraffic(chanPtr, "received", n);
    errno = error;
    return n;
}

/*
 * Part of a record of TLS is no data yet, so this may be called again, with the
 * limit of the first call (before it, 0).
 */
static bool
AwaitData(NsChan *chanPtr, NsStamp *limitPtr)
{
    NsStamp now = NsClockNow();
    Ns_Time left;

    if (*limitPtr == 0) {
        bool waits;

        Ns_MutexLock(&chanPtr->lock);
        *limitPtr = now + NsClockFromTime(&chanPtr->receiveTimeout);
        waits = !chanPtr->isWebSocket;
        Ns_MutexUnlock(&chanPtr->lock);
        if (!waits) {
            return false;
        }
    }
    left = NsClockSpan(now, MAX(now, *limitPtr));
    return Ns_SockTimedWait(chanPtr->sock, NS_SOCK_READ, &left) == NS_OK;
}

/*
 * Receive what is there now, at most about one message.
 */
static int
Receive(NsChan *chanPtr, Ns_DString *dsPtr)
{
    bool hasMore;
    int  n = NsChanIoReceive(chanPtr->ioPtr, dsPtr, MAX_MESSAGE, &hasMore);
    int  error = errno;

    Ns_MutexLock(&chanPtr->lock);
    chanPtr->hasMore = hasMore;
    chanPtr->isAtEnd = chanPtr->isAtEnd || n == 0;
    Ns_MutexUnlock(&chanPtr->lock);
    errno = error;
    return n;
}

bool
NsChanSetWebSocket(NsChan *chanPtr, const NsChanWebSocket *specPtr)
{
    bool isNew;

    Ns_MutexLock(&chanPtr->lock);
    isNew = !chanPtr->isWebSocket;
    if (isNew) {
        chanPtr->isWebSocket = true;
        chanPtr->rules.maxLength = MIN(specPtr->maxMessage, MAX_UNSENT);
        chanPtr->rules.isDeflated = specPtr->isDeflated;
        chanPtr->maxUnsent = MIN(specPtr->maxUnsent, MAX_UNSENT);
        if (specPtr->answer != NULL) {
            Ns_DStringAppend(&chanPtr->unsent, specPtr->answer);
        }
        if (specPtr->isDeflated) {
            chanPtr->inflaterPtr = NsWsInflaterCreate(specPtr->keepsContext);
        }
    }
    Ns_MutexUnlock(&chanPtr->lock);
    return isNew;
}

void
NsChanReadFrame(NsChan *chanPtr, Ns_DString *messagePtr, Tcl_Obj *dictObj)
{
    Ns_DString received;
    NsWsFrame  frame;
    NsWsStatus status;
    int        n = 0;

    Ns_DStringInit(&received);
    Ns_MutexLock(&chanPtr->lock);
    status = ParseLocked(chanPtr, &frame);
    Ns_MutexUnlock(&chanPtr->lock);
    if (status == NS_WS_INCOMPLETE) {
        n = NsChanRead(chanPtr, &received);
    }
    Ns_MutexLock(&chanPtr->lock);
    Ns_DStringNAppend(&chanPtr->frames, Ns_DStringValue(&received),
                      Ns_DStringLength(&received));
    status = TakeFrameLocked(chanPtr, messagePtr, dictObj);
    if (status == NS_WS_INCOMPLETE && chanPtr->isWebSocket && n == 0
        && chanPtr->isAtEnd) {
        n = -1;
    }
    PutVerdict(dictObj, status, n);
    status = ParseLocked(chanPtr, &frame);
    PutInt(dictObj, "unprocessed", Ns_DStringLength(&chanPtr->frames));
    PutInt(dictObj, "fragments", chanPtr->nFragments);
    PutInt(dictObj, "havedata", status == NS_WS_COMPLETE);
    Ns_MutexUnlock(&chanPtr->lock);
    Ns_DStringFree(&received);
}

static NsWsStatus
ParseLocked(const NsChan *chanPtr, NsWsFrame *framePtr)
{
    NsAssertLocked(&chanPtr->lock);
    return NsWsParse(Ns_DStringValue(&chanPtr->frames),
                     (size_t) Ns_DStringLength(&chanPtr->frames),
                     &chanPtr->rules, framePtr);
}

/*
 * Take a complete frame off the buffer.  A control frame may come between the
 * frames of a message, and is delivered separately.
 */
static NsWsStatus
TakeFrameLocked(NsChan *chanPtr, Ns_DString *messagePtr, Tcl_Obj *dictObj)
{
    NsWsFrame  frame;
    NsWsStatus status = ParseLocked(chanPtr, &frame);
    bool       isControl;

    NsAssertLocked(&chanPtr->lock);
    if (status != NS_WS_COMPLETE) {
        return status;
    }
    isControl = frame.opcode >= NS_WS_CLOSE;
    if (isControl) {
        NsWsAppendPayload(messagePtr, &frame);
        if (frame.opcode == NS_WS_CLOSE && chanPtr->isWebSocket) {
            status = NsWsCheckClose(Ns_DStringValue(messagePtr), frame.length);
        }
    } else {
        status = AddFragmentLocked(chanPtr, &frame);
        if (status == NS_WS_COMPLETE && frame.isFinal) {
            status = TakeMessageLocked(chanPtr, messagePtr);
        }
    }
    if (status != NS_WS_COMPLETE) {
        return status;
    }
    if (isControl || frame.isFinal) {
        PutInt(dictObj, "opcode", isControl ? frame.opcode : chanPtr->opcode);
    }
    PutInt(dictObj, "fin", frame.isFinal);
    if (isControl || frame.isFinal) {
        Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("payload", -1),
                       Tcl_NewByteArrayObj((unsigned char *)
                                               Ns_DStringValue(messagePtr),
                                           Ns_DStringLength(messagePtr)));
    }
    DropBytes(&chanPtr->frames, frame.frameBytes);
    return NS_WS_COMPLETE;
}

/*
 * Only the first frame of a message gives the type of the message.
 */
static NsWsStatus
AddFragmentLocked(NsChan *chanPtr, const NsWsFrame *framePtr)
{
    bool isContinued = framePtr->opcode == NS_WS_CONTINUE;

    NsAssertLocked(&chanPtr->lock);
    if (isContinued != (chanPtr->nFragments > 0)) {
        return NS_WS_INVALID;
    }
    if ((size_t) Ns_DStringLength(&chanPtr->message) + framePtr->length
        > chanPtr->rules.maxLength) {
        return NS_WS_TOO_LONG;
    }
    if (!isContinued) {
        chanPtr->opcode = framePtr->opcode;
        chanPtr->isDeflated = framePtr->isDeflated;
    }
    NsWsAppendPayload(&chanPtr->message, framePtr);
    chanPtr->nFragments++;
    return NS_WS_COMPLETE;
}

/*
 * The fragments of a message, joined and checked.
 */
static NsWsStatus
TakeMessageLocked(NsChan *chanPtr, Ns_DString *messagePtr)
{
    const char *bytes = Ns_DStringValue(&chanPtr->message);
    size_t      length = (size_t) Ns_DStringLength(&chanPtr->message);
    NsWsStatus  status = NS_WS_COMPLETE;

    NsAssertLocked(&chanPtr->lock);
    if (chanPtr->isDeflated) {
        status = NsWsInflate(chanPtr->inflaterPtr, bytes, length,
                             chanPtr->rules.maxLength, messagePtr);
    } else {
        Ns_DStringNAppend(messagePtr, bytes, (int) length);
    }
    Ns_DStringFree(&chanPtr->message);
    chanPtr->nFragments = 0;
    if (status == NS_WS_COMPLETE && chanPtr->isWebSocket
        && chanPtr->opcode == NS_WS_TEXT
        && !Ns_Valid_UTF8((unsigned char *) Ns_DStringValue(messagePtr),
                          (size_t) Ns_DStringLength(messagePtr), NULL)) {
        status = NS_WS_BAD_TEXT;
    }
    return status;
}

/*
 * n < 0: there is nothing more to come, or an error.
 */
static void
PutVerdict(Tcl_Obj *dictObj, NsWsStatus status, int n)
{
    static const char *reasons[] = {
        [NS_WS_INVALID] = "protocol error",
        [NS_WS_TOO_LONG] = "message too big",
        [NS_WS_BAD_TEXT] = "text is not UTF-8",
        [NS_WS_BAD_DATA] = "compressed data are not valid"};

    PutText(dictObj, "frame",
            status >= NS_WS_INVALID || n < 0 ? "exception"
                : status == NS_WS_COMPLETE   ? "complete"
                                             : "incomplete");
    PutInt(dictObj, "bytes", n);
    if (status >= NS_WS_INVALID) {
        PutInt(dictObj, "code", NsWsCloseCode(status));
        PutText(dictObj, "reason", reasons[status]);
    }
}

/* ---- Callbacks. ---- */

/*
 * If called from the channel's own script, it takes effect when the script has
 * ended.
 */
Ns_ReturnCode
NsChanSetCallback(NsChan *chanPtr, const NsChanCallback *specPtr)
{
    bool isToArm;

    Ns_MutexLock(&chanPtr->lock);
    ns_free(chanPtr->script);
    chanPtr->script = ns_strdup(specPtr->script);
    chanPtr->when = specPtr->when;
    chanPtr->timeout = specPtr->timeout;
    if (specPtr->receiveTimeout.sec != 0 || specPtr->receiveTimeout.usec != 0) {
        chanPtr->receiveTimeout = specPtr->receiveTimeout;
    }
    isToArm = !chanPtr->isRunning && !chanPtr->isClosed;
    Ns_MutexUnlock(&chanPtr->lock);
    return isToArm ? Arm(chanPtr) : NS_OK;
}

/*
 * An armed callback is replaced and its reference stays.  If a thread closes
 * the channel meanwhile, it leaves it to us to cancel the callback.  Of several
 * threads, the last arms it once more, since we do not know whose order came
 * last.
 */
static Ns_ReturnCode
Arm(NsChan *chanPtr)
{
    NsStamp       timeout;
    Ns_ReturnCode status;
    int           when;
    bool          isClosed, isAgain;

    Ns_MutexLock(&chanPtr->lock);
    if (chanPtr->isClosed) {
        Ns_MutexUnlock(&chanPtr->lock);
        return NS_OK;
    }
    chanPtr->nArming++;
    if (!chanPtr->isArmed) {
        chanPtr->isArmed = true;
        Take(chanPtr);
    }
    do {
        when = chanPtr->when
            | (chanPtr->hasMore || AwaitsFlushLocked(chanPtr) ? NS_SOCK_WRITE
                                                              : 0);
        chanPtr->awaitsWriting = (when & NS_SOCK_WRITE) != 0;
        timeout = NsClockFromTime(&chanPtr->timeout);
        Ns_MutexUnlock(&chanPtr->lock);
        status = NsSockCallback(chanPtr->sock, RunCallback, chanPtr,
                                when | NS_SOCK_EXIT, timeout);
        Ns_MutexLock(&chanPtr->lock);
        isClosed = chanPtr->isClosed;
        chanPtr->isStale = chanPtr->isStale || chanPtr->nArming > 1;
        isAgain = chanPtr->isStale && chanPtr->nArming == 1 && !isClosed
            && status == NS_OK;
        if (chanPtr->nArming == 1) {
            chanPtr->isStale = false;
        }
    } while (isAgain);
    chanPtr->nArming--;
    Ns_MutexUnlock(&chanPtr->lock);
    if (isClosed || status != NS_OK) {
        Cancel(chanPtr);
    }
    return status;
}

/*
 * Runs in the thread -socks-.  The callback must be armed again to be called
 * again.
 */
static int
RunCallback(NS_SOCKET sock, void *arg, int why)
{
    NsChan *chanPtr = arg;
    char   *script;
    int     result = 0;
    bool    wasClosed, isOver, isOurs, isToCall;

    NsAssert(sock == chanPtr->sock);
    Ns_MutexLock(&chanPtr->lock);
    NsAssert(chanPtr->isArmed);
    chanPtr->awaitsWriting = false;
    isOurs = why == NS_SOCK_WRITE && (chanPtr->when & NS_SOCK_WRITE) == 0;
    isToCall = !chanPtr->isClosed && chanPtr->script != NULL
        && (why != NS_SOCK_EXIT || (chanPtr->when & NS_SOCK_EXIT) != 0);
    chanPtr->isRunning = isToCall;
    Ns_MutexUnlock(&chanPtr->lock);
    if (isToCall && isOurs) {
        isToCall = !FlushUnsent(chanPtr) || HasMore(chanPtr);
        why = NS_SOCK_READ;
        result = 1;
    }
    if (isToCall) {
        script = CopyScript(chanPtr);
        result = chanPtr->isListening && why == NS_SOCK_READ
            ? AcceptAll(chanPtr, script)
            : RunScript(chanPtr, script, NameOf(why));
        ns_free(script);
    }
    Ns_MutexLock(&chanPtr->lock);
    chanPtr->isRunning = false;
    wasClosed = chanPtr->isClosed;
    if (result == 2) {
        ns_free(chanPtr->script);
        chanPtr->script = NULL;
    }
    isOver = result == 0 || why == NS_SOCK_EXIT
        || (result != 2 && HasPeerLeftLocked(chanPtr));
    Ns_MutexUnlock(&chanPtr->lock);

    if (wasClosed) {
        Cancel(chanPtr);
    } else if (isOver) {
        NsChanClose(chanPtr);
    } else if (result != 2) {
        (void) Arm(chanPtr);
    }
    return false;
}

/*
 * Send what was kept.  False: that fails, as the script will see when it reads.
 */
static bool
FlushUnsent(NsChan *chanPtr)
{
    bool isThere;

    Ns_MutexLock(&chanPtr->lock);
    isThere = AwaitsFlushLocked(chanPtr);
    Ns_MutexUnlock(&chanPtr->lock);
    return !isThere || NsChanWrite(chanPtr, "", 0) >= 0;
}

static bool
HasMore(NsChan *chanPtr)
{
    bool hasMore;

    Ns_MutexLock(&chanPtr->lock);
    hasMore = chanPtr->hasMore;
    Ns_MutexUnlock(&chanPtr->lock);
    return hasMore;
}

static char *
CopyScript(NsChan *chanPtr)
{
    char *script;

    Ns_MutexLock(&chanPtr->lock);
    NsAssert(chanPtr->script != NULL && chanPtr->isRunning);
    script = ns_strdup(chanPtr->script);
    Ns_MutexUnlock(&chanPtr->lock);
    return script;
}

/*
 * Whether there is nothing to wait for any more.  The socket of a peer that has
 * left is ready all the time: a script that goes on would be called without
 * end.  After its last data, a peer may still read what the script writes.
 */
static bool
HasPeerLeftLocked(NsChan *chanPtr)
{
    NsAssertLocked(&chanPtr->lock);
    if (chanPtr->isAtEnd) {
        chanPtr->when &= ~NS_SOCK_READ;
    }
    return chanPtr->receiveError != 0
        || (chanPtr->sendError != 0 && chanPtr->sendError != ENOBUFS)
        || (chanPtr->isAtEnd && (chanPtr->when & NS_SOCK_WRITE) == 0);
}

/*
 * Have the thread -socks- forget the channel, after whatever it was told
 * before.
 */
static void
Cancel(NsChan *chanPtr)
{
    Take(chanPtr);
    if (Ns_SockCancelCallbackEx(chanPtr->sock, ForgetCallback, chanPtr)
        != NS_OK) {
        (void) ForgetCallback(chanPtr->sock, chanPtr, NS_SOCK_CANCEL);
    }
}

static int
ForgetCallback(NS_SOCKET sock, void *arg, int why)
{
    NsChan *chanPtr = arg;
    bool    wasArmed;

    NsAssert(sock == chanPtr->sock);
    Ns_MutexLock(&chanPtr->lock);
    wasArmed = chanPtr->isArmed;
    chanPtr->isArmed = false;
    Ns_MutexUnlock(&chanPtr->lock);
    if (wasArmed) {
        NsChanUnref(&(NsChan *){chanPtr});
    }
    NsChanUnref(&chanPtr);
    return false;
}

/*
 * Returns 0: close the channel; 1: continue; 2: wait for another callback.
 */
static int
RunScript(const NsChan *chanPtr, const char *script, const char *word)
{
    Tcl_Interp *interp = Ns_TclAllocateInterp(chanPtr->serverPtr->name);
    Ns_DString  ds;
    int         result = 0;

    if (interp == NULL) {
        return 0;
    }
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, script, " ", word, (char *) NULL);
    if (Tcl_EvalEx(interp, Ns_DStringValue(&ds), Ns_DStringLength(&ds),
                   TCL_EVAL_GLOBAL)
        != TCL_OK) {
        (void) Ns_TclLogErrorInfo(interp, "\n(context: connchan callback)");
    } else if (Tcl_GetIntFromObj(NULL, Tcl_GetObjResult(interp), &result)
                   != TCL_OK
               && Tcl_GetBooleanFromObj(NULL, Tcl_GetObjResult(interp), &result)
                   != TCL_OK) {
        result = 0;
    }
    Ns_DStringFree(&ds);
    Ns_TclDeAllocateInterp(interp);
    return result;
}

static const char *
NameOf(int why)
{
    return why == NS_SOCK_READ     ? "r"
        : why == NS_SOCK_WRITE     ? "w"
        : why == NS_SOCK_EXCEPTION ? "e"
        : why == NS_SOCK_TIMEOUT   ? "t"
                                   : "x";
}

/*
 * A script for each connection that waits; the channel goes on listening.  Out
 * of descriptors: wait a moment, since the connections stay.
 */
static int
AcceptAll(NsChan *chanPtr, const char *script)
{
    NsSockAddr addr;
    char       peer[NI_MAXHOST];
    NS_SOCKET  sock;

    while (addr.length = sizeof(addr.u),
           (sock = accept4(chanPtr->sock, &addr.u.any, &addr.length,
                           SOCK_NONBLOCK | SOCK_CLOEXEC))
               >= 0) {
        NsChan *newPtr;

        NsSockAddrText(&addr, peer, sizeof(peer));
        newPtr = NsChanCreate(&(NsChanSpec){
            .serverPtr = chanPtr->serverPtr,
            .driver = chanPtr->driver,
            .peer = peer,
            .start = NsClockWall(NsClockNow()),
            .ioPtr = NsChanIoCreate(sock, NULL, NULL),
            .isServer = true});
        if (RunScript(chanPtr, script, newPtr->name) == 0) {
            NsChanClose(newPtr);
        }
        NsChanUnref(&newPtr);
    }
    if (errno == EMFILE || errno == ENFILE) {
        static NsEpisode episode;

        if (NsEpisodeBegins(&episode)) {
            Ns_Log(Error,
                   "listen: connections are not accepted: %s: raise the limit "
                   "of open files",
                   strerror(errno));
        }
        (void) poll(NULL, 0, 10);
    }
    return 1;
}

int
NsChanDebug(NsChan *chanPtr, int level)
{
    return level < 0 ? atomic_load(&chanPtr->debugLevel)
                     : atomic_exchange(&chanPtr->debugLevel, level);
}

static void
NoteTraffic(NsChan *chanPtr, const char *what, int64_t n)
{
    if (unlikely(atomic_load_explicit(&chanPtr->debugLevel,
                                      memory_order_relaxed)
                 > 0)) {
        Ns_Log(Notice, "conn[%s]: %s %ld bytes", chanPtr->name, what, (long) n);
    }
}

/* ---- Looking. ---- */

void
NsChanList(NsServer *serverPtr, Ns_DString *dsPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr;
    NsChan       **chans;
    int            n = 0;

    Ns_MutexLock(&tableLock);
    chans = ns_malloc(sizeof(NsChan *) * ((size_t) table.numEntries + 1));
    for (entryPtr = Tcl_FirstHashEntry(&table, &search); entryPtr != NULL;
         entryPtr = Tcl_NextHashEntry(&search)) {
        NsChan *chanPtr = Tcl_GetHashValue(entryPtr);

        if (serverPtr == NULL || chanPtr->serverPtr == serverPtr) {
            Take(chanPtr);
            chans[n++] = chanPtr;
        }
    }
    Ns_MutexUnlock(&tableLock);
    for (int i = 0; i < n; i++) {
        NsChan *chanPtr = chans[i];

        Tcl_DStringStartSublist(dsPtr);
        Ns_DStringAppendElement(dsPtr, chanPtr->name);
        Ns_DStringAppendElement(dsPtr, chanPtr->thread);
        Ns_DStringPrintf(dsPtr, " %ld.%06ld", chanPtr->start.sec,
                         chanPtr->start.usec);
        Ns_DStringAppendElement(dsPtr, chanPtr->driver);
        Ns_DStringAppendElement(dsPtr, chanPtr->peer);
        Ns_MutexLock(&chanPtr->lock);
        Ns_DStringPrintf(dsPtr, " %" PRId64 " %" PRId64, chanPtr->nSent,
                         chanPtr->nReceived);
        Ns_DStringAppendElement(dsPtr,
                                chanPtr->clientData != NULL
                                    ? chanPtr->clientData
                                    : "");
        Ns_DStringAppendElement(dsPtr,
                                chanPtr->script != NULL ? chanPtr->script : "");
        Ns_DStringAppend(dsPtr, chanPtr->script != NULL ? " " : " {}");
        if (chanPtr->script != NULL) {
            AppendWhen(dsPtr, chanPtr->when);
        }
        Ns_MutexUnlock(&chanPtr->lock);
        Tcl_DStringEndSublist(dsPtr);
        NsChanUnref(&chanPtr);
    }
    ns_free(chans);
}

void
NsChanStatus(NsChan *chanPtr, Tcl_Obj *dictObj)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%ld.%06ld", chanPtr->start.sec, chanPtr->start.usec);
    PutText(dictObj, "start", Ns_DStringValue(&ds));
    PutText(dictObj, "driver", chanPtr->driver);
    PutText(dictObj, "peer", chanPtr->peer);
    Ns_MutexLock(&chanPtr->lock);
    PutInt(dictObj, "sent", chanPtr->nSent);
    PutInt(dictObj, "received", chanPtr->nReceived);
    PutInt(dictObj, "framebuffer", Ns_DStringLength(&chanPtr->frames));
    PutInt(dictObj, "sendbuffer", Ns_DStringLength(&chanPtr->unsent));
    PutInt(dictObj, "fragments", chanPtr->nFragments);
    PutText(dictObj, "senderror",
            chanPtr->sendError == 0 ? "" : strerrorname_np(chanPtr->sendError));
    PutText(dictObj, "recverror",
            chanPtr->receiveError == 0
                ? ""
                : strerrorname_np(chanPtr->receiveError));
    if (chanPtr->script != NULL) {
        PutText(dictObj, "callback", chanPtr->script);
        Ns_DStringTrunc(&ds, 0);
        AppendWhen(&ds, chanPtr->when);
        PutText(dictObj, "condition", Ns_DStringValue(&ds));
    }
    Ns_MutexUnlock(&chanPtr->lock);
    Ns_DStringFree(&ds);
}

static void
PutInt(Tcl_Obj *dictObj, const char *key, int64_t value)
{
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(key, -1),
                   Tcl_NewWideIntObj(value));
}

static void
PutText(Tcl_Obj *dictObj, const char *key, const char *text)
{
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(key, -1),
                   Tcl_NewStringObj(text, -1));
}

static void
AppendWhen(Ns_DString *dsPtr, int when)
{
    static const struct {
        int  when;
        char letter[2];
    } letters[] = {{NS_SOCK_READ, "r"},
                   {NS_SOCK_WRITE, "w"},
                   {NS_SOCK_EXCEPTION, "e"},
                   {NS_SOCK_EXIT, "x"}};

    for (int i = 0; i < Ns_NrElements(letters); i++) {
        if ((when & letters[i].when) != 0) {
            Ns_DStringAppend(dsPtr, letters[i].letter);
        }
    }
}
