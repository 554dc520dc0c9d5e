/* SPDX-License-Identifier: MPL-2.0
 * signals.c --
 *
 *      Signals.
 */

#include "process/signals.h"

#include "base/lock.h"
#include "base/thread.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"
#include "process/shutdown.h"

#include <pthread.h>
#include <sys/prctl.h>

#define END_OF_START SIGALRM /* Tells the thread of the start to end. */

static sigset_t waited; /* Constant after NsSignalsBlock. */

static struct {
    Ns_Mutex  lock; /* Guards the rest. */
    Ns_Cond   changed;
    bool      isDone; /* The start has ended. */
    int       kept;   /* A signal that came before; or 0. */
    Ns_Thread thread; /* Main thread only. */
    pthread_t id;     /* Of that thread, once hasId. */
    bool      hasId;
} start;

/*
 * A line made by means that a signal handler may use.
 */
typedef struct Line {
    char   text[512];
    size_t length;
} Line;

static Ns_ThreadProc WatchStart;
static void          WaitForStart(void);
static void          OnFatalSignal(int number);
static void          AppendText(Line *linePtr, const char *text);
static void          AppendNumber(Line *linePtr, uint64_t number);

void
NsSignalsBlock(bool isDebugged)
{
    static const int fatal[] = {SIGILL, SIGTRAP, SIGBUS, SIGSEGV, SIGFPE};
    sigset_t         blocked;

    sigemptyset(&waited);
    sigaddset(&waited, SIGTERM);
    sigaddset(&waited, SIGHUP);
    sigaddset(&waited, SIGQUIT);
    sigaddset(&waited, SIGUSR1);
    sigaddset(&waited, SIGUSR2);
    if (!isDebugged) {
        sigaddset(&waited, SIGINT);
    }
    blocked = waited;
    /* Calls that would send these fail instead, and say why. */
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    sigaddset(&blocked, SIGIO);
    sigaddset(&blocked, SIGPWR);
    sigaddset(&blocked, END_OF_START);
    ns_sigmask(SIG_BLOCK, &blocked, NULL);

    for (int i = 0; i < Ns_NrElements(fatal); i++) {
        struct sigaction action = {.sa_handler = OnFatalSignal,
                                   .sa_flags = (int) SA_RESETHAND | SA_ONSTACK};

        sigaction(fatal[i], &action, NULL);
    }
}

void
NsSignalsBeginStart(void)
{
    NsMutexSetup(&start.lock, NS_RANK_PROCESS_MISC, "ns:start", NULL);
    Ns_RegisterProcInfo((void *) WatchStart, "ns:watchstart", NULL);
    Ns_ThreadCreate(WatchStart, NULL, 0, &start.thread);
    Ns_MutexLock(&start.lock);
    while (!start.hasId) {
        Ns_CondWait(&start.changed, &start.lock);
    }
    Ns_MutexUnlock(&start.lock);
}

void
NsSignalsEndStart(void)
{
    Ns_MutexLock(&start.lock);
    start.isDone = true;
    Ns_CondBroadcast(&start.changed);
    Ns_MutexUnlock(&start.lock);
    (void) pthread_kill(start.id, END_OF_START);
    Ns_ThreadJoin(&start.thread, NULL);
}

void
NsSignalsAllowCore(void)
{
    (void) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

int
NsSignalsWait(void)
{
    int number;

    if (start.kept != 0) {
        number = start.kept;
        start.kept = 0;
        return number;
    }
    while (ns_sigwait(&waited, &number) != 0) {
        continue;
    }
    return number;
}

static void
WatchStart(void *arg)
{
    sigset_t ending = waited;
    int      number = 0;

    Ns_ThreadSetName("-start-");
    sigdelset(&ending, SIGHUP);
    sigdelset(&ending, SIGUSR1);
    sigdelset(&ending, SIGUSR2);
    sigaddset(&ending, END_OF_START);

    Ns_MutexLock(&start.lock);
    start.id = pthread_self();
    start.hasId = true;
    Ns_CondBroadcast(&start.changed);
    Ns_MutexUnlock(&start.lock);

    while (ns_sigwait(&ending, &number) != 0) {
        continue;
    }
    if (number != END_OF_START) {
        Ns_MutexLock(&start.lock);
        start.kept = number;
        Ns_MutexUnlock(&start.lock);
        WaitForStart();
    }
}

static void
WaitForStart(void)
{
    Ns_ReturnCode result = NS_OK;
    Ns_Time       deadline;
    bool          isDone;
    NsStamp       timeout;
    int           status = NsShutdownStatus(start.kept, &timeout);
    Ns_Time       span = NsClockSpan(0, timeout);

    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, span.sec, span.usec);
    Ns_MutexLock(&start.lock);
    while (!start.isDone && result == NS_OK) {
        result = Ns_CondTimedWait(&start.changed, &start.lock, &deadline);
    }
    isDone = start.isDone;
    Ns_MutexUnlock(&start.lock);
    if (!isDone) {
        NsShutdownForce(status);
    }
}

/*
 * Only what is allowed in a signal handler.  SA_RESETHAND has put the default
 * action back: the process ends by the same signal, with a core where that is
 * configured.
 */
static void
OnFatalSignal(int number)
{
    Line                 line = {.length = 0};
    const char          *name = NsThreadPeekName();
    const NsThreadDoing *doingPtr = NsThreadGetDoing();

    AppendText(&line, "Fatal: received fatal signal ");
    AppendNumber(&line, (uint64_t) number);
    if (name != NULL) {
        AppendText(&line, " in thread ");
        AppendText(&line, name);
    }
    if (doingPtr->url != NULL) {
        AppendText(&line, ", request cns");
        AppendNumber(&line, doingPtr->id);
        AppendText(&line, " ");
        AppendText(&line, doingPtr->method != NULL ? doingPtr->method : "?");
        AppendText(&line, " ");
        AppendText(&line, doingPtr->url);
    }
    line.text[line.length++] = '\n';
    (void) !write(STDERR_FILENO, line.text, line.length);
    (void) raise(number);
}

/*
 * Text from a client must not end the line.
 */
static void
AppendText(Line *linePtr, const char *text)
{
    /* One byte is left for the end. */
    for (; *text != '\0' && linePtr->length < sizeof(linePtr->text) - 1;
         text++) {
        bool isPlain = *text >= ' ' && *text < 127;

        linePtr->text[linePtr->length++] = isPlain ? *text : '?';
    }
}

static void
AppendNumber(Line *linePtr, uint64_t number)
{
    char digits[24];
    int  i = sizeof(digits) - 1;

    digits[i] = '\0';
    do {
        digits[--i] = (char) ('0' + number % 10);
        number /= 10;
    } while (number > 0);
    AppendText(linePtr, digits + i);
}
