/* SPDX-License-Identifier: MPL-2.0
 * sink.h --
 *
 *      Sinks: each takes the records of some streams and writes them somewhere.
 *
 *      A sink reads the lanes of its streams with its own cursors, so no sink
 *      waits for another.  Log threads (worker.h) serve it, one at a time.  A
 *      sink that no log thread serves is served by the threads that log: each
 *      puts its record into its lane and waits for its turn.  A turn reads and
 *      writes all records that are there by then.
 */

#ifndef NSD_LOG_SINK_H
#define NSD_LOG_SINK_H

#include "log/ring/lane.h"
#include "log/ring/ring.h"
#include "log/sink/sinktype.h"
#include "log/stream/stream.h"
#include "nslogstream.h"

typedef enum {
    NS_SYNC_NONE,
    NS_SYNC_BATCH, /* After each write. */
    NS_SYNC_TIME   /* At most syncNanos after a write. */
} NsSyncMode;

/*
 * The settings that can change while a sink runs.
 */
typedef struct NsSinkSettings {
    unsigned version;    /* Changes with each change of the others. */
    int      format;     /* See stream.h. */
    char *template;      /* With NS_LOG_TEMPLATE.  This and the next four are
                          * owned by the settings; NULL: none. */
    char   *mask;        /* See mask.h. */
    char   *fields;      /* Names and values added to each line in JSON. */
    char   *conditions;  /* See condition.h. */
    char   *ignore;      /* Kinds. */
    int     minSeverity; /* -1: log all. */
    int64_t slowNanos;   /* This and onlyErrors: for stream operation only. */
    bool    onlyErrors;
    int     sample;  /* One record in so many. */
    int     maxRate; /* So many records in a period; 0: all. */
    int64_t rateNanos;
    size_t  maxMemory;   /* How much log memory it may hold; 0: half of all.
                          * Records beyond that go to a spill file */
    size_t     maxSpill; /* of at most this many bytes; 0: no file. */
    size_t     bufferBytes;
    int64_t    bufferNanos;
    int        bufferLines; /* 0: bufferBytes and bufferNanos apply. */
    int        batchRows;   /* Rows per insert, for a database. */
    NsSyncMode sync;
    int64_t    syncNanos;
    size_t     rotateBytes; /* 0: never by size. */
    int        rollSeconds; /* A period of the calendar; 0: none, */
    int        rollHour;    /* or when a day or a week begins; -1: not set. */
    bool       rollsOnSignal;
    char      *rollFormat; /* NULL: numbers.  Owned by the settings. */
    int        maxBackup;
    int64_t    maxAge;   /* Nanoseconds; 0: backups get any age. */
    size_t     maxTotal; /* Bytes of all backups; 0: any. */
    size_t     minFree;  /* What they leave free in their file system; */
    bool       isMinFreePercent; /* of that, not in bytes. */
    int        mode;             /* Permissions of its file, */
    char      *owner;    /* user and group as text, NULL: as they are; */
    uid_t      ownerUid; /* these two for fchown. */
    gid_t      ownerGid;
    bool       isCompressed; /* gzip backups. */
    bool       isRequired;   /* The server does not start without it. */
} NsSinkSettings;

extern const NsSinkSettings nsSinkDefaults;

#define NS_SINK_MODE 0644 /* With what the umask leaves of it. */

typedef enum {
    NS_TROUBLE_NONE,
    NS_TROUBLE_STALLED, /* Inside a write or sync that takes long. */
    NS_TROUBLE_FAILING  /* A write failed and is being retried. */
} NsSinkTrouble;

/*
 * The ledger of one sink: accepted is always the sum of the counters from
 * delivered to pending.
 */
typedef struct NsSinkStats {
    NsSinkTrouble trouble;
    int64_t       troubleSince; /* As NsLogClock; 0: no trouble. */
    uint64_t      accepted;
    uint64_t      delivered;
    uint64_t      ignored;         /* The sink's settings exclude them. */
    uint64_t      droppedMemory;   /* The log memory was full. */
    uint64_t      droppedFailed;   /* The sink could not write them in time. */
    uint64_t      droppedDamaged;  /* Overwritten by something else. */
    uint64_t      droppedRejected; /* The database refused the row. */
    uint64_t      pending;
    uint64_t      leftover;      /* Of pending: those of earlier processes, */
    uint64_t      leftoverBytes; /* and their bytes. */
    uint64_t      spilled;       /* Of pending: records on disk, roughly, */
    uint64_t      spilledBytes;  /* and their bytes. */
    uint64_t      behind;        /* Bytes of log memory that it holds. */
    uint64_t      bytes;
    uint64_t      writes;
    uint64_t      syncs;
    uint64_t      errors;
    uint64_t      wakeups;
    uint64_t      deepest;      /* The most that were ever pending. */
    int64_t       longestWrite; /* Nanoseconds. */
    int64_t       writeNanos;   /* For all writes. */
} NsSinkStats;

/*
 * What to make a sink from; everything is copied.
 */
typedef struct NsSinkSpec {
    const char            *name;    /* At most NS_RING_NAME - 1 bytes. */
    const char            *type;    /* One that NsSinkTypeFind finds. */
    const char *const     *streams; /* Names, or prefixes of names. */
    int                    nStreams;
    const char            *file;     /* Absolute path, or address; or NULL. */
    const Ns_LogSinkValue *values;   /* In the order of the type's options;
                                      * file is then the first one as shown to
                                      * people.  NULL: of a module's type, the
                                      * defaults, with file and */
    const char    *table;            /* its option `table`, if it has one. */
    bool           isAwaited;        /* Written by the threads that log. */
    bool           isStandardOutput; /* Redirects descriptors 1 and 2. */
    bool           isModules;        /* A module holds the handle. */
    bool           mayOpenLater;     /* Made even if it cannot be opened yet. */
    NsSinkSettings settings;
} NsSinkSpec;

extern bool nsSinkIsAsync;     /* asynclogwriter; after NsLogConfigure. */
extern bool nsSinkKeepsOutput; /* Likewise: isStandardOutput does not count. */

void NsSinkInit(void);

/*
 * Make a sink.  What an earlier process left for it is written first.  NULL:
 * its target cannot be opened, and errno says why.  With mayOpenLater the sink
 * is made anyway, and its records wait until the target opens.
 */
Ns_LogSink NsSinkCreate(const NsSinkSpec *specPtr);

/*
 * Called with each sink that a module has made (Ns_LogSinkOpen), by its thread.
 */
typedef void NsSinkMadeProc(Ns_LogSink sink);
void         NsSinkSetMadeProc(NsSinkMadeProc *proc);

/*
 * Values of errno: the limit on sinks is reached; a stream has as many readers
 * as it can have; the target gives its own explanation; there is no log thread
 * and none can be started.  Reason returns the text for one of these or for any
 * other errno.  Call it right after the failure, in the same thread.
 */
#define NS_SINK_TOO_MANY         NS_STREAM_TOO_MANY
#define NS_SINK_TOO_MANY_READERS EMLINK
#define NS_SINK_COMPLAINS        EBADMSG
#define NS_SINK_NO_THREAD        ESRCH
const char *NsSinkReason(int reason);

/*
 * Find a sink by name, or by index in the order of creation.
 */
Ns_LogSink        NsSinkFind(const char *name);
Ns_LogSink        NsSinkAt(int index);
const char       *NsSinkName(Ns_LogSink sink);
const NsSinkType *NsSinkTypeOf(Ns_LogSink sink);
const char       *NsSinkFile(Ns_LogSink sink);
/* Of the type, as people may see it. */
const char *NsSinkOption(Ns_LogSink sink, int index);
const char *NsSinkPattern(Ns_LogSink sink, int index); /* NULL: no more. */
bool        NsSinkWants(Ns_LogSink sink, int stream);

/*
 * In-band, like the functions of nslogstream.h.  Settings are copied.  The
 * caller frees what GetSettings fills in, with FreeSettings.  Configure sets
 * errno to EAGAIN when another thread has changed the settings since the caller
 * got them; the caller gets them again.
 */
Ns_ReturnCode NsSinkConfigure(Ns_LogSink            sink,
                              const NsSinkSettings *settingsPtr);
void          NsSinkGetSettings(Ns_LogSink sink, NsSinkSettings *settingsPtr);
void          NsSinkFreeSettings(NsSinkSettings *settingsPtr);
Ns_ReturnCode NsSinkSync(Ns_LogSink sink);

/*
 * For callers between Enter and Leave (see below): wait until every sink of the
 * stream has its records on disk, or committed.  NS_ERROR: *failedPtr has not,
 * and errno says why; ENOTSUP: its target never can.
 */
Ns_ReturnCode NsSinkSyncStream(Ns_LogStream stream, Ns_LogSink *failedPtr);
Ns_ReturnCode NsSinkRollNow(Ns_LogSink sink);
Ns_ReturnCode NsSinkRemove(Ns_LogSink sink);
bool          NsSinkIsRemoved(Ns_LogSink sink);

/*
 * Have all sinks reopen their files soon, after someone has renamed them.  With
 * a signal, those that roll on one do that.
 */
void NsSinkReopenAll(bool isSignal);

/*
 * Call now and then: sinks that no log thread serves roll their files, and look
 * at their backups, when it is time.
 */
void NsSinkTendAll(void);

/*
 * False for the system log, and for sinks that a module made and still uses.
 */
bool NsSinkMayRemove(Ns_LogSink sink);

void NsSinkGetStats(Ns_LogSink sink, NsSinkStats *statsPtr);

/*
 * The time of the oldest record that the sink has not written, 0: none is
 * known.  Waits for no
 * target; call without locks.
 */
int64_t NsSinkOldest(Ns_LogSink sink);

/*
 * A sink that is required and in trouble; of those that take the stream, or of
 * all (NULL).  NULL: there is none.  For callers between Enter and Leave.
 */
Ns_LogSink NsSinkRequiredInTrouble(Ns_LogStream stream);

/*
 * Log threads serve the sink from NsSinkStart on, although it was awaited.
 */
void NsSinkAwaitNoMore(Ns_LogSink sink);

/*
 * Make the mapping; existing sinks then read its lanes.  Returns NULL, or the
 * reason why there can be none.  Sinks that fall behind keep their spill files
 * in the directory; NULL: they have none.
 */
const char *NsSinkUseRing(const NsRingKey *keyPtr, const char *spillDirectory,
                          const NsRingNeed *needPtr);
const char *NsSinkRingPath(void);

/*
 * Call now and then, from one thread.  Ensures that the mapping has a file, and
 * has the sinks write what is left by processes that were killed after this one
 * started.
 */
void NsSinkWatchRing(void);

/*
 * FindLeftovers finds what earlier processes of this server left, for the sinks
 * made from now on; RecoverByName claims it for a sink made before.
 * EndRecovery writes what no sink has claimed to the file it was meant for,
 * where possible, and releases the rest.
 */
void NsSinkFindLeftovers(const NsRingKey *keyPtr, const char *spillDirectory);
void NsSinkEndRecovery(void);
void NsSinkRecoverByName(const char *name, bool getsThread);

/*
 * Start and stop the log threads.  Stop writes everything out first.  Finish
 * closes all sinks and deletes the mapping.
 */
void NsSinkStart(void);
void NsSinkStop(void);
void NsSinkFinish(void);

/*
 * The process ends at once.  Before Start: write what can be written now, and
 * delete the mapping if it is empty.
 */
void NsSinkAbandon(void);

/*
 * Write out what waits for a sink, without its thread.  Gives up when another
 * thread has worked for the sink for two seconds.
 */
void NsSinkDrain(Ns_LogSink sink);

/*
 * A thread that looks at sinks without the table lock does so between Enter and
 * Leave: no sink that it can find is freed meanwhile.  The calls nest.
 * FreeRemoved frees removed sinks if no thread is in between.
 */
static inline void NsSinkEnter(void);
static inline void NsSinkLeave(void);
void               NsSinkFreeRemoved(void);
void NsSinkFreeLater(void); /* Something is to be freed; table locked. */

extern atomic_int nsSinkUsers;

static inline void
NsSinkEnter(void)
{
    atomic_fetch_add(&nsSinkUsers, 1);
}

static inline void
NsSinkLeave(void)
{
    atomic_fetch_sub(&nsSinkUsers, 1);
}

#endif
