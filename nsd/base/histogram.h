/* SPDX-License-Identifier: MPL-2.0
 * histogram.h --
 *
 *      How often durations of each length occurred.
 *
 *      Log-linear buckets in the manner of HdrHistogram: fixed memory, at most
 *      3 % error from 1 us to 1 h; shorter and longer ones count at the edges.
 */

#ifndef NSD_BASE_HISTOGRAM_H
#define NSD_BASE_HISTOGRAM_H

#include "base/clock.h"

typedef struct NsHistogram NsHistogram;

NsHistogram *NsHistogramCreate(void);
void         NsHistogramDestroy(NsHistogram **histogramPtrPtr);

/*
 * Count one duration.  Any thread, no lock: relaxed atomic increments.
 */
void NsHistogramRecord(NsHistogram *histogramPtr, NsStamp duration);

/*
 * Count everything in toPtr that was counted in fromPtr.
 */
void NsHistogramAdd(NsHistogram *toPtr, const NsHistogram *fromPtr);

/*
 * Number, sum, mean and maximum of what was counted; 0 when empty.
 */
uint64_t NsHistogramCount(const NsHistogram *histogramPtr);
NsStamp  NsHistogramSum(const NsHistogram *histogramPtr);
NsStamp  NsHistogramMean(const NsHistogram *histogramPtr);
NsStamp  NsHistogramMax(const NsHistogram *histogramPtr);

/*
 * The duration that percent (0..100) of the counted ones do not exceed.
 */
NsStamp NsHistogramPercentile(const NsHistogram *histogramPtr, double percent);

/*
 * Visit the non-empty buckets in order: upper bound and count.
 */
typedef void NsHistogramVisitProc(NsStamp upper, uint64_t count, void *arg);
void         NsHistogramVisit(const NsHistogram    *histogramPtr,
                              NsHistogramVisitProc *proc, void *arg);

#endif
