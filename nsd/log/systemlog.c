/*
 * systemlog.c --
 *
 *      Where entries of the system log go: a file, or standard error.
 */

#include "log/systemlog.h"

#include <pthread.h>

#include "base/lock.h"
#include "log/entry.h"
#include "log/filter.h"
#include "log/init.h"
#include "log/severity.h"
#include "nslog.h"

static Ns_Mutex   lock;         /* One line, or one roll, at a time. */
static int        fd = STDERR_FILENO;   /* Constant: see Redirect. */
static pid_t      pid;          /* Set by NsLogInit and after a fork. */
static NsLogStyle style = {.sanitize = 2};  /* Constant after NsLogConfigure. */
static char      *file;         /* Likewise. */
static int        maxBackup = 10;           /* Likewise. */

static void NoteFork(void);
static void Panic(const char *fmt, ...) NS_GNUC_PRINTF(1, 2) NS_GNUC_NORETURN;
static bool Redirect(void);
static void WriteLocked(const NsLogEntry *entryPtr);
static void WriteAll(int toFd, const char *bytes, size_t length);


void
NsLogInit(void)
{
    static bool isDone;

    if (!isDone) {
        isDone = true;
        NoteFork();
        pthread_atfork(NULL, NULL, NoteFork);
        NsMutexSetup(&lock, NS_RANK_LOG_FILE, "ns:log", NULL);
        NsSeverityInit();
        NsFilterInit();
        NsEntryInit();
        Tcl_SetPanicProc(Panic);
    }
}

void
NsLogConfigure(const NsLogSettings *settingsPtr)
{
    style = (NsLogStyle){
        .usec = settingsPtr->usec,
        .isExpanded = settingsPtr->isExpanded,
        .sanitize = settingsPtr->sanitize
    };
    file = ns_strdup(settingsPtr->file);
    maxBackup = settingsPtr->maxBackup;
    NsSeverityEnable(Notice, settingsPtr->notice);
    NsSeverityEnable(Debug, settingsPtr->debug);
    NsSeverityEnable(Dev, settingsPtr->dev);
    if (!settingsPtr->stayOnStderr && !Redirect()) {
        Ns_Fatal("log: failed to open server log '%s': '%s'", file,
                 strerror(errno));
    }
}

void
NsLogStart(void)
{
}

void
NsLogStop(void)
{
}

void
NsLogFinish(void)
{
}

const char *
NsLogFile(void)
{
    return file != NULL ? file : "";
}

const NsLogStyle *
NsSystemLogStyle(void)
{
    return &style;
}

int
NsSystemLogPid(void)
{
    return pid;
}

void
NsSystemLogWrite(const NsLogEntry *entryPtr)
{
    Ns_MutexLock(&lock);
    WriteLocked(entryPtr);
    Ns_MutexUnlock(&lock);
}

void
NsSystemLogDrain(void)
{
}

int
Ns_LogRoll(void)
{
    return NsSystemLogRoll() ? NS_OK : NS_ERROR;
}

bool
NsSystemLogRoll(void)
{
    bool isOpen;

    if (file == NULL) {
        return true;
    }
    if (access(file, F_OK) == 0) {
        Ns_RollFile(file, MAX(maxBackup, 1));
        Ns_Log(Notice, "log: re-opening log file '%s'", file);
    }
    isOpen = Redirect();
    if (!isOpen) {
        Ns_Log(Error, "log: failed to re-open log file '%s': '%s'", file,
               strerror(errno));
    }
    return isOpen;
}

int
NsAsyncWrite(int toFd, const char *buffer, size_t nbyte)
{
    WriteAll(toFd, buffer, nbyte);
    return NS_ERROR;
}

static void
NoteFork(void)
{
    pid = getpid();
}

static void
Panic(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    Ns_VALog(Fatal, fmt, &ap);
    va_end(ap);
    NsSystemLogDrain();
    abort();
}

/*
 * Let descriptors 1 and 2 be the log file, so that the output of child processes
 * lands there too.  Errno tells why not.
 */
static bool
Redirect(void)
{
    int newFd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

    if (newFd < 0) {
        return false;
    }
    dup2(newFd, STDOUT_FILENO);
    dup2(newFd, STDERR_FILENO);
    if (newFd > STDERR_FILENO) {
        close(newFd);
    }
    return true;
}

static void
WriteLocked(const NsLogEntry *entryPtr)
{
    char     line[4096];
    NsLogOut out = {line, sizeof(line), 0};

    NsLogLine(&out, entryPtr, &style);
    if (likely(out.length <= sizeof(line))) {
        WriteAll(fd, line, out.length);
    } else {
        char *longLine = ns_malloc(out.length);

        out = (NsLogOut){longLine, out.length, 0};
        NsLogLine(&out, entryPtr, &style);
        WriteAll(fd, longLine, out.length);
        ns_free(longLine);
    }
}

static void
WriteAll(int toFd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(toFd, bytes, length);

        if (n >= 0) {
            bytes += n;
            length -= (size_t) n;
        } else if (errno != EINTR) {
            break;
        }
    }
}
