/* SPDX-License-Identifier: MPL-2.0
 * mutex.h --
 *
 *      What conditions need to know of mutexes.
 */

#ifndef NSD_BASE_MUTEX_H
#define NSD_BASE_MUTEX_H

#include <pthread.h>

#include "nsthread.h"

/*
 * Around a wait on a condition: the time in it does not count as held.  Begin
 * returns what to wait with.
 */
pthread_mutex_t *NsMutexBeginWait(Ns_Mutex *mutexPtr);
void             NsMutexEndWait(Ns_Mutex *mutexPtr);

#endif
