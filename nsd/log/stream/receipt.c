/* SPDX-License-Identifier: MPL-2.0
 * receipt.c --
 *
 *      Who puts the log records of a reply; see receipt.h.
 *
 *      ANSWERING   the thread that answers has the records, and output waits
 *      LAST        likewise, and the sender sends what may be the last bytes
 *      SENT        likewise, and the sender has sent all there was
 *      LEAVING     the records change hands, or are put
 *      LEFT        the sender has the records
 *      LOGGED      the thread that answers has left and put the records
 *      ENDED       the sender has left; the other puts the records
 *
 *      tests/model/receipt.pml is a model of it.
 */

#include "log/stream/receipt.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "log/stream/stream.h"
#include "nsthread.h"

typedef enum { ANSWERING, LAST, SENT, LEAVING, LEFT, LOGGED, ENDED } State;

#define FIRST_ROOM 1024 /* An access line and a log unit. */

/*
 * A record that was collected stands behind its entry.
 */
typedef struct Entry {
    Ns_LogStream stream;
    size_t       length;
    size_t       offset; /* Of the count of bytes. */
    int          severity;
    bool         isPut; /* It could not be prepared. */
} Entry;

struct NsReceipt {
    atomic_int state;      /* State */
    bool       isFollowed; /* Set before the reply is said to end. */
    int64_t    missing;    /* From ENDED on, the other's. */

    /* Of the thread that answers; from LEFT on, of the sender. */
    size_t room;
    size_t used;
    char  *entries; /* `first`, or allocated when there are more. */
    _Alignas(Entry) char first[FIRST_ROOM];
};

/*
 * The states that may follow each state.
 */
#define TO(state) (1u << (state))
static const unsigned legalMoves[] = {
    [ANSWERING] = TO(LAST) | TO(LEAVING) | TO(ENDED),
    [LAST] = TO(ANSWERING) | TO(SENT) | TO(LEAVING) | TO(ENDED),
    [SENT] = TO(ANSWERING) | TO(LEAVING) | TO(ENDED),
    [LEAVING] = TO(LEFT) | TO(LOGGED),
    [LEFT] = 0u,
    [LOGGED] = 0u,
    [ENDED] = 0u};

static _Thread_local NsReceipt *collecting;

static NsStreamHoldProc AddEntry;
static char            *GetRoom(NsReceipt *receiptPtr, size_t bytes);
static void             Arrive(NsReceipt *receiptPtr, State state);
static bool             Move(NsReceipt *receiptPtr, State from, State to);
static void             Prepare(NsReceipt *receiptPtr);
static void             Forget(NsReceipt *receiptPtr);
static void             Put(NsReceipt *receiptPtr, int64_t missing);
static Entry           *NextEntry(NsReceipt *receiptPtr, size_t *atPtr);
static struct iovec     RecordOf(Entry *entryPtr);
static void             Free(NsReceipt *receiptPtr);

NsReceipt *
NsReceiptCreate(void)
{
    NsReceipt *receiptPtr = ns_malloc(sizeof(NsReceipt));

    atomic_init(&receiptPtr->state, ANSWERING);
    receiptPtr->isFollowed = false;
    receiptPtr->missing = 0;
    receiptPtr->room = FIRST_ROOM;
    receiptPtr->used = 0;
    receiptPtr->entries = receiptPtr->first;
    return receiptPtr;
}

void
NsReceiptDestroy(NsReceipt **receiptPtrPtr)
{
    NsReceipt *receiptPtr = *receiptPtrPtr;

    if (receiptPtr != NULL) {
        NsAssert(receiptPtr->state <= SENT && !receiptPtr->isFollowed
                 && receiptPtr->used == 0);
        Free(receiptPtr);
        *receiptPtrPtr = NULL;
    }
}

void
NsReceiptFollow(NsReceipt *receiptPtr)
{
    receiptPtr->isFollowed = true;
}

void
NsReceiptMore(NsReceipt *receiptPtr)
{
    (void) Move(receiptPtr, SENT, ANSWERING);
}

void
NsReceiptCollect(NsReceipt *receiptPtr)
{
    NsAssert(collecting == NULL && receiptPtr->used == 0);
    collecting = receiptPtr;
    NsStreamHold(AddEntry);
}

static void
AddEntry(Ns_LogStream stream, int severity, const struct iovec *pieces, int n,
         size_t offset)
{
    Entry entry = {.stream = stream, .severity = severity, .offset = offset};
    char *next;

    for (int i = 0; i < n; i++) {
        entry.length += pieces[i].iov_len;
    }
    NsAssert(offset + sizeof(int64_t) <= entry.length);
    next = GetRoom(collecting, sizeof(entry) + NS_RING_ALIGN(entry.length));
    memcpy(next, &entry, sizeof(entry));
    next += sizeof(entry);
    for (int i = 0; i < n; i++) {
        if (pieces[i].iov_len > 0) {
            memcpy(next, pieces[i].iov_base, pieces[i].iov_len);
            next += pieces[i].iov_len;
        }
    }
}

static char *
GetRoom(NsReceipt *receiptPtr, size_t bytes)
{
    size_t used = receiptPtr->used;

    receiptPtr->used += bytes;
    if (receiptPtr->used > receiptPtr->room) {
        bool isFirst = receiptPtr->entries == receiptPtr->first;

        receiptPtr->room = receiptPtr->used;
        receiptPtr->entries = ns_realloc(isFirst ? NULL : receiptPtr->entries,
                                         receiptPtr->room);
        if (isFirst) {
            memcpy(receiptPtr->entries, receiptPtr->first, used);
        }
    }
    return receiptPtr->entries + used;
}

/*
 * In the state LAST the client is about to have all, so that the records are
 * put as they are.  (It may still break off within the last portion.)
 */
void
NsReceiptLeave(NsReceipt *receiptPtr)
{
    NsAssert(collecting == receiptPtr);
    collecting = NULL;
    NsStreamHold(NULL);
    for (;;) {
        if (Move(receiptPtr, ANSWERING, LEAVING)) {
            Forget(receiptPtr);
            Arrive(receiptPtr, LEFT);
            return;
        }
        if (Move(receiptPtr, LAST, LEAVING)
            || Move(receiptPtr, SENT, LEAVING)) {
            Put(receiptPtr, 0);
            Arrive(receiptPtr, LOGGED);
            return;
        }
        if (atomic_load(&receiptPtr->state) == ENDED) {
            Put(receiptPtr, receiptPtr->missing);
            Free(receiptPtr);
            return;
        }
    }
}

/*
 * Nobody else moves a receipt that is LEAVING.
 */
static void
Arrive(NsReceipt *receiptPtr, State state)
{
    bool hasMoved = Move(receiptPtr, LEAVING, state);

    NsAssert(hasMoved);
}

bool
NsReceiptBegin(NsReceipt *receiptPtr)
{
    for (;;) {
        switch ((State) atomic_load(&receiptPtr->state)) {
        case ANSWERING:
            if (Move(receiptPtr, ANSWERING, LAST)) {
                return true;
            }
            break;
        case LEAVING:
            return false;
        case LEFT:
            Prepare(receiptPtr);
            return true;
        default:
            return true;
        }
    }
}

void
NsReceiptPause(NsReceipt *receiptPtr)
{
    if (!Move(receiptPtr, LAST, ANSWERING)
        && atomic_load(&receiptPtr->state) == LEFT) {
        Forget(receiptPtr);
    }
}

void
NsReceiptSent(NsReceipt *receiptPtr)
{
    (void) Move(receiptPtr, LAST, SENT);
}

bool
NsReceiptEnd(NsReceipt *receiptPtr, int64_t missing)
{
    for (;;) {
        State state = (State) atomic_load(&receiptPtr->state);

        switch (state) {
        case LEAVING:
            return false;
        case LEFT:
            Put(receiptPtr, missing);
            Free(receiptPtr);
            return true;
        case LOGGED:
            Free(receiptPtr);
            return true;
        default:
            NsAssert(state != ENDED);
            if (!receiptPtr->isFollowed) {
                Free(receiptPtr);
                return true;
            }
            receiptPtr->missing = missing;
            if (Move(receiptPtr, state, ENDED)) {
                return true;
            }
        }
    }
}

static bool
Move(NsReceipt *receiptPtr, State from, State to)
{
    int expected = (int) from;

    NsAssert((legalMoves[from] & TO(to)) != 0u);
    return atomic_compare_exchange_strong(&receiptPtr->state, &expected,
                                          (int) to);
}

/*
 * In the thread that has the records.
 */
static void
Prepare(NsReceipt *receiptPtr)
{
    Entry *entryPtr;
    size_t at = 0;

    while ((entryPtr = NextEntry(receiptPtr, &at)) != NULL) {
        if (!entryPtr->isPut) {
            struct iovec piece = RecordOf(entryPtr);

            (void) Ns_LogStreamPrepare(entryPtr->stream, entryPtr->severity,
                                       &piece, 1);
        }
    }
}

static void
Forget(NsReceipt *receiptPtr)
{
    Entry *entryPtr;
    size_t at = 0;

    while ((entryPtr = NextEntry(receiptPtr, &at)) != NULL) {
        if (!entryPtr->isPut) {
            entryPtr->isPut = NsStreamForget(entryPtr->stream);
        }
    }
}

/*
 * With so many bytes less than they say.
 */
static void
Put(NsReceipt *receiptPtr, int64_t missing)
{
    Entry *entryPtr;
    size_t at = 0;

    while ((entryPtr = NextEntry(receiptPtr, &at)) != NULL) {
        struct iovec piece = RecordOf(entryPtr);
        char        *countPtr = (char *) piece.iov_base + entryPtr->offset;
        int64_t      bytes;

        memcpy(&bytes, countPtr, sizeof(bytes));
        bytes = MAX(bytes - missing, 0);
        memcpy(countPtr, &bytes, sizeof(bytes));
        if (!entryPtr->isPut) {
            (void) Ns_LogStreamPut(entryPtr->stream, entryPtr->severity, &piece,
                                   1);
        }
    }
}

/*
 * The entry at that place, which moves behind it; NULL at the end.
 */
static Entry *
NextEntry(NsReceipt *receiptPtr, size_t *atPtr)
{
    Entry *entryPtr;

    NsAssert(*atPtr <= receiptPtr->used);
    NsAssert(receiptPtr->used <= receiptPtr->room);
    if (*atPtr == receiptPtr->used) {
        return NULL;
    }
    entryPtr = (Entry *) (void *) (receiptPtr->entries + *atPtr);
    *atPtr += sizeof(Entry) + NS_RING_ALIGN(entryPtr->length);
    return entryPtr;
}

static struct iovec
RecordOf(Entry *entryPtr)
{
    return (struct iovec){entryPtr + 1, entryPtr->length};
}

static void
Free(NsReceipt *receiptPtr)
{
    if (receiptPtr->entries != receiptPtr->first) {
        ns_free(receiptPtr->entries);
    }
    ns_free(receiptPtr);
}
