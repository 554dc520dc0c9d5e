/*
 * sinkoptions.h --
 *
 *      The parameters of log sinks as text: in the configuration, and in
 *      ns_logsink.
 *
 *      A draft takes values one by one, in any order, and is then made a sink,
 *      or applied to one.  An error names the parameter, the value and what is
 *      allowed; nothing has changed then.
 */

#ifndef NSD_PROCESS_SINKOPTIONS_H
#define NSD_PROCESS_SINKOPTIONS_H

#include "log/sink.h"

typedef struct NsSinkDraft {
    const char     *type;       /* One of the names of types. */
    char           *streams;    /* A list. */
    char           *file;       /* Of type file. */
    char           *address;    /* Of type syslog. */
    char           *connection; /* Of type postgresql. */
    char           *table;      /* Of a database. */
    bool            hasBufferTime;
    int             overflow;   /* NsOverflow, -1: not given. */
    bool            isNew;      /* Type, streams and file can still be set. */
    NsSinkSettings  settings;
} NsSinkDraft;

/*
 * Begin with the defaults, or with what is in force in a sink.
 */
void NsSinkDraftInit(NsSinkDraft *draftPtr, Ns_LogSink sink);
void NsSinkDraftFree(NsSinkDraft *draftPtr);

/*
 * Set one.  NS_ERROR: the reason is appended to errorPtr.
 */
Ns_ReturnCode NsSinkDraftSet(NsSinkDraft *draftPtr, const char *name,
                             const char *value, Ns_DString *errorPtr);

/*
 * Make a sink of that name; apply to one.  NS_ERROR: as above.
 */
Ns_ReturnCode NsSinkDraftCreate(const NsSinkDraft *draftPtr, const char *name,
                                Ns_DString *errorPtr);
Ns_ReturnCode NsSinkDraftApply(const NsSinkDraft *draftPtr, Ns_LogSink sink,
                               Ns_DString *errorPtr);

/*
 * Names of parameters by index, NULL behind the last, and the value in a draft.
 */
const char *NsSinkOptionName(int index);
void        NsSinkOptionAppend(Ns_DString *dsPtr, const NsSinkDraft *draftPtr,
                               int index);

/*
 * Make the sinks of sections ns/logsinks and ns/logsink/NAME.  One that cannot
 * be made is logged and left out.
 */
void NsSinkOptionsSetup(void);

#endif
