/* SPDX-License-Identifier: MPL-2.0
 * nslogsink.h --
 *
 *      Types of log sinks, for modules that write log records somewhere: into a
 *      database, to a message broker, to a program.
 *
 *      A module nslogTYPE.so exports Ns_LogSinkInit, which returns the table of
 *      its type.  The server loads it for the first sink of that type, from
 *      home/bin or from where its own modules are.
 *
 *      A sink's records come in batches of rows.  One thread at a time works
 *      for a sink, but not always the same one, and what an earlier process
 *      left may be written through a second target to the same place, while the
 *      first one waits.  A call that does not return holds up its sink and
 *      nothing else; see doc/sinks.md.
 */

#ifndef NSLOGSINK_H
#define NSLOGSINK_H

#include "nstypes.h"

/*
 * Counts up when something below changes.
 */
#define NS_LOGSINK_INTERFACE 2

/*
 * An option of a type: a parameter of its sinks in addition to those that all
 * sinks have.  None of them can be changed once a sink exists.
 */
typedef enum {
    NS_LOGSINK_TEXT, /* Limits: of its bytes. */
    NS_LOGSINK_PATH, /* Likewise.  Absolute; a relative one is below
                      * the directory of the server's logs. */
    NS_LOGSINK_BOOL, /* 0 or 1. */
    NS_LOGSINK_INTEGER,
    NS_LOGSINK_SIZE, /* In bytes. */
    NS_LOGSINK_TIME, /* In nanoseconds; limits and default are
                      * given in seconds. */
    NS_LOGSINK_INPUT /* As a path, of a file that the type reads; a
                      * relative one is below the server's home.
                      * nsd -T says if it cannot be read. */
} Ns_LogSinkKind;

typedef struct Ns_LogSinkOption {
    const char    *name;
    Ns_LogSinkKind kind;
    const char    *defaultText; /* NULL: it has to be given. */
    int64_t        min;
    int64_t        max;                 /* 0: without limits. */
    bool           isSecret;            /* Never shown in an error nor, except
                                         * for the first option, in the
                                         * settings of a sink. */
    int (*checkProc)(const char *text); /* NS_OK: it is valid.
                                         * NULL: it always is. */
    const char *range;    /* What it may be, in words: "a path". */
    const char *sentence; /* For the manual. */
} Ns_LogSinkOption;

typedef struct Ns_LogSinkValue {
    const char *text; /* "" if it is empty. */
    int64_t     number;
} Ns_LogSinkValue;

/*
 * One sink as its type sees it.
 */
typedef struct Ns_LogSinkTarget {
    const char *sink;                  /* Its name, */
    const char *server;                /* and that of this server: both are
                                        * part of a position's key. */
    const Ns_LogSinkValue *values;     /* In the order of the options. */
    void                  *data;       /* The type's own; NULL at first. */
    char                   error[256]; /* Why a call failed, in words; "": see
                                        * errno.  Empty before each call. */
} Ns_LogSinkTarget;

typedef struct Ns_LogText {
    const char *bytes; /* Not terminated; any bytes. */
    size_t      length;
} Ns_LogText;

typedef struct Ns_LogRow {
    int64_t    nanos;    /* Since 1970. */
    char       time[80]; /* 2026-11-21T00:07:07.123456Z */
    Ns_LogText stream;
    Ns_LogText severity;
    Ns_LogText record; /* As the sink's format says. */
} Ns_LogRow;

/*
 * The position up to which a lane has been read.  Lanes count from 0 in each
 * epoch; an epoch belongs to one process.
 */
typedef struct Ns_LogPosition {
    uint32_t lane;
    uint64_t position; /* Below 2^63. */
} Ns_LogPosition;

/*
 * Rows to be written together, and the positions that hold afterwards.
 */
typedef struct Ns_LogSinkBatch {
    uint64_t              epoch;
    const Ns_LogPosition *positions;
    int                   nPositions;
    bool                  mayForget; /* This sink and server need positions
                                      * of no other epoch any more. */
    bool isAwaited;                  /* Someone waits until it is safe: the
                                      * target must still be what it was. */
    int         insertRows;          /* Rows of one insert: batchsize. */
    const char *next;                /* For Ns_LogSinkNextRow. */
    const char *end;
    void       *engine; /* The server's. */
} Ns_LogSinkBatch;

/*
 * Take the next row; 0: there is none.  The row's texts are valid until the
 * write returns.
 */
NS_EXTERN int Ns_LogSinkNextRow(Ns_LogSinkBatch *batchPtr, Ns_LogRow *rowPtr);

/*
 * A row is left out for good, since the target takes all but this one.  It is
 * counted and reported, if the write succeeds.
 */
NS_EXTERN void Ns_LogSinkRefuse(Ns_LogSinkBatch *batchPtr, const char *reason);

/*
 * Length of the character that the bytes begin with, if it is UTF-8 (RFC 3629);
 * else 0.  Clients can get any bytes into a log.
 */
NS_EXTERN size_t Ns_LogSinkUtf8Bytes(const char *bytes, size_t length);

/*
 * For positionsProc: the target has what precedes that position.
 */
typedef struct Ns_LogSinkPositions Ns_LogSinkPositions;

NS_EXTERN void Ns_LogSinkAddPosition(Ns_LogSinkPositions *listPtr, int64_t lane,
                                     int64_t position);

/*
 * The type.  A procedure that fails returns NS_ERROR and sets errno, and error
 * if it has a better message; it is tried again.
 */
#define NS_LOGSINK_FILE                            \
    1u /* The first option is the path of the file \
        * that is written: what is left for a sink \
        * that no longer exists goes there. */

typedef struct Ns_LogSinkType {
    int                     version; /* NS_LOGSINK_INTERFACE */
    unsigned                flags;
    const char             *name;
    const Ns_LogSinkOption *options; /* Ends with a NULL name.  The first one
                                      * names the target of a sink. */

    /* The value of that option as people may see it, for ns_free.  NULL: as it
     * is. */
    char *(*showProc)(const char *text);

    /* Called until it succeeds, and before all others.  The target need not be
     * there: a sink whose target cannot be opened is not made at run time. */
    int (*openProc)(Ns_LogSinkTarget *targetPtr);

    /* Write the batch: all or nothing, rows and positions in one
     * transaction. */
    int (*writeProc)(Ns_LogSinkTarget *targetPtr, Ns_LogSinkBatch *batchPtr);

    /* What was written has arrived; NS_ERROR: all of the last batch has to be
     * written again.  NULL: a write confirms it. */
    int (*confirmProc)(Ns_LogSinkTarget *targetPtr);

    /* What was written outlives the machine.  NULL: it always does. */
    int (*syncProc)(Ns_LogSinkTarget *targetPtr);

    /* The positions of an epoch of this sink and server, for a process that
     * takes over what another one left.  NULL: the target keeps none, and what
     * was being written when a process died is written again. */
    int (*positionsProc)(Ns_LogSinkTarget *targetPtr, uint64_t epoch,
                         Ns_LogSinkPositions *listPtr);

    /* Undo open. */
    void (*closeProc)(Ns_LogSinkTarget *targetPtr);

    /* Defaults of batchsize and, in seconds, of buffertime, for a target where
     * a write costs the same for a few rows as for thousands.  0: those of
     * databases. */
    int batchRows;
    int bufferSeconds;
} Ns_LogSinkType;

/*
 * The function that a module exports.  NULL: it cannot be used, and *reasonPtr,
 * which lives on, says why.  May be called more than once, by any thread.
 */
typedef const Ns_LogSinkType *Ns_LogSinkInitProc(const char **reasonPtr);

NS_EXTERN Ns_LogSinkInitProc Ns_LogSinkInit;

#endif
