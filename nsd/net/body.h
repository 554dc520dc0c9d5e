/* SPDX-License-Identifier: MPL-2.0
 * body.h --
 *
 *      The body of a request, while it arrives.
 */

#ifndef NSD_NET_BODY_H
#define NSD_NET_BODY_H

#include "net/reader.h"

/*
 * The head is complete; bytes behind it are in the buffer.
 */
NsReadStep NsBodyBegin(NsDriverThread *threadPtr, NsSock *sockPtr);

/*
 * The place for the next bytes of the body; and they have been read into it.
 */
struct iovec NsBodyTarget(NsDriverThread *threadPtr, NsSock *sockPtr);
NsReadStep NsBodyTake(NsDriverThread *threadPtr, NsSock *sockPtr, size_t nNew);

#endif
