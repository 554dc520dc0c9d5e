/* SPDX-License-Identifier: MPL-2.0
 * watched.c --
 *
 *      Each command of the table runs inside of a procedure that tells the
 *      stack of its request what is called.  Commands whose waits cannot be
 *      called (interrupt.h) have their callers noted before.
 */

#include "tcl/watched.h"

#include "ns.h"
#include "tcl/stack.h"

/*
 * Whether a call is one for which the stack is noted.
 */
typedef bool NotesProc(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv);

/*
 * A watched command as it was before.
 */
typedef struct Watched {
    Tcl_ObjCmdProc    *proc;
    ClientData         clientData;
    Tcl_CmdDeleteProc *deleteProc;
    ClientData         deleteData;
    NotesProc         *notesProc; /* NULL: never. */
} Watched;

static NotesProc IsAlways;
static NotesProc IsRead;
static NotesProc IsPipe;

static const struct {
    const char *name;
    NotesProc  *notesProc;
} watchedCommands[] = {
    {"close", IsPipe},
    {"exec", IsAlways},
    {"fcopy", IsAlways},
    {"gets", IsRead},
    {"ns_cache_eval", NULL},
    {"ns_cond", NULL},
    {"ns_critsec", NULL},
    {"ns_event", NULL},
    {"ns_http", NULL},
    {"ns_job", NULL},
    {"ns_memoize", NULL},
    {"ns_mutex", NULL},
    {"ns_rwlock", NULL},
    {"ns_sema", NULL},
    {"ns_sleep", NULL},
    {"ns_sockopen", IsAlways},
    {"ns_sockselect", NULL},
    {"ns_thread", NULL},
    {"read", IsRead},
    {"socket", IsAlways},
    {"tcl::chan::close", IsPipe},
    {"tcl::chan::copy", IsAlways},
    {"tcl::chan::gets", IsRead},
    {"tcl::chan::read", IsRead}};

static Tcl_Channel       ChannelOf(Tcl_Interp *interp, int objc,
                                   Tcl_Obj *const *objv);
static Tcl_ObjCmdProc    RunWatched;
static Tcl_CmdDeleteProc FreeWatched;

void
NsWatchedAdd(Tcl_Interp *interp)
{
    for (int i = 0; i < Ns_NrElements(watchedCommands); i++) {
        const char *name = watchedCommands[i].name;
        Tcl_CmdInfo info;
        Watched    *watchedPtr;

        if (Tcl_GetCommandInfo(interp, name, &info) == 0
            || info.isNativeObjectProc == 0) {
            continue;
        }
        watchedPtr = ns_malloc(sizeof(*watchedPtr));
        watchedPtr->proc = info.objProc;
        watchedPtr->clientData = info.objClientData;
        watchedPtr->deleteProc = info.deleteProc;
        watchedPtr->deleteData = info.deleteData;
        watchedPtr->notesProc = watchedCommands[i].notesProc;
        info.objProc = RunWatched;
        info.objClientData = watchedPtr;
        info.deleteProc = FreeWatched;
        info.deleteData = watchedPtr;
        (void) Tcl_SetCommandInfo(interp, name, &info);
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
    NsStackCall    call;
    bool           isNoted;
    int            result;

    if (!NsStackBeginCall(&call, objc, objv)) {
        return watchedPtr->proc(watchedPtr->clientData, interp, objc, objv);
    }
    isNoted = watchedPtr->notesProc != NULL
        && watchedPtr->notesProc(interp, objc, objv);
    if (isNoted) {
        Ns_TclWaitBegin(NULL);
    }
    result = watchedPtr->proc(watchedPtr->clientData, interp, objc, objv);
    if (isNoted) {
        Ns_TclWaitEnd();
    }
    NsStackEndCall(&call);
    return result;
}

static bool
IsAlways(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    return true;
}

/*
 * Of a channel that may have nothing to read: not of a file, nor if there is
 * something in its buffer.
 */
static bool
IsRead(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_Channel channel = ChannelOf(interp, objc, objv);

    return channel != NULL && Tcl_InputBuffered(channel) == 0
        && !STREQ(Tcl_ChannelName(Tcl_GetChannelType(channel)), "file");
}

/*
 * Of a channel to programs, for whose end it waits.
 */
static bool
IsPipe(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    Tcl_Channel channel = ChannelOf(interp, objc, objv);

    return channel != NULL
        && STREQ(Tcl_ChannelName(Tcl_GetChannelType(channel)), "pipe");
}

/*
 * The channel that is the first argument of the command; or NULL.
 */
static Tcl_Channel
ChannelOf(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv)
{
    const char *name = objc < 2 ? NULL : Tcl_GetString(objv[1]);
    Tcl_Channel channel;
    int         mode;

    if (objc > 2 && STREQ(name, "-nonewline")) {
        name = Tcl_GetString(objv[2]);
    }
    channel = name == NULL ? NULL : Tcl_GetChannel(interp, name, &mode);
    Tcl_ResetResult(interp); /* The command tells of a wrong name. */
    return channel;
}
