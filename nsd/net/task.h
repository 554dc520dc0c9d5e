/* SPDX-License-Identifier: MPL-2.0
 * task.h --
 *
 *      Socket tasks, inside the server; modules use nssocket.h.
 */

#ifndef NSD_NET_TASK_H
#define NSD_NET_TASK_H

#include "nssocket.h"

#include "nsprocess.h"

void NsTasksInit(void);

/*
 * A task that its queue frees after the last call, so nobody waits for it.  It
 * can be cancelled until proc has called Ns_TaskDone.  NULL: the queue stops,
 * and proc is not called.
 */
Ns_Task *NsTaskStart(NS_SOCKET sock, Ns_TaskProc *proc, void *arg,
                     Ns_TaskQueue *queue);

/*
 * Ns_TaskWait; NS_TIMEOUT also when the wait was ended (interrupt.h).
 */
Ns_ReturnCode NsTaskWaitEndable(Ns_Task *task, Ns_Time *timeoutPtr);

#endif
