/* SPDX-License-Identifier: MPL-2.0
 * shell.h --
 *
 *      Command mode: a Tcl shell in a running server.
 */

#ifndef NSD_TCL_SHELL_H
#define NSD_TCL_SHELL_H

#include "process/server.h"

/*
 * Start thread -command-.  When start-up is complete it sources argv[0] with
 * the rest as arguments, or without a word reads standard input; at the end it
 * requests the shutdown.  argv must stay.
 */
void NsShellStart(NsServer *serverPtr, int argc, char *const *argv);

/*
 * True: there is no such thread, or it has ended; false: its script still runs.
 * The main thread calls it when the server stops.
 */
bool NsShellEnd(void);

/*
 * The word that the script gave to `exit`, or 1 when it has failed; 0 without
 * one.  Once it has asked for the end of the server.
 */
int NsShellStatus(void);

#endif
