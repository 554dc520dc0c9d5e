/* SPDX-License-Identifier: MPL-2.0
 * h2head.h --
 *
 *      The head of a reply, from the text of HTTP/1 to the fields of HTTP/2.
 */

#ifndef NSD_NET_H2HEAD_H
#define NSD_NET_H2HEAD_H

#include "net/h2_int.h"

/*
 * The length of the head at the start of a text; 0: it does not end there.
 */
size_t NsH2HeadBytes(const char *text, size_t length);

/*
 * Make the fields, and what else is known from them, of a stream's head that is
 * complete, or that has no bytes: then the status is 200.  False: it is no head
 * of a reply.  In the thread that answers.
 */
bool NsH2HeadMake(NsH2Stream *streamPtr);

#endif
