/*
 * sinktype.h --
 *
 *      The types of sinks: those of the server, and those of modules, which are
 *      loaded when they are asked for.
 */

#ifndef NSD_LOG_SINK_SINKTYPE_H
#define NSD_LOG_SINK_SINKTYPE_H

#include "log/ring/ring.h"
#include "log/stream/stream.h"
#include "nslogsink.h"

/*
 * What can be done with a target that is a file, besides writing.
 */
typedef struct NsSinkFileProcs {
    /* Between two records: open it anew if another thread has asked for that
     * (isReopenAsked), roll it if it is time (nextRoll). */
    void (*tendProc)(Ns_LogSink sink);

    /* Before a write, once a second at most: what if it has been renamed,
     * deleted, or cut?  And how large is it? */
    void (*lookProc)(Ns_LogSink sink);
    void (*measureProc)(Ns_LogSink sink);

    /* Write out, rename it as the procedure says, NULL: the settings, and open
     * a new one.  NS_ERROR: errno tells why. */
    Ns_ReturnCode (*rollProc)(Ns_LogSink sink, Ns_LogRenameProc *rename,
                              void *arg);

    /* The sink begins, or its settings have changed; it is no more. */
    void (*startProc)(Ns_LogSink sink);
    void (*endProc)(Ns_LogSink sink);
} NsSinkFileProcs;

/*
 * A type of sink; it knows its target.  All are called with the sink locked.
 */
typedef struct NsSinkType {
    const char *name;

    /* Its parameters; the first says where a sink writes.  NULL: none. */
    const Ns_LogSinkOption *options;

    /* Their defaults.  NULL: the type is one of the server's own, which looks
     * at the sink's `file` alone. */
    const Ns_LogSinkValue *defaults;

    /* That parameter as people may see it, on the heap.  NULL: as it is. */
    char *(*showProc)(const char *text);

    /* No configuration can ask for it. */
    bool isHidden;

    /* Its target is a file that can be rolled.  NULL: it is not. */
    const NsSinkFileProcs *filePtr;

    /* A sink's target means nothing to a later process, and takes no lines of
     * the server's own. */
    bool isPassing;

    /* Records left for a sink that no longer exists are written to its file. */
    bool outlivesSink;

    /* It writes rows: batchRows holds, and bufferNanos even for the first. */
    bool isDatabase;

    /* Its target may be away: its thread alone tries again. */
    bool isRemote;

    /* Open the target; errno says why not. */
    bool (*openProc)(Ns_LogSink sink);

    /* Write some or all of the bytes; how many, or -1 and errno. */
    ssize_t (*writeProc)(Ns_LogSink sink, const char *bytes, size_t length);

    /* The bytes written have arrived; else errno says why not, and nWritten is
     * where to continue.  NULL: a write confirms them. */
    bool (*confirmProc)(Ns_LogSink sink);

    /* The bytes written are on disk; errno says why not.  NULL: a database's
     * always is, and no other can say so. */
    bool (*syncProc)(Ns_LogSink sink);

    void (*closeProc)(Ns_LogSink sink);

    /* The place of the next write, for recovery.  NULL: it is not known. */
    bool (*whereProc)(Ns_LogSink sink, uint64_t *offsetPtr, uint64_t *inodePtr);

    /* Put a record into the buffer, like a format procedure of a stream.  NULL:
     * the stream's own. */
    size_t (*formatProc)(Ns_LogSink sink, Ns_LogStream stream,
                         const Ns_LogRecord *recordPtr, char *buffer,
                         size_t room);

    /* The slot is of a process that was killed: set its cursors right.  False:
     * it cannot now, and errno says why.  NULL: the mapping alone knows about a
     * write under way. */
    bool (*settleProc)(Ns_LogSink sink, NsRing *ringPtr, NsRingSink *slotPtr);
} NsSinkType;

/*
 * Of that name; NULL: there is none, and no module has it.  Find loads a module
 * if it has to: hold no lock.
 */
const NsSinkType *NsSinkTypeFind(const char *name);

/*
 * By index, those that are loaded; NULL: behind the last.
 */
const NsSinkType *NsSinkTypeAt(int index);

/*
 * Add one, which lives on.  False: there is one of that name, or no room.
 */
bool NsSinkTypeAdd(const NsSinkType *typePtr);

/*
 * The procedure that loads a module for a type, and adds it.
 */
typedef void NsSinkTypeLoadProc(const char *name);
void         NsSinkTypeSetLoadProc(NsSinkTypeLoadProc *proc);

int NsSinkTypeCountOptions(const NsSinkType *typePtr);

#endif
