/* SPDX-License-Identifier: MPL-2.0
 * modulesink.c --
 *
 *      Sinks of the types that modules provide.
 *
 *      The buffer of such a sink holds rows (row.h).  A write hands all of it
 *      to the module, with the positions that the lanes have behind it, and
 *      counts only as a whole.
 */

#include "log/target/modulesink.h"

#include "base/assert.h"
#include "log/sink/flush.h"
#include "log/sink/settle.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinktable.h"
#include "log/sink/sinktype.h"
#include "log/target/openfiles.h"
#include "log/target/row.h"
#include "log/target/targetcheck.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

typedef struct ModuleType {
    NsSinkType            type; /* The first member; see TypeOf. */
    const Ns_LogSinkType *modulePtr;
} ModuleType;

/*
 * A sink's `target`.
 */
typedef struct Target {
    Ns_LogSinkTarget module; /* As the module sees it. */
    Ns_DString       server;
    bool             isOpen;
    Ns_LogPosition  *positions; /* Of the batch under way. */
    size_t           room;
    struct stat      file; /* The file noted as open; or zeros. */
} Target;

/*
 * The cursors that a module reports.
 */
struct Ns_LogSinkPositions {
    NsRing     *ringPtr;
    NsRingSink *slotPtr;
};

static const Ns_LogSinkType *TypeOf(Ns_LogSink sink);
static bool                  OpenTarget(Ns_LogSink sink);
static bool                  IsOpen(Ns_LogSink sink);
static Target               *GetTarget(Ns_LogSink sink);
static void                  NoteFile(Ns_LogSink sink);
static ssize_t WriteRows(Ns_LogSink sink, const char *bytes, size_t length);
static void    SetPositions(Ns_LogSink sink, Ns_LogSinkBatch *batchPtr);
static bool    Confirm(Ns_LogSink sink);
static bool    Sync(Ns_LogSink sink);
static bool    Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);
static bool    Judge(Ns_LogSink sink, int status);
static void    CloseTarget(Ns_LogSink sink);

bool
NsModuleSinkAdd(const Ns_LogSinkType  *modulePtr,
                const Ns_LogSinkValue *defaults)
{
    ModuleType *typePtr = ns_calloc(1u, sizeof(*typePtr));
    bool        isAdded;

    typePtr->modulePtr = modulePtr;
    typePtr->type = (NsSinkType){
        .name = modulePtr->name,
        .options = modulePtr->options,
        .defaults = defaults,
        .showProc = modulePtr->showProc,
        .outlivesSink = (modulePtr->flags & NS_LOGSINK_FILE) != 0,
        .isDatabase = true,
        .batchRows = modulePtr->batchRows,
        .bufferNanos = modulePtr->bufferSeconds * NS_STAMP_SECOND,
        .isRemote = true,
        .openProc = OpenTarget,
        .writeProc = WriteRows,
        .confirmProc = modulePtr->confirmProc != NULL ? Confirm : NULL,
        .syncProc = modulePtr->syncProc != NULL ? Sync : NULL,
        .closeProc = CloseTarget,
        .formatProc = NsRowFormat,
        .settleProc = modulePtr->positionsProc != NULL ? Settle : NULL};
    isAdded = NsSinkTypeAdd(&typePtr->type);
    if (!isAdded) {
        ns_free(typePtr);
    }
    return isAdded;
}

static const Ns_LogSinkType *
TypeOf(Ns_LogSink sink)
{
    return ((const ModuleType *) (const void *) sink->typePtr)->modulePtr;
}

static bool
OpenTarget(Ns_LogSink sink)
{
    int reason;

    if (IsOpen(sink)) {
        return true;
    }
    reason = errno;
    CloseTarget(sink);
    errno = reason;
    return false;
}

/*
 * Also for a sink that was made though it could not be opened.
 */
static bool
IsOpen(Ns_LogSink sink)
{
    Target *targetPtr = GetTarget(sink);

    if (!targetPtr->isOpen) {
        targetPtr->isOpen = Judge(sink,
                                  TypeOf(sink)->openProc(&targetPtr->module));
        if (targetPtr->isOpen) {
            NoteFile(sink);
        }
    }
    return targetPtr->isOpen;
}

static Target *
GetTarget(Ns_LogSink sink)
{
    Target *targetPtr = sink->target->own;

    if (targetPtr == NULL) {
        sink->target->own = targetPtr = ns_calloc(1u, sizeof(*targetPtr));
        Ns_DStringInit(&targetPtr->server);
        NsRowAppendServer(&targetPtr->server);
        targetPtr->module.sink = sink->name;
        targetPtr->module.server = Ns_DStringValue(&targetPtr->server);
        targetPtr->module.values = sink->values;
    }
    targetPtr->module.error[0] = '\0';
    errno = 0;
    return targetPtr;
}

/*
 * A purge of backups is to leave it alone.
 */
static void
NoteFile(Ns_LogSink sink)
{
    Target     *targetPtr = sink->target->own;
    struct stat st;

    if (sink->typePtr->outlivesSink && stat(sink->target->file, &st) == 0
        && (st.st_ino != targetPtr->file.st_ino
            || st.st_dev != targetPtr->file.st_dev)) {
        targetPtr->file = st;
        NsOpenFilesNote(sink, &st);
    }
}

/*
 * All rows or none.
 */
static ssize_t
WriteRows(Ns_LogSink sink, const char *bytes, size_t length)
{
    Target         *targetPtr = GetTarget(sink);
    Ns_LogSinkBatch batch = {
        .epoch = sink->reader->ringPtr == NULL
            ? 0
            : sink->reader->ringPtr->headerPtr->epoch,
        .isAwaited = sink->target->lookDue == 0,
        .insertRows = sink->settings.batchRows,
        .next = bytes,
        .end = bytes + length,
        .engine = sink};

    NsTargetCheckWrite(sink, bytes, length);
    NsAssert(sink->buffer->nWritten == 0);
    if (!IsOpen(sink)) {
        return -1;
    }
    SetPositions(sink, &batch);
    sink->target->lookDue = NsLogClock();
    sink->refusals->nRefused = 0;
    if (!Judge(sink, TypeOf(sink)->writeProc(&targetPtr->module, &batch))) {
        return -1;
    }
    NoteFile(sink);
    return (ssize_t) length;
}

static void
SetPositions(Ns_LogSink sink, Ns_LogSinkBatch *batchPtr)
{
    Target *targetPtr = sink->target->own;
    size_t  n = 0;

    for (const NsSinkLane *lanePtr = sink->reader->firstMoved; lanePtr != NULL;
         lanePtr = lanePtr->nextMovedPtr) {
        if (n == targetPtr->room) {
            targetPtr->room = MAX(2 * targetPtr->room, 64);
            targetPtr->positions =
                ns_realloc(targetPtr->positions,
                           targetPtr->room * sizeof(*targetPtr->positions));
        }
        targetPtr->positions[n++] = (Ns_LogPosition){
            lanePtr->place.lane, NsSinkPosition(lanePtr)};
    }
    batchPtr->positions = targetPtr->positions;
    batchPtr->nPositions = (int) n;
    /* The present mapping has positions, and nothing is left of earlier ones.
     */
    batchPtr->mayForget = n > 0 && sink->claims == NULL
        && sink->reader->ringPtr != NULL
        && sink->reader->ringPtr == NsSinkRing();
}

int
Ns_LogSinkNextRow(Ns_LogSinkBatch *batchPtr, Ns_LogRow *rowPtr)
{
    if (batchPtr->next >= batchPtr->end) {
        return 0;
    }
    batchPtr->next += NsRowParse(batchPtr->next, rowPtr);
    NsAssert(batchPtr->next <= batchPtr->end);
    return 1;
}

void
Ns_LogSinkRefuse(Ns_LogSinkBatch *batchPtr, const char *reason)
{
    NsDeliverRefused(batchPtr->engine, reason);
}

size_t
Ns_LogSinkUtf8Bytes(const char *bytes, size_t length)
{
    return NsLogUtf8Length(bytes, length);
}

static bool
Confirm(Ns_LogSink sink)
{
    bool isOk;

    NsTargetCheckWritten(sink);
    isOk = Judge(sink, TypeOf(sink)->confirmProc(&GetTarget(sink)->module));

    if (!isOk) {
        sink->buffer->nWritten = 0;
    }
    return isOk;
}

static bool
Sync(Ns_LogSink sink)
{
    Target *targetPtr = GetTarget(sink);

    return !targetPtr->isOpen
        || Judge(sink, TypeOf(sink)->syncProc(&targetPtr->module));
}

/*
 * The target knows best how far a process got that was killed.
 */
static bool
Settle(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr)
{
    struct Ns_LogSinkPositions list = {ringPtr, slotPtr};

    return IsOpen(sink)
        && Judge(sink,
                 TypeOf(sink)->positionsProc(&GetTarget(sink)->module,
                                             ringPtr->headerPtr->epoch, &list));
}

void
Ns_LogSinkAddPosition(Ns_LogSinkPositions *listPtr, int64_t lane,
                      int64_t position)
{
    NsSettleCursor(listPtr->ringPtr, listPtr->slotPtr, lane, position);
}

/*
 * The module's result of a call: false, and errno says why it failed.
 */
static bool
Judge(Ns_LogSink sink, int status)
{
    const Target *targetPtr = sink->target->own;
    int           reason = errno;

    if (status == NS_OK) {
        return true;
    }
    NsDeliverComplain(sink, targetPtr->module.error);
    errno = reason != 0 && reason != EINTR ? reason : EIO;
    return false;
}

static void
CloseTarget(Ns_LogSink sink)
{
    Target *targetPtr = sink->target->own;

    if (targetPtr != NULL) {
        if (targetPtr->isOpen) {
            TypeOf(sink)->closeProc(&targetPtr->module);
        }
        NsOpenFilesNote(sink, NULL);
        Ns_DStringFree(&targetPtr->server);
        ns_free(targetPtr->positions);
        ns_free(targetPtr);
        sink->target->own = NULL;
    }
}
