/* SPDX-License-Identifier: MPL-2.0
 * pool_life.c --
 *
 *      Start and stop of the pools of a server.
 */

#include "dispatch/pool_life.h"
#include "ns.h"
#include "dispatch/connthread_int.h"
#include "dispatch/grow.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_stats.h"

#define MAX_NAMED 10 /* Requests of a pool that the stop waits for. */

static int  LogHung(NsPool *poolPtr, bool isOver);
static void LogHungThread(const NsConnThread *threadPtr,
                          const char *description, bool isOver);

void
NsPoolsStart(NsServer *serverPtr)
{
    NsPool *poolPtr;

    serverPtr->poolsPtr->isStarted = true;
    NsAssertNoneLocked();
    NsGrowBegin();
    for (int i = 0; (poolPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
        NsGrowOpen(poolPtr);
    }
}

void
NsPoolsStop(NsServer *serverPtr)
{
    NsPool *poolPtr;

    Ns_Log(Notice, "server [%s]: stopping", serverPtr->name);
    for (int i = 0; (poolPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
        NsPoolStop(poolPtr);
    }
}

Ns_ReturnCode
NsPoolsWait(NsServer *serverPtr, const Ns_Time *deadlinePtr)
{
    NsPool       *poolPtr;
    Ns_ReturnCode status = NS_OK;
    int           nHung = 0, nWaiting = 0;

    NsAssertNoneLocked();
    for (int i = 0; (poolPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
        if (NsConnThreadsWait(poolPtr, deadlinePtr) != NS_OK) {
            status = NS_TIMEOUT;
            nHung += LogHung(poolPtr, true);
            nWaiting += NsPoolWaiting(poolPtr) + atomic_load(&poolPtr->nHeld);
        }
    }
    if (serverPtr->poolsPtr->isStarted) {
        serverPtr->poolsPtr->isStarted = false;
        NsGrowEnd();
    }
    if (status == NS_OK) {
        Ns_Log(Notice, "server [%s]: connection threads stopped",
               serverPtr->name);
    } else {
        Ns_Log(Warning,
               "server [%s]: timeout waiting for connection thread exit:"
               " gave up %d running requests and %d that waited",
               serverPtr->name, nHung, nWaiting);
    }
    return status;
}

void
NsPoolsTellRunning(NsServer *serverPtr)
{
    NsPool *poolPtr;

    for (int i = 0; (poolPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
        (void) LogHung(poolPtr, false);
    }
}

/*
 * Say which requests run until now, with isOver that they are given up; their
 * number.
 */
static int
LogHung(NsPool *poolPtr, bool isOver)
{
    NsConnThread *threadPtr;
    int           nHung = 0;

    for (threadPtr = NsConnThreadFirst(poolPtr); threadPtr != NULL;
         threadPtr = threadPtr->nextSlotPtr) {
        NsWork    *workPtr = NsConnThreadPin(threadPtr);
        Ns_DString ds;

        if (workPtr != NULL) {
            Ns_DStringInit(&ds);
            nsPoolProcs.describeProc(&ds, workPtr, "running", 0);
            if (isOver || nHung < MAX_NAMED) {
                LogHungThread(threadPtr, Ns_DStringValue(&ds), isOver);
            }
            NsPoolUnpin(poolPtr, workPtr);
            Ns_DStringFree(&ds);
            nHung++;
        }
    }
    if (nHung > MAX_NAMED && !isOver) {
        Ns_Log(Notice, "server[%s]: the stop waits for %d more requests",
               poolPtr->serverPtr->name, nHung - MAX_NAMED);
    }
    return nHung;
}

/*
 * The description is a list of one list: see describeProc.
 */
static void
LogHungThread(const NsConnThread *threadPtr, const char *description,
              bool isOver)
{
    const NsPool *poolPtr = threadPtr->poolPtr;
    const char  **works, **words;
    int           nWorks, nWords;
    char          name[128];

    if (Tcl_SplitList(NULL, description, &nWorks, &works) != TCL_OK) {
        return;
    }
    if (nWorks == 1
        && Tcl_SplitList(NULL, works[0], &nWords, &words) == TCL_OK) {
        if (nWords >= 6) {
            NsConnThreadName(threadPtr, name, sizeof(name));
            Ns_Log(isOver ? Warning : Notice,
                   "server[%s]: %s: thread %s, %s %s from %s, for %s s",
                   poolPtr->serverPtr->name,
                   isOver ? "gave up a request that hangs"
                          : "the stop waits for a request",
                   name, words[3], words[4], words[1], words[5]);
        }
        Tcl_Free((char *) words);
    }
    Tcl_Free((char *) works);
}
