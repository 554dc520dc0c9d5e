/* SPDX-License-Identifier: MPL-2.0
 * direct.c --
 *
 *      Answers given by the driver thread itself.
 *
 *      Each driver thread keeps a table from the path as sent to the file
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
#include "base/chains.h"
#include "base/chars.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_stats.h"
#include "http/mimetype.h"
#include "http/precondition.h"
#include "http/urlpath.h"
#include "request/access.h"
#include "request/auth.h"
#include "request/errorpage.h"
#include "request/fastpath.h"
#include "request/publicfile.h"
#include "request/filecache.h"
#include "request/filter.h"
#include "request/op.h"
#include "request/poolmap.h"
#include "request/replyhead.h"
#include "request/reqserver.h"
#include "request/reqtrace.h"
#include "request/requestid.h"
#include "request/routes.h"
#include "request/url2file.h"
#include "request/variants.h"

#define MAX_SLOTS        (1u << 18)
#define SWEEP_STEP       32u /* Chains looked through at each fill. */
#define N_SCRIPTS        4096
#define MAX_PATH_ROOM    4096 /* For decoding; longer ones go elsewhere. */
#define MAX_HEAD_BYTES   1280
#define WHOLE_BYTES      16384 /* A socket takes this much in one call. */
#define MAX_304_BYTES    200
#define MAX_END_BYTES    32 /* Connection, and the end. */
#define MAX_ID_BYTES     (NS_REQUEST_ID_NAME + NS_REQUEST_ID_BYTES + 4)
#define MAX_FIELDS_BYTES 512 /* Of one file; the rest has a fixed length. */

/*
 * The target of a path.
 */
typedef struct Slot {
    NsChainLink link; /* First. */
    NsFile     *filePtr;
    NsServer   *serverPtr;
    NsPool     *poolPtr;
    unsigned    generation;
    bool        isHead;
    NsStamp     checkedStamp; /* A look at a later time found it current. */
    size_t      pathBytes;
    char       *url;    /* Behind the path. */
    char        path[]; /* As sent. */
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
    NsChains slots;
    uint32_t hand; /* The chain at which the next sweep begins. */
    Script   scripts[N_SCRIPTS];
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
    NsWork                work;
    NsLogIdentity         identity;
} Direct;

static Ns_Tls               tableTls; /* For its clean-up alone. */
static _Thread_local Table *tablePtr;

static bool    IsCandidate(Direct *directPtr);
static Slot   *FindSlot(const Direct *directPtr);
static Slot   *LookUp(const Direct *directPtr, uint32_t hash);
static Slot   *FillSlot(const Direct *directPtr, uint32_t hash);
static bool    IsGood(const Slot *slotPtr);
static NsFile *FindFile(NsServer *serverPtr, const char *url);
static bool    IsScriptFree(NsServer *serverPtr, const char *method,
                            const char *url);
static void    DropSlot(Slot *slotPtr);
static void    DropChain(uint32_t i, bool isWhole);
static void    Sweep(void);
static void    FreeTable(void *arg);
static bool    CheckFile(Direct *directPtr);
static int     Judge(const Direct *directPtr);
static void    Send(Direct *directPtr);
static size_t  RenderHead(const Direct *directPtr, char *buffer, int status,
                          bool keep);
static void    Account(Direct *directPtr, int status, int64_t bytes);
static void    CloseFd(void *arg);

void
NsDirectInit(void)
{
    Ns_TlsAlloc(&tableTls, FreeTable);
}

bool
NsDirectAnswer(NsMessage *messagePtr)
{
    Direct       direct = {.messagePtr = messagePtr, .fd = -1};
    NsRequestIds ids;

    if (!IsCandidate(&direct)) {
        return false;
    }
    direct.slotPtr = FindSlot(&direct);
    if (direct.slotPtr == NULL || !CheckFile(&direct)) {
        return false;
    }
    direct.work.acceptStamp = messagePtr->acceptStamp;
    NsPoolCountDirect(direct.slotPtr->poolPtr, &direct.work);
    if (unlikely(NsRequestHasIds(messagePtr))
        && NsRequestIdsFill(&ids, messagePtr, direct.work.id)) {
        direct.identity = ids.identity;
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

    hash ^= serverPtr->link.hash;
    for (i = 0; i < directPtr->pathBytes; i++) {
        hash = NsHashAdd(hash, directPtr->path[i]);
    }
    if (tablePtr == NULL) {
        tablePtr = ns_calloc(1, sizeof(Table));
        NsChainsInit(&tablePtr->slots);
        Ns_TlsSet(&tableTls, tablePtr);
    }
    scriptPtr = &tablePtr->scripts[hash % N_SCRIPTS];
    if (scriptPtr->serverPtr == serverPtr && scriptPtr->hash == hash
        && scriptPtr->generation == NsRequestGeneration()) {
        return NULL;
    }
    slotPtr = LookUp(directPtr, hash);
    if (slotPtr != NULL && IsGood(slotPtr)) {
        NsAssert(slotPtr->poolPtr != NULL && slotPtr->url != NULL);
        NsFileCountHit(slotPtr->filePtr);
        return slotPtr;
    }
    if (slotPtr != NULL) {
        DropSlot(slotPtr);
    }
    return FillSlot(directPtr, hash);
}

static Slot *
LookUp(const Direct *directPtr, uint32_t hash)
{
    NsChainLink *linkPtr;

    for (linkPtr = *NsChainsHead(&tablePtr->slots, hash); linkPtr != NULL;
         linkPtr = linkPtr->nextPtr) {
        Slot *slotPtr = (Slot *) linkPtr;

        if (linkPtr->hash == hash
            && slotPtr->serverPtr == directPtr->messagePtr->serverPtr
            && slotPtr->isHead == directPtr->isHead
            && slotPtr->pathBytes == directPtr->pathBytes
            && memcmp(slotPtr->path, directPtr->path, slotPtr->pathBytes)
                == 0) {
            return slotPtr;
        }
    }
    return NULL;
}

static bool
IsGood(const Slot *slotPtr)
{
    return slotPtr->generation == NsRequestGeneration()
        && !atomic_load_explicit(&slotPtr->filePtr->isDropped,
                                 memory_order_acquire);
}

/*
 * The generation is read before anything that it covers.
 */
static Slot *
FillSlot(const Direct *directPtr, uint32_t hash)
{
    NsServer   *serverPtr = directPtr->messagePtr->serverPtr;
    const char *method = directPtr->isHead ? "HEAD" : "GET";
    unsigned    generation = NsRequestGeneration();
    char        room[MAX_PATH_ROOM];
    NsUrlPath   url;
    NsFile     *filePtr;
    NsPool     *poolPtr;
    Slot       *slotPtr;

    if (NsUrlPathRoom(directPtr->pathBytes) > sizeof(room)) {
        return NULL;
    }
    NsUrlDecodePathInto(room, directPtr->path, directPtr->pathBytes, &url);
    poolPtr = IsScriptFree(serverPtr, method, url.path)
        ? NsPoolMapFindFixed(serverPtr, method, url.path)
        : NULL;
    if (poolPtr == NULL) {
        tablePtr->scripts[hash % N_SCRIPTS] = (Script){
            .serverPtr = serverPtr, .generation = generation, .hash = hash};
        return NULL;
    }
    filePtr = FindFile(serverPtr, url.path);
    if (filePtr == NULL) {
        return NULL;
    }
    if (filePtr->fieldsBytes > MAX_FIELDS_BYTES) {
        NsFileUnref(filePtr);
        return NULL;
    }
    Sweep();
    slotPtr = ns_malloc(sizeof(Slot) + directPtr->pathBytes + url.pathLength
                        + 1u);
    *slotPtr = (Slot){
        .link.hash = hash,
        .filePtr = filePtr,
        .serverPtr = serverPtr,
        .poolPtr = poolPtr,
        .generation = generation,
        .isHead = directPtr->isHead,
        .pathBytes = directPtr->pathBytes,
        .url = slotPtr->path + directPtr->pathBytes};
    memcpy(slotPtr->path, directPtr->path, directPtr->pathBytes);
    memcpy(slotPtr->url, url.path, url.pathLength + 1);
    NsChainsAdd(&tablePtr->slots, &slotPtr->link);
    return slotPtr;
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
    bool        isDefault;

    Ns_DStringInit(&ds);
    if (NsPublicFile(&ds, serverPtr, url, &isDefault) == NS_OK
        && stat(Ns_DStringValue(&ds), &status) == 0 && S_ISREG(status.st_mode)
        && !NsMimeTypeIsSource(Ns_DStringValue(&ds))) {
        if (status.st_size > NsFileCacheMaxEntry()) {
            Ns_GetTime(&now);
            filePtr = !NsFileIsFit(&status, &now)
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
DropSlot(Slot *slotPtr)
{
    NsChainsRemove(&tablePtr->slots, &slotPtr->link);
    NsFileUnref(slotPtr->filePtr);
    ns_free(slotPtr);
}

/*
 * Slots that nobody uses any longer must not keep files in memory that left the
 * cache.  There is room for one slot more afterwards.
 */
static void
Sweep(void)
{
    NsChains *slotsPtr = &tablePtr->slots;

    for (uint32_t n = 0; n < SWEEP_STEP || slotsPtr->nItems >= MAX_SLOTS; n++) {
        tablePtr->hand = (tablePtr->hand + 1u) % slotsPtr->nHeads;
        DropChain(tablePtr->hand, slotsPtr->nItems >= MAX_SLOTS);
    }
}

/*
 * The slots of a chain that no request can use, or all.
 */
static void
DropChain(uint32_t i, bool isWhole)
{
    NsChainLink *linkPtr = tablePtr->slots.heads[i];

    while (linkPtr != NULL) {
        Slot *slotPtr = (Slot *) linkPtr;

        linkPtr = linkPtr->nextPtr;
        if (isWhole || !IsGood(slotPtr)) {
            DropSlot(slotPtr);
        }
    }
}

static void
FreeTable(void *arg)
{
    NsAssert(arg == tablePtr);
    for (uint32_t i = 0; i < tablePtr->slots.nHeads; i++) {
        DropChain(i, true);
    }
    NsChainsFree(&tablePtr->slots);
    ns_free(tablePtr);
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
        DropSlot(slotPtr);
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
Send(Direct *directPtr)
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
                       .groupPtr = NsPoolReplyGroup(poolPtr)});
    if (NsSockIsForWriter(sockPtr, bodyBytes)) {
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
                       + MAX_END_BYTES + MAX_ID_BYTES
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
                         "Last-Modified: %s\r\nETag: %s\r\n",
                         filePtr->lastModified, filePtr->tag);

        NsAssert(n > 0 && n < MAX_304_BYTES);
        next += n;
    }
    if (unlikely(directPtr->identity.requestId != NULL)) {
        int n = snprintf(next, MAX_ID_BYTES, "%s: %s\r\n",
                         directPtr->messagePtr->serverPtr->requestPtr
                             ->requestIdField,
                         directPtr->identity.requestId);

        NsAssert(n > 0 && n < MAX_ID_BYTES);
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
Account(Direct *directPtr, int status, int64_t bytes)
{
    const Slot            *slotPtr = directPtr->slotPtr;
    NsWork                *workPtr = &directPtr->work;
    Ns_Access              access;
    struct Ns_AccessFields fields;

    workPtr->filterStamp = workPtr->dequeueStamp;
    workPtr->endStamp = workPtr->dequeueStamp;
    NsPoolCountSpans(workPtr);
    NsPoolCountStatus(slotPtr->poolPtr, status);
    NsPoolCountSent(slotPtr->poolPtr, bytes);
    NsRouteCount(slotPtr->serverPtr, NsRouteOfFiles(slotPtr->serverPtr),
                 &(NsRouteRequest){status, 0, bytes});
    NsAccessFillDirect(
        &access, &fields,
        &(NsDirectReply){
            .messagePtr = directPtr->messagePtr,
            .driverPtr = NsSockDriver(directPtr->messagePtr->sockPtr),
            .workPtr = workPtr,
            .url = slotPtr->url,
            .status = status,
            .bytesSent = bytes,
            .lines = status == 200 ? slotPtr->filePtr->fields : NULL,
            .linesBytes = slotPtr->filePtr->fieldsBytes,
            .identity = directPtr->identity});
    NsReqTraceAccess(slotPtr->serverPtr, &access);
}

static void
CloseFd(void *arg)
{
    NsClose(PTR2INT(arg));
}
