/* SPDX-License-Identifier: MPL-2.0
 * precondition.h --
 *
 *      Requests that hold only under conditions: RFC 9110, section 13.
 */

#ifndef NSD_HTTP_PRECONDITION_H
#define NSD_HTTP_PRECONDITION_H

#include "nstypes.h"

/*
 * Fields of a request; NULL where absent.
 */
typedef struct NsConditions {
    const char *ifMatch;
    const char *ifNoneMatch;
    const char *ifModifiedSince;
    const char *ifUnmodifiedSince;
} NsConditions;

/*
 * The reply that would be sent.
 */
typedef struct NsValidators {
    const char *etag;     /* Strong, with its quotes; NULL: none. */
    time_t      modified; /* 0: unknown. */
} NsValidators;

/*
 * 0: continue. 304 (for GET and HEAD) or 412: answer with that.
 */
int NsJudgeConditions(const NsConditions *conditionsPtr,
                      const NsValidators *validatorsPtr, bool isGetOrHead);

/*
 * Whether If-Range, if there is one, lets a range apply.
 */
bool NsJudgeIfRange(const char *ifRange, const NsValidators *validatorsPtr);

#endif
