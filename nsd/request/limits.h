/* SPDX-License-Identifier: MPL-2.0
 * limits.h --
 *
 *      Named bundles of limits, mapped to URLs.
 *
 *      They are kept as data, as earlier servers did, unless they are to be
 *      enforced.  Then a request is under the limits of its URL from when it is
 *      complete to its end, and its body from its beginning.
 */

#ifndef NSD_REQUEST_LIMITS_H
#define NSD_REQUEST_LIMITS_H

#include <stdatomic.h>

#include "base/clock.h"
#include "dispatch/pool.h"
#include "net/message.h"
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
    bool    isEnforced;
    bool    setsEnforced; /* Else that stays as it is. */
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

/*
 * Whether any bundle is enforced, or ever was.
 */
extern atomic_bool nsLimitsEnforced;

static inline bool
NsLimitsAreEnforced(void)
{
    return atomic_load_explicit(&nsLimitsEnforced, memory_order_relaxed);
}

/*
 * The gate of a complete request; NULL: none.  If its body was refused for the
 * limits of its URL, that is counted.
 */
NsGate *NsLimitsGate(const NsMessage *messagePtr, const Ns_Request *requestPtr);

#endif
