/* SPDX-License-Identifier: MPL-2.0
 * message.c --
 *
 *      Messages, and the free ones kept for reuse.
 *
 *      Threads that create many, the driver threads, keep a list of their own.
 *      The others push what they release on a common stack, from which a driver
 *      thread takes everything at once when its own list is empty.  So there is
 *      no lock, and no element is ever popped singly, which is what makes a
 *      stack without lock simple.
 */

#include "net/message.h"
#include "net/budget.h"
#include "net/spool.h"
#include "nsthread.h"
#include "base/assert.h"

#include <stdatomic.h>

/*
 * The arena's first block: read buffer, header fields, and what the request
 * needs until its reply is sent.
 */
#define FIRST_BYTES 32768u

/*
 * More free messages than this go back to the heap.
 */
#define MAX_FREE 256

static _Atomic(NsMessage *) commonPtr;
static atomic_int           nFree;

/*
 * A driver thread's own list.
 */
static _Thread_local NsMessage *ownPtr;
static _Thread_local bool       hasOwn;

static void CheckFree(const NsMessage *messagePtr);
static void Clear(NsMessage *messagePtr);
static void PushCommon(NsMessage *messagePtr);

NsMessage *
NsMessageCreate(void)
{
    NsMessage *messagePtr;

    if (ownPtr == NULL && hasOwn) {
        ownPtr = atomic_exchange_explicit(&commonPtr, NULL,
                                          memory_order_acquire);
    }
    messagePtr = ownPtr;
    if (messagePtr != NULL) {
        ownPtr = messagePtr->nextPtr;
        messagePtr->nextPtr = NULL;
        CheckFree(messagePtr);
        atomic_fetch_sub_explicit(&nFree, 1, memory_order_relaxed);
    } else {
        messagePtr = ns_calloc(1u, sizeof(NsMessage));
        NsArenaInit(&messagePtr->arena, FIRST_BYTES);
        messagePtr->contentFd = -1;
    }
    return messagePtr;
}

void
NsMessageCheck(const NsMessage *messagePtr)
{
    bool isInMemory = messagePtr->content != NULL;

    NsAssert(messagePtr->nextPtr == NULL && messagePtr->readerPtr == NULL);
    NsAssert(messagePtr->sockPtr != NULL && messagePtr->serverPtr != NULL);
    NsAssert(isInMemory == (messagePtr->contentFd < 0));
    NsAssert(!isInMemory || messagePtr->contentFile == NULL);
    NsAssert(!isInMemory
             || messagePtr->content[messagePtr->contentLength] == '\0');
    NsAssert(messagePtr->refusal == 0
             || (messagePtr->refusal >= 400 && messagePtr->mustClose
                 && messagePtr->contentLength == 0u));
    NsAssert(messagePtr->bodyLimit == 0 || messagePtr->refusal == 413);
    NsAssert(messagePtr->refusal != 0 || !messagePtr->isMalformed);
}

/*
 * A message in a list of free ones has nothing from the request before.
 */
static void
CheckFree(const NsMessage *messagePtr)
{
    NsAssert(messagePtr->contentFd == -1 && messagePtr->contentFile == NULL);
    NsAssert(messagePtr->readerPtr == NULL && messagePtr->sockPtr == NULL);
    NsCheck(messagePtr->content == NULL && messagePtr->contentLength == 0u
            && messagePtr->serverPtr == NULL && messagePtr->refusal == 0
            && !messagePtr->mustClose && !messagePtr->isRaw
            && !messagePtr->isMalformed);
    NsCheck(messagePtr->budgetBytes == 0 && messagePtr->headBudgetBytes == 0);
}

void
NsMessageRelease(NsMessage **messagePtrPtr)
{
    NsMessage *messagePtr = *messagePtrPtr;

    NsAssert(messagePtr->nextPtr == NULL);
    *messagePtrPtr = NULL;
    Clear(messagePtr);
    CheckFree(messagePtr);
    if (atomic_load_explicit(&nFree, memory_order_relaxed) >= MAX_FREE) {
        NsArenaFree(&messagePtr->arena);
        ns_free(messagePtr);
        return;
    }
    atomic_fetch_add_explicit(&nFree, 1, memory_order_relaxed);
    if (hasOwn) {
        messagePtr->nextPtr = ownPtr;
        ownPtr = messagePtr;
    } else {
        PushCommon(messagePtr);
    }
}

void
NsMessageDropFile(NsMessage *messagePtr)
{
    if (messagePtr->contentFd >= 0) {
        NsClose(messagePtr->contentFd);
        messagePtr->contentFd = -1;
        NsSpoolGive(NS_SPOOL_BODIES, messagePtr->spoolBytes);
        messagePtr->spoolBytes = 0;
    }
    if (messagePtr->contentFile != NULL) {
        NsMessageDropName(messagePtr);
    }
}

void
NsMessageDropName(NsMessage *messagePtr)
{
    NsAssert(messagePtr->contentFile != NULL);
    /* Missing when a script has renamed it. */
    unlink(messagePtr->contentFile);
    messagePtr->contentFile = NULL;
}

void
NsMessageThreadBegin(void)
{
    NsAssert(!hasOwn && ownPtr == NULL);
    hasOwn = true;
}

void
NsMessageThreadEnd(void)
{
    while (ownPtr != NULL) {
        NsMessage *messagePtr = ownPtr;

        ownPtr = messagePtr->nextPtr;
        PushCommon(messagePtr);
    }
    hasOwn = false;
}

static void
Clear(NsMessage *messagePtr)
{
    NsMessageDropFile(messagePtr);
    if (messagePtr->budgetBytes > 0) {
        NsBudgetGive(NS_BUDGET_BODIES, messagePtr->budgetBytes);
        messagePtr->budgetBytes = 0;
    }
    if (messagePtr->headBudgetBytes > 0) {
        NsBudgetGive(NS_BUDGET_HEADERS, messagePtr->headBudgetBytes);
        messagePtr->headBudgetBytes = 0;
    }
    messagePtr->sockPtr = NULL;
    messagePtr->serverPtr = NULL;
    messagePtr->location = NULL;
    messagePtr->content = NULL;
    messagePtr->contentLength = 0u;
    messagePtr->refusal = 0;
    messagePtr->bodyLimit = 0;
    messagePtr->isMalformed = false;
    messagePtr->isRaw = false;
    messagePtr->mustClose = false;
    messagePtr->acceptStamp = 0;
    messagePtr->report = (NsLook){0};
    messagePtr->readerPtr = NULL;
    NsArenaReset(&messagePtr->arena);
}

static void
PushCommon(NsMessage *messagePtr)
{
    NsMessage *headPtr = atomic_load_explicit(&commonPtr, memory_order_relaxed);

    do {
        messagePtr->nextPtr = headPtr;
    } while (!atomic_compare_exchange_weak_explicit(&commonPtr, &headPtr,
                                                    messagePtr,
                                                    memory_order_release,
                                                    memory_order_relaxed));
}
