/* SPDX-License-Identifier: MPL-2.0
 * httplog.c --
 *
 *      The log of requests to other servers.
 */

#include "tcl/httplog.h"

#include "nsfile.h"
#include "nslog.h"
#include "nslogstream.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "log/stream/line.h"
#include "process/parameters.h"

#include <fcntl.h>

#define BUFFER_BYTES 65536

typedef struct Settings {
    bool        isLogging;
    const char *file;
    bool        rollsDaily;
    const char *rollFormat;
    int         rollHour;
    bool        rollsOnSignal;
    int         maxBackup;
} Settings;

/*
 * Constant after creation.
 */
struct NsHttpLog {
    const char  *server;
    const char  *rollFormat; /* NULL, "": numbers. */
    int          maxBackup;
    Ns_LogStream stream;
    Ns_LogSink   sink;
};

static const NsParameter rows[] = {
    NS_BOOL(Settings, isLogging, "logging", "false", "Log these requests."),
    NS_PATH(Settings, file, "logfile", "httpclient.log",
            "File of that log; relative to the server's logs."),
    NS_BOOL(Settings, rollsDaily, "logroll", "true", "Roll it once a day."),
    NS_TEXT(Settings, rollFormat, "logrollfmt", "",
            "Suffix (strftime) of rolled logs; empty: numbers."),
    NS_INT(Settings, rollHour, "logrollhour", "0", 0, 23, "At this hour."),
    NS_BOOL(Settings, rollsOnSignal, "logrollonsignal", "false",
            "Roll it on SIGHUP, too."),
    NS_INT(Settings, maxBackup, "logmaxbackup", "100", 1, 999,
           "Rolled logs that are kept."),
    NS_PARAM_END};

static Ns_LogFormatProc FormatLine;
static Ns_SchedProc     RollDaily;
static Ns_Callback      Roll, Close;
static Ns_LogRenameProc Rename;
static bool             Open(NsHttpLog *logPtr, const char *file);
static void             AppendUrl(Ns_DString *dsPtr, const char *url);
static void             AppendClean(Ns_DString *dsPtr, const char *text);

void
NsHttpLogInit(void)
{
    NsParametersRegister("ns/server/*/httpclient", rows, sizeof(Settings));
    Ns_RegisterProcInfo((void *) RollDaily, "httpclient:roll", NULL);
    Ns_RegisterProcInfo((void *) Roll, "httpclient:roll", NULL);
    Ns_RegisterProcInfo((void *) Close, "httpclient:close", NULL);
}

NsHttpLog *
NsHttpLogCreate(const NsServer *serverPtr, const char *section)
{
    Settings   settings;
    NsHttpLog *logPtr;

    NsParametersFill(rows, section, &settings);
    if (!settings.isLogging) {
        return NULL;
    }
    logPtr = ns_calloc(1u, sizeof(*logPtr));
    logPtr->server = serverPtr->name;
    logPtr->rollFormat = ns_strcopy(settings.rollFormat);
    logPtr->maxBackup = settings.maxBackup;
    if (!Open(logPtr, settings.file)) {
        Ns_Log(Error, "httpclient[%s]: its requests are not logged: %s: %s",
               serverPtr->name, settings.file, strerror(errno));
        ns_free((char *) logPtr->rollFormat);
        ns_free(logPtr);
        return NULL;
    }
    if (settings.rollsDaily) {
        (void) Ns_ScheduleDaily(RollDaily, logPtr, NS_SCHED_THREAD,
                                settings.rollHour, 0, NULL);
    }
    if (settings.rollsOnSignal) {
        (void) Ns_RegisterAtSignal(Roll, logPtr);
    }
    (void) Ns_RegisterAtExit(Close, logPtr);
    return logPtr;
}

static bool
Open(NsHttpLog *logPtr, const char *file)
{
    Ns_DString name, path;

    Ns_DStringInit(&name);
    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&name, "httpclient/", logPtr->server, NULL);
    (void) Ns_LogPath(&path, logPtr->server, file);
    logPtr->stream = Ns_LogStreamCreate(Ns_DStringValue(&name), FormatLine,
                                        NULL);
    if (logPtr->stream != NULL) {
        logPtr->sink = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
            .name = Ns_DStringValue(&name),
            .stream = logPtr->stream,
            .file = Ns_DStringValue(&path),
            .bufferBytes = BUFFER_BYTES,
            .mayOpenLater = true,
            .rollFormat = logPtr->rollFormat,
            .maxBackup = logPtr->maxBackup});
    }
    Ns_DStringFree(&name);
    Ns_DStringFree(&path);
    return logPtr->sink != NULL;
}

/*
 * The record is the line.
 */
static size_t
FormatLine(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    if (recordPtr->length <= room) {
        memcpy(buffer, recordPtr->bytes, recordPtr->length);
    }
    return recordPtr->length;
}

void
NsHttpLogWrite(const NsHttpClient *clientPtr, void *arg)
{
    NsHttpLog         *logPtr = arg;
    const NsReplyHead *headPtr = NsHttpClientHead(clientPtr);
    const char        *error = NsHttpClientError(clientPtr);
    Ns_Time            now, elapsed = NsHttpClientElapsed(clientPtr);
    NsHttpClientStats  stats;
    Ns_DString         line;

    NsAssert(logPtr->stream != NULL);
    NsHttpClientGetStats(clientPtr, &stats);
    Ns_GetTime(&now);
    Ns_DStringInit(&line);
    Ns_DStringPrintf(&line, "[%.*s] ", NS_LOG_TIME_LENGTH,
                     NsLogTimeText(now.sec));
    AppendClean(&line, Ns_ThreadGetName());
    Ns_DStringPrintf(&line, " %d %s \"",
                     headPtr == NULL ? 408 : headPtr->status,
                     NsHttpClientMethod(clientPtr));
    AppendUrl(&line, NsHttpClientUrl(clientPtr));
    Ns_DStringPrintf(&line, "\" %ld.%06ld %" PRIu64 " %" PRIu64 " %d ",
                     elapsed.sec, elapsed.usec, stats.nSent, stats.nReceived,
                     NsHttpClientIsReused(clientPtr));
    AppendClean(&line, error == NULL ? "ok" : error);
    Ns_DStringAppend(&line, "\n");
    (void) Ns_LogStreamPut(logPtr->stream, Notice,
                           &(struct iovec){Ns_DStringValue(&line),
                                           (size_t) Ns_DStringLength(&line)},
                           1);
    Ns_DStringFree(&line);
}

/*
 * Without the user and the password in it.
 */
static void
AppendUrl(Ns_DString *dsPtr, const char *url)
{
    const char *host = strstr(url, "://");
    const char *at;

    host = host == NULL ? url : host + 3;
    at = memrchr(host, '@', strcspn(host, "/?#"));
    if (at != NULL) {
        Ns_DStringNAppend(dsPtr, url, (int) (host - url));
        url = at + 1;
    }
    AppendClean(dsPtr, url);
}

/*
 * Control characters and quotes are escaped.
 */
static void
AppendClean(Ns_DString *dsPtr, const char *text)
{
    NsLogOut out = {.buffer = NULL};
    char    *clean;

    NsLogSanitize(&out, text, strlen(text), 1);
    clean = ns_malloc(out.length + 1);
    out = (NsLogOut){.buffer = clean, .room = out.length};
    NsLogSanitize(&out, text, strlen(text), 1);
    for (size_t i = 0; i < out.length; i++) {
        if (clean[i] == '"') {
            Ns_DStringAppend(dsPtr, "\\x22");
        } else {
            Ns_DStringNAppend(dsPtr, &clean[i], 1);
        }
    }
    ns_free(clean);
}

static void
RollDaily(void *arg, int id)
{
    Roll(arg);
}

static void
Roll(void *arg)
{
    const NsHttpLog *logPtr = arg;

    if (Ns_LogSinkRoll(logPtr->sink, Rename, arg) != NS_OK) {
        Ns_Log(Error, "httpclient[%s]: its log could not be rolled: %s",
               logPtr->server, strerror(errno));
    }
}

static int
Rename(const char *file, void *arg)
{
    const NsHttpLog *logPtr = arg;

    return logPtr->rollFormat != NULL && *logPtr->rollFormat != '\0'
        ? Ns_RollFileByFormat(file, logPtr->rollFormat, logPtr->maxBackup)
        : Ns_RollFile(file, logPtr->maxBackup);
}

static void
Close(void *arg)
{
    const NsHttpLog *logPtr = arg;

    (void) Ns_LogSinkClose(logPtr->sink);
}
