/* SPDX-License-Identifier: MPL-2.0
 * linefile.c --
 *
 *      Files of scripts' own, to which the log threads append.
 *
 *      Sinks are named after the files, so what a killed process left for one
 *      is written by the next that opens it, or else at the end of the next
 *      start.
 */

#include "log/target/linefile.h"

#include "base/assert.h"
#include "base/lock.h"
#include "log/sink/sink.h"
#include "log/stream/knownstream.h"
#include "nsstring.h"
#include "nsthread.h"

#define PREFIX   "script:"
#define MAX_TAIL 64 /* Of a path too long to be the name of a sink. */

/*
 * A stream, and the file that has it now.
 */
typedef struct LineFile {
    struct LineFile *nextPtr;
    Ns_LogStream     stream; /* Constant after creation. */

    /* Guarded by the lock. */
    char      *path;     /* NULL: no file has the stream. */
    Ns_LogSink sink;     /* NULL: being opened or closed. */
    int        nHandles; /* What is open. */
    int        nUsers;   /* Threads that put into the stream. */
} LineFile;

static Ns_Mutex      lock; /* Guards the rest, and what is said above. */
static Ns_Cond       changed;
static LineFile     *firstFilePtr;
static Tcl_HashTable handles; /* Name -> LineFile. */
static int           nStreams;
static unsigned long lastHandle;

static bool        Prepare(const char *path, int flags);
static LineFile   *FindLocked(const char *path);
static LineFile   *TakeFreeLocked(const char *path);
static Ns_LogSink  MakeSink(const LineFile *filePtr, int flags);
static const char *SinkName(char *name, const char *path);
static void        AddHandleLocked(LineFile *filePtr, Ns_DString *dsPtr);
static void        ReleaseLocked(LineFile *filePtr);

void
NsLineFileInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LOG_LINEFILES, "ns:log", "linefiles");
    Tcl_InitHashTable(&handles, TCL_STRING_KEYS);
}

Ns_ReturnCode
NsLineFileOpen(const char *path, int flags, Ns_DString *dsPtr)
{
    LineFile  *filePtr;
    Ns_LogSink sink;
    int        reason;

    if (!Prepare(path, flags)) {
        return NS_ERROR;
    }
    Ns_MutexLock(&lock);
    while ((filePtr = FindLocked(path)) != NULL && filePtr->sink == NULL) {
        Ns_CondWait(&changed, &lock);
    }
    if (filePtr == NULL) {
        filePtr = TakeFreeLocked(path);
        if (filePtr == NULL) {
            Ns_MutexUnlock(&lock);
            errno = NS_SINK_TOO_MANY;
            return NS_ERROR;
        }
        Ns_MutexUnlock(&lock);
        sink = MakeSink(filePtr, flags);
        reason = errno;
        Ns_MutexLock(&lock);
        filePtr->sink = sink;
        if (sink == NULL) {
            ReleaseLocked(filePtr);
            Ns_MutexUnlock(&lock);
            errno = reason;
            return NS_ERROR;
        }
        Ns_CondBroadcast(&changed);
    }
    AddHandleLocked(filePtr, dsPtr);
    Ns_MutexUnlock(&lock);
    return NS_OK;
}

/*
 * What the flags say about the file is done here: its sink opens it at any
 * time, and appends.
 */
static bool
Prepare(const char *path, int flags)
{
    int fd = open(path,
                  O_WRONLY | O_CREAT | O_CLOEXEC | (flags & (O_EXCL | O_TRUNC)),
                  0644);

    if (fd < 0) {
        return false;
    }
    NsClose(fd);
    return true;
}

Ns_ReturnCode
NsLineFilePut(const char *handle, const char *bytes, size_t length)
{
    struct iovec   piece = {(void *) bytes, length};
    Tcl_HashEntry *entryPtr;
    LineFile      *filePtr;

    Ns_MutexLock(&lock);
    entryPtr = Tcl_FindHashEntry(&handles, handle);
    if (entryPtr == NULL) {
        Ns_MutexUnlock(&lock);
        return NS_ERROR;
    }
    filePtr = Tcl_GetHashValue(entryPtr);
    filePtr->nUsers++;
    Ns_MutexUnlock(&lock);

    /* What the stream's overflow rule drops is in the ledger of the sink. */
    (void) Ns_LogStreamPut(filePtr->stream, Notice, &piece, 1);

    Ns_MutexLock(&lock);
    NsAssert(filePtr->nUsers > 0);
    filePtr->nUsers--;
    if (filePtr->nUsers == 0 && filePtr->nHandles == 0) {
        Ns_CondBroadcast(&changed);
    }
    Ns_MutexUnlock(&lock);
    return NS_OK;
}

Ns_ReturnCode
NsLineFileClose(const char *handle)
{
    Ns_LogSink     sink = NULL;
    Tcl_HashEntry *entryPtr;
    LineFile      *filePtr;

    Ns_MutexLock(&lock);
    entryPtr = Tcl_FindHashEntry(&handles, handle);
    if (entryPtr == NULL) {
        Ns_MutexUnlock(&lock);
        return NS_ERROR;
    }
    filePtr = Tcl_GetHashValue(entryPtr);
    Tcl_DeleteHashEntry(entryPtr);
    NsAssert(filePtr->nHandles > 0);
    if (--filePtr->nHandles == 0) {
        sink = filePtr->sink;
        filePtr->sink = NULL;
    }
    while (sink != NULL && filePtr->nUsers > 0) {
        Ns_CondWait(&changed, &lock);
    }
    Ns_MutexUnlock(&lock);

    if (sink != NULL) {
        (void) NsSinkRemove(sink);
        Ns_MutexLock(&lock);
        ReleaseLocked(filePtr);
        Ns_MutexUnlock(&lock);
    }
    return NS_OK;
}

void
NsLineFileEach(NsLineFileProc *proc, void *arg)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr;

    Ns_MutexLock(&lock);
    for (entryPtr = Tcl_FirstHashEntry(&handles, &search); entryPtr != NULL;
         entryPtr = Tcl_NextHashEntry(&search)) {
        const LineFile *filePtr = Tcl_GetHashValue(entryPtr);

        proc(Tcl_GetHashKey(&handles, entryPtr), filePtr->path, filePtr->sink,
             arg);
    }
    Ns_MutexUnlock(&lock);
}

static LineFile *
FindLocked(const char *path)
{
    LineFile *filePtr = firstFilePtr;

    NsAssertLocked(&lock);
    while (filePtr != NULL
           && (filePtr->path == NULL || !STREQ(filePtr->path, path))) {
        filePtr = filePtr->nextPtr;
    }
    return filePtr;
}

/*
 * A stream that no file has, for this one.  NULL: there can be no more streams.
 */
static LineFile *
TakeFreeLocked(const char *path)
{
    LineFile *filePtr = firstFilePtr;

    NsAssertLocked(&lock);
    while (filePtr != NULL && filePtr->path != NULL) {
        filePtr = filePtr->nextPtr;
    }
    if (filePtr == NULL) {
        Ns_LogStream stream;

        stream = NsScriptStream(nStreams);
        if (stream == NULL) {
            return NULL;
        }
        nStreams++;
        filePtr = ns_calloc(1u, sizeof(*filePtr));
        filePtr->stream = stream;
        filePtr->nextPtr = firstFilePtr;
        firstFilePtr = filePtr;
    }
    NsAssert(filePtr->sink == NULL && filePtr->nHandles == 0);
    filePtr->path = ns_strdup(path);
    return filePtr;
}

/*
 * The sink of a file that nobody else opens or closes now.  NULL: errno says
 * why.
 */
static Ns_LogSink
MakeSink(const LineFile *filePtr, int flags)
{
    const char *stream = NsStreamName(filePtr->stream);
    char        name[NS_RING_NAME];
    NsSinkSpec  spec = {
         .name = SinkName(name, filePtr->path),
         .type = "file",
         .streams = &stream,
         .nStreams = 1,
         .file = filePtr->path,
         .isAwaited = !nsSinkIsAsync,
         .isModules = true,
         .settings = nsSinkDefaults};

    if ((flags & (O_SYNC | O_DSYNC)) != 0) {
        spec.settings.sync = NS_SYNC_BATCH;
    }
    return NsSinkCreate(&spec);
}

/*
 * By its name a sink is found again after a crash.
 */
static const char *
SinkName(char *name, const char *path)
{
    size_t   length = strlen(path);
    uint64_t hash = 0;

    if (strlen(PREFIX) + length < NS_RING_NAME) {
        snprintf(name, NS_RING_NAME, PREFIX "%s", path);
        return name;
    }
    for (const char *p = path; *p != '\0'; p++) {
        hash = hash * 31 + (unsigned char) *p;
    }
    snprintf(name, NS_RING_NAME, PREFIX "%016" PRIx64 ":%s", hash,
             path + length - MAX_TAIL);
    return name;
}

static void
AddHandleLocked(LineFile *filePtr, Ns_DString *dsPtr)
{
    char           name[32];
    int            isNew;
    Tcl_HashEntry *entryPtr;

    NsAssertLocked(&lock);
    NsAssert(filePtr->path != NULL && filePtr->sink != NULL);
    snprintf(name, sizeof(name), "asynclogfile%lu", ++lastHandle);
    entryPtr = Tcl_CreateHashEntry(&handles, name, &isNew);
    NsAssert(isNew);
    Tcl_SetHashValue(entryPtr, filePtr);
    filePtr->nHandles++;
    Ns_DStringAppend(dsPtr, name);
}

/*
 * The stream is there for another file.
 */
static void
ReleaseLocked(LineFile *filePtr)
{
    NsAssertLocked(&lock);
    NsAssert(filePtr->sink == NULL && filePtr->nHandles == 0
             && filePtr->nUsers == 0);
    ns_free(filePtr->path);
    filePtr->path = NULL;
    Ns_CondBroadcast(&changed);
}
