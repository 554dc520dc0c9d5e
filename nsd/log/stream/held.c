/*
 * held.c --
 *
 *      Records of a reply that is still being sent; see held.h.
 */

#include "log/stream/held.h"

#include "base/assert.h"
#include "log/stream/stream.h"
#include "nsthread.h"

#define FIRST_ROOM 1024 /* An access line and a log unit. */

typedef struct Entry {
    Ns_LogStream stream;
    size_t       length;
    size_t       offset; /* Of the count of bytes. */
    int          severity;
    bool         isPut; /* It could not be prepared. */
} Entry;

struct NsHeld {
    size_t room;
    size_t used; /* Entries, each with its record behind it. */
    char   entries[];
};

static _Thread_local bool    isCollecting;
static _Thread_local NsHeld *collected;

static NsStreamHoldProc AddEntry;
static Entry           *NextEntry(NsHeld *heldPtr, size_t *atPtr);
static struct iovec     RecordOf(Entry *entryPtr);

void
NsHeldCollect(void)
{
    NsAssert(!isCollecting);
    isCollecting = true;
    NsStreamHold(AddEntry);
}

NsHeld *
NsHeldTake(void)
{
    NsHeld *heldPtr = collected;

    NsAssert(isCollecting);
    isCollecting = false;
    NsStreamHold(NULL);
    collected = NULL;
    return heldPtr;
}

static void
AddEntry(Ns_LogStream stream, int severity, const struct iovec *pieces, int n,
         size_t offset)
{
    Entry  entry = {.stream = stream, .severity = severity, .offset = offset};
    size_t used = collected == NULL ? 0 : collected->used, room;
    char  *next;

    for (int i = 0; i < n; i++) {
        entry.length += pieces[i].iov_len;
    }
    NsAssert(offset + sizeof(int64_t) <= entry.length);
    room = MAX(used + sizeof(entry) + NS_RING_ALIGN(entry.length), FIRST_ROOM);
    if (collected == NULL || collected->room < room) {
        collected = ns_realloc(collected, sizeof(NsHeld) + room);
        collected->room = room;
    }
    next = collected->entries + used;
    memcpy(next, &entry, sizeof(entry));
    next += sizeof(entry);
    for (int i = 0; i < n; i++) {
        if (pieces[i].iov_len > 0) {
            memcpy(next, pieces[i].iov_base, pieces[i].iov_len);
            next += pieces[i].iov_len;
        }
    }
    collected->used = used + sizeof(entry) + NS_RING_ALIGN(entry.length);
}

void
NsHeldPrepare(NsHeld *heldPtr)
{
    Entry *entryPtr;
    size_t at = 0;

    while ((entryPtr = NextEntry(heldPtr, &at)) != NULL) {
        if (!entryPtr->isPut) {
            struct iovec piece = RecordOf(entryPtr);

            (void) Ns_LogStreamPrepare(entryPtr->stream, entryPtr->severity,
                                       &piece, 1);
        }
    }
}

void
NsHeldForget(NsHeld *heldPtr)
{
    Entry *entryPtr;
    size_t at = 0;

    while ((entryPtr = NextEntry(heldPtr, &at)) != NULL) {
        if (!entryPtr->isPut) {
            entryPtr->isPut = NsStreamForget(entryPtr->stream);
        }
    }
}

void
NsHeldPut(NsHeld *heldPtr, int64_t missing)
{
    Entry *entryPtr;
    size_t at = 0;

    while ((entryPtr = NextEntry(heldPtr, &at)) != NULL) {
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
    ns_free(heldPtr);
}

/*
 * The entry at that place, which moves behind it; NULL at the end.
 */
static Entry *
NextEntry(NsHeld *heldPtr, size_t *atPtr)
{
    Entry *entryPtr;

    if (heldPtr == NULL || *atPtr == heldPtr->used) {
        return NULL;
    }
    entryPtr = (Entry *) (void *) (heldPtr->entries + *atPtr);
    *atPtr += sizeof(Entry) + NS_RING_ALIGN(entryPtr->length);
    return entryPtr;
}

static struct iovec
RecordOf(Entry *entryPtr)
{
    return (struct iovec){entryPtr + 1, entryPtr->length};
}
