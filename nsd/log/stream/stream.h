/* SPDX-License-Identifier: MPL-2.0
 * stream.h --
 *
 *      Streams inside the server: names, and the path of a record to the sinks.
 *
 *      A stream knows its route: whether any sink reads its lanes, and which
 *      records no sink wants.  A route never changes; it is replaced as a
 *      whole.
 */

#ifndef NSD_LOG_STREAM_H
#define NSD_LOG_STREAM_H

#include "log/ring/lane.h"
#include "nslogstream.h"

/*
 * The streams of the server itself.
 */
extern Ns_LogStream nsSystemStream;
extern Ns_LogStream nsAuditStream;
extern Ns_LogStream nsOperationStream;

void NsStreamInit(void);

/*
 * Put a record with a time of the caller's choice; see Ns_LogStreamPut.
 */
Ns_ReturnCode NsStreamPut(Ns_LogStream stream, int severity, int64_t time,
                          const struct iovec *pieces, int n);

/*
 * From now on, pass records of the calling thread that contain the number of
 * bytes sent (at that offset) to proc instead of the stream.  NULL: no longer.
 */
typedef void NsStreamHoldProc(Ns_LogStream stream, int severity,
                              const struct iovec *pieces, int n, size_t offset);
void         NsStreamHold(NsStreamHoldProc *proc);

/*
 * Ns_LogStreamForget.  True: the record could not be prepared, and was put
 * instead.
 */
bool NsStreamForget(Ns_LogStream stream);

/*
 * In errno: the limit of streams is reached.
 */
#define NS_STREAM_TOO_MANY EUSERS

/*
 * All streams there are, by index; NULL behind the last.
 */
Ns_LogStream NsStreamAt(int index);
Ns_LogStream NsStreamFind(const char *name);
const char  *NsStreamName(Ns_LogStream stream);

int NsStreamIndex(Ns_LogStream stream);

/*
 * At least a quarter of the limit is left.
 */
bool NsStreamsHaveRoom(void);

/*
 * True if `wanted` names the stream: as a whole, or up to a slash.
 */
bool NsStreamMatches(Ns_LogStream stream, const char *wanted);

/*
 * Ways to turn a record into a line.  Native is the stream's own.
 */
enum {
    NS_LOG_NATIVE,
    NS_LOG_COMMON,
    NS_LOG_COMBINED,
    NS_LOG_JSON,
    NS_LOG_NFORMATS,
    NS_LOG_TEMPLATE = NS_LOG_NFORMATS /* One of a sink's own: see form.h. */
};

int         NsStreamFormatByName(const char *name); /* -1: none. */
const char *NsStreamFormatName(int format);
bool        NsStreamHasFormat(Ns_LogStream stream); /* Its own. */

/*
 * False: it has one of its own, which is used in place of the one that is asked
 * for.  JSON can be had of every stream.
 */
bool NsStreamKnowsFormat(Ns_LogStream stream, int format);

/*
 * What takes the records of a stream apart; NULL: nothing does.  Procedures
 * stay valid.
 */
typedef struct NsFieldProcs NsFieldProcs;
void NsStreamSetFields(Ns_LogStream stream, const NsFieldProcs *procsPtr);
const NsFieldProcs *NsStreamFields(Ns_LogStream stream);

/*
 * The line of a record, as by a format procedure, in the stream's own format if
 * it lacks the one that is asked for; 0 bytes if it has none at all.  For JSON
 * the line is wrapped in an object then.
 */
size_t NsStreamFormat(Ns_LogStream stream, int format,
                      const Ns_LogRecord *recordPtr, char *buffer, size_t room);

NsOverflow NsStreamOverflow(Ns_LogStream stream);
void       NsStreamSetOverflow(Ns_LogStream stream, NsOverflow overflow);

/*
 * What was dropped for lack of memory.
 */
typedef struct NsStreamDrops {
    uint64_t n;
    int64_t  first; /* Times of the present episode. */
    int64_t  last;
} NsStreamDrops;

void NsStreamGetDrops(Ns_LogStream stream, NsStreamDrops *dropsPtr);

/*
 * False: no sink of the stream wants such a record, and it has been counted as
 * ignored.  The kind of a system record may be NULL; then its severity is used.
 */
bool NsStreamTakes(Ns_LogStream stream, int severity, const char *kind);

/*
 * True: no sink of the stream wants events of that kind.
 */
bool NsStreamIgnores(Ns_LogStream stream, const char *kind);

/*
 * The number of records that no sink wanted.
 */
uint64_t NsStreamIgnored(Ns_LogStream stream);

/*
 * UseRing stores the names of all streams in a new mapping, and those of
 * streams that are created later.  From UseLanes on, records go into lanes,
 * which sinks read; but not in a child process that runs without a program of
 * its own.  Where there are no lanes, records are dropped.
 */
void               NsStreamUseRing(NsRing *ringPtr);
void               NsStreamUseLanes(void);
static inline bool NsStreamHasLanes(void);

extern atomic_bool nsStreamHasLanes;

static inline bool
NsStreamHasLanes(void)
{
    return atomic_load_explicit(&nsStreamHasLanes, memory_order_relaxed);
}

/*
 * For sink.c.  The table of streams and sinks is locked around SetRoute.
 */
struct Ns_LogSink_;

/*
 * What all sinks of a stream leave out.
 */
typedef struct NsStreamFilter {
    int   minWeight; /* See severity.h. */
    char *ignore;    /* A list of kinds, or NULL. */
} NsStreamFilter;

typedef struct NsStreamRoute {
    int                        nSinks;
    struct Ns_LogSink_ *const *sinks;
    size_t                     nudgeBytes;
    NsStreamFilter             filter;
} NsStreamRoute;

/*
 * True: there is a list to be freed, see NsStreamFreeListsLocked.
 */
bool NsStreamSetRoute(Ns_LogStream stream, const NsStreamRoute *routePtr);

/*
 * The sinks of a stream, for users of sinks (see sink.h), as long as they are
 * that.  Those that have been removed are not among them.
 */
typedef struct NsStreamSinks {
    struct NsStreamSinks *nextPtr; /* Of those to be freed. */
    int                   n;
    struct Ns_LogSink_   *sinks[];
} NsStreamSinks;

const NsStreamSinks *NsStreamGetSinks(int index);

/* The table of sinks is locked, and has no users. */
void NsStreamFreeListsLocked(void);

void NsStreamCountIdle(int index, int change);

#endif
