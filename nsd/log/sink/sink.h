/*
 * sink.h --
 *
 *      Sinks: each takes records of some streams and writes them somewhere.
 *
 *      A sink reads its streams' lanes with its own cursors, so no sink waits
 *      for another.  Log threads (worker.h) serve it: they take turns, one at
 *      a time.  Where there are none for it, those who log take the turns: each
 *      puts its record into its lane and waits for a turn, in which all
 *      records that are there by then are read and written at once.
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
    NS_SYNC_TIME   /* At most that long after it. */
} NsSyncMode;

/*
 * What can be set while a sink runs.
 */
typedef struct NsSinkSettings {
    unsigned version;     /* Changes with each change of the others. */
    int      format;      /* See stream.h. */
    int      minSeverity; /* -1: all. */
    char    *ignore;      /* Kinds; or NULL.  Owned by the settings. */
    int64_t  slowNanos;   /* These three: of stream operation only. */
    int      sample;
    bool     onlyErrors;
    size_t   maxMemory;  /* How far behind it may be in log memory; 0:
                          * half of that.  Beyond it, what it has not
                          * written goes to a file of at most */
    size_t     maxSpill; /* so many bytes; 0: there is none. */
    size_t     bufferBytes;
    int64_t    bufferNanos;
    int        bufferLines; /* 0: no limit, and the two above hold. */
    int        batchRows;   /* Of one insert into a database. */
    NsSyncMode sync;
    int64_t    syncNanos;
    size_t     rotateBytes; /* 0: never by size. */
    int        rollHour;    /* -1: never by time. */
    int        maxBackup;
    bool       isCompressed; /* gzip backups. */
    char      *rollFormat;   /* NULL: numbers.  Owned, too. */
    bool       isRequired;   /* Without it the server does not start. */
} NsSinkSettings;

extern const NsSinkSettings nsSinkDefaults;

typedef enum {
    NS_TROUBLE_NONE,
    NS_TROUBLE_STALLED, /* In a write or sync that takes long. */
    NS_TROUBLE_FAILING  /* Writing failed, and is tried again. */
} NsSinkTrouble;

/*
 * The ledger of one sink: at every moment accepted is the sum of those from
 * delivered to pending.
 */
typedef struct NsSinkStats {
    NsSinkTrouble trouble;
    int64_t       troubleSince; /* As NsLogClock; 0 if there is none. */
    uint64_t      accepted;
    uint64_t      delivered;
    uint64_t      ignored;         /* Not wanted by the sink's settings. */
    uint64_t      droppedMemory;   /* The log memory was full. */
    uint64_t      droppedFailed;   /* The sink could not write them in time. */
    uint64_t      droppedDamaged;  /* Overwritten from outside. */
    uint64_t      droppedRejected; /* The database refuses the row. */
    uint64_t      pending;
    uint64_t      spilled;      /* Of these, about so many are on disk, */
    uint64_t      spilledBytes; /* and so much of it. */
    uint64_t      behind;       /* Bytes of memory in use because of it. */
    uint64_t      bytes;
    uint64_t      writes;
    uint64_t      syncs;
    uint64_t      errors;
    uint64_t      wakeups;
    uint64_t      deepest;      /* Most records that were pending. */
    int64_t       longestWrite; /* Nanoseconds. */
    int64_t       writeNanos;   /* Of all writes. */
} NsSinkStats;

/*
 * What a sink is made from; all of it is copied.
 */
typedef struct NsSinkSpec {
    const char            *name;    /* NS_RING_NAME - 1 bytes at most. */
    const char            *type;    /* One that NsSinkTypeFind finds. */
    const char *const     *streams; /* Names or their beginnings. */
    int                    nStreams;
    const char            *file;     /* Absolute path, or address; or NULL. */
    const Ns_LogSinkValue *values;   /* Of a module's type, in the order of its
                                      * options; file is how the first shows.
                                      * NULL: the defaults, file, and */
    const char    *table;            /* its option `table`, if it has that. */
    bool           isAwaited;        /* Those who log write it themselves. */
    bool           isStandardOutput; /* Descriptors 1 and 2 go with it. */
    bool           isModules;        /* A module keeps the handle. */
    bool           mayOpenLater;     /* Made though it cannot be opened. */
    NsSinkSettings settings;
} NsSinkSpec;

extern bool nsSinkIsAsync; /* asynclogwriter; after NsLogConfigure. */

void NsSinkInit(void);

/*
 * Make a sink; what an earlier process left for it is written first.  NULL: its
 * target cannot be opened, and errno tells why.  One that may open later is
 * made, and its records wait for that.
 */
Ns_LogSink NsSinkCreate(const NsSinkSpec *specPtr);

/*
 * In errno: there are as many sinks, or readers of one of its streams, as there
 * can be; the target has words of its own for what is wrong; there is no log
 * thread, and none can be had.  Reason is the text for these, or for another
 * errno, right after it in the same thread.
 */
#define NS_SINK_TOO_MANY         NS_STREAM_TOO_MANY
#define NS_SINK_TOO_MANY_READERS EMLINK
#define NS_SINK_COMPLAINS        EBADMSG
#define NS_SINK_NO_THREAD        ESRCH
const char *NsSinkReason(int reason);

/*
 * By name, in the order of creation.
 */
Ns_LogSink        NsSinkFind(const char *name);
Ns_LogSink        NsSinkAt(int index);
const char       *NsSinkName(Ns_LogSink sink);
const NsSinkType *NsSinkTypeOf(Ns_LogSink sink);
const char       *NsSinkFile(Ns_LogSink sink);
const char       *NsSinkOption(Ns_LogSink sink, int index); /* Of its type. */
const char *NsSinkPattern(Ns_LogSink sink, int index);      /* NULL: no more. */
bool        NsSinkWants(Ns_LogSink sink, int stream);

/*
 * In-band, like the functions of nslogstream.h.  Settings are copied; what
 * GetSettings fills in is the caller's, to be given to FreeSettings.
 * Configure: errno EAGAIN when another thread has changed some since these
 * were got; the caller gets them again.
 */
Ns_ReturnCode NsSinkConfigure(Ns_LogSink            sink,
                              const NsSinkSettings *settingsPtr);
void          NsSinkGetSettings(Ns_LogSink sink, NsSinkSettings *settingsPtr);
void          NsSinkFreeSettings(NsSinkSettings *settingsPtr);
Ns_ReturnCode NsSinkSync(Ns_LogSink sink);

/*
 * For users of sinks (see below): every sink of the stream has on disk, or
 * committed, what was put.  NS_ERROR: *failedPtr has not, and errno tells why;
 * ENOTSUP: and never can.
 */
Ns_ReturnCode NsSinkSyncStream(Ns_LogStream stream, Ns_LogSink *failedPtr);
Ns_ReturnCode NsSinkRollNow(Ns_LogSink sink);
Ns_ReturnCode NsSinkRemove(Ns_LogSink sink);
bool          NsSinkIsRemoved(Ns_LogSink sink);

/*
 * All sinks open their files anew, soon: someone has renamed them.
 */
void NsSinkReopenAll(void);

/*
 * False: the system log, and those that a module made and goes on using.
 */
bool NsSinkMayRemove(Ns_LogSink sink);

void NsSinkGetStats(Ns_LogSink sink, NsSinkStats *statsPtr);

/*
 * From NsSinkStart on log threads serve a sink that was awaited.
 */
void NsSinkAwaitNoMore(Ns_LogSink sink);

/*
 * Make the mapping; sinks that there are already read its lanes then.  NULL,
 * or why it cannot be.  Sinks that fall behind have files in the directory;
 * NULL: they have none.
 */
const char *NsSinkUseRing(const NsRingKey *keyPtr, const char *spillDirectory,
                          const NsRingNeed *needPtr);
const char *NsSinkRingPath(void);

/*
 * Now and then, in one thread: see that the mapping has its file, or give it
 * another one; and write what processes left that have been killed since this
 * one was started.
 */
void NsSinkWatchRing(void);

/*
 * Find what earlier processes of this server left, for sinks made from now on,
 * and for one that was made before; and give up what no sink has claimed.
 */
void NsSinkFindLeftovers(const NsRingKey *keyPtr, const char *spillDirectory);
void NsSinkEndRecovery(void);
void NsSinkRecoverByName(const char *name, bool getsThread);

/*
 * Start and stop the log threads.  Stop writes out everything first.  Finish
 * closes all sinks and deletes the mapping.
 */
void NsSinkStart(void);
void NsSinkStop(void);
void NsSinkFinish(void);

/*
 * The process ends at once.  If that is before Start: write what can be written
 * now, and leave no mapping behind in which nothing is.
 */
void NsSinkAbandon(void);

/*
 * Write out what waits for a sink, without its thread; gives up when another
 * thread has been at it for two seconds.
 */
void NsSinkDrain(Ns_LogSink sink);

/*
 * Who looks at sinks without the lock of their table is between these two; no
 * sink that it can find is freed meanwhile.  They nest.  FreeRemoved frees
 * those that were removed, if nobody is.
 */
static inline void NsSinkEnter(void);
static inline void NsSinkLeave(void);
void               NsSinkFreeRemoved(void);
void NsSinkFreeLater(void); /* There is something; table locked. */

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
