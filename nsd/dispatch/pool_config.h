/* SPDX-License-Identifier: MPL-2.0
 * pool_config.h --
 *
 *      Pools from the configuration, and their settings.
 */

#ifndef NSD_DISPATCH_POOL_CONFIG_H
#define NSD_DISPATCH_POOL_CONFIG_H

#include "dispatch/pool.h"
#include "net/replygroup.h"

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
 * For those who send: what all replies of the pool share, and the limit of
 * each, in bytes per second; 0: none.
 */
NsReplyGroup *NsPoolReplyGroup(NsPool *poolPtr);
int64_t       NsPoolConnectionRate(const NsPool *poolPtr);

/*
 * The section of its parameters, by which they are read and changed while it
 * runs (process/setting.h).
 */
const char *NsPoolSection(const NsPool *poolPtr);
NsPool     *NsPoolFindBySection(const char *section);
NsServer   *NsPoolServerOf(const NsPool *poolPtr);

#endif
