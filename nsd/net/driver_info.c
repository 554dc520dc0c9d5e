/* SPDX-License-Identifier: MPL-2.0
 * driver_info.c --
 *
 *      What `ns_driver` and `ns_writer` show.
 */

#include "net/driver_info.h"
#include "net/driver_int.h"
#include "net/tlsclient.h"
#include "net/hostmap.h"
#include "net/h2info.h"
#include "net/writer_info.h"
#include "nsset.h"
#include "nsstring.h"

static void AppendPair(Ns_DString *dsPtr, const char *key, const char *value);
static void AppendNumber(Ns_DString *dsPtr, const char *key, int64_t value);
static void AppendSpan(Ns_DString *dsPtr, const char *key, NsStamp span);
static void AppendThreadStats(Ns_DString           *dsPtr,
                              const NsDriverThread *threadPtr);
static void AppendEvictions(Ns_DString *dsPtr, const NsDriverThread *threadPtr);
static void AppendRefusals(Ns_DString *dsPtr, const NsDriverThread *threadPtr);
static NsDriver *FindByPrefix(const char *prefix);
static bool      MayShow(const NsDriver *drvPtr, const char *server);

void
NsDriverInfo(Ns_DString *dsPtr, const char *server)
{
    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (!MayShow(drvPtr, server)) {
            continue;
        }
        Tcl_DStringStartSublist(dsPtr);
        AppendPair(dsPtr, "module", drvPtr->pub.module);
        AppendPair(dsPtr, "type", drvPtr->procs.name);
        AppendPair(dsPtr, "server", drvPtr->pub.server);
        AppendPair(dsPtr, "location", drvPtr->pub.location);
        AppendPair(dsPtr, "address", drvPtr->pub.address);
        AppendNumber(dsPtr, "port", drvPtr->ports[0]);
        AppendNumber(dsPtr, "defaultport", drvPtr->defaultPort);
        AppendPair(dsPtr, "protocol", drvPtr->pub.protocol);
        AppendSpan(dsPtr, "sendwait", drvPtr->params.sendWait);
        AppendSpan(dsPtr, "recvwait", drvPtr->params.recvWait);
        AppendPair(dsPtr, "extraheaders", drvPtr->settings.extraHeaders);
        AppendPair(dsPtr, "libraryversion",
                   (drvPtr->procs.opts & NS_DRIVER_SSL) != 0
                       ? NsTlsLibraryVersion()
                       : "");
        Tcl_DStringEndSublist(dsPtr);
    }
}

void
NsDriverNames(Ns_DString *dsPtr, const char *server)
{
    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (MayShow(drvPtr, server)) {
            Tcl_DStringAppendElement(dsPtr, drvPtr->pub.module);
        }
    }
}

void
NsDriverHosts(Ns_DString *dsPtr, const NsServer *serverPtr)
{
    Ns_Set *hostsPtr = Ns_SetCreate(NULL);

    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (drvPtr->settings.hostMapPtr != NULL) {
            NsHostMapAppend(hostsPtr, drvPtr->settings.hostMapPtr, serverPtr);
        }
    }
    for (int i = 0; i < (int) Ns_SetSize(hostsPtr); i++) {
        Tcl_DStringAppendElement(dsPtr, Ns_SetKey(hostsPtr, i));
    }
    Ns_SetFree(hostsPtr);
}

void
NsDriverThreads(Ns_DString *dsPtr, const char *server)
{
    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        for (int i = 0; MayShow(drvPtr, server) && NsDriverHasStarted(drvPtr)
             && i < drvPtr->params.nDriverThreads;
             i++) {
            Tcl_DStringAppendElement(dsPtr, drvPtr->threads[i]->name);
        }
    }
}

void
NsDriverStats(Ns_DString *dsPtr, const char *server)
{
    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        for (int i = 0; MayShow(drvPtr, server) && NsDriverHasStarted(drvPtr)
             && i < drvPtr->params.nDriverThreads;
             i++) {
            AppendThreadStats(dsPtr, drvPtr->threads[i]);
        }
    }
}

void
NsWriterList(Ns_DString *dsPtr, const char *server, bool isLong)
{
    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (!NsDriverHasStarted(drvPtr)) {
            continue;
        }
        for (int i = 0; i < drvPtr->nWriters; i++) {
            NsWriterAppendList(drvPtr->writers[i], dsPtr, server, isLong);
        }
        for (int i = 0; i < drvPtr->params.nDriverThreads; i++) {
            NsH2InfoAppend(drvPtr->threads[i], dsPtr, server, isLong);
        }
    }
}

void
NsWriterStats(Ns_DString *dsPtr)
{
    for (const NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        for (int i = 0; NsDriverHasStarted(drvPtr) && i < drvPtr->nWriters;
             i++) {
            NsWriterAppendStats(drvPtr->writers[i], dsPtr);
        }
    }
}

Ns_ReturnCode
NsWriterSize(const char *prefix, int64_t *newPtr, int64_t *valuePtr)
{
    NsDriver *drvPtr = FindByPrefix(prefix);

    if (drvPtr == NULL) {
        return NS_ERROR;
    }
    if (newPtr != NULL) {
        atomic_store(&drvPtr->settings.writerSize, *newPtr);
    }
    *valuePtr = atomic_load(&drvPtr->settings.writerSize);
    return NS_OK;
}

Ns_ReturnCode
NsWriterStreaming(const char *prefix, bool *newPtr, bool *valuePtr)
{
    NsDriver *drvPtr = FindByPrefix(prefix);

    if (drvPtr == NULL) {
        return NS_ERROR;
    }
    if (newPtr != NULL) {
        atomic_store(&drvPtr->settings.writerStreaming, *newPtr);
    }
    *valuePtr = atomic_load(&drvPtr->settings.writerStreaming);
    return NS_OK;
}

static void
AppendPair(Ns_DString *dsPtr, const char *key, const char *value)
{
    Tcl_DStringAppendElement(dsPtr, key);
    Tcl_DStringAppendElement(dsPtr, value == NULL ? "" : value);
}

static void
AppendNumber(Ns_DString *dsPtr, const char *key, int64_t value)
{
    Ns_DStringPrintf(dsPtr, " %s %" PRId64, key, value);
}

/*
 * Spooler threads read for all driver threads; what they read counts with the
 * first.
 */
static void
AppendThreadStats(Ns_DString *dsPtr, const NsDriverThread *threadPtr)
{
    const NsDriver *drvPtr = threadPtr->drvPtr;
    int64_t         received = atomic_load_explicit(&threadPtr->nReceived,
                                                    memory_order_relaxed);
    int64_t         partial = atomic_load_explicit(&threadPtr->nPartial,
                                                   memory_order_relaxed);
    int64_t         errors = atomic_load_explicit(&threadPtr->nErrors,
                                                  memory_order_relaxed);
    int             reading = atomic_load_explicit(&threadPtr->nReading,
                                                   memory_order_relaxed);

    for (int i = 0; threadPtr->index == 0 && drvPtr->spoolers != NULL
         && i < drvPtr->params.nSpoolers;
         i++) {
        const NsDriverThread *spoolerPtr = drvPtr->spoolers[i];

        received += atomic_load_explicit(&spoolerPtr->nReceived,
                                         memory_order_relaxed);
        partial += atomic_load_explicit(&spoolerPtr->nPartial,
                                        memory_order_relaxed);
        errors += atomic_load_explicit(&spoolerPtr->nErrors,
                                       memory_order_relaxed);
        reading += atomic_load_explicit(&spoolerPtr->nReading,
                                        memory_order_relaxed);
    }
    Tcl_DStringStartSublist(dsPtr);
    AppendPair(dsPtr, "thread", threadPtr->name);
    AppendPair(dsPtr, "module", drvPtr->pub.module);
    AppendNumber(dsPtr, "received", received);
    AppendNumber(dsPtr, "spooled",
                 atomic_load_explicit(&threadPtr->nSpooled,
                                      memory_order_relaxed));
    AppendNumber(dsPtr, "partial", partial);
    AppendNumber(dsPtr, "errors", errors);
    AppendNumber(dsPtr, "waiting",
                 atomic_load_explicit(&threadPtr->nWaiting,
                                      memory_order_relaxed));
    AppendNumber(dsPtr, "reading", reading);
    AppendNumber(dsPtr, "closing",
                 atomic_load_explicit(&threadPtr->nClosing,
                                      memory_order_relaxed));
    AppendNumber(dsPtr, "connections",
                 atomic_load_explicit(&threadPtr->nSockets,
                                      memory_order_relaxed));
    AppendNumber(dsPtr, "maxconnections", NsDriverThreadLimit(threadPtr));
    AppendEvictions(dsPtr, threadPtr);
    AppendNumber(dsPtr, "refused",
                 atomic_load_explicit(&threadPtr->nRefused,
                                      memory_order_relaxed));
    AppendRefusals(dsPtr, threadPtr);
    Tcl_DStringEndSublist(dsPtr);
}

/*
 * Their number, and a dict of it by reason.
 */
static void
AppendEvictions(Ns_DString *dsPtr, const NsDriverThread *threadPtr)
{
    static const char *const reasons[NS_EVICT_REASONS] = {
        [NS_EVICT_IDLE] = "idle",
        [NS_EVICT_HEAD] = "head",
        [NS_EVICT_BODY] = "body"};
    Ns_DString dict;
    int64_t    sum = 0;

    Ns_DStringInit(&dict);
    for (int i = 0; i < NS_EVICT_REASONS; i++) {
        int64_t n = atomic_load_explicit(&threadPtr->evictions[i],
                                         memory_order_relaxed);

        sum += n;
        AppendNumber(&dict, reasons[i], n);
    }
    AppendNumber(dsPtr, "evicted", sum);
    AppendPair(dsPtr, "evictions", Ns_DStringValue(&dict));
    Ns_DStringFree(&dict);
}

static void
AppendRefusals(Ns_DString *dsPtr, const NsDriverThread *threadPtr)
{
    Ns_DStringAppendElement(dsPtr, "refusals");
    Tcl_DStringStartSublist(dsPtr);
    for (int i = 0; i < NS_REFUSAL_STATUSES; i++) {
        int64_t n = atomic_load_explicit(&threadPtr->refusals[i],
                                         memory_order_relaxed);

        if (n > 0) {
            char status[12];

            snprintf(status, sizeof(status), "%d", NS_REFUSAL_STATUS + i);
            AppendNumber(dsPtr, status, n);
        }
    }
    Tcl_DStringEndSublist(dsPtr);
}

static NsDriver *
FindByPrefix(const char *prefix)
{
    size_t length = strlen(prefix);

    for (NsDriver *drvPtr = NsFirstDriver; drvPtr != NULL;
         drvPtr = drvPtr->nextPtr) {
        if (drvPtr->settings.nWriters > 0
            && strncmp(drvPtr->pub.module, prefix, length) == 0) {
            return drvPtr;
        }
    }
    return NULL;
}

/*
 * A driver without a server serves all.
 */
static bool
MayShow(const NsDriver *drvPtr, const char *server)
{
    return server == NULL || drvPtr->pub.server == NULL
        || STREQ(drvPtr->pub.server, server);
}

/*
 * In seconds.
 */
static void
AppendSpan(Ns_DString *dsPtr, const char *key, NsStamp span)
{
    char text[TCL_DOUBLE_SPACE];

    snprintf(text, sizeof(text), "%.15g", (double) span / NS_STAMP_SECOND);
    AppendPair(dsPtr, key, text);
}
