/* SPDX-License-Identifier: MPL-2.0
 * direct.c --
 *
 *      Answers given by the driver thread itself.
 *
 *      Each driver thread keeps a small table from the path as sent to the file
 *      behind it, with the header fields ready made.  An entry is good for one
 *      generation of the request room: any change of handlers, filters and the
 *      like voids all.  A changed file is noticed by each request that begins
 *      later: the kernel reports the change, or the file is looked at when a
 *      request has come in, once for all requests that one wait reported.  A
 *      hit takes no lock and allocates nothing.
 *
 *      A second table has the paths that are for scripts in this generation.
 */

#include "request/direct.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/chars.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_stats.h"
#include "http/mimetype.h"
#include "http/precondition.h"
#include "http/urlpath.h"
#include "request/access.h"
#include "request/auth.h"
#include "request/errorpage.h"
#include "request/filecache.h"
#include "request/filter.h"
#include "request/op.h"
#include "request/poolmap.h"
#include "request/replyhead.h"
#include "request/reqserver.h"
#include "request/reqtrace.h"
#include "request/url2file.h"
#include "request/variants.h"

#define N_SLOTS          512
#define SWEEP_INTERVAL   16   /* Fills between looks for dropped files. */
#define MAX_PATH_ROOM    4096 /* For decoding; longer ones go elsewhere. */
#define MAX_HEAD_BYTES   1024
#define WHOLE_BYTES      16384 /* A socket takes this much in one call. */
#define MAX_304_BYTES    200
#define MAX_END_BYTES    32  /* Connection, and the end. */
#define MAX_FIELDS_BYTES 512 /* Of one file; the rest has a fixed length. */

/*
 * The target of a path.
 */
typedef struct Slot {
    NsFile   *filePtr; /* NULL: the slot is free. */
    NsServer *serverPtr;
    NsPool   *poolPtr;
    unsigned  generation;
    uint32_t  hash;
    bool      isHead;
    NsStamp   checkedStamp; /* A look at a later time found it current. */
    size_t    pathBytes;
    char     *path; /* As sent; then the decoded URL behind it. */
    char     *url;
} Slot;

/*
 * A path whose requests are for a connection thread.  Another path of the same
 * hash then goes there as well, which is never wrong.
 */
typedef struct Script {
    const NsServer *serverPtr; /* NULL: free. */
    unsigned        generation;
    uint32_t        hash;
} Script;

typedef struct Table {
    Slot   slots[N_SLOTS];
    Script scripts[N_SLOTS];
    int    nFills;
} Table;

/*
 * One request on its way.
 */
typedef struct Direct {
    NsMessage            *messagePtr;
    const NsSockSettings *settingsPtr;
    const char           *path; /* As sent, without query. */
    size_t                pathBytes;
    bool                  isHead;
    int                   status; /* 200 or 304. */
    Slot                 *slotPtr;
    int                   fd; /* Of a file that is not in memory; or -1. */
} Direct;

static Ns_Tls               tableTls; /* For its clean-up alone. */
static _Thread_local Table *tablePtr;

static bool    IsCandidate(Direct *directPtr);
static Slot   *FindSlot(const Direct *directPtr);
static bool    FillSlot(const Direct *directPtr, Slot *slotPtr, uint32_t hash);
static NsFile *FindFile(NsServer *serverPtr, const char *url);
static bool    IsScriptFree(NsServer *serverPtr, const char *method,
                            const char *url);
static void    ClearSlot(Slot *slotPtr);
static void    Sweep(Table *sweptPtr);
static void    FreeTable(void *arg);
static bool    CheckFile(Direct *directPtr);
static int     Judge(const Direct *directPtr);
static void    Send(const Direct *directPtr);
static size_t  RenderHead(const Direct *directPtr, char *buffer, int status,
                          bool keep);
static void    Account(const Direct *directPtr, int status, int64_t bytes);
static void    CloseFd(void *arg);

void
NsDirectInit(void)
{
    Ns_TlsAlloc(&tableTls, FreeTable);
}

bool
NsDirectAnswer(NsMessage *messagePtr)
{
    Direct direct = {.messagePtr = messagePtr, .fd = -1};

    if (!IsCandidate(&direct)) {
        return false;
    }
    direct.slotPtr = FindSlot(&direct);
    if (direct.slotPtr == NULL || !CheckFile(&direct)) {
        return false;
    }
    Send(&direct);
    NsMessageRelease(&messagePtr);
    return true;
}

/*
 * Judge by the head alone.  Ranges take the ordinary way.
 */
static bool
IsCandidate(Direct *directPtr)
{
    const NsMessage       *messagePtr = directPtr->messagePtr;
    const NsHttpHead      *headPtr = &messagePtr->head;
    const NsRequestServer *requestPtr = messagePtr->serverPtr->requestPtr;
    const char            *question;

    if (!requestPtr->isDriverFastPath || nsVariantsAreOn
        || requestPtr->extraHeaders != NULL || messagePtr->isRaw
        || messagePtr->refusal != 0 || messagePtr->contentLength > 0
        || messagePtr->contentFd >= 0 || headPtr->version < NS_HTTP_1_0
        || headPtr->targetLength == 0 || headPtr->target[0] != '/'
        || headPtr->known[NS_FIELD_RANGE] >= 0
        || headPtr->known[NS_FIELD_AUTHORIZATION] >= 0) {
        return false;
    }
    if (headPtr->methodLength == 3) {
        if (memcmp(headPtr->method, "GET", 3) != 0) {
            return false;
        }
    } else if (headPtr->methodLength == 4
               && memcmp(headPtr->method, "HEAD", 4) == 0) {
        directPtr->isHead = true;
    } else {
        return false;
    }
    directPtr->settingsPtr = NsSockGetSettings(messagePtr->sockPtr);
    if (directPtr->settingsPtr->extraHeaders != NULL
        || NsSockHasRequestProc(messagePtr->sockPtr)) {
        return false;
    }
    directPtr->path = headPtr->target;
    question = memchr(headPtr->target, '?', headPtr->targetLength);
    directPtr->pathBytes = question == NULL
        ? headPtr->targetLength
        : (size_t) (question - headPtr->target);
    return true;
}

/*
 * The slot of the path, filled if need be; NULL if it cannot be.
 */
static Slot *
FindSlot(const Direct *directPtr)
{
    const NsServer *serverPtr = directPtr->messagePtr->serverPtr;
    uint32_t      hash = directPtr->isHead ? NS_HASH_START : NS_HASH_START + 2;
    Slot         *slotPtr;
    const Script *scriptPtr;
    size_t        i;

    for (i = 0; i < directPtr->pathBytes; i++) {
        hash = NsHashAdd(hash, directPtr->path[i]);
    }
    if (tablePtr == NULL) {
        tablePtr = ns_calloc(1, sizeof(Table));
        Ns_TlsSet(&tableTls, tablePtr);
    }
    scriptPtr = &tablePtr->scripts[hash % N_SLOTS];
    if (scriptPtr->serverPtr == serverPtr && scriptPtr->hash == hash
        && scriptPtr->generation == NsRequestGeneration()) {
        return NULL;
    }
    slotPtr = &tablePtr->slots[hash % N_SLOTS];
    if (slotPtr->filePtr != NULL && slotPtr->hash == hash
        && slotPtr->generation == NsRequestGeneration()
        && slotPtr->serverPtr == serverPtr
        && slotPtr->isHead == directPtr->isHead
        && slotPtr->pathBytes == directPtr->pathBytes
        && memcmp(slotPtr->path, directPtr->path, slotPtr->pathBytes) == 0
        && !atomic_load_explicit(&slotPtr->filePtr->isDropped,
                                 memory_order_acquire)) {
        NsAssert(slotPtr->poolPtr != NULL && slotPtr->url != NULL);
        NsFileCountHit(slotPtr->filePtr);
        return slotPtr;
    }
    return FillSlot(directPtr, slotPtr, hash) ? slotPtr : NULL;
}

/*
 * The generation is read before anything that it covers.
 */
static bool
FillSlot(const Direct *directPtr, Slot *slotPtr, uint32_t hash)
{
    NsServer   *serverPtr = directPtr->messagePtr->serverPtr;
    const char *method = directPtr->isHead ? "HEAD" : "GET";
    unsigned    generation = NsRequestGeneration();
    char        room[MAX_PATH_ROOM];
    NsUrlPath   url;
    NsFile     *filePtr;
    NsPool     *poolPtr;

    if (NsUrlPathRoom(directPtr->pathBytes) > sizeof(room)) {
        return false;
    }
    NsUrlDecodePathInto(room, directPtr->path, directPtr->pathBytes, &url);
    poolPtr = IsScriptFree(serverPtr, method, url.path)
        ? NsPoolMapFindFixed(serverPtr, method, url.path)
        : NULL;
    if (poolPtr == NULL) {
        tablePtr->scripts[hash % N_SLOTS] = (Script){
            .serverPtr = serverPtr, .generation = generation, .hash = hash};
        return false;
    }
    filePtr = FindFile(serverPtr, url.path);
    if (filePtr == NULL) {
        return false;
    }
    if (filePtr->fieldsBytes > MAX_FIELDS_BYTES) {
        NsFileUnref(filePtr);
        return false;
    }
    if (++tablePtr->nFills % SWEEP_INTERVAL == 0) {
        Sweep(tablePtr);
    }
    ClearSlot(slotPtr);
    NsAssert(slotPtr->filePtr == NULL);
    *slotPtr = (Slot){
        .filePtr = filePtr,
        .serverPtr = serverPtr,
        .poolPtr = poolPtr,
        .generation = generation,
        .hash = hash,
        .isHead = directPtr->isHead,
        .pathBytes = directPtr->pathBytes,
        .path = ns_malloc(directPtr->pathBytes + url.pathLength + 1)};
    memcpy(slotPtr->path, directPtr->path, directPtr->pathBytes);
    slotPtr->url = slotPtr->path + directPtr->pathBytes;
    memcpy(slotPtr->url, url.path, url.pathLength + 1);
    return true;
}

/*
 * A file in the cache, or one that is too large for it.  Others are for the
 * connection threads, which put them into the cache.
 */
static NsFile *
FindFile(NsServer *serverPtr, const char *url)
{
    Ns_DString  ds;
    struct stat status;
    Ns_Time     now;
    NsFile     *filePtr = NULL;

    Ns_DStringInit(&ds);
    if (Ns_UrlToFile(&ds, serverPtr->name, url) == NS_OK
        && stat(Ns_DStringValue(&ds), &status) == 0 && S_ISREG(status.st_mode)
        && !NsMimeTypeIsSource(Ns_DStringValue(&ds))) {
        if (status.st_size > NsFileCacheMaxEntry()) {
            Ns_GetTime(&now);
            filePtr = !NsFileIsSettled(&status, &now)
                ? NULL
                : NsFileDescribe(Ns_DStringValue(&ds), &status);
        } else {
            filePtr = NsFileCacheFind(Ns_DStringValue(&ds), &status);
        }
    }
    Ns_DStringFree(&ds);
    return filePtr;
}

/*
 * Whether the request concerns nobody but the file server.
 */
static bool
IsScriptFree(NsServer *serverPtr, const char *method, const char *url)
{
    return NsOpIs(serverPtr, method, url, Ns_FastPathProc)
        && NsUrl2FileIsDefault(serverPtr, url)
        && !NsFiltersMatch(serverPtr, method, url) && !NsAuthExists(serverPtr)
        && !NsReqTraceExists(serverPtr);
}

static void
ClearSlot(Slot *slotPtr)
{
    if (slotPtr->filePtr != NULL) {
        NsFileUnref(slotPtr->filePtr);
        slotPtr->filePtr = NULL;
        ns_free(slotPtr->path);
    }
}

/*
 * Slots that nobody uses any longer must not keep files in memory that left the
 * cache.
 */
static void
Sweep(Table *sweptPtr)
{
    for (int i = 0; i < N_SLOTS; i++) {
        Slot *slotPtr = &sweptPtr->slots[i];

        if (slotPtr->filePtr != NULL
            && atomic_load(&slotPtr->filePtr->isDropped)) {
            ClearSlot(slotPtr);
        }
    }
}

static void
FreeTable(void *arg)
{
    Table *oldPtr = arg;

    NsAssert(oldPtr == tablePtr);
    for (int i = 0; i < N_SLOTS; i++) {
        ClearSlot(&oldPtr->slots[i]);
    }
    ns_free(oldPtr);
    tablePtr = NULL;
}

/*
 * Whether the file is still what the slot says: no system call for a file in
 * memory, or kept open, that the kernel watches, or one for all requests that
 * one wait reported.  Another file is opened now, so that what is checked is
 * what is sent.
 */
static bool
CheckFile(Direct *directPtr)
{
    Slot       *slotPtr = directPtr->slotPtr;
    NsFile     *filePtr = slotPtr->filePtr;
    NsLook      look = directPtr->messagePtr->report;
    struct stat status;
    bool        isGood;

    if (filePtr->content == NULL && filePtr->fd < 0) {
        directPtr->fd = open(filePtr->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        isGood = directPtr->fd >= 0 && fstat(directPtr->fd, &status) == 0
            && NsFileStateIs(&filePtr->state, &status);
    } else if (filePtr->watchPtr != NULL && NsFileWatchKnows(look)) {
        isGood = NsFileWatchIsSame(filePtr->watchPtr);
    } else if (look.stamp != 0 && look.stamp <= slotPtr->checkedStamp) {
        isGood = true;
    } else {
        isGood = NsFileStateIsCurrent(&filePtr->state, filePtr->path);
        slotPtr->checkedStamp = MAX(slotPtr->checkedStamp, look.stamp);
    }
    if (!isGood) {
        ClearSlot(slotPtr);
    } else {
        directPtr->status = Judge(directPtr);
        isGood = directPtr->status == 200
            || (directPtr->status == 304
                && !NsErrorPageExists(slotPtr->serverPtr, 304));
    }
    if (!isGood && directPtr->fd >= 0) {
        NsClose(directPtr->fd);
    }
    return isGood;
}

/*
 * The status of the reply, with the same judgement as in connection threads.
 */
static int
Judge(const Direct *directPtr)
{
    const NsHttpHead *headPtr = &directPtr->messagePtr->head;
    const NsFile     *filePtr = directPtr->slotPtr->filePtr;
    NsConditions      conditions = {
             .ifMatch = NsHttpKnown(headPtr, NS_FIELD_IF_MATCH),
             .ifNoneMatch = NsHttpKnown(headPtr, NS_FIELD_IF_NONE_MATCH),
             .ifUnmodifiedSince = NsHttpKnown(headPtr,
                                              NS_FIELD_IF_UNMODIFIED_SINCE)};
    int refusal;

    if (directPtr->slotPtr->serverPtr->requestPtr->checkModifiedSince) {
        conditions.ifModifiedSince = NsHttpKnown(headPtr,
                                                 NS_FIELD_IF_MODIFIED_SINCE);
    }
    refusal = NsJudgeConditions(&conditions,
                                &(NsValidators){filePtr->tag,
                                                filePtr->state.modified.tv_sec},
                                true);
    return refusal == 0 ? 200 : refusal;
}

/*
 * Counted and logged before it is sent: whoever has the whole reply finds it in
 * the log, even if the process dies in between.  Of a long one it is not known
 * how much the client will take, so its log records are held.
 */
static void
Send(const Direct *directPtr)
{
    NsMessage            *messagePtr = directPtr->messagePtr;
    NsSock               *sockPtr = messagePtr->sockPtr;
    NsFile               *filePtr = directPtr->slotPtr->filePtr;
    NsPool               *poolPtr = directPtr->slotPtr->poolPtr;
    const NsSockSettings *settingsPtr = directPtr->settingsPtr;
    char                  head[MAX_HEAD_BYTES];
    NsPiece               pieces[2] = {{.fd = -1, .base = head}, {.fd = -1}};
    int                   status = directPtr->status, nPieces = 1;
    int64_t       bodyBytes = status == 304 ? 0 : filePtr->state.bytes, bytes;
    bool          keep, isLong;
    NsReceipt    *receiptPtr = NULL;
    Ns_ReturnCode result;

    keep = !messagePtr->mustClose && !messagePtr->head.isChunked
        && NsReplyMayKeep(settingsPtr, &messagePtr->head, bodyBytes);
    NsAssert((filePtr->content == NULL && filePtr->fd < 0)
             == (directPtr->fd >= 0));
    pieces[0].length = RenderHead(directPtr, head, status, keep);
    if (directPtr->isHead) {
        bodyBytes = 0;
    }
    if (bodyBytes > 0) {
        nPieces = 2;
        pieces[1].length = (size_t) bodyBytes;
        if (filePtr->content != NULL) {
            NsFileRef(filePtr);
            pieces[1].base = filePtr->content;
            pieces[1].releaseProc = NsFileUnref;
            pieces[1].arg = filePtr;
        } else if (filePtr->fd >= 0) {
            NsFileRef(filePtr);
            pieces[1].fd = filePtr->fd;
            pieces[1].releaseProc = NsFileUnref;
            pieces[1].arg = filePtr;
        } else {
            pieces[1].fd = directPtr->fd;
            pieces[1].releaseProc = CloseFd;
            pieces[1].arg = INT2PTR(directPtr->fd);
        }
    } else if (directPtr->fd >= 0) {
        NsClose(directPtr->fd);
    }
    NsAssert(bodyBytes >= 0 && (status == 200 || status == 304));
    bytes = bodyBytes + (int64_t) pieces[0].length;
    isLong = bytes > WHOLE_BYTES;
    if (unlikely(isLong)) {
        receiptPtr = NsReceiptCreate();
        NsReceiptCollect(receiptPtr);
    }
    Account(directPtr, status, bytes);
    if (unlikely(isLong)) {
        NsReceiptLeave(receiptPtr);
        NsSockHold(sockPtr, receiptPtr, bytes);
    }

    NsSockSetNotes(sockPtr,
                   &(NsSockNotes){
                       .queueStamp = directPtr->messagePtr->acceptStamp,
                       .pool = NsPoolName(poolPtr),
                       .bytesPerSecond = NsPoolConnectionRate(poolPtr),
                       .sharedRatePtr = NsPoolRate(poolPtr)});
    if (settingsPtr->nWriters > 0 && bodyBytes >= settingsPtr->writerSize) {
        result = NsSockQueue(sockPtr, pieces, nPieces);
    } else {
        result = NsSockSend(sockPtr, pieces, nPieces);
    }
    if (NsSockIsQueued(sockPtr)) {
        NsPoolCountSpool(poolPtr);
    }
    NsSockFinish(sockPtr, keep && result == NS_OK);
}

_Static_assert(NS_REPLY_START_BYTES + MAX(MAX_FIELDS_BYTES, MAX_304_BYTES)
                       + MAX_END_BYTES
                   <= MAX_HEAD_BYTES,
               "a head has room");

/*
 * MAX_HEAD_BYTES hold it.
 */
static size_t
RenderHead(const Direct *directPtr, char *buffer, int status, bool keep)
{
    static const char keepFields[] = "Connection: keep-alive\r\n\r\n";
    static const char closeFields[] = "Connection: close\r\n\r\n";
    _Static_assert(sizeof(keepFields) <= MAX_END_BYTES
                       && sizeof(closeFields) <= MAX_END_BYTES,
                   "an end has room");
    const NsFile *filePtr = directPtr->slotPtr->filePtr;
    char         *next =
        NsReplyStart(buffer, &directPtr->messagePtr->head,
                     directPtr->messagePtr->serverPtr->requestPtr->isStealthy,
                     status);

    if (status == 200) {
        NsAssert(filePtr->fieldsBytes <= MAX_FIELDS_BYTES);
        memcpy(next, filePtr->fields, filePtr->fieldsBytes);
        next += filePtr->fieldsBytes;
    } else {
        int n = snprintf(next, MAX_304_BYTES,
                         "Last-Modified: %s\r\nETag: %s\r\n"
                         "Content-Length: 0\r\n",
                         filePtr->lastModified, filePtr->tag);

        NsAssert(n > 0 && n < MAX_304_BYTES);
        next += n;
    }
    if (keep) {
        memcpy(next, keepFields, sizeof(keepFields) - 1);
        next += sizeof(keepFields) - 1;
    } else {
        memcpy(next, closeFields, sizeof(closeFields) - 1);
        next += sizeof(closeFields) - 1;
    }
    NsAssert(next - buffer <= MAX_HEAD_BYTES);
    return (size_t) (next - buffer);
}

static void
Account(const Direct *directPtr, int status, int64_t bytes)
{
    const Slot *slotPtr = directPtr->slotPtr;
    NsWork      work = {.acceptStamp = directPtr->messagePtr->acceptStamp};
    Ns_Access   access;
    struct Ns_AccessFields fields;

    NsPoolCountDirect(slotPtr->poolPtr, &work);
    work.filterStamp = work.dequeueStamp;
    work.endStamp = work.dequeueStamp;
    NsPoolCountSpans(&work);
    NsPoolCountSent(slotPtr->poolPtr, bytes);
    NsAccessFillDirect(
        &access, &fields,
        &(NsDirectReply){
            .messagePtr = directPtr->messagePtr,
            .driverPtr = NsSockDriver(directPtr->messagePtr->sockPtr),
            .workPtr = &work,
            .url = slotPtr->url,
            .status = status,
            .bytesSent = bytes,
            .lines = status == 200 ? slotPtr->filePtr->fields : NULL,
            .linesBytes = slotPtr->filePtr->fieldsBytes});
    NsReqTraceAccess(slotPtr->serverPtr, &access);
}

static void
CloseFd(void *arg)
{
    NsClose(PTR2INT(arg));
}
