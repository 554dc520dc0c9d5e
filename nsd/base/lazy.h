/* SPDX-License-Identifier: MPL-2.0
 * lazy.h --
 *
 *      Objects behind the opaque pointers of nsthread.h, made at first use.
 *
 *      A static pointer is valid from the start, so any number of threads may
 *      meet at a NULL.  Each makes an object, one of them publishes its own,
 *      the others throw theirs away.
 */

#ifndef NSD_BASE_LAZY_H
#define NSD_BASE_LAZY_H

#include "nstypes.h"

/*
 * The object that *addressPtr points to, NULL before first use.
 */
static inline void *
NsLazyPeek(const void *addressPtr)
{
    return __atomic_load_n((void *const *) addressPtr, __ATOMIC_ACQUIRE);
}

/*
 * Publish objectPtr unless another thread was faster.  The published object.
 */
static inline void *
NsLazyPublish(void *addressPtr, void *objectPtr)
{
    void *otherPtr = NULL;

    if (__atomic_compare_exchange_n((void **) addressPtr, &otherPtr, objectPtr,
                                    false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        return objectPtr;
    }
    return otherPtr;
}

/*
 * Store objectPtr, whatever was there.
 */
static inline void
NsLazySet(void *addressPtr, void *objectPtr)
{
    __atomic_store_n((void **) addressPtr, objectPtr, __ATOMIC_RELEASE);
}

#endif
