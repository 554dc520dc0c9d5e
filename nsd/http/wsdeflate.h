/* SPDX-License-Identifier: MPL-2.0
 * wsdeflate.h --
 *
 *      Messages of WebSocket, compressed (RFC 7692).
 */

#ifndef NSD_HTTP_WSDEFLATE_H
#define NSD_HTTP_WSDEFLATE_H

#include "http/wsframe.h"

#define NS_WS_MIN_BITS 9 /* Of the window; zlib has no smaller one here. */
#define NS_WS_MAX_BITS 15

/*
 * What one side has sent so far, as far as its next message may refer to it.
 */
typedef struct NsWsInflater NsWsInflater;

/*
 * keepsContext: a message may refer to earlier ones.  Otherwise no memory is
 * held between messages.
 */
NsWsInflater *NsWsInflaterCreate(bool keepsContext);
void          NsWsInflaterDestroy(NsWsInflater **inflaterPtrPtr);

/*
 * Append what a whole message holds, at most maxLength bytes: NS_WS_COMPLETE,
 * NS_WS_TOO_LONG, or NS_WS_BAD_DATA.
 */
NsWsStatus NsWsInflate(NsWsInflater *inflaterPtr, const char *bytes,
                       size_t length, size_t maxLength, Ns_DString *dsPtr);

/*
 * Append a message compressed by itself, with a window of so many bits.  False:
 * that is not shorter, and nothing was appended.
 */
bool NsWsDeflate(const char *bytes, size_t length, int windowBits,
                 Ns_DString *dsPtr);

#endif
