/* SPDX-License-Identifier: MPL-2.0
 * readthread.h --
 *
 *      The common part of driver threads and spooler threads.
 */

#ifndef NSD_NET_READTHREAD_H
#define NSD_NET_READTHREAD_H

#include "net/driver_int.h"

NsDriverThread *NsReadThreadCreate(NsDriver *drvPtr, int index,
                                   const NsReadKind *kindPtr);
void            NsReadThreadStart(NsDriverThread *threadPtr);

/*
 * The driver or spooler thread that calls; NULL in other threads.
 */
NsDriverThread *NsReadThreadSelf(void);

/*
 * A Warning, unless there was one less than a second ago.
 */
void NsLogOncePerSecond(NsStamp *lastPtr, const char *format, ...)
    NS_GNUC_PRINTF(2, 3);

#endif
