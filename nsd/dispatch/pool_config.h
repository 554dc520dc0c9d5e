/* SPDX-License-Identifier: MPL-2.0
 * pool_config.h --
 *
 *      Pools from the configuration, and their settings.
 */

#ifndef NSD_DISPATCH_POOL_CONFIG_H
#define NSD_DISPATCH_POOL_CONFIG_H

#include "dispatch/pool.h"
#include "net/rate.h"

/*
 * Once per process, before the configuration is read.
 */
void NsDispatchInit(void);

/*
 * Read the pools of a server from the configuration.
 */
void NsPoolsInit(NsServer *serverPtr);

/*
 * The pool of that name, "" being the default one; NULL if there is none.  The
 * i-th pool of a server in order of definition, the default pool being the
 * first; NULL behind the last.
 */
NsPool     *NsPoolFind(NsServer *serverPtr, const char *name);
NsPool     *NsPoolAt(NsServer *serverPtr, int i);
const char *NsPoolName(const NsPool *poolPtr);

/*
 * Seconds for the Retry-After field of a rejection.
 */
int NsPoolRetryAfter(const NsPool *poolPtr);

/*
 * The limits of throughput for writers: of all replies of the pool, and bytes
 * per second of each.
 */
NsRate *NsPoolRate(NsPool *poolPtr);
int64_t NsPoolConnectionRate(const NsPool *poolPtr);

/*
 * Settings that can change while the pool runs.  NsPoolSet returns NS_ERROR for
 * a value out of range; nothing changes then.
 */
typedef enum {
    NS_POOL_MINTHREADS,         /* 1 .. maxthreads */
    NS_POOL_MAXTHREADS,         /* minthreads .. maxconnections */
    NS_POOL_LOWWATERMARK,       /* 0 .. 100, percent */
    NS_POOL_HIGHWATERMARK,      /* Likewise. */
    NS_POOL_RATELIMIT,          /* kB/s of all replies together; 0: none. */
    NS_POOL_CONNECTIONRATELIMIT /* kB/s of each; 0: none. */
} NsPoolSetting;

int           NsPoolGet(NsPool *poolPtr, NsPoolSetting setting);
Ns_ReturnCode NsPoolSet(NsPool *poolPtr, NsPoolSetting setting, int value);

#endif
