/* SPDX-License-Identifier: MPL-2.0
 * buffer.h --
 *
 *      Buffers of output, and their way to the client.
 */

#ifndef NSD_ADP_BUFFER_H
#define NSD_ADP_BUFFER_H

#include "adp/adp_int.h"

/*
 * Append to the current buffer, flushing as the settings say.
 */
int NsAdpAppend(NsAdpInterp *adpPtr, const char *text, int length);

/*
 * Send the response buffer; isFinal: as the last part.
 */
int NsAdpFlush(NsAdpInterp *adpPtr, bool isFinal);

/*
 * Send output to a channel from now on; NULL: to the connection again.  It
 * stays open as long.
 */
void NsAdpSetChannel(NsAdpInterp *adpPtr, Tcl_Channel channel);

/*
 * The buffer that the innermost frame writes to.
 */
Ns_DString *NsAdpBuffer(NsAdpInterp *adpPtr);

#endif
