/* SPDX-License-Identifier: MPL-2.0
 * tls.c --
 *
 *      Thread-local storage with cleanup at the end of a thread.
 */

#include "base/tls.h"
#include "base/fatal.h"
#include "base/lazy.h"
#include "base/thread_int.h"

#include <pthread.h>

/* A cleanup function may set slots again, its own among them. */
#define MAX_ROUNDS 5

/*
 * An Ns_Tls points to the slot's entry here.  Slots are never given back.
 */
struct Ns_Tls_ {
    Ns_TlsCleanup *cleanupProc; /* Constant after allocation; may be NULL. */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct Ns_Tls_  slotTypes[NS_THREAD_MAXTLS];
static int             nSlotTypes; /* Guarded by lock. */

static int SlotIndex(Ns_Tls *tlsPtr);

void
Ns_TlsAlloc(Ns_Tls *tlsPtr, Ns_TlsCleanup *cleanupProc)
{
    struct Ns_Tls_ *typePtr = NULL;

    pthread_mutex_lock(&lock);
    if (nSlotTypes < NS_THREAD_MAXTLS) {
        typePtr = &slotTypes[nSlotTypes++];
        __atomic_store_n(&typePtr->cleanupProc, cleanupProc, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);

    if (typePtr == NULL) {
        NsFatal("thread-local storage: more than %d slots", NS_THREAD_MAXTLS);
    }
    NsLazySet(tlsPtr, typePtr);
}

void
Ns_TlsSet(Ns_Tls *tlsPtr, void *value)
{
    NsThreadSlots()[SlotIndex(tlsPtr)] = value;
}

void *
Ns_TlsGet(Ns_Tls *tlsPtr)
{
    return NsThreadSlots()[SlotIndex(tlsPtr)];
}

void
NsTlsCleanup(void **slots)
{
    bool isAnySet = true;

    for (int round = 0; isAnySet && round < MAX_ROUNDS; round++) {
        isAnySet = false;
        for (int i = NS_THREAD_MAXTLS - 1; i >= 0; i--) {
            void          *value = slots[i];
            Ns_TlsCleanup *cleanupProc;

            if (value == NULL) {
                continue;
            }
            slots[i] = NULL;
            cleanupProc = __atomic_load_n(&slotTypes[i].cleanupProc,
                                          __ATOMIC_ACQUIRE);
            if (cleanupProc != NULL) {
                cleanupProc(value);
                isAnySet = true;
            }
        }
    }
}

static int
SlotIndex(Ns_Tls *tlsPtr)
{
    struct Ns_Tls_ *typePtr = NsLazyPeek(tlsPtr);

    if (unlikely(typePtr == NULL)) {
        NsFatal("thread-local storage: used before Ns_TlsAlloc");
    }
    return (int) (typePtr - slotTypes);
}
