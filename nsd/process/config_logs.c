/* SPDX-License-Identifier: MPL-2.0
 * config_logs.c --
 *
 *      Streams that are not there, and log files that more than one log writes
 *      to.
 */

#include "process/config_logs.h"

#include "log/stream/stream.h"
#include "log/target/target.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsparam.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/info.h"
#include "process/paths.h"
#include "process/sinkdraft.h"
#include "process/sinkoptions.h"
#include "process/sinksection.h"

#define SYSTEM     "system"
#define PARAMETERS "ns/parameters"

/*
 * Lives on the stack of a check.
 */
typedef struct Files {
    NsConfigCheck *checkPtr; /* NULL: nothing is reported. */
    Tcl_HashTable  sections; /* By what a file is: of the first log, heap. */
} Files;

static char *FileOf(Ns_LogSink sink);
static void  Begin(Files *filesPtr, NsConfigCheck *checkPtr);
static void  End(Files *filesPtr);
static void  NoteSystemLog(Files *filesPtr, const char *file);
static void  NoteConfiguredSink(Files *filesPtr, const char *name);
static void  NoteAccessLogs(Files *filesPtr, const char *server);
static bool  IsAccessLog(const char *module);
static char *AccessFile(const char *server, const char *module,
                        const char *section);
static char *ServerLogs(const char *server);
static void  Note(Files *filesPtr, const char *section, const char *key,
                  const char *file);
static bool  AppendIdentity(Ns_DString *dsPtr, const char *file);
static void  AppendBelow(Ns_DString *dsPtr, const char *directory,
                         const char *path);

void
NsConfigLogsCheck(NsConfigCheck *checkPtr)
{
    const Ns_Set *sinks = Ns_ConfigGetSection("ns/logsinks");
    const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");
    Files         files;
    Ns_DString    ds;
    const char   *file = NsConfigPeek(PARAMETERS, "systemlog");

    Begin(&files, checkPtr);
    if (file == NULL || *file == '\0') {
        file = NsConfigPeek(PARAMETERS, "serverlog");
    }
    Ns_DStringInit(&ds);
    NsPathsLog(&ds, file != NULL && *file != '\0' ? file : "nsd.log");
    NoteSystemLog(&files, ds.string);
    Ns_DStringFree(&ds);
    for (int i = 0; sinks != NULL && i < (int) Ns_SetSize(sinks); i++) {
        if (!STREQ(Ns_SetKey(sinks, i), SYSTEM)) {
            NoteConfiguredSink(&files, Ns_SetKey(sinks, i));
        }
    }
    if (servers == NULL || Ns_SetSize(servers) == 0) {
        NoteAccessLogs(&files, "default");
    } else {
        for (int i = 0; i < (int) Ns_SetSize(servers); i++) {
            NoteAccessLogs(&files, Ns_SetKey(servers, i));
        }
    }
    End(&files);
}

void
NsConfigLogsCheckMade(NsConfigCheck *checkPtr)
{
    Files      files;
    Ns_LogSink sink;

    Begin(&files, checkPtr);
    for (int i = 0; (sink = NsSinkAt(i)) != NULL; i++) {
        const char *file = NsSinkFile(sink);
        Ns_DString  section;

        if (NsSinkTypeOf(sink) != &nsFileSinkType || file == NULL
            || *file == '\0') {
            continue;
        }
        if (STREQ(NsSinkName(sink), SYSTEM)) {
            NoteSystemLog(&files, file);
            continue;
        }
        Ns_DStringInit(&section);
        NsSinkSectionOf(&section, NsSinkName(sink));
        Note(&files, section.string, "file", file);
        Ns_DStringFree(&section);
    }
    End(&files);
}

void
NsConfigLogsWarn(Ns_LogSink sink)
{
    char          *file = FileOf(sink);
    Files          files;
    Ns_DString     identity;
    Ns_LogSink     other;
    Tcl_HashEntry *entryPtr = NULL;

    NsConfigLogsWarnStreams(sink);
    Begin(&files, NULL);
    Ns_DStringInit(&identity);
    if (file != NULL && AppendIdentity(&identity, file)) {
        for (int i = 0; (other = NsSinkAt(i)) != NULL; i++) {
            char *otherFile = other == sink ? NULL : FileOf(other);

            if (otherFile != NULL) {
                Note(&files, NsSinkName(other), "file", otherFile);
                ns_free(otherFile);
            }
        }
        entryPtr = Tcl_FindHashEntry(&files.sections, identity.string);
    }
    if (entryPtr != NULL) {
        Ns_Log(Warning,
               "log[%s]: the log file \"%s\" is also that of the sink \"%s\"",
               NsSinkName(sink), file,
               (const char *) Tcl_GetHashValue(entryPtr));
    }
    Ns_DStringFree(&identity);
    End(&files);
    ns_free(file);
}

/*
 * On the heap; NULL: it writes to no file, or is gone.
 */
static char *
FileOf(Ns_LogSink sink)
{
    NsSinkDraft draft;
    char       *file = NULL;

    if (NsSinkIsRemoved(sink)) {
        return NULL;
    }
    NsSinkDraftInitFrom(&draft, sink);
    if (draft.typePtr == &nsFileSinkType && draft.values[0].text != NULL
        && *draft.values[0].text != '\0') {
        file = ns_strdup(draft.values[0].text);
    }
    NsSinkDraftFree(&draft);
    return file;
}

/*
 * A sink may wait for a stream that a script makes; more often its name is
 * misspelt.
 */
void
NsConfigLogsWarnStreams(Ns_LogSink sink)
{
    const char *pattern;

    for (int i = 0; (pattern = NsSinkPattern(sink, i)) != NULL; i++) {
        Ns_LogStream stream;
        bool         isThere = false;

        for (int k = 0; (stream = NsStreamAt(k)) != NULL; k++) {
            isThere = isThere || NsStreamMatches(stream, pattern);
        }
        if (!isThere) {
            Ns_Log(Warning, "log[%s]: there is no stream '%s' (yet)",
                   NsSinkName(sink), pattern);
        }
    }
}

static void
Begin(Files *filesPtr, NsConfigCheck *checkPtr)
{
    filesPtr->checkPtr = checkPtr;
    Tcl_InitHashTable(&filesPtr->sections, TCL_STRING_KEYS);
}

static void
End(Files *filesPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *entryPtr = Tcl_FirstHashEntry(&filesPtr->sections, &search);

    for (; entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        ns_free(Tcl_GetHashValue(entryPtr));
    }
    Tcl_DeleteHashTable(&filesPtr->sections);
}

static void
NoteSystemLog(Files *filesPtr, const char *file)
{
    Note(filesPtr, PARAMETERS, "serverlog", file);
}

static void
NoteConfiguredSink(Files *filesPtr, const char *name)
{
    Ns_DString  section, error;
    NsSinkDraft draft;
    const char *file;

    Ns_DStringInit(&section);
    Ns_DStringInit(&error);
    NsSinkSectionOf(&section, name);
    NsSinkDraftInit(&draft, NsConfigPeek(section.string, "type"));
    file = NsConfigPeek(section.string, "file");
    if (file != NULL && draft.typePtr == &nsFileSinkType
        && NsSinkOptionSet(&draft, "file", file, &error) == NS_OK) {
        Note(filesPtr, section.string, "file", draft.values[0].text);
    }
    NsSinkDraftFree(&draft);
    Ns_DStringFree(&section);
    Ns_DStringFree(&error);
}

static void
NoteAccessLogs(Files *filesPtr, const char *server)
{
    Ns_DString    section;
    const Ns_Set *modules;

    Ns_DStringInit(&section);
    Ns_DStringVarAppend(&section, "ns/server/", server, "/modules",
                        (char *) NULL);
    modules = Ns_ConfigGetSection(section.string);
    for (int i = 0; modules != NULL && i < (int) Ns_SetSize(modules); i++) {
        const char *module = Ns_SetKey(modules, i);

        if (IsAccessLog(Ns_SetValue(modules, i))) {
            char *file;

            Ns_DStringSetLength(&section, 0);
            Ns_DStringVarAppend(&section, "ns/server/", server, "/module/",
                                module, (char *) NULL);
            file = AccessFile(server, module, section.string);
            Note(filesPtr, section.string, "file", file);
            ns_free(file);
        }
    }
    Ns_DStringFree(&section);
}

static bool
IsAccessLog(const char *module)
{
    const char *slash = strrchr(module, '/');
    const char *tail = slash == NULL ? module : slash + 1;

    return STREQ(tail, "nslog.so") || STREQ(tail, "nslog");
}

/*
 * As nslog finds it.
 */
static char *
AccessFile(const char *server, const char *module, const char *section)
{
    const char *file = NsConfigPeek(section, "file");
    char       *directory = ServerLogs(server);
    Ns_DString  ds;

    if (file == NULL || *file == '\0') {
        file = "access.log";
    }
    Ns_DStringInit(&ds);
    if (!Ns_PathIsAbsolute(file) && STREQ(directory, Ns_InfoHomePath())) {
        (void) Ns_ModulePath(&ds, server, module, file, (char *) NULL);
    } else {
        AppendBelow(&ds, directory, file);
    }
    ns_free(directory);
    return Ns_DStringExport(&ds);
}

/*
 * The directory of a server's logs; the server need not have been made.
 */
static char *
ServerLogs(const char *server)
{
    Ns_DString  section, base, ds;
    const char *logDir, *serverDir;

    Ns_DStringInit(&section);
    Ns_DStringInit(&base);
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&section, "ns/server/", server, (char *) NULL);
    logDir = NsConfigPeek(section.string, "logdir");
    serverDir = NsConfigPeek(section.string, "serverdir");
    if (serverDir == NULL) {
        Ns_DStringAppend(&section, "/fastpath");
        serverDir = NsConfigPeek(section.string, "serverdir");
    }
    if (logDir == NULL || *logDir == '\0') {
        NsPathsLog(&ds, NULL);
    } else {
        AppendBelow(&base, Ns_InfoHomePath(),
                    serverDir != NULL ? serverDir : "");
        AppendBelow(&ds, base.string, logDir);
    }
    Ns_DStringFree(&section);
    Ns_DStringFree(&base);
    return Ns_DStringExport(&ds);
}

static void
Note(Files *filesPtr, const char *section, const char *key, const char *file)
{
    Ns_DString     identity;
    Tcl_HashEntry *entryPtr;
    int            isNew;

    Ns_DStringInit(&identity);
    if (!AppendIdentity(&identity, file)) {
        Ns_DStringFree(&identity);
        return;
    }
    entryPtr = Tcl_CreateHashEntry(&filesPtr->sections, identity.string,
                                   &isNew);
    if (isNew) {
        Tcl_SetHashValue(entryPtr, ns_strdup(section));
    } else if (filesPtr->checkPtr != NULL) {
        NsConfigPlace place = NsConfigPlaceOf(section, key);

        if (place.file == NULL) {
            place = (NsConfigPlace){Ns_InfoConfigFile(), 0};
        }
        NsConfigReport(filesPtr->checkPtr, place,
                       "section \"%s\": the log file \"%s\" is also that of "
                       "section \"%s\"",
                       section, file,
                       (const char *) Tcl_GetHashValue(entryPtr));
    }
    Ns_DStringFree(&identity);
}

/*
 * Of a file that is there, its place on disk; of one that is not, the path that
 * it will have.  False: it is no regular file.
 */
static bool
AppendIdentity(Ns_DString *dsPtr, const char *file)
{
    const char *slash = strrchr(file, '/');
    char        path[PATH_MAX];
    struct stat st;
    ssize_t     length;
    Ns_DString  directory;

    if (stat(file, &st) == 0) {
        Ns_DStringPrintf(dsPtr, "%ju %ju", (uintmax_t) st.st_dev,
                         (uintmax_t) st.st_ino);
        return S_ISREG(st.st_mode);
    }
    /* Links that lead in a circle would give ELOOP. */
    length = errno == ENOENT ? readlink(file, path, sizeof(path) - 1) : -1;
    Ns_DStringInit(&directory);
    Ns_DStringNAppend(&directory, file,
                      slash == NULL ? 0 : (int) (slash + 1 - file));
    if (length > 0) {
        Ns_DString target;
        bool       isRegular;

        path[length] = '\0';
        Ns_DStringInit(&target);
        AppendBelow(&target, directory.string, path);
        isRegular = AppendIdentity(dsPtr, target.string);
        Ns_DStringFree(&target);
        Ns_DStringFree(&directory);
        return isRegular;
    }
    if (slash != NULL && realpath(directory.string, path) != NULL) {
        Ns_DStringVarAppend(dsPtr, path, slash, (char *) NULL);
    } else {
        (void) Ns_NormalizePath(dsPtr, file);
    }
    Ns_DStringFree(&directory);
    return true;
}

static void
AppendBelow(Ns_DString *dsPtr, const char *directory, const char *path)
{
    if (Ns_PathIsAbsolute(path)) {
        Ns_DStringAppend(dsPtr, path);
    } else {
        (void) Ns_MakePath(dsPtr, directory, path, (char *) NULL);
    }
}
