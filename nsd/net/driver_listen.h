/* SPDX-License-Identifier: MPL-2.0
 * driver_listen.h --
 *
 *      The listening sockets of drivers.
 */

#ifndef NSD_NET_DRIVER_LISTEN_H
#define NSD_NET_DRIVER_LISTEN_H

#include "nstypes.h"

struct NsDriver;
struct NsDriverThread;

/*
 * Bind, before anything is touched that a running server shares, the ports of
 * all drivers that the configuration names for the process and its servers
 * (only NULL: all of them): of modules that export Ns_ModuleListenPort.  They
 * do not listen yet.  The process ends if one cannot be bound.
 */
void NsDriversReserve(const char *only);

/*
 * Open those of a driver thread.  NS_ERROR: the reason is logged.
 */
Ns_ReturnCode NsDriverListen(struct NsDriverThread *threadPtr);

/*
 * The parameter nodelay has changed: connections that are accepted from now on
 * follow it.  Any thread.
 */
void NsDriverSetNoDelay(const struct NsDriver *drvPtr);

#endif
