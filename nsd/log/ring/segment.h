/*
 * segment.h --
 *
 *      Free segments of the mapping, for lane.c.  Any thread, no lock held but
 *      those of lane.c.
 */

#ifndef NSD_LOG_SEGMENT_H
#define NSD_LOG_SEGMENT_H

#include "log/ring/lane.h"

/*
 * So many segments, all free.
 */
void NsSegmentsInit(uint32_t n);

/*
 * A free segment, as the record's class and overflow rule have it: waits for
 * one, or returns NS_RING_NONE.
 */
uint32_t NsSegmentTake(const NsLaneRecord *recordPtr);

/*
 * Give one back; then tell those who wait, after one or several.
 */
void NsSegmentFree(uint32_t segment);
void NsSegmentsFreed(void);

/*
 * From that time on nobody waits for a segment, whatever the rule.
 */
void NsSegmentsEndWaits(int64_t time);

/*
 * Since when threads have to wait for one; 0: none does, and none has for the
 * last second.
 */
int64_t NsSegmentsWaitedSince(void);

/*
 * How many are free, or the least that ever were.
 */
uint32_t NsSegmentsLeft(bool isLeast);

/*
 * Less than three eighths are free; how many more can be taken until then, or
 * before this should be looked at again.
 */
bool     NsSegmentsAreShort(void);
uint64_t NsSegmentsUntilShort(void);

/*
 * Have the bell rung, once, when so many more have been taken.  UINT64_MAX:
 * never.
 */
void NsSegmentsWatch(uint64_t n);

/*
 * By the rule `sample`, one in so many records gets through when memory is
 * short.  True: this one does not.
 */
bool NsSegmentIsSampledOut(const NsLaneRecord *recordPtr);

#endif
