/* SPDX-License-Identifier: MPL-2.0
 * stack.c --
 *
 *      The position of a running request's script, asked from another thread.
 *
 *      An interpreter belongs to its thread, so the thread has to look itself.
 *      The asker leaves a question with the thread's runner and marks its async
 *      handler, which Tcl calls between two commands.
 *
 *      A thread that hangs in one command never comes to that.  Therefore the
 *      commands that may wait for others, watched ones, publish their words
 *      while they run, and an asker that gets no answer reads these.
 */

#include "tcl/stack.h"

#include "ns.h"
#include "base/lock.h"
#include "tcl/result.h"

#define PATIENCE NS_STAMP_SECOND

/*
 * A question; lives on the asker's stack until it is answered or withdrawn.
 */
typedef struct Question {
    Ns_DString *answerPtr;
    bool        isAnswered;
} Question;

/*
 * The words of a watched command that runs, up to one of mere bytes; on its
 * thread's stack.
 */
typedef struct Words {
    int             objc;
    Tcl_Obj *const *objv;
} Words;

/*
 * A watched command as it was before.
 */
typedef struct Watched {
    Tcl_ObjCmdProc    *proc;
    ClientData         clientData;
    Tcl_CmdDeleteProc *deleteProc;
    ClientData         deleteData;
} Watched;

static const char *const watchedNames[] = {
    "exec",      "gets",    "ns_cache_eval", "ns_cond",     "ns_critsec",
    "ns_event",  "ns_http", "ns_job",        "ns_memoize",  "ns_mutex",
    "ns_rwlock", "ns_sema", "ns_sleep",      "ns_sockopen", "ns_sockselect",
    "ns_thread", "read",    "socket"};

/*
 * A thread that runs requests.
 */
typedef struct Runner {
    struct Runner *nextPtr; /* These two are guarded by listLock. */
    int            nAskers;

    Tcl_AsyncHandler handler; /* Constant. */
    Tcl_Interp      *interp;  /* The thread's own. */

    /*
     * The request.  Written by the thread, without the lock: an asker puts its
     * question, then looks whether the request still runs; the thread ends the
     * request, then looks whether there is a question.  The order matters, so
     * all are sequentially consistent.
     */
    _Atomic(const NsServer *) serverPtr; /* NULL: runs no request. */
    _Atomic uint64_t          id;

    /*
     * Written by the thread, without the lock; it takes that before the words
     * go, if there is a question.  NULL: no watched command runs.
     */
    _Atomic(const Words *) wordsPtr;

    Ns_Mutex            lock; /* Guards changes of the question. */
    Ns_Cond             answered;
    _Atomic(Question *) questionPtr;
} Runner;

static Ns_Mutex listLock;
static Ns_Cond  askerGone;
static Runner  *firstPtr;
static Ns_Tls   tls;

static void    Setup(void) __attribute__((constructor));
static Runner *Self(void);
static bool    Runs(Runner *runnerPtr, const NsServer *serverPtr, uint64_t id);
static Ns_TlsCleanup     ForgetRunner;
static Tcl_AsyncProc     Answer;
static Tcl_ObjCmdProc    RunWatched;
static Tcl_CmdDeleteProc FreeWatched;
static bool              AppendWords(Ns_DString *dsPtr, Runner *runnerPtr);
static void              AppendStack(Ns_DString *dsPtr, Tcl_Interp *interp);
static Runner           *FindRunner(const NsServer *serverPtr, uint64_t id);
static Ns_ReturnCode     Ask(Runner *runnerPtr, const NsServer *serverPtr,
                             uint64_t id, Ns_DString *dsPtr);
static void MarkRunner(Runner *runnerPtr) __attribute__((noinline));

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

    runnerPtr->interp = NULL;
    atomic_store(&runnerPtr->serverPtr, NULL);
    if (atomic_load(&runnerPtr->questionPtr) != NULL) {
        Ns_MutexLock(&runnerPtr->lock);
        runnerPtr->questionPtr = NULL; /* Too late. */
        Ns_CondBroadcast(&runnerPtr->answered);
        Ns_MutexUnlock(&runnerPtr->lock);
    }
}

void
NsStackWatch(Tcl_Interp *interp)
{
    for (int i = 0; i < Ns_NrElements(watchedNames); i++) {
        Tcl_CmdInfo info;
        Watched    *watchedPtr;

        if (Tcl_GetCommandInfo(interp, watchedNames[i], &info) == 0
            || info.isNativeObjectProc == 0) {
            continue;
        }
        watchedPtr = ns_malloc(sizeof(*watchedPtr));
        watchedPtr->proc = info.objProc;
        watchedPtr->clientData = info.objClientData;
        watchedPtr->deleteProc = info.deleteProc;
        watchedPtr->deleteData = info.deleteData;
        info.objProc = RunWatched;
        info.objClientData = watchedPtr;
        info.deleteProc = FreeWatched;
        info.deleteData = watchedPtr;
        (void) Tcl_SetCommandInfo(interp, watchedNames[i], &info);
    }
}

static void
FreeWatched(ClientData clientData)
{
    Watched *watchedPtr = clientData;

    if (watchedPtr->deleteProc != NULL) {
        watchedPtr->deleteProc(watchedPtr->deleteData);
    }
    ns_free(watchedPtr);
}

static int
RunWatched(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const Watched *watchedPtr = clientData;
    Runner        *runnerPtr = Ns_TlsGet(&tls);
    Words          words = {0, objv};
    const Words   *outerPtr;
    int            result;

    if (runnerPtr == NULL || runnerPtr->interp == NULL) {
        return watchedPtr->proc(watchedPtr->clientData, interp, objc, objv);
    }
    /* Another thread only reads, so their strings have to be there.  Not of
     * bytes: with a string they would be taken for text. */
    while (words.objc < objc && !NsTclIsByteArray(objv[words.objc])) {
        (void) Tcl_GetString(objv[words.objc++]);
    }
    outerPtr = atomic_load(&runnerPtr->wordsPtr);
    atomic_store(&runnerPtr->wordsPtr, &words);
    result = watchedPtr->proc(watchedPtr->clientData, interp, objc, objv);
    atomic_store(&runnerPtr->wordsPtr, outerPtr);
    if (unlikely(atomic_load(&runnerPtr->questionPtr) != NULL)) {
        Ns_MutexLock(&runnerPtr->lock); /* An asker may be reading. */
        Ns_MutexUnlock(&runnerPtr->lock);
    }
    return result;
}

static Runner *
Self(void)
{
    Runner *runnerPtr = Ns_TlsGet(&tls);

    if (unlikely(runnerPtr == NULL)) {
        runnerPtr = ns_calloc(1, sizeof(*runnerPtr));
        runnerPtr->handler = Tcl_AsyncCreate(Answer, runnerPtr);
        NsMutexSetup(&runnerPtr->lock, NS_RANK_TCL_MISC, "ns:tclstack", NULL);
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

    Tcl_AsyncDelete(runnerPtr->handler);
    Ns_CondDestroy(&runnerPtr->answered);
    Ns_MutexDestroy(&runnerPtr->lock);
    ns_free(runnerPtr);
}

/*
 * In the thread that was asked, between two commands.
 */
static int
Answer(ClientData clientData, Tcl_Interp *interp, int code)
{
    Runner    *runnerPtr = clientData;
    Ns_DString ds;

    Ns_DStringInit(&ds);
    if (runnerPtr->interp != NULL) {
        AppendStack(&ds, runnerPtr->interp);
    }
    Ns_MutexLock(&runnerPtr->lock);
    if (runnerPtr->questionPtr != NULL) {
        Ns_DStringNAppend(runnerPtr->questionPtr->answerPtr,
                          Ns_DStringValue(&ds), Ns_DStringLength(&ds));
        runnerPtr->questionPtr->isAnswered = true;
        runnerPtr->questionPtr = NULL;
        Ns_CondBroadcast(&runnerPtr->answered);
    }
    Ns_MutexUnlock(&runnerPtr->lock);
    Ns_DStringFree(&ds);
    return code;
}

/*
 * The innermost frame is that of `info frame` itself.
 */
static void
AppendStack(Ns_DString *dsPtr, Tcl_Interp *interp)
{
    Tcl_InterpState state = Tcl_SaveInterpState(interp, TCL_OK);
    int             nFrames = 0;

    if (Tcl_Eval(interp, "::info frame") == TCL_OK) {
        (void) Tcl_GetIntFromObj(NULL, Tcl_GetObjResult(interp), &nFrames);
    }
    for (int i = nFrames - 1; i > 0; i--) {
        char script[40];

        snprintf(script, sizeof(script), "::info frame %d", i);
        if (Tcl_Eval(interp, script) == TCL_OK) {
            Ns_DStringAppendElement(dsPtr, Tcl_GetStringResult(interp));
        }
    }
    (void) Tcl_RestoreInterpState(interp, state);
}

Ns_ReturnCode
NsStackOfRequest(NsServer *serverPtr, const char *id, Ns_DString *dsPtr)
{
    const char   *digits = strncmp(id, "cns", 3) == 0 ? id + 3 : id;
    Tcl_WideInt   number;
    Runner       *runnerPtr;
    Ns_ReturnCode status;

    if (Ns_StrToWideInt(digits, &number) != NS_OK || number < 0) {
        return NS_ERROR;
    }
    runnerPtr = FindRunner(serverPtr, (uint64_t) number);
    if (runnerPtr == NULL) {
        return NS_ERROR;
    }
    if (runnerPtr == Ns_TlsGet(&tls)) {
        AppendStack(dsPtr, runnerPtr->interp);
        status = NS_OK;
    } else {
        status = Ask(runnerPtr, serverPtr, (uint64_t) number, dsPtr);
    }
    Ns_MutexLock(&listLock);
    runnerPtr->nAskers--;
    Ns_CondBroadcast(&askerGone);
    Ns_MutexUnlock(&listLock);
    return status;
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
 * One question at a time; a second asker waits for its turn.
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
        status = NsCondWaitUntil(&runnerPtr->answered, &runnerPtr->lock,
                                 deadline);
    }
    if (status == NS_OK) {
        runnerPtr->questionPtr = &question;
        if (!Runs(runnerPtr, serverPtr, id)) {
            runnerPtr->questionPtr = NULL;
            Ns_CondBroadcast(&runnerPtr->answered);
            status = NS_ERROR;
        }
    }
    if (status == NS_OK) {
        Ns_MutexUnlock(&runnerPtr->lock);
        MarkRunner(runnerPtr);
        Ns_MutexLock(&runnerPtr->lock);
        while (runnerPtr->questionPtr == &question && status == NS_OK) {
            status = NsCondWaitUntil(&runnerPtr->answered, &runnerPtr->lock,
                                     deadline);
        }
        if (question.isAnswered) {
            status = NS_OK;
        } else if (runnerPtr->questionPtr == &question) {
            if (AppendWords(dsPtr, runnerPtr)) {
                status = NS_OK;
            }
            runnerPtr->questionPtr = NULL;
            Ns_CondBroadcast(&runnerPtr->answered);
        } else {
            status = NS_ERROR; /* The request has ended. */
        }
    }
    Ns_MutexUnlock(&runnerPtr->lock);
    return status;
}

/*
 * The watched command that runs, as a single frame; false when there is none.
 * With a question and the lock, so that the words stay.
 */
static bool
AppendWords(Ns_DString *dsPtr, Runner *runnerPtr)
{
    const Words *wordsPtr = atomic_load(&runnerPtr->wordsPtr);
    Ns_DString   command;

    NsAssertLocked(&runnerPtr->lock);
    if (wordsPtr == NULL) {
        return false;
    }
    Ns_DStringInit(&command);
    for (int i = 0; i < wordsPtr->objc; i++) {
        Ns_DStringAppendElement(&command, Tcl_GetString(wordsPtr->objv[i]));
    }
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringAppendElement(dsPtr, "type");
    Ns_DStringAppendElement(dsPtr, "waiting");
    Ns_DStringAppendElement(dsPtr, "cmd");
    Ns_DStringAppendElement(dsPtr, Ns_DStringValue(&command));
    Ns_DStringAppendElement(dsPtr, "level");
    Ns_DStringAppendElement(dsPtr, "0");
    Tcl_DStringEndSublist(dsPtr);
    Ns_DStringFree(&command);
    return true;
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
