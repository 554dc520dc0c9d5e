/* SPDX-License-Identifier: MPL-2.0
 * sinkkind.h --
 *
 *      What the values of log sinks' parameters mean: a parameter has a kind,
 *      and that says how text becomes its member, or members, of a draft, and
 *      the other way.
 */

#ifndef NSD_PROCESS_SINKKIND_H
#define NSD_PROCESS_SINKKIND_H

#include "nsstring.h"
#include "process/parameters.h"
#include "process/sinkdraft.h"

typedef enum {
    NS_SINKKIND_TYPE, /* The draft has it already; see NsSinkDraftInit. */
    NS_SINKKIND_TEXT, /* This and the next five: char *, NULL if empty. */
    NS_SINKKIND_LIST,
    NS_SINKKIND_IGNORE,
    NS_SINKKIND_FIELDS,
    NS_SINKKIND_MASK,
    NS_SINKKIND_CONDITIONS,
    NS_SINKKIND_FORMAT,   /* The settings. */
    NS_SINKKIND_SEVERITY, /* int, -1: all. */
    NS_SINKKIND_NUMBER,   /* int. */
    NS_SINKKIND_HOUR,     /* int, -1: empty. */
    NS_SINKKIND_SIZE,     /* size_t. */
    NS_SINKKIND_NANOS,    /* int64_t. */
    NS_SINKKIND_BOOL,
    NS_SINKKIND_COMPRESS, /* bool. */
    NS_SINKKIND_SYNC,     /* The settings. */
    NS_SINKKIND_OVERFLOW, /* int, -1: not given. */
    NS_SINKKIND_RATE,     /* The settings. */
    NS_SINKKIND_MODE,     /* int. */
    NS_SINKKIND_PERIOD,   /* int, seconds, 0: empty. */
    NS_SINKKIND_MINFREE,  /* The settings, */
    NS_SINKKIND_OWNER     /* and these as well. */
} NsSinkKind;

/*
 * A parameter that all sinks have.
 */
typedef struct NsSinkParameter {
    NsParameter row; /* For the check and the manual; the limits of
                      * numbers and sizes hold here, too. */
    NsSinkKind  kind;
    size_t      offset;  /* Of the member. */
    bool        isFixed; /* Once the sink is made. */
    const char *range;   /* The values it may have, in words. */
} NsSinkParameter;

/*
 * False: the value is none of the kind, or out of range; what there is to say
 * beyond that is appended to problemPtr.
 */
bool NsSinkKindSet(const NsSinkParameter *optionPtr, NsSinkDraft *draftPtr,
                   const char *value, Ns_DString *problemPtr);
void NsSinkKindAppend(Ns_DString *dsPtr, const NsSinkParameter *optionPtr,
                      const NsSinkDraft *draftPtr);

#endif
