/* SPDX-License-Identifier: MPL-2.0
 * accept.h --
 *
 *      The listeners of a driver thread, and new connections.
 */

#ifndef NSD_NET_ACCEPT_H
#define NSD_NET_ACCEPT_H

#include "net/driver_int.h"

void NsAcceptStart(NsDriverThread *threadPtr);
void NsAcceptBatch(NsDriverThread *threadPtr, NsListener *listenerPtr);

/*
 * Connections may have been closed: there may be room again.
 */
void NsAcceptResume(NsDriverThread *threadPtr);

/*
 * The time for retryEntry has come.
 */
void NsAcceptRetry(NsDriverThread *threadPtr);
void NsAcceptStop(NsDriverThread *threadPtr);

/*
 * The poller's data of a listener is marked, to tell it from a socket's.
 */
static inline void *
NsListenerMark(NsListener *listenerPtr)
{
    return (void *) ((uintptr_t) listenerPtr | 1u);
}

static inline bool
NsListenerIsMarked(const void *data)
{
    return ((uintptr_t) data & 1u) != 0u;
}

static inline NsListener *
NsListenerUnmark(void *data)
{
    return (NsListener *) ((uintptr_t) data & ~(uintptr_t) 1u);
}

#endif
