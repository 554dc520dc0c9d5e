/* SPDX-License-Identifier: MPL-2.0
 * chan_cmd.c --
 *
 *      ns_chan: open Tcl channels that go from thread to thread.
 *
 *      A published channel belongs to no interpreter; who gets it takes it out
 *      of the table.  What an interpreter has taken is in its own table, by the
 *      name that Tcl gives the channel: the script may have closed it.  At the
 *      end of a use all channels are closed, taken ones among them.
 */

#include "nsthread.h"
#include "base/lock.h"
#include "tcl/cleanup.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/perserver.h"
#include "tcl/result.h"

#define ASSOC_KEY "ns:chan"

/*
 * Published channels of a server, by name.
 */
typedef struct Published {
    Ns_Mutex      lock; /* Guards the table. */
    Tcl_HashTable channels;
} Published;

static Tcl_ObjCmdProc       Create, Get, Put, List, Cleanup;
static NsCleanupProc        ForgetTaken;
static NsPerServerProc      NewPublished;
static Tcl_InterpDeleteProc FreeTaken;

static Published     *PublishedOf(const NsInterp *itPtr);
static Tcl_HashTable *TakenOf(NsInterp *itPtr);
static int  GiveAway(NsInterp *itPtr, const char *name, Tcl_Channel channel);
static bool Publish(Published *publishedPtr, const char *name,
                    Tcl_Channel channel);
static void Detach(Tcl_Interp *interp, Tcl_Channel channel);
static void Attach(Tcl_Interp *interp, Tcl_Channel channel);
static void ClosePublished(Published *publishedPtr);

static const NsTclCommand subcmds[] = {
    {"cleanup", Cleanup, 0, NS_TCL_ANY, NULL, 0},
    {"list", List, 0, NS_TCL_ANY, NULL, 0},
    {"create", Create, 2, 2, "channel name", 0},
    {"put", Put, 1, 1, "name", 0},
    {"get", Get, 1, 1, "name", 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_chan", "command ?args?", "command", 0, subcmds};

static NsPerServer published;

void
NsChanCmdInit(void)
{
    NsTclAddEnsemble(&ensemble);
    NsInterpAddCleanup(NS_CLEANUP_RELEASE, ForgetTaken);
}

static Published *
PublishedOf(const NsInterp *itPtr)
{
    return NsPerServerGet(&published, itPtr->serverPtr, NewPublished);
}

static void *
NewPublished(NsServer *serverPtr)
{
    Published *publishedPtr = ns_calloc(1, sizeof(*publishedPtr));

    NsMutexSetup(&publishedPtr->lock, NS_RANK_TCL_MISC, "ns:chan",
                 serverPtr->name);
    Tcl_InitHashTable(&publishedPtr->channels, TCL_STRING_KEYS);
    return publishedPtr;
}

/*
 * The channels that the interpreter has taken, by the name they had.
 */
static Tcl_HashTable *
TakenOf(NsInterp *itPtr)
{
    if (itPtr->takenPtr == NULL) {
        itPtr->takenPtr = ns_malloc(sizeof(*itPtr->takenPtr));
        Tcl_InitHashTable(itPtr->takenPtr, TCL_STRING_KEYS);
        Tcl_SetAssocData(itPtr->interp, ASSOC_KEY, FreeTaken, itPtr->takenPtr);
    }
    return itPtr->takenPtr;
}

static void
FreeTaken(ClientData clientData, Tcl_Interp *interp)
{
    Tcl_HashTable *tablePtr = clientData;
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    while ((entryPtr = Tcl_FirstHashEntry(tablePtr, &search)) != NULL) {
        ns_free(Tcl_GetHashValue(entryPtr));
        Tcl_DeleteHashEntry(entryPtr);
    }
    Tcl_DeleteHashTable(tablePtr);
    ns_free(tablePtr);
}

/*
 * ns_chan create channel name
 */
static int
Create(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    Tcl_Channel channel;

    if (Ns_TclGetOpenChannel(interp, Tcl_GetString(objv[2]), 0, 0, &channel)
        != TCL_OK) {
        return TCL_ERROR;
    }
    if (Tcl_IsChannelShared(channel)) {
        return NsTclFail(interp, "channel is shared");
    }
    return GiveAway(clientData, Tcl_GetString(objv[3]), channel);
}

/*
 * ns_chan get name
 */
static int
Get(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsInterp      *itPtr = clientData;
    Published     *publishedPtr = PublishedOf(itPtr);
    Tcl_HashEntry *entryPtr;
    Tcl_Channel    channel = NULL;
    const char    *name;
    int            isNew;

    name = Tcl_GetString(objv[2]);
    Ns_MutexLock(&publishedPtr->lock);
    entryPtr = Tcl_FindHashEntry(&publishedPtr->channels, name);
    if (entryPtr != NULL) {
        channel = Tcl_GetHashValue(entryPtr);
        Tcl_DeleteHashEntry(entryPtr);
    }
    Ns_MutexUnlock(&publishedPtr->lock);
    if (channel == NULL) {
        return NsTclFail(interp, "channel \"%s\" not found", name);
    }
    Attach(interp, channel);
    entryPtr = Tcl_CreateHashEntry(TakenOf(itPtr), name, &isNew);
    if (!isNew) {
        ns_free(Tcl_GetHashValue(entryPtr));
    }
    Tcl_SetHashValue(entryPtr, ns_strdup(Tcl_GetChannelName(channel)));
    return NsTclReturn(interp,
                       Tcl_NewStringObj(Tcl_GetChannelName(channel), -1));
}

/*
 * ns_chan put name
 */
static int
Put(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsInterp      *itPtr = clientData;
    Tcl_HashEntry *entryPtr;
    Tcl_Channel    channel;
    const char    *name;
    int            result = TCL_ERROR;

    name = Tcl_GetString(objv[2]);
    entryPtr = Tcl_FindHashEntry(TakenOf(itPtr), name);
    if (entryPtr == NULL) {
        return NsTclFail(interp, "channel \"%s\" not found", name);
    }
    channel = Tcl_GetChannel(interp, Tcl_GetHashValue(entryPtr), NULL);
    if (channel != NULL && !Tcl_IsChannelShared(channel)) {
        result = GiveAway(itPtr, name, channel);
    } else {
        Ns_TclPrintfResult(interp, "channel mismatch");
    }
    /* One that was not given away can be put another time. */
    if (channel == NULL || result == TCL_OK) {
        ns_free(Tcl_GetHashValue(entryPtr));
        Tcl_DeleteHashEntry(entryPtr);
    }
    return result;
}

/*
 * ns_chan list ?-shared?
 */
static int
List(ClientData clientData, Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    NsInterp      *itPtr = clientData;
    Published     *publishedPtr = PublishedOf(itPtr);
    Tcl_Obj       *listPtr = Tcl_NewListObj(0, NULL);
    Tcl_HashTable *tablePtr;
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    Ns_MutexLock(&publishedPtr->lock);
    tablePtr = objc > 2 ? &publishedPtr->channels : TakenOf(itPtr);
    for (entryPtr = Tcl_FirstHashEntry(tablePtr, &search); entryPtr != NULL;
         entryPtr = Tcl_NextHashEntry(&search)) {
        Tcl_ListObjAppendElement(NULL, listPtr,
                                 Tcl_NewStringObj(Tcl_GetHashKey(tablePtr,
                                                                 entryPtr),
                                                  -1));
    }
    Ns_MutexUnlock(&publishedPtr->lock);
    return NsTclReturn(itPtr->interp, listPtr);
}

/*
 * ns_chan cleanup ?-shared?
 */
static int
Cleanup(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    if (objc > 2) {
        ClosePublished(PublishedOf(clientData));
    } else {
        ForgetTaken(clientData);
    }
    return TCL_OK;
}

/*
 * Close the channels that the interpreter has taken, and forget their names.
 */
static void
ForgetTaken(NsInterp *itPtr)
{
    Tcl_HashTable *tablePtr = itPtr->takenPtr;
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    if (tablePtr == NULL) {
        return;
    }
    while ((entryPtr = Tcl_FirstHashEntry(tablePtr, &search)) != NULL) {
        char       *name = Tcl_GetHashValue(entryPtr);
        Tcl_Channel channel = Tcl_GetChannel(itPtr->interp, name, NULL);

        if (channel != NULL) {
            (void) Tcl_UnregisterChannel(itPtr->interp, channel);
        }
        ns_free(name);
        Tcl_DeleteHashEntry(entryPtr);
    }
    Tcl_ResetResult(itPtr->interp);
}

/*
 * One at a time: closing may take long, and needs no lock.
 */
static void
ClosePublished(Published *publishedPtr)
{
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;
    Tcl_Channel    channel;

    do {
        channel = NULL;
        Ns_MutexLock(&publishedPtr->lock);
        entryPtr = Tcl_FirstHashEntry(&publishedPtr->channels, &search);
        if (entryPtr != NULL) {
            channel = Tcl_GetHashValue(entryPtr);
            Tcl_DeleteHashEntry(entryPtr);
        }
        Ns_MutexUnlock(&publishedPtr->lock);
        if (channel != NULL) {
            Tcl_SpliceChannel(channel);
            (void) Tcl_UnregisterChannel(NULL, channel);
        }
    } while (channel != NULL);
}

/*
 * From the interpreter to the published channels.
 */
static int
GiveAway(NsInterp *itPtr, const char *name, Tcl_Channel channel)
{
    Tcl_Interp *interp = itPtr->interp;

    Detach(interp, channel);
    if (!Publish(PublishedOf(itPtr), name, channel)) {
        Attach(interp, channel);
        return NsTclFail(interp, "channel \"%s\" already exists", name);
    }
    return TCL_OK;
}

/*
 * False: the name is taken.
 */
static bool
Publish(Published *publishedPtr, const char *name, Tcl_Channel channel)
{
    Tcl_HashEntry *entryPtr;
    int            isNew;

    Ns_MutexLock(&publishedPtr->lock);
    entryPtr = Tcl_CreateHashEntry(&publishedPtr->channels, name, &isNew);
    if (isNew) {
        Tcl_SetHashValue(entryPtr, channel);
    }
    Ns_MutexUnlock(&publishedPtr->lock);
    return isNew;
}

/*
 * Take a channel out of this thread, and into it.  In between a reference of no
 * interpreter keeps it.
 */
static void
Detach(Tcl_Interp *interp, Tcl_Channel channel)
{
    Tcl_ClearChannelHandlers(channel);
    Tcl_RegisterChannel(NULL, channel);
    (void) Tcl_UnregisterChannel(interp, channel);
    Tcl_CutChannel(channel);
}

static void
Attach(Tcl_Interp *interp, Tcl_Channel channel)
{
    Tcl_SpliceChannel(channel);
    Tcl_RegisterChannel(interp, channel);
    (void) Tcl_UnregisterChannel(NULL, channel);
}
