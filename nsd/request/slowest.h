/* SPDX-License-Identifier: MPL-2.0
 * slowest.h --
 *
 *      The slowest requests of the last hour, and the last ones that failed, of
 *      each server: a hundred of each at most.
 *
 *      What is quick and has not failed costs two comparisons.  None of the
 *      others is left out: it waits while another one is noted.
 */

#ifndef NSD_REQUEST_SLOWEST_H
#define NSD_REQUEST_SLOWEST_H

#include "request/conn.h"

void NsSlowestServerInit(NsServer *serverPtr);

/*
 * The request has ended; workPtr has its endStamp.  Its thread is the calling
 * one.
 */
void NsSlowestNote(NsConn *connPtr);

/*
 * Append a dict for each: the slowest first, or those with a status of 500 and
 * more, the last one first.  Only those that ended at that time of day or later
 * (NULL: all).
 */
void NsSlowestList(Ns_DString *dsPtr, NsServer *serverPtr, bool wantsFailed,
                   const Ns_Time *sincePtr);

#endif
