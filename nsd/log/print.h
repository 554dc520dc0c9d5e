/* SPDX-License-Identifier: MPL-2.0
 * print.h --
 *
 *      Prints the records in a mapping, of a live or a dead server.
 */

#ifndef NSD_LOG_PRINT_H
#define NSD_LOG_PRINT_H

#include "nstypes.h"

/*
 * nsd --logs FILE ?--follow? ?--stream NAME? ?--severity NAME? ?--slow SECONDS?
 * nsd --logs --list ?DIR?
 *
 * Takes the arguments after --logs and returns the exit status.  The server is
 * not disturbed: the mapping is read-only, and what the server frees meanwhile
 * is skipped.
 */
int NsLogPrintMain(int argc, char *const *argv);

#endif
