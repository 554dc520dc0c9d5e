/* SPDX-License-Identifier: MPL-2.0
 * refusal.h --
 *
 *      What is wrong with a request: a status, and a reason for the operator.
 */

#ifndef NSD_HTTP_REFUSAL_H
#define NSD_HTTP_REFUSAL_H

#include "http/head.h"

/*
 * Set status and reason of a head.  A reason that is too long is cut.
 */
void NsHttpRefuse(NsHttpHead *headPtr, int status, const char *format, ...)
    NS_GNUC_PRINTF(3, 4);

/*
 * 400, and the reason names the byte at `at` in the text that goes from start
 * to end; what says what the text should be.
 */
void NsHttpRefuseByte(NsHttpHead *headPtr, const char *what, const char *start,
                      const char *at, const char *end);

#endif
