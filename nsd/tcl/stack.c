/* SPDX-License-Identifier: MPL-2.0
 * stack.c --
 *
 *      The position of a running request's script, asked from another thread.
 *
 *      An interpreter belongs to its thread, so the thread has to look itself.
 *      The asker leaves a question with the thread's runner, and then knocks at
 *      three doors, of which the thread is behind one:
 *
 *      - Between two commands, Tcl calls the async handler (Answer), which the
 *        asker has marked.  That is the last door: see MARK_AFTER.
 *      - Waits of our own primitives can be called (interrupt.h).  The thread
 *        looks from there (AnswerWaiting), and waits on for the rest.
 *      - Before other waits the thread notes its stack (Ns_TclWaitBegin), which
 *        costs little next to what they are for, and the asker reads the note.
 *
 *      Beyond that, commands that may wait publish their words (watched.c), for
 *      an asker whose time is up.
 *
 *      An order to end goes the same way.  Tcl's own means to cancel a script
 *      knows nothing of requests, so the thread applies it to itself when it
 *      finds the order to be one for the request that it runs.
 *
 *      Why no question is lost, and nobody waits for ever:
 *
 *      1. A question is a state, not an event.  It is there until the thread
 *         answers it, the request ends, or the asker withdraws it; each of the
 *         three clears it under the runner's lock, and the first two wake the
 *         asker.  Only the one whose question it is withdraws it, so after its
 *         wait it knows which of the three it was.
 *      2. The thread looks for a question whenever it passes one of the doors,
 *         and each time after it has made public what the asker looks at: it
 *         stores serverPtr, notePtr or callPtr, then loads questionPtr; the
 *         asker stores questionPtr, then loads these.  All are sequentially
 *         consistent, so at least one of both sees what the other has stored.
 *         - The request ends: either the asker sees that it no longer runs, or
 *           the thread sees the question, and drops it.  It runs no other
 *           request before, so a question is never answered by another one.
 *         - A wait begins: either the asker finds the note, or the thread finds
 *           the question, and answers it.
 *         - A wait ends: either the asker finds no note, or the thread finds
 *           the question, and passes the lock before it frees the note.  The
 *           asker reads under the lock, with its question in place.
 *      3. The mark of the async handler stays until Tcl has called it.  It is
 *         set while the question is there, so the call sees the question.  A
 *         call may come too early, for an older mark: then it finds no question
 *         and leaves alone the one that may come meanwhile (isAsked), of which
 *         the mark is still to come.
 *      4. The call of a wait stays, too, until the thread has looked at it
 *         under the interrupt's lock before it sleeps.  Only a thread that is
 *         between that look and its sleep misses the wakeup; the asker repeats
 *         it until it has its answer, the first time after a millisecond.
 *      5. While it looks, a thread runs commands, at which Tcl may call the
 *         handler and a trace may wait.  Both do nothing then (isLooking).  A
 *         question that came meanwhile is answered when it has looked; for an
 *         order, Look marks the handler again.
 *      6. A thread that looks holds no lock of these, nor does an asker that
 *         marks the handler.  An asker waits with one runner's lock, which it
 *         gives up when it is called itself: so two requests that ask each
 *         other, or any circle of them, answer each other.  The asked thread
 *         never waits for an asker but in ForgetRunner, when it runs no
 *         request: then the asker has had its reply, or finds that none runs.
 *      7. An asker waits for PATIENCE at most, whatever the thread does.  A
 *         second one waits for its turn within the same time.  A request that
 *         asks for its own stack looks itself.
 */

#include "tcl/stack.h"

#include "ns.h"
#include "base/assert.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "tcl/frames.h"
#include "tcl/result.h"

#define PATIENCE NS_STAMP_SECOND

/*
 * How long a question waits for the two other doors.  Tcl 8.6 has a gap behind
 * the first one: a handler that is marked just when compiled code has caught an
 * error is called with that error, as if it were under way, and the error goes
 * past its `catch`.  It takes less than a microsecond, but it is there after
 * each caught error; so the handler is marked for a question only of a request
 * that computes.  Whether an order hits it does not matter.
 */
#define MARK_AFTER (NS_STAMP_SECOND / 100)

/*
 * Longer than any wait takes that an order can end: Tcl's own look up every
 * half second, later on a busy machine.
 */
#define ORDER_PATIENCE (3 * NS_STAMP_SECOND)

/*
 * A question; lives on the asker's stack until it is answered or withdrawn.
 */
typedef struct Question {
    Ns_DString *answerPtr;
    bool        isAnswered;
} Question;

/*
 * An order to end.
 */
typedef struct Order {
    NsStamp       stamp;
    bool          isReported; /* That it takes long. */
    NsCancelCause cause;
    char          reason[];
} Order;

/*
 * A thread that runs requests.
 */
typedef struct NsStackRunner {
    struct NsStackRunner *nextPtr; /* These two are guarded by listLock. */
    int                   nAskers;

    Tcl_AsyncHandler handler;  /* Constant. */
    char             name[64]; /* Constant: the thread's. */
    Tcl_Interp      *interp;   /* The thread's own. */

    /*
     * The request.  Written by the thread, without the lock: an asker puts its
     * question, then looks whether the request still runs; the thread ends the
     * request, then looks whether there is a question.  The order matters, so
     * all are sequentially consistent.
     */
    _Atomic(const NsServer *) serverPtr; /* NULL: runs no request. */
    _Atomic uint64_t          id;

    /*
     * Written by the thread, without the lock; it takes that before one of
     * them goes, if there is a question.  NULL: no watched command runs; the
     * stack, a list of frames, is not noted.
     */
    _Atomic(NsStackCall *) callPtr;
    _Atomic(char *)        notePtr;

    Ns_Mutex            lock; /* Guards changes of the next five. */
    Ns_Cond             answered;
    _Atomic(Question *) questionPtr;
    _Atomic(Order *)    orderPtr;
    uint64_t            nTaken;    /* Orders. */
    NsStamp             takeStamp; /* Of the last one. */

    atomic_bool mustLook;    /* Whether the client has left; set by any. */
    bool        isCancelled; /* The thread's own: the script unwinds. */
    bool        isLooking;   /* Likewise: at its stack, for a wait. */
    NsInterrupt interrupt;   /* Set while there is an order. */
} Runner;

static _Thread_local int nWaits; /* Nesting of Ns_TclWaitBegin. */

static Ns_Mutex listLock;
static Ns_Cond  askerGone;
static Runner  *firstPtr;
static Ns_Tls   tls;

#define STUCK (NS_STAMP_SECOND * 5)

static void    Setup(void) __attribute__((constructor));
static Runner *Self(void);
static bool    Runs(Runner *runnerPtr, const NsServer *serverPtr, uint64_t id);
static Ns_TlsCleanup ForgetRunner;
static Tcl_AsyncProc Answer;
static void          AnswerWaiting(void *arg);
static void    AnswerLocked(Runner *runnerPtr, const Ns_DString *stackPtr);
static void    AwaitReader(Runner *runnerPtr);
static bool    AppendNoted(Ns_DString *dsPtr, Runner *runnerPtr);
static bool    AppendWords(Ns_DString *dsPtr, Runner *runnerPtr);
static void    Look(Ns_DString *dsPtr, Runner *runnerPtr);
static void    AppendOwn(Ns_DString *dsPtr, Runner *runnerPtr);
static void    AppendCommand(Ns_DString *dsPtr, const NsStackCall *callPtr);
static void    AppendWaiting(Ns_DString *dsPtr, const char *command);
static Runner *FindNamed(const NsServer *serverPtr, const char *name,
                         uint64_t *idPtr);
static Runner *FindRunner(const NsServer *serverPtr, uint64_t id);
static void    LetGo(Runner *runnerPtr);
static bool    Give(Runner *runnerPtr, const NsServer *serverPtr, uint64_t id,
                    Order *orderPtr);
static Order  *MakeOrder(NsCancelCause cause, const char *reason);
static bool    PutOrderLocked(Runner *runnerPtr, Order *orderPtr);
static void    LookAtClient(Runner *runnerPtr);
static Ns_ReturnCode AwaitTaken(Runner *runnerPtr, uint64_t nTaken);
static Order        *TakeOrderLocked(Runner *runnerPtr);
static void Obey(Runner *runnerPtr, const Order *orderPtr, const char *stack);
static void Report(const Runner *runnerPtr, const NsConn *connPtr,
                   const char *what, const char *reason, const char *stack);
static void Revive(Tcl_Interp *interp);
static Ns_ReturnCode Ask(Runner *runnerPtr, const NsServer *serverPtr,
                         uint64_t id, Ns_DString *dsPtr);
static Ns_ReturnCode AwaitAnswerLocked(Runner         *runnerPtr,
                                       const Question *questionPtr,
                                       NsStamp         deadline);
static void          MarkRunner(Runner *runnerPtr) __attribute__((noinline));

static void
Setup(void)
{
    NsMutexSetup(&listLock, NS_RANK_TCL_OBJECTS, "ns:tclstacks", NULL);
    Ns_TlsAlloc(&tls, ForgetRunner);
}

void
NsStackEnter(NsConn *connPtr, Tcl_Interp *interp)
{
    Runner *runnerPtr = Self();

    NsAssert(runnerPtr->interp == NULL && !runnerPtr->isCancelled);
    runnerPtr->interp = interp;
    atomic_store_explicit(&runnerPtr->id, connPtr->work.id,
                          memory_order_relaxed);
    atomic_store_explicit(&runnerPtr->serverPtr, connPtr->serverPtr,
                          memory_order_release);
}

void
NsStackLeave(void)
{
    Runner *runnerPtr = Self();

    NsAssert(nWaits == 0 && !runnerPtr->isLooking);
    runnerPtr->interp = NULL;
    runnerPtr->isCancelled = false;
    atomic_store(&runnerPtr->serverPtr, NULL);
    if (atomic_load(&runnerPtr->questionPtr) != NULL
        || atomic_load(&runnerPtr->orderPtr) != NULL) {
        Ns_MutexLock(&runnerPtr->lock);
        runnerPtr->questionPtr = NULL; /* Too late. */
        ns_free(TakeOrderLocked(runnerPtr));
        Ns_CondBroadcast(&runnerPtr->answered);
        Ns_MutexUnlock(&runnerPtr->lock);
    }
}

void
NsStackSettle(Tcl_Interp *interp)
{
    Runner *runnerPtr = Self();

    if (unlikely(atomic_load(&runnerPtr->orderPtr) != NULL)) {
        Ns_MutexLock(&runnerPtr->lock);
        ns_free(TakeOrderLocked(runnerPtr));
        Ns_CondBroadcast(&runnerPtr->answered);
        Ns_MutexUnlock(&runnerPtr->lock);
    }
    if (unlikely(runnerPtr->isCancelled)) {
        Revive(interp);
        runnerPtr->isCancelled = false;
    }
}

bool
NsStackIsCancelled(Tcl_Interp *interp)
{
    const Runner *runnerPtr = Ns_TlsGet(&tls);

    if (runnerPtr == NULL || !runnerPtr->isCancelled) {
        return false;
    }
    Revive(interp);
    return true;
}

/*
 * Tcl forgets that it was told to unwind when a command that is called from
 * nowhere fails, which the last one may have done before it was told.
 */
static void
Revive(Tcl_Interp *interp)
{
    Tcl_InterpState state = Tcl_SaveInterpState(interp, TCL_ERROR);
    Tcl_Obj        *wordObj = Tcl_NewStringObj("::list", -1);

    Tcl_IncrRefCount(wordObj);
    (void) Tcl_EvalObjv(interp, 1, &wordObj, TCL_EVAL_GLOBAL);
    Tcl_DecrRefCount(wordObj);
    (void) Tcl_RestoreInterpState(interp, state);
}

/*
 * Another thread only reads the words, so their strings have to be there.  Not
 * of bytes: with a string they would be taken for text.
 */
bool
NsStackBeginCall(NsStackCall *callPtr, int objc, Tcl_Obj *const *objv)
{
    Runner *runnerPtr = Ns_TlsGet(&tls);

    if (runnerPtr == NULL || runnerPtr->interp == NULL) {
        return false;
    }
    *callPtr = (NsStackCall){.runnerPtr = runnerPtr,
                             .outerPtr = atomic_load(&runnerPtr->callPtr),
                             .objv = objv};
    while (callPtr->objc < objc && !NsTclIsByteArray(objv[callPtr->objc])) {
        (void) Tcl_GetString(objv[callPtr->objc++]);
    }
    atomic_store(&runnerPtr->callPtr, callPtr);
    return true;
}

void
NsStackEndCall(NsStackCall *callPtr)
{
    Runner *runnerPtr = callPtr->runnerPtr;

    NsAssert(atomic_load(&runnerPtr->callPtr) == callPtr);
    atomic_store(&runnerPtr->callPtr, callPtr->outerPtr);
    AwaitReader(runnerPtr);
}

/*
 * Nobody reads any longer what the calling thread has just withdrawn.
 */
static void
AwaitReader(Runner *runnerPtr)
{
    if (unlikely(atomic_load(&runnerPtr->questionPtr) != NULL)) {
        Ns_MutexLock(&runnerPtr->lock);
        Ns_MutexUnlock(&runnerPtr->lock);
    }
}

void
Ns_TclWaitBegin(const char *what)
{
    Runner    *runnerPtr = Ns_TlsGet(&tls);
    Ns_DString ds;

    if (nWaits++ > 0 || runnerPtr == NULL || runnerPtr->interp == NULL
        || runnerPtr->isLooking) {
        return;
    }
    NsAssert(atomic_load(&runnerPtr->notePtr) == NULL);
    Ns_DStringInit(&ds);
    if (what != NULL) {
        AppendWaiting(&ds, what);
    }
    Look(&ds, runnerPtr);
    atomic_store(&runnerPtr->notePtr, ns_strdup(Ns_DStringValue(&ds)));
    if (atomic_load(&runnerPtr->questionPtr) != NULL) {
        Ns_MutexLock(&runnerPtr->lock);
        AnswerLocked(runnerPtr, &ds);
        Ns_MutexUnlock(&runnerPtr->lock);
    }
    Ns_DStringFree(&ds);
}

void
Ns_TclWaitEnd(void)
{
    Runner *runnerPtr = Ns_TlsGet(&tls);
    char   *notePtr;

    NsAssert(nWaits > 0);
    if (--nWaits > 0 || runnerPtr == NULL) {
        return;
    }
    notePtr = atomic_exchange(&runnerPtr->notePtr, NULL);
    if (notePtr != NULL) {
        AwaitReader(runnerPtr);
        ns_free(notePtr);
    }
}

static Runner *
Self(void)
{
    Runner *runnerPtr = Ns_TlsGet(&tls);

    if (unlikely(runnerPtr == NULL)) {
        runnerPtr = ns_calloc(1, sizeof(*runnerPtr));
        runnerPtr->handler = Tcl_AsyncCreate(Answer, runnerPtr);
        NsMutexSetup(&runnerPtr->lock, NS_RANK_TCL_MISC, "ns:tclstack", NULL);
        snprintf(runnerPtr->name, sizeof(runnerPtr->name), "%s",
                 Ns_ThreadGetName());
        NsInterruptInit(&runnerPtr->interrupt, AnswerWaiting, runnerPtr);
        NsInterruptOwn(&runnerPtr->interrupt);
        Ns_TlsSet(&tls, runnerPtr);

        Ns_MutexLock(&listLock);
        runnerPtr->nextPtr = firstPtr;
        firstPtr = runnerPtr;
        Ns_MutexUnlock(&listLock);
    }
    return runnerPtr;
}

/*
 * The thread ends.
 */
static void
ForgetRunner(void *arg)
{
    Runner *runnerPtr = arg, **linkPtr = &firstPtr;

    Ns_MutexLock(&listLock);
    while (*linkPtr != runnerPtr) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = runnerPtr->nextPtr;
    while (runnerPtr->nAskers > 0) {
        Ns_CondWait(&askerGone, &listLock);
    }
    Ns_MutexUnlock(&listLock);

    NsAssert(runnerPtr->orderPtr == NULL);
    NsInterruptOwn(NULL);
    NsInterruptFree(&runnerPtr->interrupt);
    Tcl_AsyncDelete(runnerPtr->handler);
    Ns_CondDestroy(&runnerPtr->answered);
    Ns_MutexDestroy(&runnerPtr->lock);
    ns_free(runnerPtr);
}

/*
 * In the thread that was asked, between two commands.  Not those of Look: a
 * wait goes on, or begins, when these have ended, and an order that was taken
 * there would not end it.
 */
static int
Answer(ClientData clientData, Tcl_Interp *interp, int code)
{
    Runner    *runnerPtr = clientData;
    Order     *orderPtr;
    Ns_DString ds;
    bool       isAsked;

    if (runnerPtr->isLooking) {
        return code;
    }
    Ns_DStringInit(&ds);
    if (unlikely(atomic_exchange(&runnerPtr->mustLook, false))) {
        LookAtClient(runnerPtr);
    }
    isAsked = runnerPtr->interp != NULL
        && (atomic_load(&runnerPtr->questionPtr) != NULL
            || atomic_load(&runnerPtr->orderPtr) != NULL);
    if (isAsked) {
        AppendOwn(&ds, runnerPtr);
    }
    Ns_MutexLock(&runnerPtr->lock);
    if (isAsked) {
        AnswerLocked(runnerPtr, &ds); /* One that came later comes again. */
    }
    orderPtr = TakeOrderLocked(runnerPtr);
    if (orderPtr != NULL) {
        runnerPtr->nTaken++;
        runnerPtr->takeStamp = NsClockNow();
        Ns_CondBroadcast(&runnerPtr->answered);
    }
    Ns_MutexUnlock(&runnerPtr->lock);
    if (orderPtr != NULL) {
        for (char *next = Ns_DStringValue(&ds); *next != '\0'; next++) {
            *next = *next == '\n' ? ' ' : *next;
        }
        Obey(runnerPtr, orderPtr, Ns_DStringValue(&ds));
        ns_free(orderPtr);
    }
    Ns_DStringFree(&ds);
    return code;
}

/*
 * Likewise, from a wait; an order is obeyed when that has ended.
 */
static void
AnswerWaiting(void *arg)
{
    Runner    *runnerPtr = arg;
    Ns_DString ds;

    if (runnerPtr->isLooking) {
        return; /* A trace of the commands that look waits itself. */
    }
    if (atomic_exchange(&runnerPtr->mustLook, false)) {
        LookAtClient(runnerPtr);
    }
    if (runnerPtr->interp == NULL
        || atomic_load(&runnerPtr->questionPtr) == NULL) {
        return;
    }
    Ns_DStringInit(&ds);
    Look(&ds, runnerPtr);
    Ns_MutexLock(&runnerPtr->lock);
    AnswerLocked(runnerPtr, &ds);
    Ns_MutexUnlock(&runnerPtr->lock);
    Ns_DStringFree(&ds);
}

static void
AnswerLocked(Runner *runnerPtr, const Ns_DString *stackPtr)
{
    Question *questionPtr = atomic_load(&runnerPtr->questionPtr);

    NsAssertLocked(&runnerPtr->lock);
    if (questionPtr != NULL) {
        Ns_DStringNAppend(questionPtr->answerPtr, stackPtr->string,
                          stackPtr->length);
        questionPtr->isAnswered = true;
        atomic_store(&runnerPtr->questionPtr, NULL);
        Ns_CondBroadcast(&runnerPtr->answered);
    }
}

/*
 * The order, which is the caller's now; NULL if there is none.
 */
static Order *
TakeOrderLocked(Runner *runnerPtr)
{
    Order *orderPtr = atomic_load(&runnerPtr->orderPtr);

    NsAssertLocked(&runnerPtr->lock);
    if (orderPtr != NULL) {
        atomic_store(&runnerPtr->orderPtr, NULL);
        NsInterruptClear(&runnerPtr->interrupt);
    }
    return orderPtr;
}

/*
 * What the script leaves half done stays in the interpreter, so that is not
 * used again.
 */
static void
Obey(Runner *runnerPtr, const Order *orderPtr, const char *stack)
{
    Tcl_Interp   *interp = runnerPtr->interp;
    const NsConn *connPtr = NsInterpOf(interp)->connPtr;

    NsPoolCountCancelled(&connPtr->work, orderPtr->cause);
    Report(runnerPtr, connPtr, "is cancelled", orderPtr->reason, stack);
    runnerPtr->isCancelled = true;
    Ns_TclMarkForDelete(interp);
    (void) Tcl_CancelEval(interp, NULL, NULL, TCL_CANCEL_UNWIND);
}

static void
Report(const Runner *runnerPtr, const NsConn *connPtr, const char *what,
       const char *reason, const char *stack)
{
    Ns_Time age = NsClockSpan(connPtr->work.dequeueStamp, NsClockNow());

    Ns_Log(Warning,
           "conn: request cns%" PRIu64 " %s after %ld.%03ld s: %s %s in "
           "thread '%s': %s%s%s",
           connPtr->work.id, what, age.sec, age.usec / 1000,
           connPtr->firstMethod == NULL ? "unknown" : connPtr->firstMethod,
           connPtr->firstUrl == NULL ? "unknown" : connPtr->firstUrl,
           runnerPtr->name, reason, *stack != '\0' ? "; stack: " : "", stack);
}

Ns_ReturnCode
NsStackOfRequest(NsServer *serverPtr, const char *id, Ns_DString *dsPtr)
{
    uint64_t      number;
    Runner       *runnerPtr = FindNamed(serverPtr, id, &number);
    Ns_ReturnCode status;

    if (runnerPtr == NULL) {
        return NS_ERROR;
    }
    if (runnerPtr == Ns_TlsGet(&tls)) {
        NsFramesAppend(dsPtr, runnerPtr->interp);
        status = NS_OK;
    } else {
        status = Ask(runnerPtr, serverPtr, number, dsPtr);
    }
    LetGo(runnerPtr);
    return status;
}

Ns_ReturnCode
NsStackCancel(NsServer *serverPtr, const char *id, const char *reason)
{
    uint64_t      number, nTaken;
    Runner       *runnerPtr = FindNamed(serverPtr, id, &number);
    Ns_ReturnCode status = NS_ERROR;

    if (runnerPtr == NULL) {
        return NS_ERROR;
    }
    Ns_MutexLock(&runnerPtr->lock);
    nTaken = runnerPtr->nTaken;
    Ns_MutexUnlock(&runnerPtr->lock);
    if (Give(runnerPtr, serverPtr, number,
             MakeOrder(NS_CANCEL_COMMAND, reason))) {
        status = runnerPtr == Ns_TlsGet(&tls)
            ? NS_OK
            : AwaitTaken(runnerPtr, nTaken);
    }
    LetGo(runnerPtr);
    return status;
}

static Order *
MakeOrder(NsCancelCause cause, const char *reason)
{
    size_t bytes = strlen(reason) + 1;
    Order *orderPtr = ns_malloc(sizeof(*orderPtr) + bytes);

    orderPtr->stamp = NsClockNow();
    orderPtr->isReported = false;
    orderPtr->cause = cause;
    memcpy(orderPtr->reason, reason, bytes);
    return orderPtr;
}

/*
 * The order is the runner's, or freed.  False: the request has ended.
 */
static bool
Give(Runner *runnerPtr, const NsServer *serverPtr, uint64_t id, Order *orderPtr)
{
    bool isNew, runs;

    Ns_MutexLock(&runnerPtr->lock);
    isNew = PutOrderLocked(runnerPtr, orderPtr);
    runs = Runs(runnerPtr, serverPtr, id);
    if (isNew && !runs) {
        ns_free(TakeOrderLocked(runnerPtr));
    }
    Ns_MutexUnlock(&runnerPtr->lock);
    if (runs) {
        /* In this order: a wait that has ended could be caught otherwise. */
        MarkRunner(runnerPtr);
        Ns_MutexLock(&runnerPtr->lock);
        if (atomic_load(&runnerPtr->orderPtr) != NULL) {
            NsInterruptSet(&runnerPtr->interrupt);
        }
        Ns_MutexUnlock(&runnerPtr->lock);
    }
    return runs;
}

/*
 * False: there is one, which goes before it.
 */
static bool
PutOrderLocked(Runner *runnerPtr, Order *orderPtr)
{
    NsAssertLocked(&runnerPtr->lock);
    if (atomic_load(&runnerPtr->orderPtr) != NULL) {
        ns_free(orderPtr);
        return false;
    }
    atomic_store(&runnerPtr->orderPtr, orderPtr);
    return true;
}

void
NsStackLookAtClient(NsConn *connPtr)
{
    Runner *runnerPtr = FindRunner(connPtr->serverPtr, connPtr->work.id);

    if (runnerPtr != NULL) {
        atomic_store(&runnerPtr->mustLook, true);
        MarkRunner(runnerPtr);
        NsInterruptCall(&runnerPtr->interrupt);
        LetGo(runnerPtr);
    }
}

/*
 * In the thread of the request.  One that has its reply is left alone; so is
 * one whose reply is on its way: it fails by itself.  One that unwinds is not
 * cancelled again.
 */
static void
LookAtClient(Runner *runnerPtr)
{
    const NsConn *connPtr = runnerPtr->interp == NULL
        ? NULL
        : NsInterpOf(runnerPtr->interp)->connPtr;

    if (connPtr != NULL && connPtr->sockPtr != NULL && !runnerPtr->isCancelled
        && NsSockHasLeft(connPtr->sockPtr,
                         connPtr->messagePtr->head.version < NS_HTTP_1_1)) {
        (void) Give(runnerPtr, connPtr->serverPtr, connPtr->work.id,
                    MakeOrder(NS_CANCEL_CLIENT, "its client has left"));
    }
}

/*
 * A wait that has just begun may have missed its end: tell it again.
 */
static Ns_ReturnCode
AwaitTaken(Runner *runnerPtr, uint64_t nTaken)
{
    NsStamp       deadline = NsClockNow() + ORDER_PATIENCE;
    Ns_ReturnCode status = NS_ERROR;

    Ns_MutexLock(&runnerPtr->lock);
    while (runnerPtr->nTaken == nTaken
           && atomic_load(&runnerPtr->orderPtr) != NULL
           && NsClockNow() < deadline) {
        (void) NsCondWaitUntil(&runnerPtr->answered, &runnerPtr->lock,
                               NsClockNow() + PATIENCE / 20);
        if (atomic_load(&runnerPtr->orderPtr) != NULL) {
            NsInterruptSet(&runnerPtr->interrupt);
        }
    }
    if (runnerPtr->nTaken != nTaken) {
        status = NS_OK;
    } else if (atomic_load(&runnerPtr->orderPtr) != NULL) {
        status = NS_TIMEOUT;
    }
    Ns_MutexUnlock(&runnerPtr->lock);
    return status;
}

void
NsStackExpire(NsConn *connPtr, NsStamp limit)
{
    const NsWork *workPtr = &connPtr->work;
    Runner       *runnerPtr = FindRunner(connPtr->serverPtr, workPtr->id);
    bool          isDue = false, isStuck = false;
    NsStamp       now = NsClockNow();
    Order        *orderPtr;

    if (runnerPtr == NULL) {
        return;
    }
    Ns_MutexLock(&runnerPtr->lock);
    orderPtr = atomic_load(&runnerPtr->orderPtr);
    if (orderPtr == NULL) {
        isDue = runnerPtr->takeStamp < workPtr->dequeueStamp
            || now - runnerPtr->takeStamp >= limit;
    } else {
        isDue = true;
        isStuck = now - orderPtr->stamp > STUCK && !orderPtr->isReported;
        orderPtr->isReported |= isStuck;
    }
    Ns_MutexUnlock(&runnerPtr->lock);

    if (isDue) {
        char reason[60];

        snprintf(reason, sizeof(reason), "%s is %g s",
                 workPtr->timeLimit != 0 ? "its time limit" : "maxruntime",
                 (double) limit / NS_STAMP_SECOND);
        (void) Give(runnerPtr, connPtr->serverPtr, workPtr->id,
                    MakeOrder(NS_CANCEL_TIME, reason));
    }
    if (isStuck) {
        Report(runnerPtr, connPtr, "does not end",
               "it is in a command that cannot be interrupted", "");
    }
    LetGo(runnerPtr);
}

static Runner *
FindNamed(const NsServer *serverPtr, const char *name, uint64_t *idPtr)
{
    const char *digits = strncmp(name, "cns", 3) == 0 ? name + 3 : name;
    Tcl_WideInt number;

    if (Ns_StrToWideInt(digits, &number) != NS_OK || number < 0) {
        return NULL;
    }
    *idPtr = (uint64_t) number;
    return FindRunner(serverPtr, *idPtr);
}

static void
LetGo(Runner *runnerPtr)
{
    Ns_MutexLock(&listLock);
    runnerPtr->nAskers--;
    Ns_CondBroadcast(&askerGone);
    Ns_MutexUnlock(&listLock);
}

/*
 * The thread that runs the request, kept from ending by nAskers; or NULL.
 */
static Runner *
FindRunner(const NsServer *serverPtr, uint64_t id)
{
    Runner *runnerPtr;

    Ns_MutexLock(&listLock);
    for (runnerPtr = firstPtr; runnerPtr != NULL;
         runnerPtr = runnerPtr->nextPtr) {
        if (Runs(runnerPtr, serverPtr, id)) {
            runnerPtr->nAskers++;
            break;
        }
    }
    Ns_MutexUnlock(&listLock);
    return runnerPtr;
}

/*
 * Whether the thread runs the request just now.  Numbers are of their servers:
 * looked at twice, the server cannot have been that of another request, since a
 * thread that has a question ends no request without the lock.
 */
static bool
Runs(Runner *runnerPtr, const NsServer *serverPtr, uint64_t id)
{
    return atomic_load(&runnerPtr->serverPtr) == serverPtr
        && atomic_load(&runnerPtr->id) == id
        && atomic_load(&runnerPtr->serverPtr) == serverPtr;
}

/*
 * One question at a time; a second asker waits for its turn.  The asker can be
 * asked and cancelled meanwhile: two may ask each other.
 */
static Ns_ReturnCode
Ask(Runner *runnerPtr, const NsServer *serverPtr, uint64_t id,
    Ns_DString *dsPtr)
{
    Question question = {.answerPtr = dsPtr};
    NsStamp  deadline = NsClockNow() + PATIENCE;
    int      status = NS_OK;

    Ns_MutexLock(&runnerPtr->lock);
    while (runnerPtr->questionPtr != NULL && status == NS_OK) {
        status = NsCondWaitUntilEndable(&runnerPtr->answered, &runnerPtr->lock,
                                        deadline);
    }
    if (status == NS_OK) {
        atomic_store(&runnerPtr->questionPtr, &question);
        if (Runs(runnerPtr, serverPtr, id)) {
            status = AwaitAnswerLocked(runnerPtr, &question, deadline);
        } else {
            status = NS_ERROR;
        }
        if (atomic_load(&runnerPtr->questionPtr) == &question) {
            NsAssert(!question.isAnswered);
            atomic_store(&runnerPtr->questionPtr, NULL);
            Ns_CondBroadcast(&runnerPtr->answered);
        }
    }
    Ns_MutexUnlock(&runnerPtr->lock);
    return status;
}

/*
 * A wait that has just begun may have missed the call, so it is repeated: soon,
 * then ever more seldom.
 */
static Ns_ReturnCode
AwaitAnswerLocked(Runner *runnerPtr, const Question *questionPtr,
                  NsStamp deadline)
{
    NsStamp pause = PATIENCE / 1000, markStamp = NsClockNow() + MARK_AFTER;
    bool    isMarked = false;
    int     status = NS_OK;

    NsAssertLocked(&runnerPtr->lock);
    while (atomic_load(&runnerPtr->questionPtr) == questionPtr
           && NsClockNow() < deadline
           && (status == NS_OK || !NsInterruptIsSet())) {
        if (AppendNoted(questionPtr->answerPtr, runnerPtr)) {
            return NS_OK;
        }
        if (!isMarked && NsClockNow() >= markStamp) {
            isMarked = true;
            Ns_MutexUnlock(&runnerPtr->lock);
            MarkRunner(runnerPtr);
            Ns_MutexLock(&runnerPtr->lock);
            continue;
        }
        NsInterruptCall(&runnerPtr->interrupt);
        status = NsCondWaitUntilEndable(&runnerPtr->answered, &runnerPtr->lock,
                                        NsClockNow() + pause);
        pause = MIN(pause * 2, PATIENCE / 20);
    }
    if (questionPtr->isAnswered) {
        return NS_OK;
    }
    if (atomic_load(&runnerPtr->questionPtr) != questionPtr) {
        return NS_ERROR; /* The request has ended. */
    }
    return AppendWords(questionPtr->answerPtr, runnerPtr) ? NS_OK : NS_TIMEOUT;
}

/*
 * What the thread has noted before its wait; false when it has not.  With a
 * question and the lock, so that it stays.
 */
static bool
AppendNoted(Ns_DString *dsPtr, Runner *runnerPtr)
{
    const char *note = atomic_load(&runnerPtr->notePtr);

    NsAssertLocked(&runnerPtr->lock);
    NsAssert(atomic_load(&runnerPtr->questionPtr) != NULL);
    if (note != NULL) {
        Ns_DStringAppend(dsPtr, note);
    }
    return note != NULL;
}

/*
 * The watched command that runs, as a single frame; false when there is none.
 * With a question and the lock, so that the words stay.
 */
static bool
AppendWords(Ns_DString *dsPtr, Runner *runnerPtr)
{
    const NsStackCall *callPtr = atomic_load(&runnerPtr->callPtr);

    NsAssertLocked(&runnerPtr->lock);
    NsAssert(atomic_load(&runnerPtr->questionPtr) != NULL);
    if (callPtr != NULL) {
        AppendCommand(dsPtr, callPtr);
    }
    return callPtr != NULL;
}

/*
 * The stack of the calling thread, for a wait.  The caller answers the question
 * that there is.  Who else has marked the handler meanwhile is heard when the
 * wait has ended.
 */
static void
Look(Ns_DString *dsPtr, Runner *runnerPtr)
{
    NsAssert(!runnerPtr->isLooking);
    runnerPtr->isLooking = true;
    AppendOwn(dsPtr, runnerPtr);
    runnerPtr->isLooking = false;
    if (atomic_load(&runnerPtr->orderPtr) != NULL
        || atomic_load(&runnerPtr->mustLook)) {
        MarkRunner(runnerPtr);
    }
}

/*
 * The stack of the calling thread.  A script of one command, kept from call to
 * call, has no frame.
 */
static void
AppendOwn(Ns_DString *dsPtr, Runner *runnerPtr)
{
    const NsStackCall *callPtr = atomic_load(&runnerPtr->callPtr);

    NsFramesAppend(dsPtr, runnerPtr->interp);
    if (Ns_DStringLength(dsPtr) == 0 && callPtr != NULL) {
        AppendCommand(dsPtr, callPtr);
    }
}

static void
AppendCommand(Ns_DString *dsPtr, const NsStackCall *callPtr)
{
    Ns_DString command;

    Ns_DStringInit(&command);
    for (int i = 0; i < callPtr->objc; i++) {
        Ns_DStringAppendElement(&command, Tcl_GetString(callPtr->objv[i]));
    }
    AppendWaiting(dsPtr, Ns_DStringValue(&command));
    Ns_DStringFree(&command);
}

static void
AppendWaiting(Ns_DString *dsPtr, const char *command)
{
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringAppendElement(dsPtr, "type");
    Ns_DStringAppendElement(dsPtr, "waiting");
    Ns_DStringAppendElement(dsPtr, "cmd");
    Ns_DStringAppendElement(dsPtr, command);
    Ns_DStringAppendElement(dsPtr, "level");
    Ns_DStringAppendElement(dsPtr, "0");
    Tcl_DStringEndSublist(dsPtr);
}

/*
 * Without its lock, for Tcl has locks of its own; nAskers keeps the handler.
 * When the question has been dropped by then, the answer goes nowhere.  A
 * function of its own because ThreadSanitizer has to know it by name
 * (tests/lib/tsan.supp).
 */
static void
MarkRunner(Runner *runnerPtr)
{
    Tcl_AsyncMark(runnerPtr->handler);
}
