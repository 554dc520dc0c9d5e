/* SPDX-License-Identifier: MPL-2.0
 * writer_int.h --
 *
 *      Writer threads and their jobs from inside: writer.c does the work,
 *      writer_info.c describes it.
 */

#ifndef NSD_NET_WRITER_INT_H
#define NSD_NET_WRITER_INT_H

#include "net/driver_int.h"
#include "net/output.h"

#define NS_WRITER_RATES                      \
    3 /* Limits of one job: its own, shared, \
       * driver's. */

struct NsWriterJob {
    NsInboxNode inboxNode;
    atomic_bool isPosted;               /* The node is in the inbox. */
    NsSock     *sockPtr;                /* Constant. */
    NsWriter   *writerPtr;              /* Constant. */
    NsServer   *serverPtr;              /* Constant; these are for the list. */
    NsStamp     queueStamp;             /* Constant. */
    NsStamp     startStamp;             /* Constant. */
    const char *pool;                   /* Constant. */
    NsRate     *rates[NS_WRITER_RATES]; /* Constant; NULL: none. */
    char       *clientData;             /* Constant. */
    NsReceipt  *receiptPtr; /* Constant until sawEnd; then the writer
                             * thread's, NULL when it has ended. */

    /* The thread that answers, until it has finished. */
    NsOutputStore store;

    /* Guarded by the writer's lock. */
    NsWriterJob *nextPtr;
    NsWriterJob *prevPtr;
    NsOutput     incoming;
    bool         isFinished;
    bool         isDraining; /* NsWriterDrain waits for the end. */
    bool         keep;

    /* The writer thread. */
    NsOutput     output;
    NsWheelEntry wheelEntry;
    NsWriterJob *nextReadyPtr;
    bool         isReady; /* In the list of those to be served. */
    bool         isRegistered;
    bool         isPaused;    /* wheelEntry is the end of the pause. */
    bool         sawEnd;      /* Nothing more will be appended. */
    size_t       nRefused;    /* Bytes offered last that did not go. */
    NsStamp      windowStamp; /* For the minimum rate. */
    int64_t      windowBytes;

    NsRate rate; /* Any thread may set the limit. */

    /* Relaxed: figures for the list and for the appending thread. */
    atomic_bool     isGone; /* Sending failed. */
    _Atomic int64_t remaining;
    _Atomic int64_t appended;
    _Atomic int64_t sent;
    atomic_int      fd; /* Of the file being sent; -1. */
};

struct NsWriter {
    NsDriver   *drvPtr;     /* Constant. */
    int         index;      /* Constant. */
    Ns_Thread   thread;     /* Constant. */
    NsLoop      loop;       /* Clients, and jobs with something new. */
    atomic_bool mustGiveUp; /* All jobs, once; relaxed. */

    Ns_Mutex     lock;    /* Guards the jobs as said there, and: */
    Ns_Cond      changed; /* A job ended. */
    NsWriterJob *firstPtr;
    NsWriterJob *lastPtr;

    /* The writer thread. */
    NsWriterJob *firstReadyPtr;
    NsWriterJob *lastReadyPtr;

    _Atomic int64_t sent; /* Written by the thread, as the next; figures. */
    _Atomic int64_t nAborted[NS_ABORT_REASONS];
};

#endif
