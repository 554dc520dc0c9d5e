/* SPDX-License-Identifier: MPL-2.0
 * remotesink.h --
 *
 *      What sinks that send records to another program have in common.
 */

#ifndef NSD_LOG_TARGET_REMOTESINK_H
#define NSD_LOG_TARGET_REMOTESINK_H

#include "log/stream/line.h"
#include "log/target/remote.h"
#include "nslogsink.h"
#include "nslogstream.h"

/*
 * Rows of a table of options.
 */
#define NS_REMOTE_TLS_OPTIONS                                                \
    {.name = "cafile",                                                       \
     .kind = NS_LOGSINK_INPUT,                                               \
     .defaultText = "",                                                      \
     .range = "a path",                                                      \
     .sentence = "With TLS: authorities that the receiver's certificate "    \
                 "may be of, in PEM; empty: those of the system."},          \
        {.name = "certificate",                                              \
         .kind = NS_LOGSINK_INPUT,                                           \
         .defaultText = "",                                                  \
         .range = "a path",                                                  \
         .sentence = "With TLS: the certificate that this server shows, in " \
                     "PEM; empty: none."},                                   \
        {.name = "key",                                                      \
         .kind = NS_LOGSINK_INPUT,                                           \
         .defaultText = "",                                                  \
         .range = "a path",                                                  \
         .sentence = "Its key; empty: in the same file."},                   \
        {.name = "peername",                                                 \
         .kind = NS_LOGSINK_TEXT,                                            \
         .defaultText = "",                                                  \
         .max = 255,                                                         \
         .range = "a name",                                                  \
         .sentence = "With TLS: the name in the receiver's certificate; "    \
                     "empty: the one in its address."},                      \
    {                                                                        \
        .name = "verify", .kind = NS_LOGSINK_BOOL, .defaultText = "true",    \
        .range = "a boolean",                                                \
        .sentence = "With TLS: false accepts any certificate."               \
    }

/*
 * Their values, from that of the first row on, which live as long as the spec
 * is used.
 */
void NsRemoteSetTls(NsRemoteSpec *specPtr, const Ns_LogSinkValue *values);

/*
 * The servers of a sink, which are tried in turn: one is kept until it fails.
 * A part of the type's data.
 */
typedef struct NsRemoteTurn {
    const char **addresses; /* As people may see them. */
    int          n;
    int          now;  /* The one in use. */
    int          told; /* The one that the log knows of, */
    char         why[NS_REMOTE_REASON_BYTES]; /* and why it was left. */
} NsRemoteTurn;

/*
 * Of a list that the check has taken; so that each address is one that the
 * procedure takes, and there is one at least.
 */
typedef bool NsRemoteAddressProc(const char *address);
bool         NsRemoteAreAddresses(const char *list, NsRemoteAddressProc *proc);
void         NsRemoteTurnInit(NsRemoteTurn *turnPtr, const char *list);
void         NsRemoteTurnFree(NsRemoteTurn *turnPtr);

/*
 * The one in use has failed, as errno and the sink's complaint say: another one
 * is it now.  What errno says stays.
 */
void NsRemoteTurnTo(NsRemoteTurn *turnPtr, Ns_LogSink sink, int next);

/*
 * The one in use has taken records: if it is another one than before, tell.
 */
void NsRemoteTurnWorks(NsRemoteTurn *turnPtr, Ns_LogSink sink);

/*
 * The process that logged what the sink writes.
 */
int NsRemoteLoggerPid(Ns_LogSink sink);

/*
 * Pieces in a sink's buffer: the length of a record, and the record.  A
 * procedure that formats puts the record behind NS_PIECE_HEAD bytes, and ends
 * the piece; the result is the procedure's.
 */
#define NS_PIECE_HEAD sizeof(uint32_t)
size_t NsPieceEnd(const NsLogOut *outPtr);

/*
 * The record of the first piece, which is complete.
 */
const char *NsPieceRecord(const char *bytes, size_t length, size_t *lengthPtr);

#endif
