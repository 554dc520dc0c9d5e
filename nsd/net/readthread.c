/* SPDX-License-Identifier: MPL-2.0
 * readthread.c --
 *
 *      What driver threads and spooler threads have in common.
 */

#include "net/readthread.h"
#include "net/driver_params.h"
#include "net/peers.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/episode.h"
#include "base/lock.h"

static _Thread_local NsDriverThread *selfPtr;

static void       Run(void *arg);
static Ns_ArgProc DescribeThread;

NsDriverThread *
NsReadThreadCreate(NsDriver *drvPtr, int index, const NsReadKind *kindPtr)
{
    NsDriverThread *threadPtr = ns_calloc(1u, sizeof(NsDriverThread));
    Ns_DString      ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "%s:%d", drvPtr->pub.module, index);
    threadPtr->name = Ns_DStringExport(&ds);
    threadPtr->drvPtr = drvPtr;
    threadPtr->index = index;
    threadPtr->kindPtr = kindPtr;
    threadPtr->reserveFd = -1;
    if (NsLoopInit(&threadPtr->loop, NsDriverPollerKind(), &kindPtr->loopProcs,
                   threadPtr)
        != NS_OK) {
        Ns_Fatal("%s: cannot create a poller: %s", drvPtr->pub.module,
                 strerror(errno));
    }
    NsMutexSetup(&threadPtr->streamLock, NS_RANK_STREAMS, "ns:streams",
                 threadPtr->name);
    threadPtr->peersPtr = NsPeerTableCreate();
    threadPtr->scratch = ns_malloc(NS_SCRATCH_BYTES);
    return threadPtr;
}

void
NsReadThreadStart(NsDriverThread *threadPtr)
{
    Ns_RegisterProcInfo((void *) Run, "ns:driverthread", DescribeThread);
    Ns_ThreadCreate(Run, threadPtr, 0, &threadPtr->thread);
}

NsDriverThread *
NsReadThreadSelf(void)
{
    return selfPtr;
}

void
NsLogOncePerSecond(NsStamp *lastPtr, const char *format, ...)
{
    va_list args;

    if (!NsLineIsDue(lastPtr, NsClockNow(), NS_STAMP_SECOND)) {
        return;
    }
    va_start(args, format);
    Ns_VALog(Warning, format, &args);
    va_end(args);
}

static void
Run(void *arg)
{
    NsDriverThread *threadPtr = arg;

    NsAssert(threadPtr->nSockets == 0 && threadPtr->scratch != NULL);
    selfPtr = threadPtr;
    NsMessageThreadBegin();
    threadPtr->kindPtr->runProc(threadPtr);
    NsMessageThreadEnd();
}

/*
 * The argument of Run, for lists of threads.
 */
static void
DescribeThread(Ns_DString *dsPtr, void *arg)
{
    Tcl_DStringAppendElement(dsPtr, ((NsDriverThread *) arg)->name);
}
