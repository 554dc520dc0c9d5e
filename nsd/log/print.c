/* SPDX-License-Identifier: MPL-2.0
 * print.c --
 *
 *      Prints the records in a mapping, of a live or a dead server, and those
 *      that its sinks have on disk.
 *
 *      The server may free and refill segments while they are read.  So a
 *      record is copied first, and counts only if the copy's checksum is right
 *      and the segment still belongs to the lane.
 *
 *      What a sink of the stream may not have is not printed either.
 *
 *      If sinks are not equally far behind, a record may be in several spill
 *      files and in the mapping as well.  The records of a lane have the same
 *      order everywhere, so positions show what has been printed.
 */

#include "log/print.h"

#include "base/clock.h"
#include "log/init.h"
#include "log/maplist.h"
#include "log/ring/reader.h"
#include "log/sink/spill.h"
#include "log/stream/knownstream.h"
#include "log/stream/line.h"
#include "log/stream/mask.h"
#include "log/stream/severity.h"
#include "log/stream/stream.h"
#include "log/stream/unit.h"
#include "nslog.h"
#include "nsthread.h"

#define POLL_USEC  200000
#define LINE_BYTES 1024 /* Grows for longer lines. */
#define MAX_TIMES  100  /* If the server is faster. */

/*
 * Of a sink.
 */
typedef struct Mask {
    char    text[NS_RING_MASK];
    NsMask *maskPtr; /* NULL: the text is none. */
} Mask;

typedef struct Wish {
    const char *stream;      /* NULL: all. */
    int         minSeverity; /* -1: all. */
    int64_t     slowNanos;   /* 0: all. */
    bool        isFollowing;
} Wish;

/*
 * One reader of a mapping.
 */
typedef struct Printer {
    NsRing     *ringPtr;
    NsPlace    *places;
    NsMerge     merge;
    NsSpill   **spills;       /* By slot; NULL: no file. */
    uint32_t   *spillNumbers; /* The numbers of these files. */
    const char *spillPath;    /* Set: the mapping is the head of this file. */
    uint64_t   *printed;      /* By lane: position behind the last. */
    char       *bytes;        /* Copy of a record. */
    size_t      room;
    char       *line;
    size_t      lineRoom;
    Mask       *masks;   /* By slot, as far as they were met. */
    bool        hasLost; /* A segment went before all of it was printed. */
} Printer;

static void     Print(NsRing *ringPtr, const Wish *wishPtr, const char *file);
static bool     ParseWish(Wish *wishPtr, int argc, char *const *argv);
static int      Usage(const char *problem, const char *what);
static bool     IsWanted(const Wish *wishPtr, const Ns_LogRecord *recordPtr);
static void     PrintNew(Printer *printerPtr, const Wish *wishPtr);
static void     PrintOnce(Printer *printerPtr, const Wish *wishPtr);
static void     LookAtDisk(Printer *printerPtr);
static void     TellCompressed(const Printer    *printerPtr,
                               const NsRingSink *slotPtr);
static NsSpill *FirstOnDisk(const Printer *printerPtr, int64_t *timePtr);
static void     PrintFromDisk(Printer *printerPtr, const Wish *wishPtr,
                              NsSpill *spillPtr);
static void     PrintFromLane(Printer *printerPtr, const Wish *wishPtr,
                              NsPlace *placePtr);
static bool     IsNew(Printer *printerPtr, uint32_t lane, uint64_t position);
static bool     Enter(Printer *printerPtr, NsPlace *placePtr);
static bool    IsStillThere(const Printer *printerPtr, const NsPlace *placePtr);
static bool    CopyRecord(Printer *printerPtr, const NsPlace *placePtr,
                          NsRingRecord *headPtr);
static void    PrintRecord(Printer *printerPtr, uint32_t lane,
                           const Ns_LogRecord *recordPtr);
static bool    Hide(Printer *printerPtr, uint32_t lane,
                    const NsFieldProcs *procsPtr, Ns_LogRecord *recordPtr);
static NsMask *MaskOf(Printer *printerPtr, int slot);
static void    PrintStrange(const Ns_LogRecord *recordPtr, bool isHidden);
static void    PrintText(const char *bytes, size_t length);

int
NsLogPrintMain(int argc, char *const *argv)
{
    Wish        wish = {NULL, -1, 0, false};
    NsRing     *ringPtr;
    const char *reason;

    NsLogInit();
    if (argc < 1) {
        return Usage("no parameter for option", "--logs");
    }
    if (STREQ(argv[0], "--list") && argc <= 2) {
        return NsLogListMappings(argc == 2 ? argv[1] : NS_LOG_DIRECTORY);
    }
    if (!ParseWish(&wish, argc - 1, argv + 1)) {
        return 1;
    }
    ringPtr = NsRingOpen(argv[0], true, &reason);
    if (ringPtr == NULL) {
        fprintf(stderr, "nsd: cannot read '%s': %s\n", argv[0], reason);
        return 1;
    }
    while (ringPtr != NULL) {
        /* One after the other, if several mappings are in one file. */
        NsRing *nextPtr = ringPtr->siblingPtr;

        Print(ringPtr, &wish, argv[0]);
        NsRingClose(&ringPtr, false);
        ringPtr = nextPtr;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

static void
Print(NsRing *ringPtr, const Wish *wishPtr, const char *file)
{
    Printer printer = {.ringPtr = ringPtr, .lineRoom = LINE_BYTES};

    if (NsSpillIsHead(ringPtr)) {
        printer.spillPath = file;
    }
    printer.spills = ns_calloc(MAX(ringPtr->headerPtr->maxSinks, 1),
                               sizeof(NsSpill *));
    printer.spillNumbers = ns_calloc(MAX(ringPtr->headerPtr->maxSinks, 1),
                                     sizeof(uint32_t));
    printer.printed = ns_calloc(MAX(ringPtr->headerPtr->maxLanes, 1),
                                sizeof(uint64_t));
    printer.line = ns_malloc(LINE_BYTES);
    printer.masks = ns_calloc(MAX(ringPtr->headerPtr->maxSinks, 1),
                              sizeof(Mask));
    printer.places = ns_calloc(ringPtr->headerPtr->maxLanes, sizeof(NsPlace));
    for (uint32_t i = 0; i < ringPtr->headerPtr->maxLanes; i++) {
        printer.places[i].lane = i;
        printer.places[i].segment = NS_RING_NONE;
    }
    PrintNew(&printer, wishPtr);
    while (wishPtr->isFollowing && access(file, F_OK) == 0) {
        struct timeval pause = {0, POLL_USEC};

        fflush(stdout);
        (void) select(0, NULL, NULL, NULL, &pause);
        PrintNew(&printer, wishPtr);
    }
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        if (printer.spills[i] != NULL) {
            NsSpillClose(&printer.spills[i]);
        }
        NsMaskDestroy(&printer.masks[i].maskPtr);
    }
    ns_free(printer.masks);
    NsMergeFree(&printer.merge);
    ns_free(printer.spills);
    ns_free(printer.spillNumbers);
    ns_free(printer.printed);
    ns_free(printer.places);
    ns_free(printer.bytes);
    ns_free(printer.line);
}

static bool
ParseWish(Wish *wishPtr, int argc, char *const *argv)
{
    for (int i = 0; i < argc; i++) {
        const char *option = argv[i];

        if (STREQ(option, "--follow")) {
            wishPtr->isFollowing = true;
            continue;
        }
        if (!STREQ(option, "--stream") && !STREQ(option, "--severity")
            && !STREQ(option, "--slow")) {
            return Usage("invalid option", option) == 0;
        }
        if (++i == argc) {
            return Usage("no parameter for option", option) == 0;
        }
        if (STREQ(option, "--stream")) {
            wishPtr->stream = argv[i];
        } else if (STREQ(option, "--severity")) {
            wishPtr->minSeverity = NsSeverityFind(argv[i]);
            if (wishPtr->minSeverity < 0) {
                return Usage("unknown severity", argv[i]) == 0;
            }
        } else {
            wishPtr->slowNanos = (int64_t) (strtod(argv[i], NULL) * 1e9);
        }
    }
    return true;
}

static int
Usage(const char *problem, const char *what)
{
    fprintf(stderr,
            "\nError: %s: %s\n\nUsage: nsd --logs FILE ?--follow? "
            "?--stream NAME? ?--severity NAME? ?--slow SECONDS?\n"
            "       nsd --logs --list ?DIR?\n",
            problem, what);
    return 1;
}

/*
 * Only requests have durations.
 */
static bool
IsWanted(const Wish *wishPtr, const Ns_LogRecord *recordPtr)
{
    const char *stream = recordPtr->stream;

    if (wishPtr->stream != NULL) {
        size_t n = strlen(wishPtr->stream);

        if (strncmp(stream, wishPtr->stream, n) != 0
            || (stream[n] != '\0' && stream[n] != '/')) {
            return false;
        }
    }
    if (wishPtr->slowNanos > 0
        && (!STREQ(stream, NsStreamName(nsOperationStream))
            || NsUnitNanos(recordPtr) < wishPtr->slowNanos)) {
        return false;
    }
    return wishPtr->minSeverity < 0
        || NsSeverityWeight(recordPtr->severity)
        >= NsSeverityWeight(wishPtr->minSeverity);
}

/*
 * What went from the mapping meanwhile is in a spill file or written.
 */
static void
PrintNew(Printer *printerPtr, const Wish *wishPtr)
{
    int nTimes = 0;

    do {
        PrintOnce(printerPtr, wishPtr);
    } while (printerPtr->hasLost && ++nTimes < MAX_TIMES);
}

/*
 * The disk is looked at behind the lanes: what has left them by then is there.
 */
static void
PrintOnce(Printer *printerPtr, const Wish *wishPtr)
{
    NsRing  *ringPtr = printerPtr->ringPtr;
    uint32_t n = MIN(atomic_load(&ringPtr->headerPtr->nLanes),
                     ringPtr->headerPtr->maxLanes);
    NsPlace *placePtr;
    NsSpill *spillPtr;
    int64_t  time;

    printerPtr->hasLost = false;
    printerPtr->merge.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        placePtr = &printerPtr->places[i];
        if (Enter(printerPtr, placePtr)) {
            NsMergeAdd(&printerPtr->merge, placePtr);
        } else if (placePtr->segment != NS_RING_NONE) {
            printerPtr->hasLost |= !IsStillThere(printerPtr, placePtr);
        }
    }
    LookAtDisk(printerPtr);
    for (;;) {
        spillPtr = FirstOnDisk(printerPtr, &time);
        placePtr = NsMergeFirst(&printerPtr->merge);
        if (spillPtr != NULL
            && (placePtr == NULL || time <= placePtr->headPtr->time)) {
            PrintFromDisk(printerPtr, wishPtr, spillPtr);
        } else if (placePtr != NULL) {
            PrintFromLane(printerPtr, wishPtr, placePtr);
        } else {
            break;
        }
    }
}

/*
 * Open the spill files that sinks have by now, and refresh those that are open.
 */
static void
LookAtDisk(Printer *printerPtr)
{
    NsRing *ringPtr = printerPtr->ringPtr;

    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);
        NsSpill   **spillPtrPtr = &printerPtr->spills[i];
        bool        hasSpill = atomic_load(&slotPtr->hasSpill) != 0;
        uint32_t    number = slotPtr->spillNumber;

        if (*spillPtrPtr != NULL
            && (!hasSpill || number != printerPtr->spillNumbers[i])) {
            NsSpillClose(spillPtrPtr);
        }
        if (*spillPtrPtr != NULL) {
            NsSpillRefresh(*spillPtrPtr);
        } else if (hasSpill) {
            *spillPtrPtr = NsSpillOpenToLook(ringPtr, slotPtr,
                                             printerPtr->spillPath);
            if (*spillPtrPtr == NULL && errno == ENOTSUP
                && number != printerPtr->spillNumbers[i]) {
                TellCompressed(printerPtr, slotPtr);
            }
            printerPtr->spillNumbers[i] = number;
        }
    }
}

static void
TellCompressed(const Printer *printerPtr, const NsRingSink *slotPtr)
{
    char *path = NsSpillPath(printerPtr->ringPtr, slotPtr);

    fprintf(stderr,
            "nsd: '%s' is compressed, and this server was built without "
            "libzstd\n",
            printerPtr->spillPath != NULL ? printerPtr->spillPath : path);
    ns_free(path);
}

/*
 * The file with the earliest record, and the time of that; NULL: there is none.
 */
static NsSpill *
FirstOnDisk(const Printer *printerPtr, int64_t *timePtr)
{
    NsSpill *firstPtr = NULL;

    for (int i = 0; i < (int) printerPtr->ringPtr->headerPtr->maxSinks; i++) {
        NsSpill            *spillPtr = printerPtr->spills[i];
        const NsSpillFrame *framePtr = spillPtr == NULL
            ? NULL
            : NsSpillHead(spillPtr);

        if (framePtr != NULL
            && (firstPtr == NULL || framePtr->record.time < *timePtr)) {
            firstPtr = spillPtr;
            *timePtr = framePtr->record.time;
        }
    }
    return firstPtr;
}

static void
PrintFromDisk(Printer *printerPtr, const Wish *wishPtr, NsSpill *spillPtr)
{
    const NsSpillFrame *framePtr = NsSpillHead(spillPtr);
    Ns_LogRecord        record = {
               .stream = NsRingStreamOf(printerPtr->ringPtr, framePtr->record.lane),
               .severity = framePtr->record.severity,
               .time = framePtr->record.time,
               .bytes = framePtr + 1,
               .length = framePtr->record.length};

    if (framePtr->record.kind == NS_RING_WHOLE
        && IsNew(printerPtr, framePtr->record.lane, framePtr->start)
        && IsWanted(wishPtr, &record)) {
        PrintRecord(printerPtr, framePtr->record.lane, &record);
    }
    NsSpillAdvance(spillPtr, framePtr);
}

/*
 * Print from the first place of the merge.
 */
static void
PrintFromLane(Printer *printerPtr, const Wish *wishPtr, NsPlace *placePtr)
{
    const char  *stream = NsRingStreamOf(printerPtr->ringPtr, placePtr->lane);
    uint64_t     position = NsPlacePosition(placePtr);
    NsRingRecord head;

    if (CopyRecord(printerPtr, placePtr, &head)) {
        Ns_LogRecord record = {.stream = stream,
                               .severity = head.severity,
                               .time = head.time,
                               .bytes = printerPtr->bytes,
                               .length = head.total};

        if (IsNew(printerPtr, placePtr->lane, position)
            && IsWanted(wishPtr, &record)) {
            PrintRecord(printerPtr, placePtr->lane, &record);
        }
        NsPlaceAdvance(printerPtr->ringPtr, placePtr);
    } else {
        placePtr->headPtr = NULL;
    }
    /* Freed meanwhile? */
    if (!IsStillThere(printerPtr, placePtr)) {
        printerPtr->hasLost = true;
        placePtr->headPtr = NULL;
    }
    if (placePtr->headPtr != NULL) {
        NsMergeFirstMoved(&printerPtr->merge);
    } else {
        NsMergeFirstEnded(&printerPtr->merge);
    }
}

/*
 * True if it has not been printed; from now on it counts as printed.
 */
static bool
IsNew(Printer *printerPtr, uint32_t lane, uint64_t position)
{
    if (position < printerPtr->printed[lane]) {
        return false;
    }
    printerPtr->printed[lane] = position + 1;
    return true;
}

/*
 * Move the place to the next record of its lane.
 */
static bool
Enter(Printer *printerPtr, NsPlace *placePtr)
{
    if (placePtr->segment == NS_RING_NONE
        || !IsStillThere(printerPtr, placePtr)) {
        (void) NsPlaceOpen(printerPtr->ringPtr, placePtr, 0);
    }
    return NsPlaceHead(printerPtr->ringPtr, placePtr) != NULL;
}

static bool
IsStillThere(const Printer *printerPtr, const NsPlace *placePtr)
{
    const NsRingSegment *segmentPtr = NsRingSegmentAt(printerPtr->ringPtr,
                                                      placePtr->segment);

    return segmentPtr->lane == placePtr->lane
        && segmentPtr->number == placePtr->number;
}

static bool
CopyRecord(Printer *printerPtr, const NsPlace *placePtr, NsRingRecord *headPtr)
{
    const void *bytes;
    char       *scratch = NULL;
    size_t      scratchBytes = 0;
    bool        isIntact;

    memcpy(headPtr, placePtr->headPtr, sizeof(*headPtr));
    if (headPtr->kind == NS_RING_PART) {
        bytes = NsPlaceBytes(printerPtr->ringPtr, placePtr, true, &scratch,
                             &scratchBytes);
    } else {
        bytes = placePtr->headPtr + 1;
        if (headPtr->length > printerPtr->ringPtr->headerPtr->segmentBytes
            || headPtr->total != headPtr->length) {
            return false;
        }
    }
    if (bytes == NULL) {
        ns_free(scratch);
        return false;
    }
    if (headPtr->total > printerPtr->room) {
        printerPtr->room = headPtr->total;
        printerPtr->bytes = ns_realloc(printerPtr->bytes, printerPtr->room);
    }
    memcpy(printerPtr->bytes, bytes, headPtr->total);
    isIntact = headPtr->kind == NS_RING_PART
        || headPtr->checksum
            == NsRingChecksum(headPtr,
                              NsRingSum(0, printerPtr->bytes, headPtr->total));
    ns_free(scratch);
    return isIntact && IsStillThere(printerPtr, placePtr);
}

/*
 * Print the stream's own line if this program knows the stream, else the text
 * found in the record.
 */
static void
PrintRecord(Printer *printerPtr, uint32_t lane, const Ns_LogRecord *recordPtr)
{
    Ns_LogStream known = NsStreamOfLeftover(recordPtr->stream);
    Ns_LogRecord record = *recordPtr;
    size_t       length = 0;

    if (known != NULL
        && !Hide(printerPtr, lane, NsStreamFields(known), &record)) {
        PrintStrange(recordPtr, true);
        return;
    }
    while (known != NULL) {
        length = NsStreamFormat(known, NS_LOG_NATIVE, &record, printerPtr->line,
                                printerPtr->lineRoom);
        if (length <= printerPtr->lineRoom) {
            break;
        }
        printerPtr->lineRoom = length;
        printerPtr->line = ns_realloc(printerPtr->line, length);
    }
    if (length > 0) {
        (void) fwrite(printerPtr->line, 1, length, stdout);
    } else {
        PrintStrange(&record, false);
    }
}

/*
 * By the masks of all sinks that read the lane.  False: nobody can tell what
 * one of them hides.
 */
static bool
Hide(Printer *printerPtr, uint32_t lane, const NsFieldProcs *procsPtr,
     Ns_LogRecord *recordPtr)
{
    const NsRing       *ringPtr = printerPtr->ringPtr;
    const NsRingHeader *headerPtr = ringPtr->headerPtr;
    uint32_t            stream = ringPtr->lanes[lane].stream;
    const NsRingStream *streamPtr = NsRingStreamAt(ringPtr, stream);

    if (procsPtr == NULL || procsPtr->replaceProc == NULL
        || stream >= headerPtr->maxStreams) {
        return true;
    }
    for (uint32_t i = 0; i < headerPtr->maxReaders; i++) {
        int     slot = (int) atomic_load(&streamPtr->readers[i]) - 1;
        NsMask *maskPtr;

        if (slot < 0 || slot >= (int) headerPtr->maxSinks
            || *NsRingSinkAt(ringPtr, slot)->mask == '\0') {
            continue;
        }
        maskPtr = MaskOf(printerPtr, slot);
        if (maskPtr == NULL) {
            return false;
        }
        *recordPtr = NsMaskRecord(maskPtr, procsPtr, recordPtr);
    }
    return true;
}

/*
 * The server may change it at any time.
 */
static NsMask *
MaskOf(Printer *printerPtr, int slot)
{
    Mask      *cachePtr = &printerPtr->masks[slot];
    char       text[NS_RING_MASK];
    Ns_DString error;

    snprintf(text, sizeof(text), "%.*s", NS_RING_MASK - 1,
             NsRingSinkAt(printerPtr->ringPtr, slot)->mask);
    if (!STREQ(text, cachePtr->text)) {
        strcpy(cachePtr->text, text);
        NsMaskDestroy(&cachePtr->maskPtr);
        Ns_DStringInit(&error);
        cachePtr->maskPtr = NsMaskCreate(text, &error);
        Ns_DStringFree(&error);
    }
    return cachePtr->maskPtr;
}

/*
 * What no stream makes a line of, or must not be shown.
 */
static void
PrintStrange(const Ns_LogRecord *recordPtr, bool isHidden)
{
    char     name[4 * NS_RING_NAME];
    NsLogOut out = {name, sizeof(name), 0};

    NsLogSanitize(&out, recordPtr->stream, strlen(recordPtr->stream), 1);
    printf("[%.*s] %.*s: ", NS_LOG_TIME_LENGTH,
           NsLogTimeText((time_t) (recordPtr->time / NS_STAMP_SECOND)),
           (int) out.length, name);
    if (isHidden) {
        printf(NS_FIELD_HIDDEN);
    } else {
        PrintText(recordPtr->bytes, recordPtr->length);
    }
    putchar('\n');
}

/*
 * Print runs of two or more printable characters.
 */
static void
PrintText(const char *bytes, size_t length)
{
    size_t start = 0;

    for (size_t i = 0; i <= length; i++) {
        if (i == length || UCHAR(bytes[i]) < 0x20 || UCHAR(bytes[i]) >= 0x7f) {
            if (i - start > 1) {
                printf("%.*s ", (int) (i - start), bytes + start);
            }
            start = i + 1;
        }
    }
}
