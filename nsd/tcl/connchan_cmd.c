/*
 * connchan_cmd.c --
 *
 *      ns_connchan: connections that scripts have taken over as channels.
 *
 *      An entry goes when its channel is closed, by whatever thread has it
 *      then.
 */

#include "tcl/connchan_cmd.h"
#include "ns.h"
#include "base/clock.h"
#include "base/lock.h"
#include "request/conn.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"
#include "tcl/serverarg.h"

typedef struct ConnChan {
    /* Constant. */
    NsServer *serverPtr;
    char     *channel;
    char     *driver;
    char     *peer;
    char     *clientData;
    Ns_Time   start; /* When the request came. */

    struct ConnChan *nextPtr; /* Guarded by lock. */
    struct ConnChan *prevPtr;
} ConnChan;

static Ns_Mutex  lock; /* Guards the list. */
static ConnChan *firstPtr;

static Tcl_ObjCmdProc ListCmd;
static Tcl_CloseProc  Forget;
static void           AppendEntry(Ns_DString *dsPtr, const ConnChan *entryPtr);

static const NsTclCommand subcmds[] = {
    {"list", ListCmd, 0, NS_TCL_ANY, NULL, 0}, NS_TCL_END, NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_connchan", "list ?-server server?", "subcommand", 0, subcmds};

void
NsConnChanCmdInit(void)
{
    NsMutexSetup(&lock, NS_RANK_TCL_MISC, "ns:connchan", NULL);
    NsTclAddEnsemble(&ensemble);
}

void
NsConnChanEnter(NsConn *connPtr, Tcl_Channel channel)
{
    ConnChan *entryPtr = ns_calloc(1, sizeof(*entryPtr));

    entryPtr->serverPtr = connPtr->serverPtr;
    entryPtr->channel = ns_strdup(Tcl_GetChannelName(channel));
    entryPtr->driver = ns_strdup(connPtr->driverPtr->module);
    entryPtr->peer = ns_strdup(Ns_ConnPeer(&connPtr->pub));
    entryPtr->clientData = ns_strcopy(NsConnClientData(connPtr));
    entryPtr->start = NsClockWall(connPtr->work.queueStamp);

    Ns_MutexLock(&lock);
    entryPtr->nextPtr = firstPtr;
    if (firstPtr != NULL) {
        firstPtr->prevPtr = entryPtr;
    }
    firstPtr = entryPtr;
    Ns_MutexUnlock(&lock);
    Tcl_CreateCloseHandler(channel, Forget, entryPtr);
}

static void
Forget(ClientData clientData)
{
    ConnChan *entryPtr = clientData;

    Ns_MutexLock(&lock);
    if (entryPtr->prevPtr != NULL) {
        entryPtr->prevPtr->nextPtr = entryPtr->nextPtr;
    } else {
        firstPtr = entryPtr->nextPtr;
    }
    if (entryPtr->nextPtr != NULL) {
        entryPtr->nextPtr->prevPtr = entryPtr->prevPtr;
    }
    Ns_MutexUnlock(&lock);
    ns_free(entryPtr->channel);
    ns_free(entryPtr->driver);
    ns_free(entryPtr->peer);
    ns_free(entryPtr->clientData);
    ns_free(entryPtr);
}

/*
 * ns_connchan list ?-server server?: {CHANNEL DRIVER PEER START CLIENTDATA} of
 * each.
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    NsServer   *serverPtr = NULL;
    char       *server = NULL;
    Ns_ObjvSpec options[] = {
        {"-server", Ns_ObjvString, &server, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_DString ds;

    if (Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK
        || (server != NULL
            && (serverPtr = NsServerArgFind(interp, server)) == NULL)) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    Ns_MutexLock(&lock);
    for (const ConnChan *entryPtr = firstPtr; entryPtr != NULL;
         entryPtr = entryPtr->nextPtr) {
        if (serverPtr == NULL || entryPtr->serverPtr == serverPtr) {
            AppendEntry(&ds, entryPtr);
        }
    }
    Ns_MutexUnlock(&lock);
    return NsTclReturnText(interp, &ds);
}

static void
AppendEntry(Ns_DString *dsPtr, const ConnChan *entryPtr)
{
    Tcl_DStringStartSublist(dsPtr);
    Ns_DStringAppendElement(dsPtr, entryPtr->channel);
    Ns_DStringAppendElement(dsPtr, entryPtr->driver);
    Ns_DStringAppendElement(dsPtr, entryPtr->peer);
    Ns_DStringPrintf(dsPtr, " %ld.%06ld", entryPtr->start.sec,
                     entryPtr->start.usec);
    Ns_DStringAppendElement(dsPtr,
                            entryPtr->clientData != NULL ? entryPtr->clientData
                                                         : "");
    Tcl_DStringEndSublist(dsPtr);
}
