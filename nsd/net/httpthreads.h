/* SPDX-License-Identifier: MPL-2.0
 * httpthreads.h --
 *
 *      The threads that work on requests to other servers, made when they are
 *      first needed.
 */

#ifndef NSD_NET_HTTPTHREADS_H
#define NSD_NET_HTTPTHREADS_H

#include "nssocket.h"

typedef struct NsHttpThread NsHttpThread;

void NsHttpThreadsInit(void);

/*
 * The next thread in turn.  NULL: none can be started.
 */
NsHttpThread *NsHttpThreadNext(void);
Ns_TaskQueue *NsHttpThreadQueue(const NsHttpThread *threadPtr);

/*
 * A request begins (1) or ends (-1) in the thread.
 */
void NsHttpThreadCount(NsHttpThread *threadPtr, int change);

/*
 * The value of the parameter autosni.
 */
bool NsHttpSendsNames(void);

/*
 * Append {name N running N requests N} for each thread.
 */
void NsHttpThreadsList(Ns_DString *dsPtr);

#endif
