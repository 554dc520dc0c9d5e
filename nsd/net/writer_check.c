/* SPDX-License-Identifier: MPL-2.0
 * writer_check.c --
 *
 *      What must hold of the job of a writer thread.
 */

#include "net/writer_check.h"
#include "base/assert.h"
#include "base/lock.h"

static void CheckOutput(const NsOutput *outputPtr);

void
NsWriterCheckJobLocked(const NsWriterJob *jobPtr)
{
    int64_t appended = atomic_load_explicit(&jobPtr->appended,
                                            memory_order_relaxed);
    int64_t sent = atomic_load_explicit(&jobPtr->sent, memory_order_relaxed);
    int64_t remaining = atomic_load_explicit(&jobPtr->remaining,
                                             memory_order_relaxed);

    NsAssertLocked(&jobPtr->writerPtr->lock);
    CheckOutput(&jobPtr->incoming);
    CheckOutput(&jobPtr->output);
    NsAssert(sent >= 0 && sent <= appended);
    if (!atomic_load_explicit(&jobPtr->isGone, memory_order_relaxed)) {
        NsAssert(remaining == jobPtr->output.bytes + jobPtr->incoming.bytes);
        NsAssert(remaining == appended - sent);
    }
    NsAssert(!jobPtr->sawEnd || (jobPtr->isFinished && !jobPtr->isDraining));
    NsAssert(!jobPtr->sawEnd || jobPtr->incoming.bytes == 0);
    NsAssert(jobPtr->receiptPtr != NULL || jobPtr->sawEnd);
}

void
NsWriterCheckServed(const NsWriterJob *jobPtr)
{
    CheckOutput(&jobPtr->output);
    NsAssert(jobPtr->output.bytes == 0 || jobPtr->isReady
             || jobPtr->wheelEntry.nextPtr != NULL);
}

static void
CheckOutput(const NsOutput *outputPtr)
{
    NsAssert(outputPtr->bytes >= 0);
    NsAssert((outputPtr->bytes == 0) == (outputPtr->firstPtr == NULL));
}
