/* SPDX-License-Identifier: MPL-2.0
 * help.h --
 *
 *      What `nsd --help TOPIC` prints.
 */

#ifndef NSD_PROCESS_HELP_H
#define NSD_PROCESS_HELP_H

#include "nstypes.h"

/*
 * False: there is no such topic; the file has what exists.
 */
bool NsHelpPrint(FILE *file, const char *topic);

/*
 * The commands of `nsd ctl`, which the library of the installation lists.
 * False: it is not there.
 */
bool NsHelpControl(FILE *file);

#endif
