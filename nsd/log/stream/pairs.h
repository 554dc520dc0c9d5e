/* SPDX-License-Identifier: MPL-2.0
 * pairs.h --
 *
 *      Settings that are a list of names and values.
 */

#ifndef NSD_LOG_STREAM_PAIRS_H
#define NSD_LOG_STREAM_PAIRS_H

/*
 * Names and values by turns, for Tcl_Free.  NULL: it is no such list.
 */
const char **NsPairsSplit(const char *text, int *nPtr);

#endif
