/* SPDX-License-Identifier: MPL-2.0
 * remotesink.c --
 *
 *      What sinks that send records to another program have in common.
 */

#include "log/target/remotesink.h"

#include "base/assert.h"
#include "log/sink/flush.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinkreader.h"
#include "log/target/target.h"
#include "nslog.h"

enum {
    CAFILE_OPTION,
    CERTIFICATE_OPTION,
    KEY_OPTION,
    PEERNAME_OPTION,
    VERIFY_OPTION
};

void
NsRemoteSetTls(NsRemoteSpec *specPtr, const Ns_LogSinkValue *values)
{
    specPtr->name = NsTargetText(&values[PEERNAME_OPTION]);
    specPtr->tls = (NsTlsContextSpec){
        .caFile = NsTargetText(&values[CAFILE_OPTION]),
        .certificate = NsTargetText(&values[CERTIFICATE_OPTION]),
        .key = NsTargetText(&values[KEY_OPTION]),
        .isInsecure = values[VERIFY_OPTION].number == 0};
}

bool
NsRemoteAreAddresses(const char *list, NsRemoteAddressProc *proc)
{
    const char **words;
    int          n;
    bool         isOk;

    if (Tcl_SplitList(NULL, list, &n, &words) != TCL_OK) {
        return false;
    }
    isOk = n > 0;
    for (int i = 0; i < n; i++) {
        isOk = isOk && proc(words[i]);
    }
    Tcl_Free((char *) words);
    return isOk;
}

void
NsRemoteTurnInit(NsRemoteTurn *turnPtr, const char *list)
{
    int status;

    *turnPtr = (NsRemoteTurn){.now = 0};
    status = Tcl_SplitList(NULL, list, &turnPtr->n, &turnPtr->addresses);
    NsAssert(status == TCL_OK && turnPtr->n > 0);
}

void
NsRemoteTurnFree(NsRemoteTurn *turnPtr)
{
    Tcl_Free((char *) turnPtr->addresses);
    turnPtr->addresses = NULL;
}

void
NsRemoteTurnTo(NsRemoteTurn *turnPtr, Ns_LogSink sink, int next)
{
    int         reason = errno;
    const char *complaint = sink->failing->complaint;

    NsAssertLocked(&sink->lock);
    NsAssert(next >= 0 && next < turnPtr->n);
    if (turnPtr->now == turnPtr->told) {
        snprintf(turnPtr->why, sizeof(turnPtr->why), "%s",
                 *complaint != '\0' ? complaint : strerror(reason));
    }
    turnPtr->now = next;
    errno = reason;
}

void
NsRemoteTurnWorks(NsRemoteTurn *turnPtr, Ns_LogSink sink)
{
    if (unlikely(turnPtr->now != turnPtr->told)) {
        NsDeliverTell(sink, Warning,
                      "log[%s]: '%s' failed: '%s'; records go to '%s' now",
                      sink->name, turnPtr->addresses[turnPtr->told],
                      turnPtr->why, turnPtr->addresses[turnPtr->now]);
        NsDeliverComplain(sink, "");
        turnPtr->told = turnPtr->now;
    }
}

int
NsRemoteLoggerPid(Ns_LogSink sink)
{
    const NsRing *ringPtr = sink->reader->ringPtr;

    return ringPtr != NULL ? (int) ringPtr->headerPtr->pid : getpid();
}

size_t
NsPieceEnd(const NsLogOut *outPtr)
{
    NsAssert(outPtr->length > NS_PIECE_HEAD);
    if (outPtr->length <= outPtr->room) {
        uint32_t n = (uint32_t) (outPtr->length - NS_PIECE_HEAD);

        NsAssert(outPtr->length - NS_PIECE_HEAD == n);
        memcpy(outPtr->buffer, &n, sizeof(n));
    }
    return outPtr->length;
}

const char *
NsPieceRecord(const char *bytes, size_t length, size_t *lengthPtr)
{
    uint32_t n;

    NsAssert(length > sizeof(n));
    memcpy(&n, bytes, sizeof(n));
    NsAssert(n > 0 && n <= length - sizeof(n));
    *lengthPtr = n;
    return bytes + sizeof(n);
}
