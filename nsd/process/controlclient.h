/* SPDX-License-Identifier: MPL-2.0
 * controlclient.h --
 *
 *      `nsd ctl`: asks and commands a server that runs.
 */

#ifndef NSD_PROCESS_CONTROLCLIENT_H
#define NSD_PROCESS_CONTROLCLIENT_H

#include "process/options.h"

#define NS_CONTROL_DONE    0
#define NS_CONTROL_REFUSED 1 /* The reason is on standard error. */
#define NS_CONTROL_USAGE   2
#define NS_CONTROL_NOBODY  3 /* No server listens there. */

/*
 * Carry out the command in argv, the words behind the options; without any,
 * help.  path is that of the socket.  The exit status, one of those above.
 */
int NsControlClient(const char *path, const NsOptions *optionsPtr, int argc,
                    char *const *argv);

#endif
