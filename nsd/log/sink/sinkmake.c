/* SPDX-License-Identifier: MPL-2.0
 * sinkmake.c --
 *
 *      How a single sink is made and freed.
 */

#include "log/sink/sinkmake.h"

#include "base/assert.h"
#include "log/sink/sink_int.h"
#include "log/sink/sinktarget.h"
#include "log/sink/sinkreader.h"
#include "log/sink/sinkloan.h"
#include "log/sink/sinkbuffer.h"
#include "log/sink/sinklane.h"
#include "log/sink/sinkstate.h"
#include "log/sink/sinktable.h"
#include "log/sink/sinktype.h"
#include "nsstring.h"
#include "nsthread.h"

#define TABLE "table" /* The option that is copied to the mapping. */

/* From the sink that this thread failed to make. */
static _Thread_local char
    complaint[sizeof(((NsSinkFailing *) NULL)->complaint)];

/*
 * A sink and the parts to which it points.
 */
typedef struct Whole {
    struct Ns_LogSink_ sink;
    NsSinkLoan         loan;
    NsSinkKeeper       keeper;
    NsSinkReader       reader;
    NsSinkBuffer       buffer;
    NsSinkRefusals     refusals;
    NsSinkFailing      failing;
    NsSinkRepeats      repeats;
    NsSinkTarget       target;
} Whole;

static Ns_LogSink Allocate(void);
static void       SetValues(Ns_LogSink sink, const NsSinkSpec *specPtr);
static void       FreeValues(Ns_LogSink sink);

Ns_LogSink
NsSinkMake(const NsSinkSpec *specPtr)
{
    Ns_LogSink sink = Allocate();

    sink->name = ns_strdup(specPtr->name);
    sink->typePtr = NsSinkTypeFind(specPtr->type);
    NsAssert(sink->typePtr != NULL);
    sink->isStandardOutput = specPtr->isStandardOutput;
    sink->isModules = specPtr->isModules;
    atomic_store(&sink->isAwaited, specPtr->isAwaited);
    sink->target->file = ns_strcopy(specPtr->file);
    SetValues(sink, specPtr);
    sink->target->fd = -1;
    sink->isRequired = specPtr->settings.isRequired;
    sink->nPatterns = specPtr->nStreams;
    sink->patterns = ns_calloc((size_t) specPtr->nStreams, sizeof(char *));
    for (int i = 0; i < specPtr->nStreams; i++) {
        sink->patterns[i] = ns_strdup(specPtr->streams[i]);
    }
    NsMutexSetup(&sink->lock, NS_RANK_LOG_FILE, "ns:log", sink->name);
    NsMutexSetup(&sink->sleep.lock, NS_RANK_LOG_WAKE, "ns:logwake", sink->name);
    NsMutexSetup(&sink->loan->lock, NS_RANK_LOG_LENT, "ns:loglent", sink->name);
    NsSinkApplySettings(sink, &specPtr->settings);
    if (!sink->typePtr->openProc(sink) && !specPtr->mayOpenLater) {
        int reason = errno;

        snprintf(complaint, sizeof(complaint), "%s", sink->failing->complaint);
        NsSinkUnmake(&sink);
        errno = complaint[0] != '\0' ? NS_SINK_COMPLAINS : reason;
        return NULL;
    }
    return sink;
}

static Ns_LogSink
Allocate(void)
{
    Whole     *wholePtr = ns_calloc(1u, sizeof(*wholePtr));
    Ns_LogSink sink = &wholePtr->sink;

    sink->loan = &wholePtr->loan;
    sink->keeper = &wholePtr->keeper;
    sink->reader = &wholePtr->reader;
    sink->buffer = &wholePtr->buffer;
    sink->refusals = &wholePtr->refusals;
    sink->failing = &wholePtr->failing;
    sink->repeats = &wholePtr->repeats;
    sink->target = &wholePtr->target;
    return sink;
}

/*
 * Set the options.  A sink that is made for a leftover gets the defaults of a
 * module's type, and the file and table named in the mapping.
 */
static void
SetValues(Ns_LogSink sink, const NsSinkSpec *specPtr)
{
    const NsSinkType *typePtr = sink->typePtr;
    int               n = NsSinkTypeCountOptions(typePtr);

    if (n == 0 || (typePtr->defaults == NULL && specPtr->values == NULL)) {
        return;
    }
    sink->values = ns_calloc((size_t) n, sizeof(*sink->values));
    for (int i = 0; i < n; i++) {
        Ns_LogSinkValue value = typePtr->defaults != NULL
            ? typePtr->defaults[i]
            : (Ns_LogSinkValue){NULL, 0};

        if (specPtr->values != NULL && specPtr->values[i].text != NULL
            && *specPtr->values[i].text != '\0') {
            value = specPtr->values[i];
        }
        if (i == 0 && typePtr->outlivesSink) {
            value.text = specPtr->file;
        } else if (specPtr->values == NULL && specPtr->table != NULL
                   && *specPtr->table != '\0'
                   && STREQ(typePtr->options[i].name, TABLE)) {
            value.text = specPtr->table;
        }
        value.text = ns_strdup(value.text != NULL ? value.text : "");
        sink->values[i] = value;
    }
}

static void
FreeValues(Ns_LogSink sink)
{
    int n = sink->values == NULL ? 0 : NsSinkTypeCountOptions(sink->typePtr);

    for (int i = 0; i < n; i++) {
        ns_free((char *) sink->values[i].text);
    }
    ns_free(sink->values);
}

const char *
NsSinkTableOf(Ns_LogSink sink)
{
    int n = sink->values == NULL ? 0 : NsSinkTypeCountOptions(sink->typePtr);

    for (int i = 0; i < n; i++) {
        if (STREQ(sink->typePtr->options[i].name, TABLE)) {
            return sink->values[i].text;
        }
    }
    return "";
}

void
NsSinkUnmake(Ns_LogSink *sinkPtr)
{
    Ns_LogSink sink = *sinkPtr;

    NsAssert(!sink->sleep.isServed && sink->sleep.firstOp == NULL);
    NsAssert(sink->claims == NULL && sink->loan->spillPtr == NULL);
    *sinkPtr = NULL;
    for (int i = 0; i < sink->nPatterns; i++) {
        ns_free(sink->patterns[i]);
    }
    ns_free(sink->patterns);
    NsSinkFreeWork(sink);
    while (sink->firstStream != NULL) {
        NsSinkStream *streamPtr = sink->firstStream;

        sink->firstStream = streamPtr->nextPtr;
        ns_free(streamPtr);
    }
    if (sink->typePtr->filePtr != NULL) {
        sink->typePtr->filePtr->endProc(sink);
    }
    NsSinkFreeSettings(&sink->settings);
    NsKindsFree(&sink->ignored);
    NsFormDestroy(&sink->form);
    NsConditionsDestroy(&sink->conditions);
    Ns_MutexDestroy(&sink->lock);
    Ns_MutexDestroy(&sink->sleep.lock);
    Ns_MutexDestroy(&sink->loan->lock);
    Ns_CondDestroy(&sink->sleep.opDone);
    FreeValues(sink);
    ns_free(sink->target->file);
    ns_free(sink->name);
    ns_free(sink);
}

void
NsSinkFreeWork(Ns_LogSink sink)
{
    ns_free(sink->buffer->bytes);
    ns_free(sink->buffer->scratch);
    ns_free(sink->buffer->reduced);
    ns_free(sink->repeats->message);
    *sink->repeats = (NsSinkRepeats){0};
    NsSinkFreeLanes(sink);
    NsMergeFree(&sink->reader->merge);
    sink->buffer->bytes = sink->buffer->scratch = sink->buffer->reduced = NULL;
    sink->buffer->room = sink->buffer->nBuffered = sink->buffer->nWritten = 0;
    sink->buffer->scratchBytes = sink->buffer->reducedBytes = 0;
}

const char *
NsSinkReason(int reason)
{
    static _Thread_local char text[128];
    const NsRing             *ringPtr = NsSinkRing();

    if (reason == NS_SINK_TOO_MANY) {
        snprintf(text, sizeof(text),
                 "the limit is %u sinks; raise maxlogs in "
                 "ns/parameters",
                 ringPtr == NULL ? NS_RING_MAX_SINKS
                                 : ringPtr->headerPtr->maxSinks);
        return text;
    }
    if (reason == NS_SINK_TOO_MANY_READERS) {
        snprintf(text, sizeof(text),
                 "the limit is %u sinks of one stream; "
                 "raise logmemory in ns/parameters",
                 ringPtr->headerPtr->maxReaders);
        return text;
    }
    return reason == NS_SINK_NO_THREAD
        ? "no thread can be started for it; see the limits on processes "
          "(ulimit -u) and memory (ulimit -v)"
        : reason == NS_SINK_COMPLAINS && complaint[0] != '\0'
        ? complaint
        : strerror(reason);
}
