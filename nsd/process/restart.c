/* SPDX-License-Identifier: MPL-2.0
 * restart.c --
 *
 *      A restart that refuses no connection.
 */

#include "process/restart.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/info.h"
#include "process/prebind.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/wait.h>

/* The first of the descriptors that are handed over. */
#define FIRST_FD 3
/* Process, and the time when its listening sockets were left alone. */
#define RESTARTED "NSD_RESTARTED"
/* What the check of a configuration may take, and how often it is looked at. */
#define MAX_CHECK_SECONDS 120
#define LOOK_MS           100

static struct {
    /* Constant after NsRestartInherit. */
    int         directoryFd; /* The directory of the start; -1: unknown. */
    bool        isOne;
    int         n; /* How often it has executed itself. */
    NsStamp     since;
    const char *obstacle; /* NULL: it can be restarted. */

    atomic_bool isWanted;

    Ns_Mutex lock; /* Guards the rest. */
    int     *fds;
    int      nFds;
    NsStamp  keptStamp; /* Of the first. */
} restart = {.directoryFd = -1};

static Ns_ReturnCode RunCheck(const char *option, Ns_DString *outputPtr,
                              Ns_DString *reasonPtr);
static const char   *AwaitCheck(pid_t pid, int fd, Ns_DString *outputPtr);
static bool          HasEnded(pid_t pid);
static bool          IsToEnd(void);
static bool          IsEndPending(void);
static bool          ReadSome(int fd, Ns_DString *dsPtr);
static int           NumberIn(const char *name);
static void          TakeOver(int fd);
static bool          NameOf(int fd, NsPrebindSpec *specPtr);
static void          MoveUp(void);
static void          MoveDown(void);
static void          SetNumber(const char *name, long number);

void
NsRestartInherit(void)
{
    const char *restarted = getenv(RESTARTED);
    int  nFds = NumberIn("LISTEN_PID") == getpid() ? NumberIn("LISTEN_FDS") : 0;
    int  n;
    long pid;
    long long since;

    NsMutexSetup(&restart.lock, NS_RANK_PROCESS_MISC, "ns:restart", NULL);
    restart.directoryFd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (restarted != NULL
        && sscanf(restarted, "%ld %lld %d", &pid, &since, &n) == 3
        && pid == getpid()) {
        restart.isOne = true;
        restart.n = n;
        restart.since = (NsStamp) since;
    }
    for (int i = 0; i < nFds; i++) {
        TakeOver(FIRST_FD + i);
    }
    /* They are not meant for programs that this one starts. */
    (void) unsetenv(RESTARTED);
    (void) unsetenv("LISTEN_PID");
    (void) unsetenv("LISTEN_FDS");
    (void) unsetenv("LISTEN_FDNAMES");
}

void
NsRestartForbid(const char *reason)
{
    restart.obstacle = reason;
}

bool
NsRestartIsOne(void)
{
    return restart.isOne;
}

int
NsRestartCount(void)
{
    return restart.n;
}

void
NsRestartNote(void)
{
    if (restart.isOne) {
        Ns_Log(Notice,
               "nsmain: restarted: connections waited for %.1f s, none was "
               "refused",
               (double) (NsClockNow() - restart.since) / NS_STAMP_SECOND);
    }
}

Ns_ReturnCode
NsRestartCheck(Ns_DString *reasonPtr)
{
    Ns_DString    output;
    Ns_ReturnCode result;

    if (restart.obstacle != NULL) {
        Ns_DStringAppend(reasonPtr, restart.obstacle);
        return NS_ERROR;
    }
    Ns_DStringInit(&output);
    result = RunCheck("-T", &output, reasonPtr);
    if (result != NS_OK) {
        Ns_DStringAppend(reasonPtr, output.string);
    }
    Ns_DStringFree(&output);
    return result;
}

Ns_ReturnCode
NsRestartReadConfig(Ns_DString *textPtr, Ns_DString *reasonPtr)
{
    return RunCheck("--dump", textPtr, reasonPtr);
}

/*
 * The words of the start, with an option in front that prevails over other
 * modes.  What it prints on standard error is the reason of a failure.
 */
static Ns_ReturnCode
RunCheck(const char *option, Ns_DString *outputPtr, Ns_DString *reasonPtr)
{
    int          argc = NsInfoArgc(), status = 0, fds[2], errors, pid;
    const char **argv, *obstacle = NULL;
    char         directory[40];
    bool         isGood;

    errors = memfd_create("errors", MFD_CLOEXEC);
    if (errors < 0 || pipe2(fds, O_CLOEXEC) != 0) {
        Ns_DStringPrintf(reasonPtr, "no pipe: %s", strerror(errno));
        if (errors >= 0) {
            close(errors);
        }
        return NS_ERROR;
    }
    argv = ns_calloc((size_t) argc + 2, sizeof(char *));
    argv[0] = NsInfoArgv()[0];
    argv[1] = option;
    for (int i = 1; i < argc; i++) {
        argv[i + 1] = NsInfoArgv()[i];
    }
    snprintf(directory, sizeof(directory), "/proc/self/fd/%d",
             restart.directoryFd);
    pid = Ns_ExecSpawn(&(Ns_ExecSpec){
        .program = Ns_InfoNameOfExecutable(),
        .dir = directory,
        .fdIn = -1,
        .fdOut = fds[1],
        .fdErr = errors,
        .argv = (char **) argv});
    if (pid <= 0) {
        Ns_DStringPrintf(reasonPtr, "cannot run %s: %s",
                         Ns_InfoNameOfExecutable(), strerror(errno));
    }
    close(fds[1]);
    ns_free(argv);
    if (pid > 0) {
        obstacle = AwaitCheck(pid, fds[0], outputPtr);
    }
    close(fds[0]);
    isGood = pid > 0 && Ns_WaitForProcess(pid, &status) == NS_OK && status == 0;
    if (!isGood && lseek(errors, 0, SEEK_SET) == 0) {
        while (ReadSome(errors, reasonPtr)) {
            continue;
        }
    }
    if (obstacle != NULL) {
        Ns_DStringPrintf(reasonPtr, "the check of the configuration (%s) %s",
                         option, obstacle);
    }
    close(errors);
    return isGood ? NS_OK : NS_ERROR;
}

/*
 * The configuration is a script: it may wait for something forever, and it may
 * leave programs behind that have the pipe.  NULL: the check has ended; else
 * why it was ended.
 */
static const char *
AwaitCheck(pid_t pid, int fd, Ns_DString *outputPtr)
{
    NsStamp       end = NsClockNow() + MAX_CHECK_SECONDS * NS_STAMP_SECOND;
    struct pollfd output = {.fd = fd, .events = POLLIN};
    const char   *obstacle = NULL;

    NsMust(fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ? errno : 0);
    while (!HasEnded(pid) && obstacle == NULL) {
        if (NsPollEndable(&output, 1, LOOK_MS) > 0
            && !ReadSome(fd, outputPtr)) {
            output.fd = -1; /* All of it; the end of the process is near. */
        }
        if (IsToEnd()) {
            obstacle = "was given up";
        } else if (NsClockNow() > end) {
            obstacle = "does not end: what does its script wait for?";
        }
    }
    if (obstacle != NULL) {
        (void) kill(pid, SIGKILL);
    } else {
        while (ReadSome(fd, outputPtr)) {
            continue;
        }
    }
    return obstacle;
}

/*
 * It stays to be waited for.
 */
static bool
HasEnded(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0
        || info.si_pid == pid;
}

/*
 * The main thread, which serves signals, may be the one that waits; a client of
 * `nsd ctl` may have left.
 */
static bool
IsToEnd(void)
{
    return IsEndPending() || NsInterruptIsSet()
        || NsInfoLife() == NS_LIFE_STOPPING;
}

/*
 * False: that was all, for now.
 */
static bool
ReadSome(int fd, Ns_DString *dsPtr)
{
    char    bytes[4096];
    ssize_t n = read(fd, bytes, sizeof(bytes));

    if (n > 0) {
        Ns_DStringNAppend(dsPtr, bytes, (int) n);
    }
    return n > 0;
}

void
NsRestartWant(void)
{
    atomic_store(&restart.isWanted, true);
}

void
NsRestartRequest(void)
{
    NsRestartWant();
    (void) kill(Ns_InfoPid(), SIGUSR2);
}

bool
NsRestartIsWanted(void)
{
    return atomic_load(&restart.isWanted);
}

bool
NsRestartIsNext(void)
{
    return NsRestartIsWanted() && !IsEndPending();
}

/*
 * A signal that ends the server waits for the main thread.
 */
static bool
IsEndPending(void)
{
    sigset_t pending;

    return sigpending(&pending) != 0 || sigismember(&pending, SIGTERM)
        || sigismember(&pending, SIGINT) || sigismember(&pending, SIGQUIT);
}

void
NsRestartKeep(int fd)
{
    Ns_MutexLock(&restart.lock);
    if (restart.nFds == 0) {
        restart.keptStamp = NsClockNow();
    }
    restart.fds = ns_realloc(restart.fds,
                             (size_t) (restart.nFds + 1) * sizeof(int));
    restart.fds[restart.nFds++] = fd;
    Ns_MutexUnlock(&restart.lock);
}

void
NsRestartExec(void)
{
    const char *file = Ns_InfoNameOfExecutable();
    char        text[64];

    if (restart.directoryFd < 0 || fchdir(restart.directoryFd) != 0) {
        Ns_Log(Error, "nsmain: not restarted: the directory of the start: %s",
               strerror(errno));
        return;
    }
    MoveUp();
    MoveDown();
    SetNumber("LISTEN_PID", getpid());
    SetNumber("LISTEN_FDS", restart.nFds);
    snprintf(text, sizeof(text), "%ld %lld %d", (long) getpid(),
             (long long) (restart.nFds > 0 ? restart.keptStamp : NsClockNow()),
             restart.n + 1);
    (void) setenv(RESTARTED, text, 1);
    execv(file, NsInfoArgv());
    fprintf(stderr, "%s: not restarted: %s: %s\n", NsInfoArgv()[0], file,
            strerror(errno));
}

static int
NumberIn(const char *name)
{
    const char *text = getenv(name);
    int         number = 0;

    if (text != NULL && Ns_StrToInt(text, &number) != NS_OK) {
        number = 0;
    }
    return number;
}

static void
TakeOver(int fd)
{
    NsPrebindSpec spec;

    (void) fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (NameOf(fd, &spec)) {
        NsPrebindKeepSpec(&spec, fd);
    } else {
        close(fd);
    }
}

/*
 * The address as a configuration would write it; false: it is no socket that a
 * driver could use.
 */
static bool
NameOf(int fd, NsPrebindSpec *specPtr)
{
    struct sockaddr_storage address;
    socklen_t               length = sizeof(address), size = sizeof(int);
    const void             *bytesPtr;
    int                     type;

    memset(specPtr, 0, sizeof(*specPtr));
    memset(&address, 0, sizeof(address));
    if (getsockname(fd, (struct sockaddr *) &address, &length) != 0
        || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
        return false;
    }
    specPtr->kind = type == SOCK_DGRAM ? NS_PREBIND_UDP : NS_PREBIND_TCP;
    if (address.ss_family == AF_UNIX) {
        specPtr->kind = NS_PREBIND_UNIX;
        snprintf(specPtr->address, sizeof(specPtr->address), "%s",
                 ((struct sockaddr_un *) &address)->sun_path);
        return true;
    }
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *inPtr = (struct sockaddr_in *) &address;

        bytesPtr = &inPtr->sin_addr;
        specPtr->port = ntohs(inPtr->sin_port);
    } else if (address.ss_family == AF_INET6) {
        const struct sockaddr_in6 *inPtr = (struct sockaddr_in6 *) &address;

        bytesPtr = &inPtr->sin6_addr;
        specPtr->port = ntohs(inPtr->sin6_port);
    } else {
        return false;
    }
    return inet_ntop(address.ss_family, bytesPtr, specPtr->address,
                     sizeof(specPtr->address))
        != NULL;
}

/*
 * Out of the way of each other.
 */
static void
MoveUp(void)
{
    for (int i = 0; i < restart.nFds; i++) {
        restart.fds[i] = fcntl(restart.fds[i], F_DUPFD_CLOEXEC,
                               FIRST_FD + restart.nFds);
    }
}

/*
 * To where they are looked for.  The duplicates stay open over execv.
 */
static void
MoveDown(void)
{
    int n = 0;

    for (int i = 0; i < restart.nFds; i++) {
        if (restart.fds[i] >= 0 && dup2(restart.fds[i], FIRST_FD + n) >= 0) {
            n++;
        }
    }
    restart.nFds = n;
}

static void
SetNumber(const char *name, long number)
{
    char text[24];

    snprintf(text, sizeof(text), "%ld", number);
    (void) setenv(name, text, 1);
}
