/* SPDX-License-Identifier: MPL-2.0
 * callbacks.h --
 *
 *      Procedures that run at the stages of the process's life; modules use
 *      nsprocess.h.
 *
 *      A stage runs once, in the main thread (at shutdown: in a thread of its
 *      own), but that of SIGHUP each time.  A callback registered for a stage
 *      that has passed never runs; once shutdown has begun, none is accepted.
 */

#ifndef NSD_PROCESS_CALLBACKS_H
#define NSD_PROCESS_CALLBACKS_H

#include "nsprocess.h"

typedef enum {
    NS_AT_PRESTARTUP,
    NS_AT_STARTUP,
    NS_AT_SIGNAL, /* SIGHUP. */
    NS_AT_REOPEN, /* SIGUSR1. */
    NS_AT_RELOAD,
    NS_AT_READY,
    NS_AT_SHUTDOWN,
    NS_AT_EXIT
} NsCallbackStage;

void NsCallbacksInit(void);

/*
 * Register.  NS_ERROR: the stage has passed or shutdown has begun; nothing is
 * kept, arg is still the caller's.  Add is for all stages but shutdown.
 */
Ns_ReturnCode NsCallbackAdd(NsCallbackStage stage, Ns_Callback *proc,
                            void *arg);
Ns_ReturnCode NsCallbackAddShutdown(Ns_ShutdownProc *proc, void *arg);

/*
 * Run the callbacks of a stage other than shutdown.
 */
void NsCallbacksRun(NsCallbackStage stage);

/*
 * Have those of a signal run in thread -signal-, once more if it is at it: one
 * that hangs, on a disk or in a script, must not keep the main thread from the
 * signal that ends the server.  Wait until they have run, and end the thread.
 */
void          NsCallbacksSignal(NsCallbackStage stage);
Ns_ReturnCode NsCallbacksWaitSignals(const Ns_Time *deadlinePtr);

/*
 * Begin the shutdown stage in thread -shutdown-; wait for it until the
 * deadline.
 */
void          NsCallbacksStartShutdown(const Ns_Time *deadlinePtr);
Ns_ReturnCode NsCallbacksWaitShutdown(const Ns_Time *deadlinePtr);

/*
 * Append {TYPE PROC ARG...} for each callback, in order of execution.
 */
void NsCallbacksList(Ns_DString *dsPtr);

#endif
