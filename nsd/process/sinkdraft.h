/*
 * sinkdraft.h --
 *
 *      Log sinks in the making: the options set so far, until they are made a
 *      sink or applied to one.
 */

#ifndef NSD_PROCESS_SINKDRAFT_H
#define NSD_PROCESS_SINKDRAFT_H

#include "log/sink/sink.h"

/*
 * Owned by the thread that made it.  Texts are on the heap; NULL or empty: not
 * given.
 */
typedef struct NsSinkDraft {
    const char     *type;       /* One of the names of types; borrowed. */
    char           *streams;    /* A list. */
    char           *file;       /* Of types file and sqlite. */
    char           *address;    /* Of type syslog. */
    char           *connection; /* Of type postgresql. */
    char           *table;      /* Of a database. */
    int             overflow;   /* NsOverflow, -1: not given. */
    bool            isNew;      /* Type to table can still be set. */
    bool            mayWait;    /* For a target that cannot be opened now. */
    NsSinkSettings  settings;   /* bufferNanos -1: the default of the type. */
} NsSinkDraft;

/*
 * Begin with the defaults (sink NULL), or with what is in force in a sink.
 */
void NsSinkDraftInit(NsSinkDraft *draftPtr, Ns_LogSink sink);
void NsSinkDraftFree(NsSinkDraft *draftPtr);

/*
 * Make a sink of that name (or say whether one could be made); apply to one.
 * NS_ERROR: nothing has changed, and the reason is appended to errorPtr.  The
 * draft remains the caller's.  A sink that may wait, and must, is made with a
 * reason, too.  Without a reason, NS_ERROR says that the sink was changed since
 * the draft was begun: begin again.
 */
Ns_ReturnCode NsSinkDraftCreate(const NsSinkDraft *draftPtr, const char *name,
                                Ns_DString *errorPtr);
bool NsSinkDraftIsComplete(const NsSinkDraft *draftPtr, const char *name,
                           Ns_DString *errorPtr);
Ns_ReturnCode NsSinkDraftApply(const NsSinkDraft *draftPtr, Ns_LogSink sink,
                               Ns_DString *errorPtr);

/*
 * The name of a type, constant; NULL: no sink of such a type can be asked for.
 */
const char *NsSinkDraftType(const char *name);

#endif
