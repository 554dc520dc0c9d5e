/* SPDX-License-Identifier: MPL-2.0
 * init.h --
 *
 *      The life of the log within the process.
 *
 *      From NsLogInit on, entries go to standard error.  NsLogConfigure opens
 *      the log file, makes the log memory, and recovers what an earlier process
 *      left behind; from then on every record goes through that memory.
 *      Between NsLogStart and NsLogStop log threads write, if asynclogwriter is
 *      on; otherwise the threads that log do.
 */

#ifndef NSD_LOG_INIT_H
#define NSD_LOG_INIT_H

#include "nstypes.h"

/*
 * The values of ns/parameters, with defaults filled in.
 */
typedef struct NsLogSettings {
    const char *file;         /* serverlog; absolute. */
    bool        stayOnStderr; /* -f and -c: do not open the file. */
    bool        keepsOutput;  /* The file is not standard output and error. */
    bool        isDetached;   /* The process that started it does not wait. */
    bool        notice;       /* lognotice ... */
    bool        debug;
    bool        dev;
    bool        usec;
    bool        isExpanded;
    bool        showsTime; /* logsec */
    bool        showsThread;
    bool        showsSpan;  /* logusecdiff */
    bool        isRelative; /* logrelative */
    bool        countsRepeats;
    int         maxBackup;      /* 0..999 */
    const char *rollFormat;     /* logrollfmt; NULL or "": numbers. */
    int         sanitize;       /* sanitizelogfiles, 0..3 */
    bool        hidesAddresses; /* masklogaddr */
    bool        isAsync;        /* asynclogwriter */
    int64_t     memoryBytes;    /* logmemory; 0: 64 MiB. */
    int         maxLogs;        /* Number of streams, and of sinks; raised if
                                 * more than this exist already. */
    int nReaders;               /* Sinks that may take the same stream. */
    int nThreads;               /* Threads that log, counted once for each of
                                 * their streams; 0: some. */
    const char *ringDirectory;  /* logringdir; NULL: NS_LOG_DIRECTORY. */
    const char *spillDirectory; /* logspilldir; NULL: sinks that fall behind
                                 * cannot use the disk. */
    const char *home;           /* With configFile, it identifies the server. */
    const char *configFile;     /* May be NULL. */
} NsLogSettings;

#define NS_LOG_DIRECTORY      "/dev/shm"
#define NS_LOG_MEMORY_DEFAULT (INT64_C(64) << 20)
#define NS_LOG_MEMORY_MIN     (INT64_C(1) << 20)
#define NS_LOG_MEMORY_MAX     (INT64_C(16) << 30)

/*
 * Call before anything else may log.  Idempotent.
 */
void NsLogInit(void);

/*
 * Call once, from the main thread, when the configuration is read, the user
 * switched, and the process is in the background.  A log file that cannot be
 * opened is fatal.  Unless stayOnStderr or keepsOutput, standard output and
 * error are the log file afterwards.
 */
void NsLogConfigure(const NsLogSettings *settingsPtr);

/*
 * Call just before connection threads and drivers start.
 */
void NsLogStart(void);

/*
 * The server begins to stop: soon no thread waits for log memory any more, and
 * records that find none are dropped and counted.  The calling thread never
 * waits from now on.
 */
void NsLogNoteStop(void);

/*
 * The calling thread never waits for log memory, and may use the last of it.
 */
void NsLogNeverWait(void);

/*
 * Write everything out and end the log threads.  Call late in the shutdown:
 * while requests and callbacks run, a stalled sink must not delay them.
 */
void NsLogStop(void);

/*
 * Call last, when no other thread logs any more.
 */
void NsLogFinish(void);

/*
 * True if asynclogwriter is configured.
 */
bool NsLogIsAsync(void);

/*
 * Write out the queued records, as far as that is possible within two seconds.
 */
void NsLogDrain(void);

#endif
