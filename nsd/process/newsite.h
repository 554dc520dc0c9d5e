/* SPDX-License-Identifier: MPL-2.0
 * newsite.h --
 *
 *      The first files of a site.
 */

#ifndef NSD_PROCESS_NEWSITE_H
#define NSD_PROCESS_NEWSITE_H

#include "nstypes.h"

/*
 * nsd --init DIRECTORY: conf/nsd.tcl, pages/index.adp and logs in a directory
 * that is made, or is there and empty.  What was done is said on standard
 * output, or why not on standard error.  The exit status.
 */
int NsNewSite(const char *program, const char *directory);

#endif
