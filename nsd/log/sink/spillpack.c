/* SPDX-License-Identifier: MPL-2.0
 * spillpack.c --
 *
 *      Frames of a spill file, packed into blocks; see spillpack.h.
 *
 *      The content of a block is a table, with the length of each column and,
 *      if it is compressed, the compressed one; then the columns.  All numbers
 *      have a variable length, 7 bits in a byte, the last one below 128.
 *
 *      Most of what is spilled is access records, because only these come by
 *      the million.  A record that could be one is treated as one: that it is
 *      none costs some bytes, and nothing else.
 */

#include "log/sink/spillpack.h"

#include "base/assert.h"
#include "base/config.h"
#include "nsaccessline.h"
#include "nsthread.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define MAGIC UINT32_C(0x6b4c4253)
/* Of zstd.  Higher ones take longer and gain nothing here. */
#define LEVEL 1
/* What is shorter is not worth a call. */
#define MIN_COMPRESSED 64
/* Bytes of all columns, and of all frames, of a block; one with a record of the
 * maximum size has less. */
#define MAX_BYTES ((size_t) 64 << 20)

#define NUMBER_BYTES 10

/* The tag of a frame. */
#define TAG_EXPECTED 1u /* It is where its lane's last one ended. */
#define TAG_JUDGED   2u
#define TAG_NOTE     4u
#define TAG_ACCESS   8u

/*
 * Texts of access records.  What follows the agent are counted ones, names and
 * values in turn.
 */
#define TEXT_PEER  0
#define TEXT_NAME  5
#define TEXT_VALUE 6
#define NTEXTS     7

/* Status to run time: 64-bit words at the start of an access record. */
#define NWORDS 7

_Static_assert(offsetof(Ns_AccessRecord, peerLength)
                   == NWORDS * sizeof(uint64_t),
               "the lengths of the texts follow, and are not words");

typedef enum {
    COL_TAG,
    COL_LANE,
    COL_TIME,
    COL_SEVERITY,
    COL_START,  /* If not as expected: difference of it, */
    COL_NEXT,   /* and of the next one from where this one ends. */
    COL_LENGTH, /* These two: of other records. */
    COL_BYTES,
    COL_WORD, /* And the following ones. */
    COL_NHEADERS = COL_WORD + NWORDS,
    COL_NCOUNTED, /* Names and values that follow the agent. */
    COL_TEXT,     /* 0: empty, 1: in the next two, or 2 + its number. */
    COL_TEXT_LENGTH = COL_TEXT + NTEXTS,
    COL_TEXT_BYTES = COL_TEXT_LENGTH + NTEXTS,
    NCOLUMNS = COL_TEXT_BYTES + NTEXTS
} ColumnIndex;

typedef struct Column {
    unsigned char *bytes;
    size_t         n;
    size_t         room;
    size_t         at; /* That is read next. */
} Column;

/*
 * Texts of the block are found again by their hash.
 */
typedef struct Known {
    uint32_t hash;   /* Half of it. */
    uint32_t length; /* 0: the entry is free. */
    uint32_t at;     /* In the frames. */
    uint32_t number; /* Among the texts of its kind. */
} Known;

#define NKNOWN    16384u
#define MAX_KNOWN (NKNOWN / 2)

struct NsSpillPacker {
    Column      columns[NCOLUMNS];
    Column      out;
    Known       known[NKNOWN];
    uint32_t    nKnown;
    uint32_t    nTexts[NTEXTS];
    Known       last[NTEXTS]; /* Without its hash. */
    const char *frames;
    uint64_t   *ends; /* By lane: of the last record. */
    uint32_t    nLanes;
    int64_t     time;
    uint32_t    nHeaders;
    uint64_t    words[NWORDS];
#ifdef HAVE_ZSTD
    ZSTD_CCtx *contextPtr;
#endif
};

typedef struct Text {
    size_t at; /* In its column. */
    size_t length;
} Text;

struct NsSpillUnpacker {
    Column    columns[NCOLUMNS];
    Column    out;
    Text     *texts[NTEXTS];
    size_t    textRoom[NTEXTS];
    size_t    nTexts[NTEXTS];
    uint64_t *ends;
    uint32_t  nLanes;
    int64_t   time;
    uint64_t  nHeaders;
    uint64_t  words[NWORDS];
#ifdef HAVE_ZSTD
    ZSTD_DCtx *contextPtr;
#endif
};

/*
 * Where the parts of an access record are.
 */
typedef struct Parts {
    Ns_AccessRecord head;
    uint32_t        nCounted;
} Parts;

static void PackFrame(NsSpillPacker *packerPtr, const NsSpillFrame *framePtr);
static void PackPlace(NsSpillPacker *packerPtr, const NsSpillFrame *framePtr);
static uint64_t EndOf(uint64_t start, uint64_t length);
static bool     FindParts(const NsSpillFrame *framePtr, Parts *partsPtr);
static void     PackAccess(NsSpillPacker *packerPtr, const Parts *partsPtr,
                           const char *bytes);
static void     PackText(NsSpillPacker *packerPtr, int kind, const char *bytes,
                         size_t length);
static inline bool IsText(const NsSpillPacker *packerPtr, const Known *knownPtr,
                          const char *bytes, size_t length);
static uint64_t    Hash(const char *bytes, size_t length);
static void        Finish(NsSpillPacker *packerPtr, bool isCompressed);
static size_t      Compress(NsSpillPacker *packerPtr, const Column *columnPtr,
                            bool isCompressed);
static uint64_t    HeadSum(const NsSpillBlock *blockPtr);
static bool        TakeColumns(NsSpillUnpacker    *unpackerPtr,
                               const NsSpillBlock *blockPtr);
static bool        Expand(NsSpillUnpacker *unpackerPtr, Column *columnPtr,
                          const unsigned char *from, size_t length);
static bool        UnpackFrame(NsSpillUnpacker *unpackerPtr, uint32_t epoch,
                               uint32_t nLanes);
static bool        UnpackAccess(NsSpillUnpacker *unpackerPtr);
static bool        UnpackText(NsSpillUnpacker *unpackerPtr, int kind,
                              uint32_t *lengthPtr);
static bool        Put(Column *outPtr, const void *bytes, size_t length);
static inline void Reserve(Column *columnPtr, size_t more);
static void PutBytes(Column *columnPtr, const void *bytes, size_t length);
static void FreeColumns(Column *columns);
static inline void PutNumber(Column *columnPtr, uint64_t number);
static inline bool TakeNumber(Column *columnPtr, uint64_t *numberPtr);
static uint64_t    Fold(uint64_t difference);
static uint64_t    Unfold(uint64_t number);

bool
NsSpillCompresses(void)
{
#ifdef HAVE_ZSTD
    return true;
#else
    return false;
#endif
}

NsSpillPacker *
NsSpillPackerCreate(void)
{
    NsSpillPacker *packerPtr = ns_calloc(1u, sizeof(*packerPtr));

#ifdef HAVE_ZSTD
    packerPtr->contextPtr = ZSTD_createCCtx();
    NsAssert(packerPtr->contextPtr != NULL);
#endif
    return packerPtr;
}

void
NsSpillPackerDestroy(NsSpillPacker **packerPtrPtr)
{
    NsSpillPacker *packerPtr = *packerPtrPtr;

    *packerPtrPtr = NULL;
#ifdef HAVE_ZSTD
    ZSTD_freeCCtx(packerPtr->contextPtr);
#endif
    FreeColumns(packerPtr->columns);
    ns_free(packerPtr->out.bytes);
    ns_free(packerPtr->ends);
    ns_free(packerPtr);
}

NsSpillUnpacker *
NsSpillUnpackerCreate(void)
{
    NsSpillUnpacker *unpackerPtr = ns_calloc(1u, sizeof(*unpackerPtr));

#ifdef HAVE_ZSTD
    unpackerPtr->contextPtr = ZSTD_createDCtx();
    NsAssert(unpackerPtr->contextPtr != NULL);
#endif
    return unpackerPtr;
}

void
NsSpillUnpackerDestroy(NsSpillUnpacker **unpackerPtrPtr)
{
    NsSpillUnpacker *unpackerPtr = *unpackerPtrPtr;

    *unpackerPtrPtr = NULL;
#ifdef HAVE_ZSTD
    ZSTD_freeDCtx(unpackerPtr->contextPtr);
#endif
    FreeColumns(unpackerPtr->columns);
    ns_free(unpackerPtr->out.bytes);
    for (int i = 0; i < NTEXTS; i++) {
        ns_free(unpackerPtr->texts[i]);
    }
    ns_free(unpackerPtr->ends);
    ns_free(unpackerPtr);
}

const NsSpillBlock *
NsSpillPack(NsSpillPacker *packerPtr, const void *frames, size_t length,
            bool isCompressed)
{
    NsSpillBlock block = {.magic = MAGIC, .frameBytes = (uint32_t) length};

    NsAssert(length >= sizeof(NsSpillFrame) && length <= MAX_BYTES);
    NsAssert(!isCompressed || NsSpillCompresses());
    if (packerPtr->nKnown > 0) {
        memset(packerPtr->known, 0, sizeof(packerPtr->known));
    }
    packerPtr->frames = frames;
    packerPtr->nKnown = 0;
    memset(packerPtr->last, 0, sizeof(packerPtr->last));
    packerPtr->time = 0;
    packerPtr->nHeaders = 0;
    memset(packerPtr->nTexts, 0, sizeof(packerPtr->nTexts));
    memset(packerPtr->words, 0, sizeof(packerPtr->words));
    if (packerPtr->nLanes > 0) {
        memset(packerPtr->ends, 0,
               packerPtr->nLanes * sizeof(*packerPtr->ends));
    }
    for (int i = 0; i < NCOLUMNS; i++) {
        packerPtr->columns[i].n = 0;
    }
    for (size_t at = 0; at < length;) {
        const NsSpillFrame *framePtr =
            (const NsSpillFrame *) (const void *) ((const char *) frames + at);

        NsAssert(length - at >= sizeof(*framePtr)
                 && length - at >= NsSpillFrameBytes(framePtr));
        PackFrame(packerPtr, framePtr);
        block.epoch = framePtr->record.epoch;
        block.nFrames++;
        block.nRecords += framePtr->record.kind == NS_RING_WHOLE;
        at += NsSpillFrameBytes(framePtr);
    }
    NsAssert(block.nFrames <= NS_SPILL_MAX_FRAMES);
    packerPtr->out.n = sizeof(block);
    Finish(packerPtr, isCompressed);
    block.bytes = (uint32_t) (packerPtr->out.n - sizeof(block));
    Reserve(&packerPtr->out, sizeof(uint64_t));
    memset(packerPtr->out.bytes + packerPtr->out.n, 0, sizeof(uint64_t));
    block.sum = NsRingSum(block.nFrames, packerPtr->out.bytes + sizeof(block),
                          block.bytes);
    block.headSum = HeadSum(&block);
    memcpy(packerPtr->out.bytes, &block, sizeof(block));
    return (const NsSpillBlock *) (const void *) packerPtr->out.bytes;
}

static void
PackFrame(NsSpillPacker *packerPtr, const NsSpillFrame *framePtr)
{
    const NsRingRecord *recordPtr = &framePtr->record;
    const char         *bytes = (const char *) (framePtr + 1);
    Column             *columns = packerPtr->columns;
    Parts               parts;

    NsAssert(recordPtr->pad <= NS_SPILL_JUDGED);
    NsAssert(recordPtr->kind == NS_SPILL_NOTE ? recordPtr->total == 0
                                              : recordPtr->kind == NS_RING_WHOLE
                     && recordPtr->total == recordPtr->length);
    PackPlace(packerPtr, framePtr);
    PutNumber(&columns[COL_LANE], recordPtr->lane);
    PutNumber(&columns[COL_TIME],
              Fold((uint64_t) recordPtr->time - (uint64_t) packerPtr->time));
    packerPtr->time = recordPtr->time;
    PutNumber(&columns[COL_SEVERITY], recordPtr->severity);
    if (FindParts(framePtr, &parts)) {
        columns[COL_TAG].bytes[columns[COL_TAG].n - 1] |= TAG_ACCESS;
        PackAccess(packerPtr, &parts, bytes);
        return;
    }
    PutNumber(&columns[COL_LENGTH], recordPtr->length);
    PutBytes(&columns[COL_BYTES], bytes, recordPtr->length);
}

/*
 * The tag, and what it does not say of the place.
 */
static void
PackPlace(NsSpillPacker *packerPtr, const NsSpillFrame *framePtr)
{
    const NsRingRecord *recordPtr = &framePtr->record;
    uint64_t            lane = recordPtr->lane;
    uint64_t            end = EndOf(framePtr->start, recordPtr->length);
    unsigned            tag = 0;

    if (lane >= packerPtr->nLanes) {
        uint32_t n = (uint32_t) MAX(lane + 1, 2 * packerPtr->nLanes);

        packerPtr->ends = ns_realloc(packerPtr->ends,
                                     n * sizeof(*packerPtr->ends));
        memset(packerPtr->ends + packerPtr->nLanes, 0,
               (n - packerPtr->nLanes) * sizeof(*packerPtr->ends));
        packerPtr->nLanes = n;
    }
    if (framePtr->start == packerPtr->ends[lane] && framePtr->next == end) {
        tag = TAG_EXPECTED;
    } else {
        PutNumber(&packerPtr->columns[COL_START],
                  Fold(framePtr->start - packerPtr->ends[lane]));
        PutNumber(&packerPtr->columns[COL_NEXT], Fold(framePtr->next - end));
    }
    packerPtr->ends[lane] = framePtr->next;
    tag |= recordPtr->pad == NS_SPILL_JUDGED ? TAG_JUDGED : 0;
    tag |= recordPtr->kind == NS_SPILL_NOTE ? TAG_NOTE : 0;
    PutNumber(&packerPtr->columns[COL_TAG], tag);
}

/*
 * Of a record in one piece.
 */
static uint64_t
EndOf(uint64_t start, uint64_t length)
{
    return start + sizeof(NsRingRecord) + NS_RING_ALIGN(length);
}

/*
 * False: it is no access record.
 */
static bool
FindParts(const NsSpillFrame *framePtr, Parts *partsPtr)
{
    const Ns_AccessRecord *headPtr = &partsPtr->head;
    const char            *bytes = (const char *) (framePtr + 1);
    size_t                 length = framePtr->record.length;
    size_t                 at = sizeof(*headPtr);

    if (framePtr->record.kind != NS_RING_WHOLE || length < at) {
        return false;
    }
    memcpy(&partsPtr->head, bytes, at);
    if ((uint64_t) headPtr->peerLength + headPtr->userLength
            + headPtr->requestLength + headPtr->refererLength
            + headPtr->agentLength
        > length - at) {
        return false;
    }
    at += headPtr->peerLength + headPtr->userLength + headPtr->requestLength
        + headPtr->refererLength + headPtr->agentLength;
    for (partsPtr->nCounted = 0; at < length; partsPtr->nCounted++) {
        uint32_t n;

        if (length - at < sizeof(n)) {
            return false;
        }
        memcpy(&n, bytes + at, sizeof(n));
        at += sizeof(n);
        if (n > length - at) {
            return false;
        }
        at += n;
    }
    return true;
}

static void
PackAccess(NsSpillPacker *packerPtr, const Parts *partsPtr, const char *bytes)
{
    const Ns_AccessRecord *r = &partsPtr->head;
    const uint32_t lengths[] = {r->peerLength, r->userLength, r->requestLength,
                                r->refererLength, r->agentLength};
    Column        *columns = packerPtr->columns;
    uint64_t       words[NWORDS];

    memcpy(words, bytes, sizeof(words));
    for (int i = 0; i < NWORDS; i++) {
        PutNumber(&columns[COL_WORD + i], Fold(words[i] - packerPtr->words[i]));
    }
    memcpy(packerPtr->words, words, sizeof(words));
    PutNumber(&columns[COL_NHEADERS],
              Fold((uint64_t) r->nHeaders - packerPtr->nHeaders));
    packerPtr->nHeaders = r->nHeaders;
    bytes += sizeof(*r);
    for (int i = 0; i < TEXT_NAME; i++) {
        PackText(packerPtr, TEXT_PEER + i, bytes, lengths[i]);
        bytes += lengths[i];
    }
    PutNumber(&columns[COL_NCOUNTED], partsPtr->nCounted);
    for (uint32_t i = 0; i < partsPtr->nCounted; i++) {
        uint32_t n;

        memcpy(&n, bytes, sizeof(n));
        bytes += sizeof(n);
        PackText(packerPtr, i % 2 == 0 ? TEXT_NAME : TEXT_VALUE, bytes, n);
        bytes += n;
    }
}

static void
PackText(NsSpillPacker *packerPtr, int kind, const char *bytes, size_t length)
{
    Column  *tokenPtr = &packerPtr->columns[COL_TEXT + kind];
    Known   *lastPtr = &packerPtr->last[kind], *knownPtr;
    uint64_t hash;

    if (length == 0) {
        PutNumber(tokenPtr, 0);
        return;
    }
    if (IsText(packerPtr, lastPtr, bytes, length)) {
        PutNumber(tokenPtr, 2 + (uint64_t) lastPtr->number);
        return;
    }
    hash = Hash(bytes, length) + (uint64_t) kind;
    for (uint64_t i = hash;; i++) {
        knownPtr = &packerPtr->known[i % NKNOWN];
        if (knownPtr->length == 0) {
            break;
        }
        if (knownPtr->hash == (uint32_t) (hash >> 32)
            && IsText(packerPtr, knownPtr, bytes, length)) {
            PutNumber(tokenPtr, 2 + (uint64_t) knownPtr->number);
            *lastPtr = *knownPtr;
            return;
        }
    }
    *lastPtr = (Known){.hash = (uint32_t) (hash >> 32),
                       .length = (uint32_t) length,
                       .at = (uint32_t) (bytes - packerPtr->frames),
                       .number = packerPtr->nTexts[kind]++};
    if (packerPtr->nKnown < MAX_KNOWN) {
        packerPtr->nKnown++;
        *knownPtr = *lastPtr;
    }
    PutNumber(tokenPtr, 1);
    PutNumber(&packerPtr->columns[COL_TEXT_LENGTH + kind], length);
    PutBytes(&packerPtr->columns[COL_TEXT_BYTES + kind], bytes, length);
}

static inline bool
IsText(const NsSpillPacker *packerPtr, const Known *knownPtr, const char *bytes,
       size_t length)
{
    return knownPtr->length == length
        && memcmp(packerPtr->frames + knownPtr->at, bytes, length) == 0;
}

/*
 * It is not stored anywhere.
 */
static uint64_t
Hash(const char *bytes, size_t length)
{
    const uint64_t prime = UINT64_C(0x9e3779b185ebca87);
    uint64_t       hash = length * prime, word = 0;

    for (; length >= sizeof(word); length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        bytes += sizeof(word);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, bytes, length);
    hash = (hash ^ word) * prime;
    return hash ^ hash >> 32;
}

/*
 * The table and the columns.
 */
static void
Finish(NsSpillPacker *packerPtr, bool isCompressed)
{
    Column *outPtr = &packerPtr->out;
    Column  table = {NULL, 0, 0, 0};
    size_t  begin = outPtr->n + 2 * NUMBER_BYTES * NCOLUMNS;

    /* The table's length is known only afterwards. */
    Reserve(outPtr, 2 * NUMBER_BYTES * NCOLUMNS);
    Reserve(&table, 2 * NUMBER_BYTES * NCOLUMNS);
    outPtr->n = begin;
    for (int i = 0; i < NCOLUMNS; i++) {
        const Column *columnPtr = &packerPtr->columns[i];
        size_t        n = Compress(packerPtr, columnPtr, isCompressed);

        PutNumber(&table, columnPtr->n << 1 | (n > 0));
        if (n > 0) {
            PutNumber(&table, n);
        } else if (columnPtr->n > 0) {
            PutBytes(outPtr, columnPtr->bytes, columnPtr->n);
        }
        outPtr->n += n;
    }
    memcpy(outPtr->bytes + sizeof(NsSpillBlock), table.bytes, table.n);
    memmove(outPtr->bytes + sizeof(NsSpillBlock) + table.n,
            outPtr->bytes + begin, outPtr->n - begin);
    outPtr->n = sizeof(NsSpillBlock) + table.n + outPtr->n - begin;
    ns_free(table.bytes);
}

/*
 * Behind what there is of the block.  How many bytes; 0: it stays as it is.
 */
static size_t
Compress(NsSpillPacker *packerPtr, const Column *columnPtr, bool isCompressed)
{
#ifdef HAVE_ZSTD
    Column *outPtr = &packerPtr->out;
    size_t  n;

    if (!isCompressed || columnPtr->n < MIN_COMPRESSED) {
        return 0;
    }
    Reserve(outPtr, columnPtr->n);
    /* Given no more room than that, it fails when it gains nothing. */
    n = ZSTD_compressCCtx(packerPtr->contextPtr, outPtr->bytes + outPtr->n,
                          columnPtr->n - 1, columnPtr->bytes, columnPtr->n,
                          LEVEL);
    return ZSTD_isError(n) ? 0 : n;
#else
    return 0;
#endif
}

bool
NsSpillBlockIsSound(const NsSpillBlock *blockPtr, uint32_t epoch)
{
    return blockPtr->magic == MAGIC && blockPtr->epoch == epoch
        && blockPtr->headSum == HeadSum(blockPtr) && blockPtr->nFrames >= 1
        && blockPtr->nFrames <= NS_SPILL_MAX_FRAMES
        && blockPtr->nRecords <= blockPtr->nFrames
        && blockPtr->bytes <= MAX_BYTES && blockPtr->frameBytes <= MAX_BYTES
        && blockPtr->frameBytes >= blockPtr->nFrames * sizeof(NsSpillFrame);
}

static uint64_t
HeadSum(const NsSpillBlock *blockPtr)
{
    return NsRingSum(0, blockPtr, offsetof(NsSpillBlock, headSum));
}

const char *
NsSpillUnpack(NsSpillUnpacker *unpackerPtr, const NsSpillBlock *blockPtr,
              uint32_t nLanes)
{
    const void *content = blockPtr + 1;

    if (blockPtr->sum != NsRingSum(blockPtr->nFrames, content, blockPtr->bytes)
        || !TakeColumns(unpackerPtr, blockPtr)) {
        return NULL;
    }
    if (unpackerPtr->nLanes < nLanes) {
        unpackerPtr->ends = ns_realloc(unpackerPtr->ends,
                                       nLanes * sizeof(*unpackerPtr->ends));
        unpackerPtr->nLanes = nLanes;
    }
    if (nLanes > 0) {
        memset(unpackerPtr->ends, 0, nLanes * sizeof(*unpackerPtr->ends));
    }
    unpackerPtr->time = 0;
    unpackerPtr->nHeaders = 0;
    memset(unpackerPtr->nTexts, 0, sizeof(unpackerPtr->nTexts));
    memset(unpackerPtr->words, 0, sizeof(unpackerPtr->words));
    unpackerPtr->out.n = 0;
    Reserve(&unpackerPtr->out, blockPtr->frameBytes);
    /* Put writes no further. */
    unpackerPtr->out.at = blockPtr->frameBytes;
    for (uint32_t i = 0; i < blockPtr->nFrames; i++) {
        if (!UnpackFrame(unpackerPtr, blockPtr->epoch, nLanes)) {
            return NULL;
        }
    }
    return unpackerPtr->out.n == blockPtr->frameBytes
        ? (const char *) unpackerPtr->out.bytes
        : NULL;
}

static bool
TakeColumns(NsSpillUnpacker *unpackerPtr, const NsSpillBlock *blockPtr)
{
    Column content = {.bytes = (unsigned char *) (blockPtr + 1),
                      .n = blockPtr->bytes};
    struct {
        uint64_t length;
        uint64_t stored;
        bool     isCompressed;
    } table[NCOLUMNS];
    uint64_t sum = 0;

    for (int i = 0; i < NCOLUMNS; i++) {
        if (!TakeNumber(&content, &table[i].length)) {
            return false;
        }
        table[i].isCompressed = (table[i].length & 1) != 0;
        table[i].length >>= 1;
        table[i].stored = table[i].length;
        if ((table[i].isCompressed && !TakeNumber(&content, &table[i].stored))
            || table[i].length > MAX_BYTES || sum > MAX_BYTES) {
            return false;
        }
        sum += table[i].length;
    }
    for (int i = 0; i < NCOLUMNS; i++) {
        Column              *columnPtr = &unpackerPtr->columns[i];
        const unsigned char *from = content.bytes + content.at;

        if (table[i].stored > content.n - content.at) {
            return false;
        }
        columnPtr->n = columnPtr->at = 0;
        Reserve(columnPtr, table[i].length);
        columnPtr->n = table[i].length;
        if (table[i].isCompressed) {
            if (!Expand(unpackerPtr, columnPtr, from, table[i].stored)) {
                return false;
            }
        } else if (columnPtr->n > 0) {
            memcpy(columnPtr->bytes, from, columnPtr->n);
        }
        content.at += table[i].stored;
    }
    return content.at == content.n;
}

static bool
Expand(NsSpillUnpacker *unpackerPtr, Column *columnPtr,
       const unsigned char *from, size_t length)
{
#ifdef HAVE_ZSTD
    return ZSTD_decompressDCtx(unpackerPtr->contextPtr, columnPtr->bytes,
                               columnPtr->n, from, length)
        == columnPtr->n;
#else
    return false;
#endif
}

static bool
UnpackFrame(NsSpillUnpacker *unpackerPtr, uint32_t epoch, uint32_t nLanes)
{
    Column      *columns = unpackerPtr->columns, *outPtr = &unpackerPtr->out;
    NsSpillFrame frame = {.record = {.epoch = epoch}};
    size_t       begin = outPtr->n;
    uint64_t     tag, lane, time, severity, start = 0, next = 0, length;

    if (!TakeNumber(&columns[COL_TAG], &tag)
        || !TakeNumber(&columns[COL_LANE], &lane) || lane >= nLanes
        || !TakeNumber(&columns[COL_TIME], &time)
        || !TakeNumber(&columns[COL_SEVERITY], &severity)
        || severity > UINT16_MAX || !Put(outPtr, &frame, sizeof(frame))) {
        return false;
    }
    if ((tag & TAG_EXPECTED) == 0
        && (!TakeNumber(&columns[COL_START], &start)
            || !TakeNumber(&columns[COL_NEXT], &next))) {
        return false;
    }
    if ((tag & TAG_ACCESS) != 0) {
        if (!UnpackAccess(unpackerPtr)) {
            return false;
        }
    } else {
        Column *bytesPtr = &columns[COL_BYTES];

        if (!TakeNumber(&columns[COL_LENGTH], &length)
            || length > bytesPtr->n - bytesPtr->at
            || !Put(outPtr, bytesPtr->bytes + bytesPtr->at, length)) {
            return false;
        }
        bytesPtr->at += length;
    }
    length = outPtr->n - begin - sizeof(frame);
    unpackerPtr->time = (int64_t) ((uint64_t) unpackerPtr->time + Unfold(time));
    frame.start = unpackerPtr->ends[lane] + Unfold(start);
    frame.next = EndOf(frame.start, length) + Unfold(next);
    unpackerPtr->ends[lane] = frame.next;
    frame.record.length = (uint32_t) length;
    frame.record.time = unpackerPtr->time;
    frame.record.lane = (uint16_t) lane;
    frame.record.severity = (uint16_t) severity;
    frame.record.pad = (tag & TAG_JUDGED) != 0 ? NS_SPILL_JUDGED : 0;
    frame.record.kind = (tag & TAG_NOTE) != 0 ? NS_SPILL_NOTE : NS_RING_WHOLE;
    frame.record.total = (tag & TAG_NOTE) != 0 ? 0 : length;
    memcpy(outPtr->bytes + begin, &frame, sizeof(frame));
    return Put(outPtr, &(uint64_t){0}, NS_RING_ALIGN(length) - length);
}

static bool
UnpackAccess(NsSpillUnpacker *unpackerPtr)
{
    Column         *columns = unpackerPtr->columns;
    Column         *outPtr = &unpackerPtr->out;
    Ns_AccessRecord head = {.flags = 0};
    uint32_t       *lengths[] = {
              &head.peerLength, &head.userLength, &head.requestLength,
              &head.refererLength, &head.agentLength};
    size_t   begin = outPtr->n;
    uint64_t number, nCounted;

    if (!Put(outPtr, &head, sizeof(head))) {
        return false;
    }
    for (int i = 0; i < NWORDS; i++) {
        if (!TakeNumber(&columns[COL_WORD + i], &number)) {
            return false;
        }
        unpackerPtr->words[i] += Unfold(number);
    }
    memcpy(&head, unpackerPtr->words, sizeof(unpackerPtr->words));
    for (int i = 0; i < TEXT_NAME; i++) {
        if (!UnpackText(unpackerPtr, TEXT_PEER + i, lengths[i])) {
            return false;
        }
    }
    if (!TakeNumber(&columns[COL_NHEADERS], &number)
        || !TakeNumber(&columns[COL_NCOUNTED], &nCounted)) {
        return false;
    }
    unpackerPtr->nHeaders += Unfold(number);
    head.nHeaders = (uint32_t) unpackerPtr->nHeaders;
    for (uint64_t i = 0; i < nCounted; i++) {
        size_t   at = outPtr->n;
        uint32_t n = 0;

        if (!Put(outPtr, &n, sizeof(n))
            || !UnpackText(unpackerPtr, i % 2 == 0 ? TEXT_NAME : TEXT_VALUE,
                           &n)) {
            return false;
        }
        memcpy(outPtr->bytes + at, &n, sizeof(n));
    }
    memcpy(outPtr->bytes + begin, &head, sizeof(head));
    return true;
}

static bool
UnpackText(NsSpillUnpacker *unpackerPtr, int kind, uint32_t *lengthPtr)
{
    Column     *bytesPtr = &unpackerPtr->columns[COL_TEXT_BYTES + kind];
    const Text *textPtr;
    uint64_t    token, length;
    size_t      n = unpackerPtr->nTexts[kind];

    if (!TakeNumber(&unpackerPtr->columns[COL_TEXT + kind], &token)) {
        return false;
    }
    if (token == 0) {
        *lengthPtr = 0;
        return true;
    }
    if (token == 1) {
        if (!TakeNumber(&unpackerPtr->columns[COL_TEXT_LENGTH + kind], &length)
            || length > bytesPtr->n - bytesPtr->at) {
            return false;
        }
        if (n == unpackerPtr->textRoom[kind]) {
            unpackerPtr->textRoom[kind] = MAX(64, 2 * n);
            unpackerPtr->texts[kind] = ns_realloc(unpackerPtr->texts[kind],
                                                  unpackerPtr->textRoom[kind]
                                                      * sizeof(Text));
        }
        unpackerPtr->texts[kind][n] = (Text){bytesPtr->at, length};
        bytesPtr->at += length;
        token = 2 + n;
        unpackerPtr->nTexts[kind] = ++n;
    }
    if (token - 2 >= n) {
        return false;
    }
    textPtr = &unpackerPtr->texts[kind][token - 2];
    *lengthPtr = (uint32_t) textPtr->length;
    return Put(&unpackerPtr->out, bytesPtr->bytes + textPtr->at,
               textPtr->length);
}

/*
 * False: the block has more than it said.
 */
static bool
Put(Column *outPtr, const void *bytes, size_t length)
{
    if (length > outPtr->at - outPtr->n) {
        return false;
    }
    memcpy(outPtr->bytes + outPtr->n, bytes, length);
    outPtr->n += length;
    return true;
}

static inline void
Reserve(Column *columnPtr, size_t more)
{
    if (unlikely(columnPtr->room - columnPtr->n < more
                 || columnPtr->bytes == NULL)) {
        columnPtr->room = MAX(columnPtr->n + more + 64, 2 * columnPtr->room);
        columnPtr->bytes = ns_realloc(columnPtr->bytes, columnPtr->room);
    }
}

static void
PutBytes(Column *columnPtr, const void *bytes, size_t length)
{
    Reserve(columnPtr, length);
    memcpy(columnPtr->bytes + columnPtr->n, bytes, length);
    columnPtr->n += length;
}

static void
FreeColumns(Column *columns)
{
    for (int i = 0; i < NCOLUMNS; i++) {
        ns_free(columns[i].bytes);
    }
}

static inline void
PutNumber(Column *columnPtr, uint64_t number)
{
    unsigned char *p;

    Reserve(columnPtr, NUMBER_BYTES);
    p = columnPtr->bytes + columnPtr->n;
    while (number >= 128) {
        *p++ = (unsigned char) (number | 128);
        number >>= 7;
    }
    *p++ = (unsigned char) number;
    columnPtr->n = (size_t) (p - columnPtr->bytes);
}

/*
 * False: there is none.
 */
static inline bool
TakeNumber(Column *columnPtr, uint64_t *numberPtr)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte;

        if (columnPtr->at == columnPtr->n) {
            return false;
        }
        byte = columnPtr->bytes[columnPtr->at++];
        number |= (uint64_t) (byte & 127) << shift;
        if (byte < 128) {
            *numberPtr = number;
            return true;
        }
    }
    return false;
}

/*
 * Small differences, negative ones too, become small numbers.
 */
static uint64_t
Fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t
Unfold(uint64_t number)
{
    return number >> 1 ^ (0 - (number & 1));
}
