/*
 * init.h --
 *
 *      The life of the log within the process.
 *
 *      From NsLogInit on, entries go to standard error.  NsLogConfigure opens
 *      the log file, makes the log memory, and recovers what an earlier
 *      process left behind; from then on every record goes through that
 *      memory.  Between NsLogStart and NsLogStop log threads write, if
 *      asynclogwriter is on; otherwise those who log do.
 */

#ifndef NSD_LOG_INIT_H
#define NSD_LOG_INIT_H

#include "nstypes.h"

/*
 * The values of ns/parameters, defaults filled in.
 */
typedef struct NsLogSettings {
    const char *file;         /* serverlog; absolute. */
    bool        stayOnStderr; /* -f and -c: do not open the file. */
    bool        isDetached;   /* Whoever started it does not wait for it. */
    bool        notice;       /* lognotice ... */
    bool        debug;
    bool        dev;
    bool        usec;
    bool        isExpanded;
    int         maxBackup;      /* 0..999 */
    const char *rollFormat;     /* logrollfmt; NULL or "": numbers. */
    int         sanitize;       /* sanitizelogfiles, 0..2 */
    bool        isAsync;        /* asynclogwriter */
    int64_t     memoryBytes;    /* logmemory; 0: 64 MiB. */
    int         maxLogs;        /* So many streams, and sinks; a few more than
                                 * there are by then, if it is less. */
    int nReaders;               /* Sinks that may take the same stream. */
    int nThreads;               /* That log, counted once for each stream of
                                 * theirs; 0: some. */
    const char *ringDirectory;  /* logringdir; NULL: /dev/shm. */
    const char *spillDirectory; /* logspilldir; NULL: sinks have nothing on
                                 * disk when they are behind. */
    const char *home;           /* With configFile: which server this is. */
    const char *configFile;     /* May be NULL. */
} NsLogSettings;

#define NS_LOG_MEMORY_DEFAULT (INT64_C(64) << 20)
#define NS_LOG_MEMORY_MIN     (INT64_C(1) << 20)
#define NS_LOG_MEMORY_MAX     (INT64_C(16) << 30)

/*
 * Before anything else may log.  Idempotent.
 */
void NsLogInit(void);

/*
 * Main thread, once, when the configuration has been read, the user switched,
 * and the process is in the background.  A log file that cannot be opened is
 * fatal.  Standard output and error are the log file afterwards, unless
 * stayOnStderr.
 */
void NsLogConfigure(const NsLogSettings *settingsPtr);

/*
 * Just before connection threads and drivers start.
 */
void NsLogStart(void);

/*
 * The server begins to stop: soon no thread waits for log memory any more,
 * what finds none is dropped and counted.  The calling thread never does from
 * now on.
 */
void NsLogNoteStop(void);

/*
 * The calling thread never waits for log memory, and may use the last of it.
 */
void NsLogNeverWait(void);

/*
 * Write out everything, end the log threads.  Late in the shutdown: as long as
 * requests and callbacks run, no sink that is stalled may hold them up.
 */
void NsLogStop(void);

/*
 * The last step before the process ends, when no other thread logs any more.
 */
void NsLogFinish(void);

/*
 * True if asynclogwriter is configured.
 */
bool NsLogIsAsync(void);

/*
 * Write out what was handed over, as far as that can be had within two seconds.
 */
void NsLogDrain(void);

#endif
