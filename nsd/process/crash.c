/* SPDX-License-Identifier: MPL-2.0
 * crash.c --
 *
 *      What a fatal signal leaves.
 */

#include "process/crash.h"

#include "base/thread.h"
#include "http/date.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "process/parameters.h"
#include "process/paths.h"
#include "process/release.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define NAME        "nsd.crash"
#define MAX_CALLS   64
#define MAX_SECONDS 10 /* Of the report. */

typedef struct Settings {
    bool        leavesCore;
    const char *directory; /* NULL: home. */
} Settings;

static const NsParameter rows[] = {
    NS_BOOL(Settings, leavesCore, "coredump", "false",
            "A crash leaves a core file, as large as the hard limit allows "
            "(ulimit -Hc), where the system is configured to put it."),
    NS_PATH(Settings, directory, "workingdir", "home",
            "Working directory of the process, where core files go unless the "
            "system puts them elsewhere; relative to home.",
            .isDescribed = true),
    NS_PARAM_END};

/* Behind the calls in the last report that is kept: its number. */
#define NUMBER "Report number "

static int nReports; /* Constant when threads run. */

/*
 * Constant when threads run; or empty.
 */
static char reportPath[PATH_MAX];
static char build[80]; /* Release and revision. */

/*
 * A line made by means that a signal handler may use.
 */
typedef struct Line {
    char   text[512];
    size_t length;
} Line;

static void AllowCore(const Settings *settingsPtr);
static void ChangeDirectory(const Settings *settingsPtr);
static void OnFatalSignal(int number, siginfo_t *infoPtr, void *contextPtr);
static void CatchUnlessTaken(int number);
static void Catch(int number);
static void WriteReport(const Line *linePtr, const siginfo_t *infoPtr);
static int  OpenReport(void);
static void AppendCause(Line *linePtr, const siginfo_t *infoPtr);
static void Tell(const char *directory, const char *name);
static int  NumberOf(const char *kept);
static void PutNumber(const char *kept, int number);
static void AppendText(Line *linePtr, const char *text);
static void AppendNumber(Line *linePtr, uint64_t number);
static void AppendDigits(Line *linePtr, uint64_t number, unsigned base);

void
NsCrashInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Settings));
}

/*
 * The hard limit is for whoever starts the server to raise.
 */
static void
AllowCore(const Settings *settingsPtr)
{
    struct rlimit limit;

    if (!settingsPtr->leavesCore || getrlimit(RLIMIT_CORE, &limit) != 0) {
        return;
    }
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max == 0) {
        Ns_Log(Warning,
               "nsmain: coredump has no effect: the hard limit of core files "
               "is 0: raise it (ulimit -Hc, LimitCORE= of systemd)");
    }
}

static void
ChangeDirectory(const Settings *settingsPtr)
{
    Ns_DString ds;

    if (settingsPtr->directory == NULL || *settingsPtr->directory == '\0') {
        return;
    }
    Ns_DStringInit(&ds);
    if (Ns_PathIsAbsolute(settingsPtr->directory)) {
        Ns_DStringAppend(&ds, settingsPtr->directory);
    } else {
        (void) Ns_HomePath(&ds, settingsPtr->directory, NULL);
    }
    if (chdir(ds.string) != 0) {
        Ns_Log(Warning, "nsmain: workingdir: %s: %s; home is used", ds.string,
               strerror(errno));
    }
    Ns_DStringFree(&ds);
}

void
NsCrashCatch(void)
{
    static const int fatal[] = {
        SIGILL, SIGTRAP, SIGBUS, SIGSEGV, SIGFPE, SIGABRT};
    static const int ending[] = {
        SIGSYS, SIGXCPU, SIGVTALRM, SIGPROF, SIGSTKFLT};
    void *calls[1];

    /* The first call loads a library, which a handler must not do. */
    (void) backtrace(calls, Ns_NrElements(calls));
    for (int i = 0; i < Ns_NrElements(fatal); i++) {
        Catch(fatal[i]);
    }
    for (int i = 0; i < Ns_NrElements(ending); i++) {
        CatchUnlessTaken(ending[i]);
    }
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        CatchUnlessTaken(number);
    }
}

/*
 * Signals that would end the process without a word: a profiler, or another
 * preloaded library, may have a use for them.
 */
static void
CatchUnlessTaken(int number)
{
    struct sigaction action;

    if (sigaction(number, NULL, &action) == 0
        && (action.sa_flags & SA_SIGINFO) == 0
        && action.sa_handler == SIG_DFL) {
        Catch(number);
    }
}

static void
Catch(int number)
{
    struct sigaction action = {
        .sa_sigaction = OnFatalSignal,
        .sa_flags = (int) SA_RESETHAND | SA_ONSTACK | SA_SIGINFO};

    sigaction(number, &action, NULL);
}

void
NsCrashReport(void)
{
    Ns_DString     ds;
    DIR           *dirPtr;
    struct dirent *entryPtr;
    Settings       settings;

    NsParametersFill(rows, "ns/parameters", &settings);
    snprintf(build, sizeof(build), "nsd %.20s, revision %.40s",
             NsReleaseVersion(), NsReleaseRevision());
    Ns_DStringInit(&ds);
    NsPathsLog(&ds, NULL);
    Ns_DStringAppend(&ds, "/" NAME);
    nReports = NumberOf(ds.string);
    Ns_DStringSetLength(&ds, ds.length - (int) strlen("/" NAME));
    dirPtr = opendir(ds.string);
    while (dirPtr != NULL && (entryPtr = readdir(dirPtr)) != NULL) {
        if (strncmp(entryPtr->d_name, NAME ".", strlen(NAME ".")) == 0) {
            Tell(ds.string, entryPtr->d_name);
        }
    }
    if (dirPtr != NULL) {
        closedir(dirPtr);
    }
    snprintf(reportPath, sizeof(reportPath), "%s/" NAME ".%d", ds.string,
             (int) getpid());
    Ns_DStringFree(&ds);
    AllowCore(&settings);
    ChangeDirectory(&settings);
}

/*
 * One report is kept, the latest: whatever happens, they do not fill a disk.
 */
static void
Tell(const char *directory, const char *name)
{
    char        path[PATH_MAX], kept[PATH_MAX], line[600] = "", when[32] = "";
    struct stat status;
    struct tm   tm;
    FILE       *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    snprintf(kept, sizeof(kept), "%s/" NAME, directory);
    file = fopen(path, "re");
    if (file == NULL) {
        return;
    }
    if (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
    }
    if (fstat(fileno(file), &status) == 0
        && localtime_r(&status.st_mtime, &tm) != NULL) {
        (void) strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    }
    fclose(file);
    if (rename(path, kept) == 0) {
        PutNumber(kept, ++nReports);
        Ns_Log(
            Warning,
            "nsmain: an earlier process crashed at %s: %s; its call stack is "
            "in %s",
            when, line, kept);
    }
}

int
NsCrashCount(void)
{
    return nReports;
}

/*
 * 0: there is no report.
 */
static int
NumberOf(const char *kept)
{
    FILE *file = fopen(kept, "re");
    char  line[600];
    int   number = 0, n;

    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, NUMBER, strlen(NUMBER)) == 0
            && sscanf(line + strlen(NUMBER), "%d", &n) == 1) {
            number = n;
        }
    }
    fclose(file);
    return MAX(number, 1);
}

static void
PutNumber(const char *kept, int number)
{
    FILE *file = fopen(kept, "ae");

    if (file != NULL) {
        fprintf(file, NUMBER "%d\n", number);
        fclose(file);
    }
}

/*
 * Only what is allowed in a signal handler.  SA_RESETHAND has put the default
 * action back: the process ends by the same signal, with a core where that is
 * configured.
 */
static void
OnFatalSignal(int number, siginfo_t *infoPtr, void *contextPtr)
{
    Line                 line = {.length = 0};
    const char          *name = NsThreadPeekName();
    const NsThreadDoing *doingPtr = NsThreadGetDoing();

    AppendText(&line, "Fatal: received fatal signal ");
    AppendNumber(&line, (uint64_t) number);
    if (name != NULL) {
        AppendText(&line, " in thread ");
        AppendText(&line, name);
    }
    if (doingPtr->url != NULL) {
        AppendText(&line, ", request cns");
        AppendNumber(&line, doingPtr->id);
        AppendText(&line, " ");
        AppendText(&line, doingPtr->method != NULL ? doingPtr->method : "?");
        AppendText(&line, " ");
        AppendText(&line, doingPtr->url);
    }
    if (doingPtr->requestId != NULL) {
        AppendText(&line, ", request id ");
        AppendText(&line, doingPtr->requestId);
    }
    line.text[line.length++] = '\n';
    (void) !write(STDERR_FILENO, line.text, line.length);
    WriteReport(&line, infoPtr);
    (void) raise(number);
}

/*
 * The last words once more, and the calls that led there.  Finding those may
 * wait for a lock of the loader that this thread holds: an alarm ends that.
 */
static void
WriteReport(const Line *linePtr, const siginfo_t *infoPtr)
{
    Line     cause = {.length = 0};
    void    *calls[MAX_CALLS];
    sigset_t alarms;
    int      fd;

    if (*reportPath == '\0') {
        return;
    }
    fd = OpenReport();
    if (fd < 0) {
        return;
    }
    (void) !write(fd, linePtr->text, linePtr->length);
    AppendCause(&cause, infoPtr);
    (void) !write(fd, cause.text, cause.length);
    (void) signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    (void) pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    (void) alarm(MAX_SECONDS);
    backtrace_symbols_fd(calls, backtrace(calls, MAX_CALLS), fd);
    (void) alarm(0);
    close(fd);
}

/*
 * Where there is no descriptor left, that of standard input is: nobody reads
 * from it any longer.
 */
static int
OpenReport(void)
{
    static const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    int              fd = open(reportPath, flags, 0640);

    if (fd < 0 && errno == EMFILE) {
        close(STDIN_FILENO);
        fd = open(reportPath, flags, 0640);
    }
    return fd;
}

/*
 * What the kernel says, and which program this is: calls are found in its
 * debugging information alone.
 */
static void
AppendCause(Line *linePtr, const siginfo_t *infoPtr)
{
    char date[NS_HTTP_DATE_LENGTH + 1];

    if (infoPtr->si_code > 0) {
        AppendText(linePtr, "address 0x");
        AppendDigits(linePtr, (uint64_t) (uintptr_t) infoPtr->si_addr, 16);
        AppendText(linePtr, ", code ");
        AppendNumber(linePtr, (uint64_t) infoPtr->si_code);
    } else {
        AppendText(linePtr, "sent by process ");
        AppendNumber(linePtr, (uint64_t) infoPtr->si_pid);
    }
    AppendText(linePtr, ", ");
    /* Local time is not for a handler. */
    NsHttpDate(date, time(NULL));
    AppendText(linePtr, date);
    AppendText(linePtr, ", ");
    AppendText(linePtr, build);
    linePtr->text[linePtr->length++] = '\n';
}

/*
 * Text from a client must not end the line.
 */
static void
AppendText(Line *linePtr, const char *text)
{
    /* One byte is left for the end. */
    for (; *text != '\0' && linePtr->length < sizeof(linePtr->text) - 1;
         text++) {
        bool isPlain = *text >= ' ' && *text < 127;

        linePtr->text[linePtr->length++] = isPlain ? *text : '?';
    }
}

static void
AppendNumber(Line *linePtr, uint64_t number)
{
    AppendDigits(linePtr, number, 10);
}

static void
AppendDigits(Line *linePtr, uint64_t number, unsigned base)
{
    char digits[24];
    int  i = sizeof(digits) - 1;

    digits[i] = '\0';
    do {
        digits[--i] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    AppendText(linePtr, digits + i);
}
