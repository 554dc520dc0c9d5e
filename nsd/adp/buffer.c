/* SPDX-License-Identifier: MPL-2.0
 * buffer.c --
 *
 *      Buffers, and the way of the response buffer to the client or to a
 *      channel.
 */

#include "adp/buffer.h"
#include "nsconn.h"
#include "nsreturn.h"
#include "nsstring.h"
#include "base/chars.h"
#include "tcl/result.h"

typedef enum {
    SENT,
    DROPPED, /* Someone has answered already. */
    FAILED   /* With a message in the interpreter. */
} Outcome;

static Outcome Send(NsAdpInterp *adpPtr, bool isFinal);
static Outcome SendToChannel(NsAdpInterp *adpPtr, const char *text, int length);
static Outcome SendToConn(NsAdpInterp *adpPtr, const char *text, int length,
                          bool isFinal);

Ns_DString *
NsAdpBuffer(NsAdpInterp *adpPtr)
{
    return (adpPtr->framePtr != NULL)
        ? adpPtr->framePtr->outputPtr
        : &adpPtr->output;
}

int
NsAdpAppend(NsAdpInterp *adpPtr, const char *text, int length)
{
    Ns_DString *bufferPtr = NsAdpBuffer(adpPtr);

    Ns_DStringNAppend(bufferPtr, text, length);
    if (bufferPtr == &adpPtr->output
        && ((adpPtr->flags & NS_ADP_STREAM) != 0
            || (size_t) Ns_DStringLength(bufferPtr) > adpPtr->bufferBytes)) {
        return NsAdpFlush(adpPtr, false);
    }
    return TCL_OK;
}

int
NsAdpFlush(NsAdpInterp *adpPtr, bool isFinal)
{
    Tcl_Interp *interp = adpPtr->interpPtr->interp;
    Outcome     outcome;

    Tcl_ResetResult(interp);
    if (adpPtr->exception == NS_ADP_ABORT) {
        return NsTclFail(interp, "adp flush disabled: adp aborted");
    }
    if (adpPtr->isClosed) {
        outcome = DROPPED;
    } else {
        outcome = Send(adpPtr, isFinal);
    }
    Ns_DStringSetLength(&adpPtr->output, 0);
    if (outcome == DROPPED) {
        Ns_TclPrintfResult(interp, "adp flush failed: connection closed");
    }
    if (outcome != FAILED) {
        return TCL_OK;
    }
    if ((adpPtr->flags & NS_ADP_AUTOABORT) != 0) {
        Tcl_AddErrorInfo(interp, "\n    abort exception raised");
        (void) Ns_TclLogError(interp);
        adpPtr->exception = NS_ADP_ABORT;
    }
    return TCL_ERROR;
}

void
NsAdpSetChannel(NsAdpInterp *adpPtr, Tcl_Channel channel)
{
    if (channel != NULL) {
        Tcl_RegisterChannel(NULL, channel);
    }
    if (adpPtr->channel != NULL) {
        (void) Tcl_UnregisterChannel(NULL, adpPtr->channel);
    }
    adpPtr->channel = channel;
}

static Outcome
Send(NsAdpInterp *adpPtr, bool isFinal)
{
    const char *text = Ns_DStringValue(&adpPtr->output);
    int         length = Ns_DStringLength(&adpPtr->output);

    if ((adpPtr->flags & NS_ADP_TRIM) != 0 && !adpPtr->hasFlushed) {
        while (length > 0 && NsIsSpace(*text)) {
            text++;
            length--;
        }
    }
    if (length == 0 && !isFinal) {
        return SENT;
    }
    if (adpPtr->channel != NULL) {
        return SendToChannel(adpPtr, text, length);
    }
    return SendToConn(adpPtr, text, length, isFinal);
}

static Outcome
SendToChannel(NsAdpInterp *adpPtr, const char *text, int length)
{
    if (length > 0
        && (Tcl_WriteChars(adpPtr->channel, text, length) < 0
            || Tcl_Flush(adpPtr->channel) != TCL_OK)) {
        Tcl_Interp *interp = adpPtr->interpPtr->interp;

        Ns_TclPrintfResult(interp, "write failed: %s", Tcl_PosixError(interp));
        return FAILED;
    }
    adpPtr->hasFlushed = true;
    return SENT;
}

/*
 * In one piece when the page has ended and nothing was sent before.
 */
static Outcome
SendToConn(NsAdpInterp *adpPtr, const char *text, int length, bool isFinal)
{
    Ns_Conn     *conn = (Ns_Conn *) adpPtr->interpPtr->connPtr;
    struct iovec buffer = {(void *) text, (size_t) length};
    bool         isStarted;
    int          flags, result = NS_OK;

    if (conn == NULL) {
        Ns_TclPrintfResult(adpPtr->interpPtr->interp, "no adp output context");
        return FAILED;
    }
    if ((conn->flags & NS_CONN_CLOSED) != 0) {
        return DROPPED;
    }
    isStarted = adpPtr->hasFlushed || (conn->flags & NS_CONN_SENTHDRS) != 0;
    if (!isStarted && (adpPtr->flags & NS_ADP_EXPIRE) != 0) {
        Ns_ConnCondSetHeaders(conn, "Expires", "now");
    }
    if (length > 0 || !isStarted) {
        flags = !isFinal ? NS_CONN_STREAM
            : isStarted  ? NS_CONN_STREAM_CLOSE
                         : 0;
        result = Ns_ConnWriteVChars(conn, &buffer, 1, flags);
        adpPtr->hasFlushed = true;
    }
    if (isFinal) {
        (void) Ns_ConnClose(conn);
    }
    if (result != NS_OK) {
        Ns_TclPrintfResult(adpPtr->interpPtr->interp,
                           "adp flush failed: connection flush error");
        return FAILED;
    }
    return SENT;
}
