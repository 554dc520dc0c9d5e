/* SPDX-License-Identifier: MPL-2.0
 * h2reply.h --
 *
 *      Replies on their way to nghttp2, and the ends of streams.
 */

#ifndef NSD_NET_H2REPLY_H
#define NSD_NET_H2REPLY_H

#include "net/h2_int.h"

/*
 * What there is of the reply goes to nghttp2.
 */
void NsH2ReplyAdvance(NsH2Stream *streamPtr);

/*
 * A callback of nghttp2: a frame of the body.
 */
int NsH2ReplySendData(nghttp2_session *enginePtr, nghttp2_frame *framePtr,
                      const uint8_t *frameHead, size_t length,
                      nghttp2_data_source *sourcePtr, void *arg);

/*
 * An answer of our own, without a body.
 */
void NsH2ReplyBare(NsH2Stream *streamPtr, int status);

/*
 * Say that no more is to come, with a code of RFC 9113, 7.
 */
void NsH2ReplyReset(NsH2Stream *streamPtr, uint32_t code);

/*
 * A stream that is closed: let it go, unless its request is still served.
 */
void NsH2StreamRetire(NsH2Stream *streamPtr);

#endif
