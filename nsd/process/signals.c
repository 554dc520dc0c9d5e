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
#include "process/crash.h"
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

static Ns_ThreadProc WatchStart;
static void          WaitForStart(void);

void
NsSignalsBlock(bool isDebugged)
{
    sigset_t blocked;

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
    NsCrashCatch();
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

int
NsSignalsWaitFor(NsStamp time)
{
    Ns_Time         span = NsClockSpan(0, time);
    struct timespec timeout = {span.sec, span.usec * 1000};
    int             number;

    do {
        number = sigtimedwait(&waited, NULL, &timeout);
    } while (number < 0 && errno == EINTR);
    return MAX(number, 0);
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
