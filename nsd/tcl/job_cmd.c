/* SPDX-License-Identifier: MPL-2.0
 * job_cmd.c --
 *
 *      ns_job: scripts that run outside of any request.
 */

#include "ns.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/job.h"
#include "tcl/joblist.h"
#include "tcl/result.h"

typedef void        AppendProc(Ns_DString *dsPtr);
typedef NsJobStatus ListProc(const char *queue, Ns_DString *dsPtr);

static Tcl_ObjCmdProc CancelCmd, CreateCmd, DeleteCmd, QueueCmd, WaitCmd,
    WaitAnyCmd, ExistsCmd, ConfigureCmd, AppendCmd, ListCmd;

static int      Fail(Tcl_Interp *interp, NsJobStatus status, const char *queue,
                     const char *job);
static int      PassOn(Tcl_Interp *interp, NsJobResult *resultPtr);
static Ns_Time *Deadline(Ns_Time *timePtr, const Ns_Time *timeoutPtr);

/*
 * Subcommands whose result is what a procedure appends: without words, or about
 * a queue.
 */
static AppendProc *const appendProcs[] = {
    NsJobGenId, NsJobQueues, NsJobQueueList, NsJobStats, NsJobThreadList};
enum { GENID, QUEUES, QUEUELIST, STATS, THREADLIST };

static ListProc *const listProcs[] = {NsJobIds, NsJobList};
enum { JOBS, JOBLIST };

static const NsTclCommand subcmds[] = {
    {"cancel", CancelCmd, 2, 2, "queueId jobId", 0},
    {"create", CreateCmd, 0, NS_TCL_ANY, NULL, 0},
    {"delete", DeleteCmd, 1, 1, "queueId", 0},
    {"genid", AppendCmd, 0, 0, NULL, GENID},
    {"jobs", ListCmd, 1, 1, "queueId", JOBS},
    {"joblist", ListCmd, 1, 1, "queueId", JOBLIST},
    {"threadlist", AppendCmd, 0, 0, NULL, THREADLIST},
    {"queue", QueueCmd, 0, NS_TCL_ANY, NULL, 0},
    {"queues", AppendCmd, 0, 0, NULL, QUEUES},
    {"queuelist", AppendCmd, 0, 0, NULL, QUEUELIST},
    {"wait", WaitCmd, 0, NS_TCL_ANY, NULL, 0},
    {"waitany", WaitAnyCmd, 0, NS_TCL_ANY, NULL, 0},
    {"exists", ExistsCmd, 2, 2, "queueId jobId", 0},
    {"configure", ConfigureCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    {"stats", AppendCmd, 0, 0, NULL, STATS},
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_job", "option ?arg?", "option", NS_TCL_EXACT, subcmds};

void
NsJobCmdInit(void)
{
    NsJobInit();
    NsTclAddEnsemble(&ensemble);
}

/*
 * ns_job create ?-desc description? queueId ?maxThreads?
 */
static int
CreateCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const char *queue, *description = "";
    int         maxThreads = 4;
    NsJobStatus status;
    Ns_ObjvSpec options[] = {
        {"-desc", Ns_ObjvString, &description, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"queueId", Ns_ObjvString, &queue, NULL},
                          {"?maxThreads", Ns_ObjvInt, &maxThreads, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    status = NsJobQueueCreate(queue, description, MAX(maxThreads, 1));
    if (status != NS_JOB_OK) {
        return Fail(interp, status, queue, NULL);
    }
    return NsTclReturnString(interp, queue);
}

/*
 * ns_job delete queueId
 */
static int
DeleteCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsJobStatus status;

    status = NsJobQueueDelete(Tcl_GetString(objv[2]));
    return status == NS_JOB_OK
        ? TCL_OK
        : Fail(interp, status, Tcl_GetString(objv[2]), NULL);
}

/*
 * ns_job queue ?-head? ?-detached? ?-jobid jobid? queueId script
 */
static int
QueueCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    NsJobSpec   spec = {.server = ((NsInterp *) clientData)->serverPtr->name};
    int         isHead = 0, isDetached = 0;
    NsJobStatus status;
    Ns_DString  id;
    Ns_ObjvSpec options[] = {
        {"-head", Ns_ObjvBool, &isHead, INT2PTR(true)},
        {"-detached", Ns_ObjvBool, &isDetached, INT2PTR(true)},
        {"-jobid", Ns_ObjvString, &spec.id, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"queueId", Ns_ObjvString, &spec.queue, NULL},
                          {"script", Ns_ObjvString, &spec.script, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    spec.isHead = isHead != 0;
    spec.isDetached = isDetached != 0;
    Ns_DStringInit(&id);
    status = NsJobSubmit(&spec, &id);
    if (status != NS_JOB_OK) {
        Fail(interp, status, spec.queue, Ns_DStringValue(&id));
        Ns_DStringFree(&id);
        return TCL_ERROR;
    }
    return NsTclReturnText(interp, &id);
}

/*
 * ns_job wait ?-timeout timeout? queueId jobId
 */
static int
WaitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const char *queue, *job;
    Ns_Time    *timeoutPtr = NULL, deadline;
    NsJobResult result;
    NsJobStatus status;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"queueId", Ns_ObjvString, &queue, NULL},
                          {"jobId", Ns_ObjvString, &job, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    status = NsJobWait(queue, job, Deadline(&deadline, timeoutPtr), &result);
    return status == NS_JOB_OK ? PassOn(interp, &result)
                               : Fail(interp, status, queue, job);
}

static int
PassOn(Tcl_Interp *interp, NsJobResult *resultPtr)
{
    int code = resultPtr->code == TCL_RETURN ? TCL_OK : resultPtr->code;

    Tcl_ResetResult(interp);
    if (code == TCL_ERROR && resultPtr->errorCode != NULL) {
        Tcl_SetObjErrorCode(interp, Tcl_NewStringObj(resultPtr->errorCode, -1));
    }
    if (code == TCL_ERROR && resultPtr->errorInfo != NULL) {
        Tcl_AddErrorInfo(interp, resultPtr->errorInfo);
    }
    Tcl_SetObjResult(interp, Tcl_NewStringObj(resultPtr->text, -1));
    NsJobResultFree(resultPtr);
    return code;
}

/*
 * ns_job waitany ?-timeout timeout? queueId
 */
static int
WaitAnyCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const char *queue;
    Ns_Time    *timeoutPtr = NULL, deadline;
    NsJobStatus status;
    Ns_ObjvSpec options[] = {
        {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL}, {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"queueId", Ns_ObjvString, &queue, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    status = NsJobWaitAny(queue, Deadline(&deadline, timeoutPtr));
    return status == NS_JOB_OK ? TCL_OK : Fail(interp, status, queue, NULL);
}

/*
 * A timeout that was not given is none.
 */
static Ns_Time *
Deadline(Ns_Time *timePtr, const Ns_Time *timeoutPtr)
{
    if (timeoutPtr == NULL) {
        return NULL;
    }
    Ns_GetTime(timePtr);
    Ns_IncrTime(timePtr, timeoutPtr->sec, timeoutPtr->usec);
    return timePtr;
}

/*
 * ns_job cancel queueId jobId
 */
static int
CancelCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    const char *queue, *job;
    NsJobStatus status;
    bool        wasRunning;

    queue = Tcl_GetString(objv[2]);
    job = Tcl_GetString(objv[3]);
    status = NsJobCancel(queue, job, &wasRunning);
    if (status == NS_JOB_IS_WAITED) {
        return NsTclFail(interp,
                         "can't cancel job \"%s\", someone is waiting on it",
                         job);
    }
    if (status != NS_JOB_OK) {
        return Fail(interp, status, queue, job);
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(wasRunning));
}

/*
 * ns_job exists queueId jobId
 */
static int
ExistsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    NsJobStatus status;
    bool        exists;

    status = NsJobExists(Tcl_GetString(objv[2]), Tcl_GetString(objv[3]),
                         &exists);
    if (status != NS_JOB_OK) {
        return Fail(interp, status, Tcl_GetString(objv[2]), NULL);
    }
    return NsTclReturn(interp, Tcl_NewBooleanObj(exists));
}

/*
 * ns_job jobs|joblist queueId
 */
static int
ListCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    const char *queue = Tcl_GetString(objv[2]);
    NsJobStatus status;
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    status = listProcs[NsTclRow(clientData)->flags](queue, &ds);
    Tcl_DStringResult(interp, &ds);
    return status == NS_JOB_OK ? TCL_OK : Fail(interp, status, queue, NULL);
}

/*
 * ns_job genid|queues|queuelist|stats|threadlist
 */
static int
AppendCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    return NsTclReturnAppended(interp,
                               appendProcs[NsTclRow(clientData)->flags]);
}

/*
 * ns_job configure ?-jobsperthread n? ?-timeout time? ?-logminduration time?
 */
static int
ConfigureCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsJobLimits limits = {-1, -1, -1};
    Ns_Time    *timeoutPtr = NULL, *logMinPtr = NULL;
    Ns_ObjvSpec options[] = {
        {"-jobsperthread", Ns_ObjvInt, &limits.jobsPerThread, NULL},
        {"-timeout", Ns_ObjvTime, &timeoutPtr, NULL},
        {"-logminduration", Ns_ObjvTime, &logMinPtr, NULL},
        {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, NULL, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (timeoutPtr != NULL) {
        limits.timeout = NsClockFromTime(timeoutPtr);
    }
    if (logMinPtr != NULL) {
        limits.logMin = NsClockFromTime(logMinPtr);
    }
    NsJobConfigure(&limits);
    Ns_TclPrintfResult(interp,
                       "jobsperthread %d timeout %.6f logminduration %.6f",
                       limits.jobsPerThread,
                       (double) limits.timeout / NS_STAMP_SECOND,
                       (double) limits.logMin / NS_STAMP_SECOND);
    return TCL_OK;
}

static int
Fail(Tcl_Interp *interp, NsJobStatus status, const char *queue, const char *job)
{
    switch (status) {
    case NS_JOB_OK:
        break;
    case NS_JOB_NO_QUEUE:
        Ns_TclPrintfResult(interp, "no such queue: %s", queue);
        break;
    case NS_JOB_NO_JOB:
        Ns_TclPrintfResult(interp, "no such job: %s", job);
        break;
    case NS_JOB_QUEUE_EXISTS:
        Ns_TclPrintfResult(interp, "queue already exists: %s", queue);
        break;
    case NS_JOB_JOB_EXISTS:
        Ns_TclPrintfResult(interp, "Job %s already exists", job);
        break;
    case NS_JOB_NO_THREAD:
        Ns_TclPrintfResult(interp, "cannot start a thread for queue %s", queue);
        break;
    case NS_JOB_STOPPING:
        Tcl_SetObjResult(interp,
                         Tcl_NewStringObj("The specified queue is being"
                                          " deleted or the system is stopping.",
                                          -1));
        break;
    case NS_JOB_IS_DETACHED:
        Ns_TclPrintfResult(interp, "can't wait on detached job: %s", job);
        break;
    case NS_JOB_IS_WAITED:
        Ns_TclPrintfResult(interp, "can't wait on waited job: %s", job);
        break;
    case NS_JOB_TIMEOUT:
        Tcl_SetErrorCode(interp, "NS_TIMEOUT", NULL);
        Tcl_SetObjResult(interp, Tcl_NewStringObj("Wait timed out.", -1));
        break;
    }
    return TCL_ERROR;
}
