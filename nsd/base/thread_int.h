/* SPDX-License-Identifier: MPL-2.0
 * thread_int.h --
 *
 *      The slots of thread-local storage, which live in the thread's structure.
 */

#ifndef NSD_BASE_THREAD_INT_H
#define NSD_BASE_THREAD_INT_H

#include "nsthread.h"

/*
 * The calling thread's NS_THREAD_MAXTLS slots.
 */
void **NsThreadSlots(void);

#endif
