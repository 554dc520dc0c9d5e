/* SPDX-License-Identifier: MPL-2.0
 * describe.h --
 *
 *      A request as those see it who look at the server from outside.
 */

#ifndef NSD_REQUEST_DESCRIBE_H
#define NSD_REQUEST_DESCRIBE_H

#include "dispatch/pool.h"
#include "nsstring.h"
#include "request/conn.h"
#include "request/reqserver.h"

/*
 * See NsPoolProcs.
 */
void NsConnDescribe(Ns_DString *dsPtr, NsWork *workPtr, const char *state,
                    unsigned flags);

/*
 * Append the target of a request as a list element, as sent, but without the
 * values of secret parameters (maskparameters).  What is longer is cut; of it,
 * one byte more is enough here.
 */
#define NS_SHOWN_URL_BYTES 1000

void NsRequestAppendUrl(Ns_DString *dsPtr, const NsRequestServer *requestPtr,
                        const char *target);

/*
 * Append what a client sent, for the system log: a line of its request, or the
 * value of a field (a URL, for example), without the values of secret
 * parameters.  Of fields that let somebody in, such as Cookie, nothing is
 * shown.
 */
void NsConnAppendLine(Ns_DString *dsPtr, const NsConn *connPtr,
                      const char *line);
void NsConnAppendField(Ns_DString *dsPtr, const NsConn *connPtr,
                       const char *name, const char *value);

#endif
