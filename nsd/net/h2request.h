/* SPDX-License-Identifier: MPL-2.0
 * h2request.h --
 *
 *      Requests of HTTP/2.
 */

#ifndef NSD_NET_H2REQUEST_H
#define NSD_NET_H2REQUEST_H

#include "net/h2_int.h"

/*
 * Callbacks of nghttp2: a field section begins; a field; a part of a body.
 */
int NsH2RequestBegin(nghttp2_session *enginePtr, const nghttp2_frame *framePtr,
                     void *arg);
int NsH2RequestField(nghttp2_session *enginePtr, const nghttp2_frame *framePtr,
                     const uint8_t *name, size_t nameLength,
                     const uint8_t *value, size_t length, uint8_t flags,
                     void *arg);
int NsH2RequestData(nghttp2_session *enginePtr, uint8_t flags, int32_t id,
                    const uint8_t *bytes, size_t length, void *arg);

/*
 * The field section is complete, and (isEnd) there is no body; the client has
 * sent all of it; it has not done so in time.
 */
void NsH2RequestHead(NsH2Stream *streamPtr, bool isEnd);
void NsH2RequestEnd(NsH2Stream *streamPtr);
void NsH2RequestTimeUp(NsH2Stream *streamPtr);

/*
 * A spooler thread has written a part of the body.
 */
void NsH2RequestStored(NsH2Stream *streamPtr);

#endif
