/* SPDX-License-Identifier: MPL-2.0
 * sinkdraft.c --
 *
 *      Log sinks in the making.
 */

#include "process/sinkdraft.h"

#include "base/assert.h"
#include "log/init.h"
#include "log/stream/form.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/sinkmodule.h"

#define DATABASE_NANOS INT64_C(5000000000) /* Default of buffertime. */

/*
 * Of buffersize.  A commit takes as long for a few rows as for thousands, so a
 * database that is behind catches up by large ones.
 */
#define DATABASE_BYTES ((size_t) 1 << 20)

static void        MakeValues(NsSinkDraft *draftPtr);
static void        FillDefaults(NsSinkDraft *draftPtr);
static const char *GetTarget(const NsSinkDraft *draftPtr);
static bool        IsComplete(const NsSinkDraft *draftPtr, const char *name,
                              Ns_DString *errorPtr);
static void        RefuseName(const char *name, Ns_DString *errorPtr);
static bool        HasInputs(const NsSinkDraft *draftPtr, Ns_DString *errorPtr);
static bool HasDirectory(const NsSinkDraft *draftPtr, Ns_DString *errorPtr);
static bool HasFormat(const NsSinkDraft *draftPtr, Ns_DString *errorPtr);
static bool CanSync(const NsSinkDraft *draftPtr, Ns_DString *errorPtr);
static const char **SplitStreams(const NsSinkDraft *draftPtr, int *nPtr);
static void         SetOverflowOf(const NsSinkDraft *draftPtr, Ns_LogSink sink);

void
NsSinkDraftInit(NsSinkDraft *draftPtr, const char *type)
{
    *draftPtr = (NsSinkDraft){
        .typePtr = NsSinkTypeFind(type != NULL ? type : "file"),
        .overflow = -1,
        .isNew = true,
        .settings = nsSinkDefaults};
    if (draftPtr->typePtr != NULL && draftPtr->typePtr->isDatabase) {
        const NsSinkType *typePtr = draftPtr->typePtr;

        draftPtr->settings.bufferNanos = typePtr->bufferNanos > 0
            ? typePtr->bufferNanos
            : DATABASE_NANOS;
        draftPtr->settings.bufferBytes = DATABASE_BYTES;
        if (typePtr->batchRows > 0) {
            draftPtr->settings.batchRows = typePtr->batchRows;
        }
    }
    MakeValues(draftPtr);
    FillDefaults(draftPtr);
}

static void
MakeValues(NsSinkDraft *draftPtr)
{
    if (draftPtr->typePtr != NULL) {
        size_t n = (size_t) NsSinkTypeCountOptions(draftPtr->typePtr);

        draftPtr->values = ns_calloc(n + 1, sizeof(*draftPtr->values));
    }
}

static void
FillDefaults(NsSinkDraft *draftPtr)
{
    const Ns_LogSinkOption *options = draftPtr->typePtr == NULL
        ? NULL
        : draftPtr->typePtr->options;

    for (int i = 0; options != NULL && options[i].name != NULL; i++) {
        const char *text = options[i].defaultText;

        if (text != NULL && *text != '\0') {
            bool isValid = NsSinkValueInit(&options[i], text,
                                           &draftPtr->values[i]);

            NsAssert(isValid);
        }
    }
}

void
NsSinkDraftInitFrom(NsSinkDraft *draftPtr, Ns_LogSink sink)
{
    Ns_DString streams;

    *draftPtr = (NsSinkDraft){.typePtr = NsSinkTypeOf(sink), .overflow = -1};
    MakeValues(draftPtr);
    for (int i = 0; i < NsSinkTypeCountOptions(draftPtr->typePtr); i++) {
        draftPtr->values[i].text = ns_strdup(NsSinkOption(sink, i));
    }
    Ns_DStringInit(&streams);
    for (int i = 0; NsSinkPattern(sink, i) != NULL; i++) {
        Ns_DStringAppendElement(&streams, NsSinkPattern(sink, i));
    }
    draftPtr->streams = Ns_DStringExport(&streams);
    NsSinkGetSettings(sink, &draftPtr->settings);
    for (int i = 0; NsStreamAt(i) != NULL; i++) {
        if (NsSinkWants(sink, i)) {
            draftPtr->overflow = (int) NsStreamOverflow(NsStreamAt(i));
            break;
        }
    }
}

void
NsSinkDraftFree(NsSinkDraft *draftPtr)
{
    for (int i = 0; draftPtr->typePtr != NULL
         && i < NsSinkTypeCountOptions(draftPtr->typePtr);
         i++) {
        NsSinkValueFree(&draftPtr->values[i]);
    }
    ns_free(draftPtr->values);
    ns_free(draftPtr->streams);
    NsSinkFreeSettings(&draftPtr->settings);
}

Ns_ReturnCode
NsSinkDraftCreate(const NsSinkDraft *draftPtr, const char *name,
                  Ns_DString *errorPtr)
{
    const NsSinkType *typePtr = draftPtr->typePtr;
    NsSinkSpec        spec = {.name = name, .settings = draftPtr->settings};
    const char       *target = GetTarget(draftPtr);
    char             *shown = NULL;
    const char      **streams;
    Ns_LogSink        sink;

    if (!IsComplete(draftPtr, name, errorPtr)) {
        return NS_ERROR;
    }
    spec.type = typePtr->name;
    spec.values = draftPtr->values;
    if (target != NULL) {
        spec.file = shown = typePtr->showProc != NULL
            ? typePtr->showProc(target)
            : ns_strdup(target);
    }
    spec.streams = streams = SplitStreams(draftPtr, &spec.nStreams);
    sink = NsSinkCreate(&spec);
    if (sink == NULL && errno == EEXIST) {
        RefuseName(name, errorPtr);
    } else if (sink == NULL) {
        spec.mayOpenLater = draftPtr->mayWait && errno != NS_SINK_TOO_MANY
            && errno != NS_SINK_TOO_MANY_READERS && errno != NS_SINK_NO_THREAD;
        Ns_DStringPrintf(errorPtr, "cannot open \"%s\": %s",
                         shown != NULL ? shown : spec.type,
                         NsSinkReason(errno));
        sink = spec.mayOpenLater ? NsSinkCreate(&spec) : NULL;
    }
    if (sink != NULL) {
        SetOverflowOf(draftPtr, sink);
    }
    ns_free(shown);
    Tcl_Free((char *) streams);
    return sink != NULL ? NS_OK : NS_ERROR;
}

bool
NsSinkDraftIsComplete(const NsSinkDraft *draftPtr, const char *name,
                      Ns_DString *errorPtr)
{
    return IsComplete(draftPtr, name, errorPtr) && HasInputs(draftPtr, errorPtr)
        && (GetTarget(draftPtr) == NULL
            || draftPtr->typePtr->options[0].kind != NS_LOGSINK_PATH
            || HasDirectory(draftPtr, errorPtr));
}

/*
 * False: a file that the sink reads is not there.
 */
static bool
HasInputs(const NsSinkDraft *draftPtr, Ns_DString *errorPtr)
{
    const Ns_LogSinkOption *options = draftPtr->typePtr->options;

    for (int i = 0; options != NULL && options[i].name != NULL; i++) {
        const char *file = draftPtr->values[i].text;

        if (options[i].kind == NS_LOGSINK_INPUT && file != NULL && *file != '\0'
            && access(file, R_OK) != 0) {
            Ns_DStringPrintf(errorPtr, "cannot read %s \"%s\": %s",
                             options[i].name, file, strerror(errno));
            return false;
        }
    }
    return true;
}

/*
 * False: the file could not be made.  A sink that is not required waits until
 * it can be; whether the server's user will be allowed to is not for those to
 * say who check the configuration.
 */
static bool
HasDirectory(const NsSinkDraft *draftPtr, Ns_DString *errorPtr)
{
    char *path = ns_strdup(GetTarget(draftPtr)), *slash = strrchr(path, '/');
    int   mode = draftPtr->settings.isRequired ? W_OK | X_OK : F_OK;
    int   reason;
    bool  isThere;

    if (slash != NULL) {
        *slash = '\0';
    }
    isThere = access(slash == path ? "/" : path, mode) == 0;
    reason = errno;
    if (slash != NULL) {
        *slash = '/';
    }
    if (!isThere) {
        Ns_DStringPrintf(errorPtr, "cannot open \"%s\": %s", path,
                         strerror(reason));
    }
    ns_free(path);
    return isThere;
}

Ns_ReturnCode
NsSinkDraftApply(const NsSinkDraft *draftPtr, Ns_LogSink sink,
                 Ns_DString *errorPtr)
{
    Ns_ReturnCode status;

    if (!HasFormat(draftPtr, errorPtr) || !CanSync(draftPtr, errorPtr)) {
        return NS_ERROR;
    }
    SetOverflowOf(draftPtr, sink);
    status = NsSinkConfigure(sink, &draftPtr->settings);
    if (status != NS_OK && errno != EAGAIN) {
        Ns_DStringPrintf(errorPtr, "could not configure sink \"%s\": %s",
                         NsSinkName(sink), strerror(errno));
    }
    return status;
}

/*
 * The target of the sink; NULL: not given, or not needed.
 */
static const char *
GetTarget(const NsSinkDraft *draftPtr)
{
    const char *text = draftPtr->typePtr == NULL
            || draftPtr->typePtr->options == NULL
        ? NULL
        : draftPtr->values[0].text;

    return text == NULL || *text == '\0' ? NULL : text;
}

/*
 * False: no sink of that name can be made of the draft.
 */
static bool
IsComplete(const NsSinkDraft *draftPtr, const char *name, Ns_DString *errorPtr)
{
    const Ns_LogSinkOption *options = draftPtr->typePtr->options;

    if (*name == '\0' || strlen(name) >= NS_RING_NAME
        || NsSinkFind(name) != NULL) {
        RefuseName(name, errorPtr);
        return false;
    }
    if (!HasFormat(draftPtr, errorPtr) || !CanSync(draftPtr, errorPtr)) {
        return false;
    }
    for (int i = 0; options != NULL && options[i].name != NULL; i++) {
        const char *text = draftPtr->values[i].text;

        if ((text == NULL || *text == '\0') && options[i].defaultText == NULL) {
            Ns_DStringPrintf(errorPtr, "missing %s: should be %s",
                             options[i].name, options[i].range);
            return false;
        }
    }
    return true;
}

static void
RefuseName(const char *name, Ns_DString *errorPtr)
{
    Ns_DStringPrintf(errorPtr,
                     "invalid name \"%s\": should be new, and 1 to "
                     "%d bytes long",
                     name, NS_RING_NAME - 1);
}

/*
 * False: one of the streams has lines of its own, and none in this format.
 */
static bool
HasFormat(const NsSinkDraft *draftPtr, Ns_DString *errorPtr)
{
    int          format = draftPtr->settings.format, n;
    const char **patterns = SplitStreams(draftPtr, &n);
    Ns_LogStream stream, lacking = NULL;

    for (int i = 0; i < n; i++) {
        for (int j = 0; (stream = NsStreamAt(j)) != NULL; j++) {
            if (NsStreamMatches(stream, patterns[i])
                && !NsFormFits(format, stream)) {
                lacking = stream;
            }
        }
    }
    Tcl_Free((char *) patterns);
    if (lacking != NULL) {
        Ns_DStringPrintf(errorPtr,
                         "invalid format \"%s\": stream \"%s\" should "
                         "be native or json",
                         format == NS_LOG_TEMPLATE ? draftPtr->settings.template
                                                   : NsStreamFormatName(format),
                         NsStreamName(lacking));
    }
    return lacking == NULL;
}

/*
 * Records that go to another machine are out of our hands.
 */
static bool
CanSync(const NsSinkDraft *draftPtr, Ns_DString *errorPtr)
{
    bool isAsked = draftPtr->settings.sync != NS_SYNC_NONE;

    if (isAsked && draftPtr->typePtr->syncProc == NULL
        && !draftPtr->typePtr->isDatabase) {
        Ns_DStringPrintf(errorPtr,
                         "invalid sync: should be none, as a sink of "
                         "type %s cannot be synced",
                         draftPtr->typePtr->name);
        return false;
    }
    return true;
}

/*
 * For Tcl_Free.
 */
static const char **
SplitStreams(const NsSinkDraft *draftPtr, int *nPtr)
{
    const char **streams = NULL;

    (void) Tcl_SplitList(NULL,
                         draftPtr->streams != NULL ? draftPtr->streams : "",
                         nPtr, &streams);
    return streams;
}

static void
SetOverflowOf(const NsSinkDraft *draftPtr, Ns_LogSink sink)
{
    Ns_LogStream stream;

    for (int i = 0; draftPtr->overflow >= 0 && (stream = NsStreamAt(i)) != NULL;
         i++) {
        if (NsSinkWants(sink, i)) {
            NsStreamSetOverflow(stream, (NsOverflow) draftPtr->overflow);
        }
    }
}
