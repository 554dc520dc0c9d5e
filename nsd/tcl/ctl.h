/* SPDX-License-Identifier: MPL-2.0
 * ctl.h --
 *
 *      Requests of `nsd ctl` that a script answers.
 */

#ifndef NSD_TCL_CTL_H
#define NSD_TCL_CTL_H

/*
 * Once, before the configuration is read.
 */
void NsCtlInit(void);

#endif
