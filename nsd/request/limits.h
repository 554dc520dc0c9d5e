/* SPDX-License-Identifier: MPL-2.0
 * limits.h --
 *
 *      Named bundles of limits, mapped to URLs.  They are kept as data.
 */

#ifndef NSD_REQUEST_LIMITS_H
#define NSD_REQUEST_LIMITS_H

#include "base/clock.h"
#include "nsrequest.h"
#include "process/server.h"

typedef struct NsLimits NsLimits;

/*
 * New values; negative ones leave the old.
 */
typedef struct NsLimitsValues {
    int     maxRun;
    int     maxWait;
    int64_t maxUpload; /* Bytes. */
    NsStamp timeout;
} NsLimitsValues;

void NsLimitsInit(void);
void NsLimitsServerInit(NsServer *serverPtr);

/*
 * Find, or create, a bundle.  They are never destroyed.
 */
NsLimits *NsLimitsFind(const char *name);
NsLimits *NsLimitsSet(const char *name, const NsLimitsValues *valuesPtr);

/*
 * Append the bundle as a list of names and values; the names of all bundles
 * that match the glob (NULL: all).
 */
void NsLimitsAppend(Ns_DString *dsPtr, NsLimits *limitsPtr);
void NsLimitsNames(Ns_DString *dsPtr, const char *pattern);

/*
 * Map a bundle to a method and a URL of a server.
 */
void NsLimitsRegister(NsServer *serverPtr, NsLimits *limitsPtr,
                      const char *method, const char *url, int flags);

#endif
