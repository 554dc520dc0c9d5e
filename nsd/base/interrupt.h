/* SPDX-License-Identifier: MPL-2.0
 * interrupt.h --
 *
 *      Waits that another thread can end.
 *
 *      A thread that runs what may be cancelled owns an NsInterrupt.  Its waits
 *      of the kinds below, and those in lock.h, end when that is set, as if
 *      their time were over.  Other threads wait as ever.
 *
 *      It can also be called from these waits, which go on afterwards for the
 *      rest of their time.
 */

#ifndef NSD_BASE_INTERRUPT_H
#define NSD_BASE_INTERRUPT_H

#include "base/clock.h"
#include "nsthread.h"

#include <poll.h>
#include <pthread.h>

typedef struct NsInterrupt {
    void (*callProc)(void *arg); /* Constant, as the next. */
    void           *arg;
    pthread_mutex_t lock; /* Guards the rest; no lock is taken inside. */
    pthread_cond_t  wakeup;
    bool            isSet;
    bool            isCalled;
    bool            isPolling; /* The owner waits for wakeFd, among others. */
    bool            isWoken;   /* wakeFd has to be emptied. */
    pthread_cond_t *condPtr;   /* What the owner waits for now; or NULL. */
    int             wakeFd;    /* The owner's; made when it polls; -1: none. */
} NsInterrupt;

/*
 * The procedure is that of NsInterruptCall.
 */
void NsInterruptInit(NsInterrupt *interruptPtr, void (*callProc)(void *arg),
                     void        *arg);
void NsInterruptFree(NsInterrupt *interruptPtr);

/*
 * The calling thread owns it from now on; NULL: no longer.
 */
void NsInterruptOwn(NsInterrupt *interruptPtr);

/*
 * End the owner's waits, the present one and all until Clear.  One that begins
 * just now may be missed: whoever wants to be sure sets it again.  Others that
 * wait for the same condition may wake for no reason.
 */
void NsInterruptSet(NsInterrupt *interruptPtr);
void NsInterruptClear(NsInterrupt *interruptPtr);

/*
 * Have the owner call its procedure, with no lock held, from the wait that it
 * is in, or that begins next.  As above, one that begins just now may be
 * missed.
 */
void NsInterruptCall(NsInterrupt *interruptPtr);

/*
 * A sleep; NS_TIMEOUT: it was ended.
 */
Ns_ReturnCode NsSleepEndable(const Ns_Time *spanPtr);

/*
 * poll, for ms milliseconds or, if that is negative, without a limit: 0 also
 * when the wait was ended.  The owner of an interrupt keeps a descriptor for
 * this from its first one on.  If it cannot have one, calls and ends may take a
 * moment.
 */
int NsPollEndable(struct pollfd *fds, nfds_t nFds, int ms);

/*
 * Whether waits of the calling thread end at once.
 */
bool NsInterruptIsSet(void);

/*
 * For those in lock.h: the calling thread is about to wait for the condition;
 * false: it must not.  It no longer waits; false: its wait was ended.
 */
bool NsInterruptBeginWait(pthread_cond_t *condPtr);
bool NsInterruptEndWait(void);

/*
 * Afterwards: whether the thread is called.  Then it has to release its lock,
 * and to run its procedure by the second one.
 */
bool NsInterruptIsCalled(void);
void NsInterruptRunCall(void);

#endif
