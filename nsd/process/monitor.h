/* SPDX-License-Identifier: MPL-2.0
 * monitor.h --
 *
 *      The listener of the monitor.
 */

#ifndef NSD_PROCESS_MONITOR_H
#define NSD_PROCESS_MONITOR_H

/*
 * With a `port` in ns/module/nsstats, add to the configuration what makes the
 * monitor answer there: the module nsmonitor, a driver for plain HTTP, of the
 * first server (only NULL: of all; else it must be that one) that has the
 * monitor.  From then on it is a driver as any other.  When the configuration
 * has been evaluated, before anything of it is used.
 */
void NsMonitorConfigure(const char *only);

#endif
