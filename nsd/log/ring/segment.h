/* SPDX-License-Identifier: MPL-2.0
 * segment.h --
 *
 *      Free segments of the mapping, for lane.c.  Any thread.
 */

#ifndef NSD_LOG_SEGMENT_H
#define NSD_LOG_SEGMENT_H

#include "log/ring/lane.h"

/*
 * Begin with n segments, all of them free.
 */
void NsSegmentsInit(uint32_t n);

/*
 * Take the given number of free segments, as the record's class and overflow
 * rule have it: the first, NsSegmentAfter the others.  Waits for them, or
 * returns NS_RING_NONE and takes none.  Rings the bell: the caller has locked
 * nothing of lane.c.
 */
uint32_t NsSegmentsTake(const NsLaneRecord *recordPtr, uint32_t n);
uint32_t NsSegmentAfter(uint32_t segment);

/*
 * Give back what was taken and not used; NS_RING_NONE: nothing.
 */
void NsSegmentsGiveBack(uint32_t first);

/*
 * What was taken is part of a lane from now on.
 */
void NsSegmentsUse(uint32_t first);

/*
 * Free one that was used; then wake the threads that wait, after one or
 * several.
 */
void NsSegmentFree(uint32_t segment);
void NsSegmentsFreed(void);

/*
 * From that time on no thread waits for a segment, whatever its rule.
 */
void NsSegmentsEndWaits(int64_t time);

/*
 * Since when threads have had to wait for one; 0: none waits, and none has
 * waited during the last second.
 */
int64_t NsSegmentsWaitedSince(void);

/*
 * How many are free, or the smallest number that ever were.
 */
uint32_t NsSegmentsLeft(bool isLeast);

/*
 * Less than three eighths are free; how many can be taken until then, or until
 * this should be looked at again.
 */
bool     NsSegmentsAreShort(void);
uint64_t NsSegmentsUntilShort(void);

/*
 * Ring the bell, once, when n more have been taken.  UINT64_MAX: never.
 */
void NsSegmentsWatch(uint64_t n);

/*
 * With the rule `sample`, one of several records is put when memory is short.
 * True: this one is not.
 */
bool NsSegmentIsSampledOut(const NsLaneRecord *recordPtr);

#endif
