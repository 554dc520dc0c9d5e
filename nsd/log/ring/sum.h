/* SPDX-License-Identifier: MPL-2.0
 * sum.h --
 *
 *      Sums of bytes, by which records and files of mappings are known.
 *
 *      They are stored in mappings and in names of files: another process must
 *      compute the same.
 */

#ifndef NSD_LOG_SUM_H
#define NSD_LOG_SUM_H

#include "nstypes.h"

/*
 * A cheap sum of bytes, continued from seed.
 */
uint64_t NsRingSum(uint64_t seed, const void *bytes, size_t length);

/*
 * The same of the first and the last NS_RING_END bytes of what is written at a
 * time; of all, if it is not more.  Bytes are appended in order, so where the
 * last of them are, the others are.
 */
#define NS_RING_END ((size_t) 2048)
uint64_t NsRingSumOfEnds(const void *first, const void *last, size_t length);

#endif
