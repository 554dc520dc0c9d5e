/* SPDX-License-Identifier: MPL-2.0
 * controlclient.h --
 *
 *      `nsd ctl`: asks and commands a server that runs.
 */

#ifndef NSD_PROCESS_CONTROLCLIENT_H
#define NSD_PROCESS_CONTROLCLIENT_H

#include "process/options.h"

/*
 * Carry out the command in argv, the words behind the options; without any,
 * help.  path is that of the socket.  The exit status, one of those in
 * control.h.
 */
int NsControlClient(const char *path, const NsOptions *optionsPtr, int argc,
                    char *const *argv);

#endif
