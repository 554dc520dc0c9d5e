/*
 * leftover.c --
 *
 *      What is left in mappings for sinks that no longer exist.
 */

#include "log/leftover.h"

#include "log/sink_int.h"
#include "log/systemlog.h"
#include "nslog.h"
#include "nsthread.h"

/*
 * Called for each sink that something is left for.  True: give it up.
 */
typedef bool (LeftoverProc) (const NsLeftover *leftoverPtr, void *arg);

typedef struct List {
    int         n;
    NsLeftover *leftovers;
} List;

typedef struct Forget {
    const char *sink;
    int64_t     nRecords;
} Forget;

static LeftoverProc Append;
static LeftoverProc IsToForget;
static void ForEach(LeftoverProc *proc, void *arg);
static bool ForEachIn(NsRing *ringPtr, LeftoverProc *proc, void *arg);


int
NsLeftovers(NsLeftover **leftoversPtr)
{
    List list = {0, NULL};

    ForEach(Append, &list);
    *leftoversPtr = list.leftovers;
    return list.n;
}

void
NsLeftoversFree(NsLeftover *leftovers, int n)
{
    for (int i = 0; i < n; i++) {
        ns_free(leftovers[i].file);
    }
    ns_free(leftovers);
}

int64_t
NsLeftoverForget(const char *sink)
{
    Forget forget = {sink, -1};

    ForEach(IsToForget, &forget);
    return forget.nRecords;
}

static bool
Append(const NsLeftover *leftoverPtr, void *arg)
{
    List *listPtr = arg;

    listPtr->leftovers = ns_realloc(listPtr->leftovers, (size_t)
                                    (listPtr->n + 1) * sizeof(NsLeftover));
    listPtr->leftovers[listPtr->n] = *leftoverPtr;
    listPtr->leftovers[listPtr->n++].file = ns_strdup(leftoverPtr->file);
    return false;
}

static bool
IsToForget(const NsLeftover *leftoverPtr, void *arg)
{
    Forget *forgetPtr = arg;

    if (!STREQ(leftoverPtr->sink, forgetPtr->sink)) {
        return false;
    }
    forgetPtr->nRecords = MAX(forgetPtr->nRecords, 0)
        + (int64_t) leftoverPtr->nRecords;
    Ns_Log(Warning, "log: %" PRIu64 " records that process %d left for sink "
           "'%s' are given up", leftoverPtr->nRecords, leftoverPtr->pid,
           leftoverPtr->sink);
    return true;
}

static void
ForEach(LeftoverProc *proc, void *arg)
{
    char **paths;
    int    n = NsRingList(NsSystemLogRingKey(), &paths);

    for (int i = 0; i < n; i++) {
        const char *reason;
        NsRing     *ringPtr = NsRingOpen(paths[i], false, &reason);

        if (ringPtr != NULL) {
            NsRingClose(&ringPtr, ForEachIn(ringPtr, proc, arg));
        }
        ns_free(paths[i]);
    }
    ns_free(paths);
}

/*
 * True: nothing is left in the mapping any more.
 */
static bool
ForEachIn(NsRing *ringPtr, LeftoverProc *proc, void *arg)
{
    bool hasGivenUp = false, isLeft = false;

    for (int i = 0; i < NS_RING_SINKS; i++) {
        NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);
        NsLeftover  leftover = {
            .file = ringPtr->path, .pid = (int) ringPtr->headerPtr->pid
        };

        if (slotPtr->name[0] == '\0') {
            continue;
        }
        leftover.nRecords = NsRecoverCountUnread(ringPtr, slotPtr);
        snprintf(leftover.sink, sizeof(leftover.sink), "%.*s",
                 NS_RING_NAME - 1, slotPtr->name);
        snprintf(leftover.type, sizeof(leftover.type), "%.*s",
                 (int) sizeof(slotPtr->type) - 1, slotPtr->type);
        if (leftover.nRecords == 0) {
            continue;
        }
        if (proc(&leftover, arg)) {
            slotPtr->name[0] = '\0';
            hasGivenUp = true;
        } else {
            isLeft = true;
        }
    }
    return hasGivenUp && !isLeft;
}
