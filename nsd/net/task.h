/*
 * task.h --
 *
 *      Socket tasks, inside the server; modules use nssocket.h.
 */

#ifndef NSD_NET_TASK_H
#define NSD_NET_TASK_H

#include "nsprocess.h"

void NsTasksInit(void);

#endif
