/*
 * stream.h --
 *
 *      Streams inside the server: names, and the way of a record to the sinks.
 *
 *      A stream knows its route: whether there are sinks that read its lanes,
 *      and what none of them wants.  A route never changes; a new one takes
 *      its place.
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
 * Records of the calling thread that say how many bytes were sent, at that
 * offset, go to proc in place of the stream; NULL: not any more.
 */
typedef void NsStreamHoldProc(Ns_LogStream stream, int severity,
                              const struct iovec *pieces, int n, size_t offset);
void         NsStreamHold(NsStreamHoldProc *proc);

/*
 * Ns_LogStreamForget.  True: what this thread wanted to prepare was put
 * instead, as it could not be prepared.
 */
bool NsStreamForget(Ns_LogStream stream);

/*
 * In errno: there are as many streams as there can be.
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
 * A quarter of those that there can be are left.
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
    NS_LOG_NFORMATS
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
 * The line of a record, as by a format procedure, in the stream's own format if
 * it lacks the one that is asked for; 0 bytes if it has none at all.  For JSON
 * the line is wrapped in an object then.
 */
size_t NsStreamFormat(Ns_LogStream stream, int format,
                      const Ns_LogRecord *recordPtr, char *buffer, size_t room);

NsOverflow NsStreamOverflow(Ns_LogStream stream);
void       NsStreamSetOverflow(Ns_LogStream stream, NsOverflow overflow);

/*
 * What was dropped for want of memory.
 */
typedef struct NsStreamDrops {
    uint64_t n;
    int64_t  first; /* Times of the present episode. */
    int64_t  last;
} NsStreamDrops;

void NsStreamGetDrops(Ns_LogStream stream, NsStreamDrops *dropsPtr);

/*
 * False: all sinks of the stream leave out such a record; it has been counted
 * as ignored.  The kind of a system record may be NULL: its severity says it.
 */
bool NsStreamTakes(Ns_LogStream stream, int severity, const char *kind);

/*
 * True: all sinks of the stream leave out events of that kind.
 */
bool NsStreamIgnores(Ns_LogStream stream, const char *kind);

/*
 * Records that were left out for all sinks.
 */
uint64_t NsStreamIgnored(Ns_LogStream stream);

/*
 * The names of all streams go into a new mapping, and those of streams made
 * later.  From UseLanes on there are lanes, whose sinks read them; not any
 * more in a child that goes on without a program of its own.  What is put
 * without them is put nowhere.
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
