/*
 * pool_life.c --
 *
 *      Start and stop of the pools of a server.
 */

#include "ns.h"
#include "dispatch/pool_int.h"

void
NsPoolsStart(NsServer *serverPtr)
{
    NsPool *poolPtr;

    serverPtr->poolsPtr->isStarted = true;
    NsPatienceStart();
    for (int i = 0; (poolPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
        NsPoolStart(poolPtr);
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
    NsPool        *poolPtr;
    Ns_ReturnCode  status = NS_OK;

    for (int i = 0; (poolPtr = NsPoolAt(serverPtr, i)) != NULL; i++) {
        if (NsConnThreadsWait(poolPtr, deadlinePtr) != NS_OK) {
            status = NS_TIMEOUT;
        }
    }
    if (serverPtr->poolsPtr->isStarted) {
        serverPtr->poolsPtr->isStarted = false;
        NsPatienceStop();
    }
    if (status == NS_OK) {
        Ns_Log(Notice, "server [%s]: connection threads stopped",
               serverPtr->name);
    } else {
        Ns_Log(Warning,
               "server [%s]: timeout waiting for connection thread exit",
               serverPtr->name);
    }
    return status;
}
