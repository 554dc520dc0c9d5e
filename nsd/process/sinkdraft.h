/* SPDX-License-Identifier: MPL-2.0
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
    const NsSinkType *typePtr;  /* NULL: it was asked for and is not there. */
    Ns_LogSinkValue  *values;   /* Of its options; the text NULL: not given. */
    char             *streams;  /* A list. */
    int               overflow; /* NsOverflow, -1: not given. */
    bool              isNew;    /* The kind of the sink can still be set. */
    bool              mayWait;  /* For a target that cannot be opened now. */
    NsSinkSettings    settings;
} NsSinkDraft;

/*
 * Begin with the defaults of a type (NULL: file), or with what is in force in a
 * sink.  If there is no such type, setting it says so, and only that.
 */
void NsSinkDraftInit(NsSinkDraft *draftPtr, const char *type);
void NsSinkDraftInitFrom(NsSinkDraft *draftPtr, Ns_LogSink sink);
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

#endif
