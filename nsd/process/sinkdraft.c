/*
 * sinkdraft.c --
 *
 *      Log sinks in the making.
 */

#include "process/sinkdraft.h"

#include "log/init.h"
#include "log/stream/stream.h"
#include "log/target/postgresql.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/logsetup.h"
#include "process/paths.h"
#include "process/sinkoptions.h"

#define DATABASE_NANOS INT64_C(5000000000)  /* Default of buffertime. */

/*
 * The types that can be asked for, each with the parameter that says where such
 * a sink writes, and how that is shown (on the heap).
 */
typedef struct Type {
    const char *name;
    const char *target;         /* NULL: this type needs none. */
    size_t      offset;         /* Of the target in a draft. */
    char     *(*showProc)(const char *target);
    bool        isDatabase;
} Type;

#define TARGET(member) #member, offsetof(NsSinkDraft, member)

static char *ShowFile(const char *file);

static const Type types[] = {
    {"file", TARGET(file), ShowFile, false},
    {"stdout", NULL, 0, NULL, false},
    {"stderr", NULL, 0, NULL, false},
    {"syslog", TARGET(address), ns_strdup, false},
    {"sqlite", TARGET(file), ShowFile, true},
    {"postgresql", TARGET(connection), NsPqDisplay, true}
};

static const Type *FindType(const char *name);
static const char *GetTarget(const NsSinkDraft *draftPtr, const Type *typePtr);
static bool IsComplete(const NsSinkDraft *draftPtr, const Type *typePtr,
                       const char *name, Ns_DString *errorPtr);
static void RefuseName(const char *name, Ns_DString *errorPtr);
static bool HasDirectory(const char *file, Ns_DString *errorPtr);
static bool HasFormat(const NsSinkDraft *draftPtr, Ns_DString *errorPtr);
static bool CanSync(const NsSinkDraft *draftPtr, Ns_DString *errorPtr);
static const char **SplitStreams(const NsSinkDraft *draftPtr, int *nPtr);
static void SetOverflowOf(const NsSinkDraft *draftPtr, Ns_LogSink sink);


void
NsSinkDraftInit(NsSinkDraft *draftPtr, Ns_LogSink sink)
{
    const Type *typePtr;
    Ns_DString  streams;

    memset(draftPtr, 0, sizeof(*draftPtr));
    draftPtr->overflow = -1;
    if (sink == NULL) {
        draftPtr->isNew = true;
        draftPtr->type = "file";
        draftPtr->settings = nsSinkDefaults;
        draftPtr->settings.bufferNanos = -1;
        return;
    }
    draftPtr->type = NsSinkTypeName(sink);
    typePtr = FindType(draftPtr->type);
    if (typePtr != NULL && typePtr->target != NULL) {
        *(char **) ((char *) draftPtr + typePtr->offset)
            = ns_strdup(NsSinkFile(sink));      /* As it may be shown. */
    }
    draftPtr->table = ns_strdup(NsSinkTable(sink));
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
    ns_free(draftPtr->streams);
    ns_free(draftPtr->file);
    ns_free(draftPtr->address);
    ns_free(draftPtr->connection);
    ns_free(draftPtr->table);
    NsSinkFreeSettings(&draftPtr->settings);
}

Ns_ReturnCode
NsSinkDraftCreate(const NsSinkDraft *draftPtr, const char *name,
                  Ns_DString *errorPtr)
{
    NsSinkSpec   spec = {.name = name, .type = draftPtr->type,
                         .connection = draftPtr->connection,
                         .table = draftPtr->table,
                         .settings = draftPtr->settings};
    const Type  *typePtr = FindType(draftPtr->type);
    const char  *target = GetTarget(draftPtr, typePtr);
    char        *shown = NULL;
    const char **streams, *reason;
    Ns_LogSink   sink;

    if (!IsComplete(draftPtr, typePtr, name, errorPtr)) {
        return NS_ERROR;
    }
    reason = NsLogSetupMemory();
    if (reason != NULL) {
        Ns_DStringPrintf(errorPtr, "no memory for logmemory: %s", reason);
        return NS_ERROR;
    }
    if (target != NULL) {
        spec.file = shown = typePtr->showProc(target);
    }
    spec.streams = streams = SplitStreams(draftPtr, &spec.nStreams);
    if (spec.settings.bufferNanos < 0) {
        spec.settings.bufferNanos = typePtr->isDatabase
            ? DATABASE_NANOS : nsSinkDefaults.bufferNanos;
    }
    sink = NsSinkCreate(&spec);
    if (sink == NULL && errno == EEXIST) {
        RefuseName(name, errorPtr);
    } else if (sink == NULL) {
        spec.mayOpenLater = draftPtr->mayWait && errno != NS_SINK_TOO_MANY
            && errno != NS_SINK_TOO_MANY_READERS
            && errno != NS_SINK_NO_THREAD;
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
    const Type *typePtr = FindType(draftPtr->type);

    return IsComplete(draftPtr, typePtr, name, errorPtr)
        && (!draftPtr->settings.isRequired || typePtr->showProc != ShowFile
            || HasDirectory(GetTarget(draftPtr, typePtr), errorPtr));
}

/*
 * False: the file of a sink that is required could not be made.
 */
static bool
HasDirectory(const char *file, Ns_DString *errorPtr)
{
    char *path = ShowFile(file), *slash = strrchr(path, '/');
    int   reason;
    bool  isThere;

    if (slash != NULL) {
        *slash = '\0';
    }
    isThere = access(slash == path ? "/" : path, W_OK | X_OK) == 0;
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

const char *
NsSinkDraftType(const char *name)
{
    const Type *typePtr = FindType(name);

    return typePtr != NULL ? typePtr->name : NULL;
}

static const Type *
FindType(const char *name)
{
    for (int i = 0; i < Ns_NrElements(types); i++) {
        if (STREQ(types[i].name, name)) {
            return &types[i];
        }
    }
    return NULL;
}

/*
 * The target of the sink; NULL: not given, or not needed.
 */
static const char *
GetTarget(const NsSinkDraft *draftPtr, const Type *typePtr)
{
    return typePtr->target == NULL ? NULL
        : *(char *const *) ((const char *) draftPtr + typePtr->offset);
}

static char *
ShowFile(const char *file)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsPathsLog(&ds, file);
    return Ns_DStringExport(&ds);
}

/*
 * False: no sink of that name can be made of the draft.
 */
static bool
IsComplete(const NsSinkDraft *draftPtr, const Type *typePtr, const char *name,
           Ns_DString *errorPtr)
{
    if (*name == '\0' || strlen(name) >= NS_RING_NAME
            || NsSinkFind(name) != NULL) {
        RefuseName(name, errorPtr);
        return false;
    }
    if (!HasFormat(draftPtr, errorPtr) || !CanSync(draftPtr, errorPtr)) {
        return false;
    }
    if (!NsSinkHasType(typePtr->name)) {
        Ns_DStringPrintf(errorPtr, "type \"%s\" is not there: this server was "
                         "built without libpq", typePtr->name);
        return false;
    }
    if (typePtr->target != NULL && GetTarget(draftPtr, typePtr) == NULL) {
        Ns_DStringPrintf(errorPtr, "missing %s: should be %s", typePtr->target,
                         NsSinkOptionRange(typePtr->target));
        return false;
    }
    return true;
}

static void
RefuseName(const char *name, Ns_DString *errorPtr)
{
    Ns_DStringPrintf(errorPtr, "invalid name \"%s\": should be new, and 1 to "
                     "%d bytes long", name, NS_RING_NAME - 1);
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
                    && !NsStreamKnowsFormat(stream, format)) {
                lacking = stream;
            }
        }
    }
    Tcl_Free((char *) patterns);
    if (lacking != NULL) {
        Ns_DStringPrintf(errorPtr, "invalid format \"%s\": stream \"%s\" should "
                         "be native or json", NsStreamFormatName(format),
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

    if (isAsked && STREQ(draftPtr->type, "syslog")) {
        Ns_DStringPrintf(errorPtr, "invalid sync: should be none, as a sink of "
                         "type syslog cannot be synced");
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

    (void) Tcl_SplitList(NULL, draftPtr->streams != NULL ? draftPtr->streams
                         : "", nPtr, &streams);
    return streams;
}

static void
SetOverflowOf(const NsSinkDraft *draftPtr, Ns_LogSink sink)
{
    Ns_LogStream stream;

    for (int i = 0; draftPtr->overflow >= 0
             && (stream = NsStreamAt(i)) != NULL; i++) {
        if (NsSinkWants(sink, i)) {
            NsStreamSetOverflow(stream, (NsOverflow) draftPtr->overflow);
        }
    }
}
