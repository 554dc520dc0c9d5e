/*
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
 * The one whose turn it is; NULL: there is none to be had.
 */
NsHttpThread *NsHttpThreadNext(void);
Ns_TaskQueue *NsHttpThreadQueue(const NsHttpThread *threadPtr);

/*
 * A request begins there (1), ends (-1).
 */
void NsHttpThreadCount(NsHttpThread *threadPtr, int change);

/*
 * The parameter autosni.
 */
bool NsHttpSendsNames(void);

/*
 * Append {name N running N requests N} for each.
 */
void NsHttpThreadsList(Ns_DString *dsPtr);

#endif
