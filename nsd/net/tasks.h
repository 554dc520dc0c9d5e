/*
 * tasks.h --
 *
 *      Socket tasks, inside the server; modules use nssocket.h.
 */

#ifndef NSD_NET_TASKS_H
#define NSD_NET_TASKS_H

#include "nsprocess.h"

void NsTasksInit(void);

#endif
