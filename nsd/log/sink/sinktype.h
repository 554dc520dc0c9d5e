/* SPDX-License-Identifier: MPL-2.0
 * sinktype.h --
 *
 *      The types of sinks: the server's own, and those of modules, which are
 *      loaded on demand.
 */

#ifndef NSD_LOG_SINK_SINKTYPE_H
#define NSD_LOG_SINK_SINKTYPE_H

#include "log/ring/ring.h"
#include "log/stream/stream.h"
#include "nslogsink.h"

/*
 * Operations on a target that is a file, other than writing.
 */
typedef struct NsSinkFileProcs {
    /*
     * Between two records: do what another thread has asked for (asked), roll
     * it if it is time (nextRoll), and delete backups (retainDue).
     */
    void (*tendProc)(Ns_LogSink sink);

    /*
     * Before a write, at most once a second: check whether the file was
     * renamed, deleted or truncated.  Measure: find out how large it is.
     */
    void (*lookProc)(Ns_LogSink sink);
    void (*measureProc)(Ns_LogSink sink);

    /*
     * Write the buffer out, rename the file as the procedure says (NULL: as the
     * settings say), and open a new one.  NS_ERROR: errno says why.
     */
    Ns_ReturnCode (*rollProc)(Ns_LogSink sink, Ns_LogRenameProc *rename,
                              void *arg);

    /*
     * Start: the sink begins, or its settings have changed; tend it soon.  End:
     * the sink is being freed.
     */
    void (*startProc)(Ns_LogSink sink);
    void (*endProc)(Ns_LogSink sink);
} NsSinkFileProcs;

/*
 * A type of sink; it knows the target.  All procedures are called with the sink
 * locked.
 */
typedef struct NsSinkType {
    const char *name;

    /* Its parameters; the first says where a sink writes.  NULL: none. */
    const Ns_LogSinkOption *options;

    /*
     * Their defaults.  NULL: the type is the server's own, and a sink that is
     * not made of a draft has only its `file`.
     */
    const Ns_LogSinkValue *defaults;

    /*
     * The first parameter as people may see it, on the heap.  NULL: show it as
     * it is.
     */
    char *(*showProc)(const char *text);

    /* It cannot be configured. */
    bool isHidden;

    /* The target is a file that can be rolled.  NULL: it is not. */
    const NsSinkFileProcs *filePtr;

    /*
     * The target means nothing to a later process, and takes none of the
     * server's own lines.
     */
    bool isPassing;

    /* Records left for a sink that no longer exists are written to its file. */
    bool outlivesSink;

    /* It writes rows: batchRows holds, and bufferNanos even for the first. */
    bool isDatabase;

    /* Defaults of these two; 0: those of databases. */
    int     batchRows;
    int64_t bufferNanos;

    /* Its target may be unreachable: only its own thread retries. */
    bool isRemote;

    /* Open the target.  False: errno says why. */
    bool (*openProc)(Ns_LogSink sink);

    /* Write some or all of the bytes.  Returns how many, or -1 and errno. */
    ssize_t (*writeProc)(Ns_LogSink sink, const char *bytes, size_t length);

    /*
     * Wait until the bytes written have arrived.  False: errno says why not,
     * and nWritten is where to continue.  NULL: a write confirms them.
     */
    bool (*confirmProc)(Ns_LogSink sink);

    /*
     * Wait until the bytes written are on disk.  False: errno says why not.
     * NULL: a database does that with every write; other targets cannot tell.
     */
    bool (*syncProc)(Ns_LogSink sink);

    void (*closeProc)(Ns_LogSink sink);

    /* Where the next write goes, for recovery.  NULL: unknown. */
    bool (*whereProc)(Ns_LogSink sink, uint64_t *offsetPtr, uint64_t *inodePtr);

    /*
     * Format a record into the buffer, like the format procedure of a stream.
     * NULL: use the stream's.
     */
    size_t (*formatProc)(Ns_LogSink sink, Ns_LogStream stream,
                         const Ns_LogRecord *recordPtr, char *buffer,
                         size_t room);

    /*
     * The slot belongs to a process that was killed: set its cursors right.
     * False: not possible now, and errno says why.  NULL: only the mapping
     * knows about an interrupted write.
     */
    bool (*settleProc)(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);
} NsSinkType;

/*
 * The type with that name; NULL: there is none, and no module provides it.
 * Find may load a module: hold no lock.
 */
const NsSinkType *NsSinkTypeFind(const char *name);

/*
 * A loaded type, by index; NULL: behind the last.
 */
const NsSinkType *NsSinkTypeAt(int index);

/*
 * Add a type, which must stay valid.  False: the name is taken, or the table is
 * full.
 */
bool NsSinkTypeAdd(const NsSinkType *typePtr);

/*
 * The procedure that loads the module of a type and adds the type.
 */
typedef void NsSinkTypeLoadProc(const char *name);
void         NsSinkTypeSetLoadProc(NsSinkTypeLoadProc *proc);

int NsSinkTypeCountOptions(const NsSinkType *typePtr);

#endif
