/* SPDX-License-Identifier: MPL-2.0
 * control.c --
 *
 *      The control socket.
 */

#include "process/control.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/thread.h"
#include "base/writeall.h"
#include "log/ring/ring.h"
#include "log/sink/sink.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsparam.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/info.h"
#include "process/notify.h"
#include "process/parameters.h"
#include "process/pidfile.h"
#include "process/prebind.h"
#include "process/restart.h"
#include "process/shutdown.h"
#include "process/units.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#define MAX_SESSIONS 128
#define MAX_LINE     (1024 * 1024)
/* How long a client may take nothing of a reply. */
#define SEND_SECONDS 30
/* How long accepting pauses when there are no descriptors. */
#define PAUSE_MS 1000
/* The time to send a request when a client cannot have a thread. */
#define HASTE_MS 1000
/* How often it is looked whether clients have left, while there are some. */
#define LOOK_MS 1000

typedef struct Settings {
    const char *path;
} Settings;

const char *const nsControlWords[NS_CONTROL_WORDS] = {
    [NS_CONTROL_DONE] = "ok",
    [NS_CONTROL_REFUSED] = "error",
    [NS_CONTROL_USAGE] = "usage"};

static NsParameterAdjustProc AdjustPath;

static const NsParameter rows[] = {
    NS_PATH(Settings, path, "controlsocket", "nsd.ctl beside the pid file",
            "Socket of `nsd ctl`; empty: none.", .isDescribed = true,
            .adjustProc = AdjustPath),
    NS_PARAM_END};

typedef struct Session {
    int         fd; /* Constant, as the next ones. */
    uid_t       uid;
    unsigned    id;
    int         patienceMs; /* For the next bytes; -1: no limit. */
    const char *obstacle;   /* Why it is served in the thread that accepts,
                             * without scripts; NULL: it has its own. */
    Ns_DString  input;      /* Its thread's. */
    NsInterrupt interrupt;  /* Set when the client has left. */

    /* Guarded by control.lock. */
    struct Session *nextPtr;
    void           *state;       /* For requests that scripts answer. */
    bool            isAnswering; /* A script. */
    bool            isInUse;     /* By the thread that accepts. */
    char            request[80]; /* Its beginning. */
} Session;

/*
 * A path that fits into the address of a socket, however long the real one is.
 */
typedef struct ShortPath {
    char name[sizeof(((struct sockaddr_un *) NULL)->sun_path)];
    int  directoryFd; /* Open as long as the name is in use; -1: none. */
} ShortPath;

/*
 * A request that needs no interpreter: it is answered whatever the rest of the
 * process does.
 */
typedef int CommandProc(int argc, const char **argv, Ns_DString *replyPtr);

static CommandProc Ready, Drain, Reopen, LogMemory, Restart, StopServer;

static const struct {
    const char  *name;
    const char  *usage; /* Behind the name. */
    int          maxArgs;
    CommandProc *proc;
} commands[] = {
    {"ready", "", 1, Ready},     {"drain", "on|off", 2, Drain},
    {"reopen", "", 1, Reopen},   {"logmemory", "", 1, LogMemory},
    {"restart", "", 1, Restart}, {"stop", "?-timeout time?", 3, StopServer}};

static struct {
    /* Constant after NsControlStart. */
    const NsControlProcs *procsPtr;
    char                 *path; /* NULL: there is no socket. */
    int                   fd;
    int                   stopFd; /* Readable when all are to end. */
    int                   askFd;  /* Readable when the listener is to turn. */
    Ns_Thread             thread; /* Main thread. */

    int reserveFd; /* The listener's: given up to hear a client when there is no
                    * other descriptor; -1: given up. */

    /*
     * The listener's signs of life: isAsked is set by the one who asks, and
     * cleared by the listener, which sets isOccupied while it does what takes
     * as long as a client, or the lack of descriptors, wants it to.
     */
    atomic_bool isAsked;
    atomic_bool isOccupied;

    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  left;
    Session *firstPtr;
    int      nSessions;
    int      nScripts; /* Requests that an interpreter runs. */
    bool     isStopping;
} control = {.fd = -1, .stopFd = -1, .askFd = -1, .reserveFd = -1};

static NsNotifyAliveProc Turns;
static bool              Listen(void);
static Ns_ThreadProc     RunListener, RunSession;
static void              TellTurn(bool isAsked);
static void              SetOccupied(bool isOccupied);
static bool              HasSessions(void);
static void              TakeReserve(void);
static void              AcceptOne(void);
static bool              IsShortage(int reason);
static bool              IsAllowed(int fd, uid_t *uidPtr);
static void              CancelAbandoned(void);
static bool              HasLeft(const Session *sessionPtr);
static void              StartSession(int fd, uid_t uid, bool isShort);
static bool              Enter(Session *sessionPtr);
static void              Serve(Session *sessionPtr);
static void              Leave(Session *sessionPtr);
static bool              WaitForLine(Session *sessionPtr);
static void              DropLine(Ns_DString *inputPtr, const char *rest);
static void              Answer(Session *sessionPtr, const char *request);
static int Run(Session *sessionPtr, const char *request, Ns_DString *replyPtr);
static int SkipOptions(int argc, const char **argv);
static int RunCommand(int i, int argc, const char **argv, Ns_DString *replyPtr);
static int FailUsage(int i, Ns_DString *replyPtr);
static int RunScript(Session *sessionPtr, const char *request,
                     Ns_DString *replyPtr);
static bool BeginScript(Session *sessionPtr, const char *request);
static void EndScript(Session *sessionPtr);
static void LogHangingLocked(void);
static bool Reply(int fd, int result, const Ns_DString *replyPtr);
static void ShortPathInit(ShortPath *shortPtr, const char *path);

void
NsControlInit(void)
{
    NsMutexSetup(&control.lock, NS_RANK_PROCESS_MISC, "ns:control", NULL);
    NsParametersRegister("ns/parameters", rows, sizeof(Settings));
    NsNotifyAddAliveProc("the thread of the control socket", Turns);
}

void
NsControlSetProcs(const NsControlProcs *procsPtr)
{
    control.procsPtr = procsPtr;
}

void
NsControlStart(void)
{
    control.path = NsControlPath();
    if (control.path == NULL) {
        return;
    }
    control.stopFd = eventfd(0, EFD_CLOEXEC);
    control.askFd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (control.stopFd < 0 || control.askFd < 0 || !Listen()) {
        Ns_Log(Warning,
               "control: cannot listen on '%s': %s: 'nsd ctl' does not reach "
               "this server",
               control.path,
               errno == EADDRINUSE ? "it is that of another running server"
                                   : strerror(errno));
        ns_free(control.path);
        control.path = NULL;
        return;
    }
    Ns_RegisterProcInfo((void *) RunListener, "ns:control", NULL);
    Ns_RegisterProcInfo((void *) RunSession, "ns:controlsession", NULL);
    Ns_ThreadCreate(RunListener, NULL, 0, &control.thread);
}

/*
 * Scripts of clients run in threads of their own, so that none of them makes
 * the listener look as if it hung.  Called when the server runs.
 */
static bool
Turns(void)
{
    bool hasTurned = true;

    if (control.path != NULL) {
        hasTurned = !atomic_exchange(&control.isAsked, true)
            || atomic_load(&control.isOccupied);
        (void) eventfd_write(control.askFd, 1);
    }
    return hasTurned;
}

static bool
Listen(void)
{
    ShortPath path;

    ShortPathInit(&path, control.path);
    control.fd = NsBindUnix(path.name, SOCK_STREAM | SOCK_NONBLOCK, 0600);
    if (control.fd >= 0 && listen(control.fd, MAX_SESSIONS) != 0) {
        control.fd = NsCloseAfter(control.fd);
    }
    (void) NsCloseAfter(path.directoryFd);
    return control.fd >= 0;
}

Ns_ReturnCode
NsControlStop(const Ns_Time *deadlinePtr, const Ns_Time *lastCallPtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_Time       deadline = *deadlinePtr, lastCall = *lastCallPtr;

    if (control.path == NULL) {
        return NS_OK;
    }
    Ns_MutexLock(&control.lock);
    control.isStopping = true;
    while (control.nScripts > 0 && result == NS_OK) {
        result = Ns_CondTimedWait(&control.left, &control.lock, &deadline);
    }
    if (result != NS_OK) {
        LogHangingLocked();
    }
    Ns_MutexUnlock(&control.lock);

    (void) unlink(control.path);
    (void) eventfd_write(control.stopFd, 1);
    Ns_ThreadJoin(&control.thread, NULL);
    Ns_MutexLock(&control.lock);
    while (control.nSessions > 0 && result == NS_OK) {
        result = Ns_CondTimedWait(&control.left, &control.lock, &lastCall);
    }
    Ns_MutexUnlock(&control.lock);
    return result == NS_OK ? NS_OK : NS_ERROR;
}

char *
NsControlPath(void)
{
    Settings   settings;
    Ns_DString ds;
    char      *path = NULL;

    NsParametersFill(rows, "ns/parameters", &settings);
    if (*settings.path != '\0') {
        Ns_DStringInit(&ds);
        if (!Ns_PathIsAbsolute(settings.path)) {
            Ns_HomePath(&ds, (char *) NULL);
            Ns_DStringAppend(&ds, "/");
        }
        Ns_DStringAppend(&ds, settings.path);
        path = Ns_DStringExport(&ds);
    }
    return path;
}

int
NsControlConnect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int                fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ShortPath          name;

    ShortPathInit(&name, path);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", name.name);
    if (fd >= 0
        && connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        fd = NsCloseAfter(fd);
    }
    (void) NsCloseAfter(name.directoryFd);
    return fd;
}

static void
AdjustPath(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    static char path[PATH_MAX];
    char       *pidPath = NsPidfilePath();
    char       *tail = strrchr(pidPath, '/');

    snprintf(path, sizeof(path), "%.*s/nsd.ctl", (int) (tail - pidPath),
             pidPath);
    limitsPtr->defaultText = path;
    ns_free(pidPath);
}

static void
RunListener(void *arg)
{
    struct pollfd pfds[] = {{.fd = control.stopFd, .events = POLLIN},
                            {.fd = control.fd, .events = POLLIN},
                            {.fd = control.askFd, .events = POLLIN}};

    Ns_ThreadSetName("-control-");
    TakeReserve();
    while (pfds[0].revents == 0) {
        if (poll(pfds, Ns_NrElements(pfds), HasSessions() ? LOOK_MS : -1) > 0
            && pfds[1].revents != 0) {
            AcceptOne();
        }
        CancelAbandoned();
        TellTurn(pfds[2].revents != 0);
    }
    close(control.fd);
    control.reserveFd = NsCloseAfter(control.reserveFd);
}

/*
 * The counter is read first: who asks after that wakes us once more.
 */
static void
TellTurn(bool isAsked)
{
    eventfd_t count;

    if (isAsked) {
        (void) eventfd_read(control.askFd, &count);
        atomic_store(&control.isAsked, false);
    }
}

/*
 * The end is as good as a turn.
 */
static void
SetOccupied(bool isOccupied)
{
    if (!isOccupied) {
        atomic_store(&control.isAsked, false);
    }
    atomic_store(&control.isOccupied, isOccupied);
}

/*
 * They begin in this thread alone.
 */
static bool
HasSessions(void)
{
    bool hasSessions;

    Ns_MutexLock(&control.lock);
    hasSessions = control.firstPtr != NULL;
    Ns_MutexUnlock(&control.lock);
    return hasSessions;
}

/*
 * A script whose client has left, by an interrupt as a rule, is of no use to
 * anybody, and may be one that does not end.
 */
static void
CancelAbandoned(void)
{
    Session *sessions[MAX_SESSIONS + 1];
    int      n = 0;

    Ns_MutexLock(&control.lock);
    for (Session *sessionPtr = control.firstPtr; sessionPtr != NULL;
         sessionPtr = sessionPtr->nextPtr) {
        if (sessionPtr->isAnswering && HasLeft(sessionPtr)) {
            NsAssert(n < Ns_NrElements(sessions) && !sessionPtr->isInUse);
            sessionPtr->isInUse = true;
            sessions[n++] = sessionPtr;
        }
    }
    Ns_MutexUnlock(&control.lock);
    if (n == 0) {
        return;
    }
    for (int i = 0; i < n; i++) {
        control.procsPtr->cancelProc(sessions[i]->state);
        NsInterruptSet(&sessions[i]->interrupt);
    }
    Ns_MutexLock(&control.lock);
    for (int i = 0; i < n; i++) {
        sessions[i]->isInUse = false;
    }
    Ns_CondBroadcast(&control.left);
    Ns_MutexUnlock(&control.lock);
}

/*
 * One that has only shut down its side waits for the reply.
 */
static bool
HasLeft(const Session *sessionPtr)
{
    struct pollfd pfd = {.fd = sessionPtr->fd};

    return poll(&pfd, 1, 0) > 0 && (pfd.revents & POLLHUP) != 0;
}

/*
 * If it cannot be had now, the next client brings another try.
 */
static void
TakeReserve(void)
{
    if (control.reserveFd < 0) {
        control.reserveFd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

static void
AcceptOne(void)
{
    uid_t uid;
    int   fd = accept4(control.fd, NULL, NULL, SOCK_CLOEXEC);
    bool  isShort = fd < 0 && IsShortage(errno);

    if (isShort && control.reserveFd >= 0) {
        control.reserveFd = NsCloseAfter(control.reserveFd);
        fd = accept4(control.fd, NULL, NULL, SOCK_CLOEXEC);
    }
    if (fd >= 0 && IsAllowed(fd, &uid)) {
        struct timeval limit = {.tv_sec = SEND_SECONDS};

        (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        StartSession(fd, uid, isShort);
    } else if (fd >= 0) {
        close(fd);
    } else if (IsShortage(errno)) {
        struct pollfd stop = {.fd = control.stopFd, .events = POLLIN};

        /* The client waits in the backlog. */
        SetOccupied(true);
        (void) poll(&stop, 1, PAUSE_MS);
        SetOccupied(false);
    }
    TakeReserve();
}

static bool
IsShortage(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == ENOBUFS
        || reason == ENOMEM;
}

/*
 * The server's own user, and root.
 */
static bool
IsAllowed(int fd, uid_t *uidPtr)
{
    struct ucred credentials;
    socklen_t    length = sizeof(credentials);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
        return false;
    }
    *uidPtr = credentials.uid;
    if (credentials.uid != 0 && credentials.uid != geteuid()) {
        Ns_Log(Security, "control: refused: user %u, process %d",
               (unsigned) credentials.uid, (int) credentials.pid);
        return false;
    }
    return true;
}

/*
 * Who cannot have a thread, or is one too many, is served before anybody else
 * is heard.
 */
static void
StartSession(int fd, uid_t uid, bool isShort)
{
    static unsigned lastId;
    Session        *sessionPtr = ns_calloc(1, sizeof(*sessionPtr));
    bool            isCrowded;

    sessionPtr->fd = fd;
    sessionPtr->uid = uid;
    sessionPtr->id = ++lastId;
    sessionPtr->patienceMs = -1;
    Ns_DStringInit(&sessionPtr->input);
    NsInterruptInit(&sessionPtr->interrupt, NULL, NULL);
    isCrowded = !Enter(sessionPtr);
    if (isCrowded || isShort
        || NsThreadTry(RunSession, sessionPtr, 0, NULL) != 0) {
        sessionPtr->obstacle = isCrowded
            ? "cannot be run, since there are too many clients"
            : "needs a thread and descriptors, which cannot be had now";
        sessionPtr->patienceMs = HASTE_MS;
        SetOccupied(true);
        Serve(sessionPtr);
        SetOccupied(false);
    }
}

/*
 * False: there are enough.
 */
static bool
Enter(Session *sessionPtr)
{
    bool isEnough;

    Ns_MutexLock(&control.lock);
    isEnough = control.nSessions >= MAX_SESSIONS;
    sessionPtr->nextPtr = control.firstPtr;
    control.firstPtr = sessionPtr;
    control.nSessions++;
    Ns_MutexUnlock(&control.lock);
    return !isEnough;
}

static void
RunSession(void *arg)
{
    Session *sessionPtr = arg;

    Ns_ThreadSetName("-control:%u-", sessionPtr->id);
    NsInterruptOwn(&sessionPtr->interrupt);
    Serve(sessionPtr);
}

/*
 * Until the client has left.  When the server stops, its end stays open until
 * the process has ended.
 */
static void
Serve(Session *sessionPtr)
{
    char *end;

    while (WaitForLine(sessionPtr)) {
        end = strchr(sessionPtr->input.string, '\n');
        *end = '\0';
        Answer(sessionPtr, sessionPtr->input.string);
        if (sessionPtr->obstacle != NULL) {
            break;
        }
        DropLine(&sessionPtr->input, end + 1);
    }
    Leave(sessionPtr);
}

static void
Leave(Session *sessionPtr)
{
    Session **linkPtr = &control.firstPtr;

    Ns_MutexLock(&control.lock);
    while (sessionPtr->isInUse) {
        Ns_CondWait(&control.left, &control.lock);
    }
    Ns_MutexUnlock(&control.lock);
    NsInterruptOwn(NULL);
    NsInterruptFree(&sessionPtr->interrupt);
    if (sessionPtr->state != NULL) {
        control.procsPtr->endProc(sessionPtr->state);
    }
    Ns_DStringFree(&sessionPtr->input);

    Ns_MutexLock(&control.lock);
    if (!control.isStopping) {
        close(sessionPtr->fd);
    }
    while (*linkPtr != sessionPtr) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    *linkPtr = sessionPtr->nextPtr;
    NsAssert(control.nSessions > 0 && !sessionPtr->isAnswering);
    control.nSessions--;
    NsAssert((control.nSessions == 0) == (control.firstPtr == NULL));
    Ns_CondBroadcast(&control.left);
    Ns_MutexUnlock(&control.lock);
    ns_free(sessionPtr);
}

/*
 * False: there is none, or the server stops.
 */
static bool
WaitForLine(Session *sessionPtr)
{
    Ns_DString   *inputPtr = &sessionPtr->input;
    struct pollfd pfds[] = {{.fd = control.stopFd, .events = POLLIN},
                            {.fd = sessionPtr->fd, .events = POLLIN}};
    char          bytes[4096];

    while (strchr(inputPtr->string, '\n') == NULL) {
        ssize_t n;

        if (poll(pfds, Ns_NrElements(pfds), sessionPtr->patienceMs) <= 0
            || pfds[0].revents != 0) {
            return false;
        }
        n = recv(sessionPtr->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n <= 0 || memchr(bytes, '\0', (size_t) n) != NULL
            || inputPtr->length > MAX_LINE) {
            return false;
        }
        Ns_DStringNAppend(inputPtr, bytes, (int) n);
    }
    return true;
}

static void
DropLine(Ns_DString *inputPtr, const char *rest)
{
    int length = (int) (inputPtr->string + inputPtr->length - rest);

    memmove(inputPtr->string, rest, (size_t) length);
    Ns_DStringSetLength(inputPtr, length);
}

static void
Answer(Session *sessionPtr, const char *request)
{
    Ns_DString reply;
    int        result;

    Ns_DStringInit(&reply);
    result = Run(sessionPtr, request, &reply);
    (void) Reply(sessionPtr->fd, result, &reply);
    Ns_DStringFree(&reply);
}

static int
Run(Session *sessionPtr, const char *request, Ns_DString *replyPtr)
{
    int          result;
    const char **argv;
    int          argc, first, i = 0;

    if (Tcl_SplitList(NULL, request, &argc, &argv) != TCL_OK || argc == 0) {
        Ns_DStringAppend(replyPtr, "a request is a list of words");
        return NS_CONTROL_USAGE;
    }
    first = SkipOptions(argc, argv);
    while (i < Ns_NrElements(commands)
           && (first == argc || !STREQ(commands[i].name, argv[first]))) {
        i++;
    }
    if (i < Ns_NrElements(commands)) {
        result = RunCommand(i, argc - first, argv + first, replyPtr);
    } else if (sessionPtr->obstacle != NULL) {
        result = NS_CONTROL_REFUSED;
        Ns_DStringPrintf(replyPtr,
                         "'%s' %s: only ready, drain, reopen, restart and "
                         "stop work",
                         first < argc ? argv[first] : "", sessionPtr->obstacle);
    } else {
        result = RunScript(sessionPtr, request, replyPtr);
    }
    Tcl_Free((char *) argv);
    return result;
}

/*
 * Of those that say how a script answers: ?--json? ?--server NAME?.
 */
static int
SkipOptions(int argc, const char **argv)
{
    int i = 0;

    while (i < argc && strncmp(argv[i], "--", 2) == 0) {
        i += STREQ(argv[i], "--server") ? 2 : 1;
    }
    return MIN(i, argc);
}

static int
RunCommand(int i, int argc, const char **argv, Ns_DString *replyPtr)
{
    int result;

    if (argc > commands[i].maxArgs) {
        return FailUsage(i, replyPtr);
    }
    result = commands[i].proc(argc, argv, replyPtr);
    return result == NS_CONTROL_USAGE ? FailUsage(i, replyPtr) : result;
}

static int
FailUsage(int i, Ns_DString *replyPtr)
{
    Ns_DStringVarAppend(replyPtr, "usage: nsd ctl ", commands[i].name,
                        *commands[i].usage ? " " : "", commands[i].usage,
                        (char *) NULL);
    return NS_CONTROL_USAGE;
}

static int
RunScript(Session *sessionPtr, const char *request, Ns_DString *replyPtr)
{
    int result = NS_CONTROL_REFUSED;

    if (BeginScript(sessionPtr, request)) {
        result = control.procsPtr->runProc(sessionPtr->state, request,
                                           sessionPtr->uid, replyPtr);
        NsAssert(result >= NS_CONTROL_DONE && result <= NS_CONTROL_USAGE);
        EndScript(sessionPtr);
    } else {
        Ns_DStringAppend(replyPtr, "the server is stopping");
    }
    return result;
}

static bool
BeginScript(Session *sessionPtr, const char *request)
{
    void *state = sessionPtr->state; /* We alone write it. */
    bool  mayBegin;

    if (state == NULL) {
        state = control.procsPtr->beginProc();
    }
    Ns_MutexLock(&control.lock);
    sessionPtr->state = state;
    mayBegin = !control.isStopping;
    control.nScripts += mayBegin;
    sessionPtr->isAnswering = mayBegin;
    snprintf(sessionPtr->request, sizeof(sessionPtr->request), "%s", request);
    Ns_MutexUnlock(&control.lock);
    return mayBegin;
}

static void
EndScript(Session *sessionPtr)
{
    Ns_MutexLock(&control.lock);
    NsAssert(control.nScripts > 0 && sessionPtr->isAnswering);
    sessionPtr->isAnswering = false;
    control.nScripts--;
    Ns_CondBroadcast(&control.left);
    Ns_MutexUnlock(&control.lock);
}

static void
LogHangingLocked(void)
{
    NsAssertLocked(&control.lock);
    for (const Session *sessionPtr = control.firstPtr; sessionPtr != NULL;
         sessionPtr = sessionPtr->nextPtr) {
        if (sessionPtr->isAnswering) {
            Ns_Log(Warning,
                   "control: abandoned a request of 'nsd ctl' that hangs: user "
                   "%u: %s",
                   (unsigned) sessionPtr->uid, sessionPtr->request);
        }
    }
}

/*
 * False: the client has left.
 */
static bool
Reply(int fd, int result, const Ns_DString *replyPtr)
{
    char head[40];
    int  n = snprintf(head, sizeof(head), "%s %d\n", nsControlWords[result],
                      replyPtr->length);

    return NsWriteAll(fd, head, (size_t) n)
        && NsWriteAll(fd, replyPtr->string, (size_t) replyPtr->length);
}

/*
 * The words say what the server does.
 */
static int
Ready(int argc, const char **argv, Ns_DString *replyPtr)
{
    Ns_DStringAppend(replyPtr, NsInfoReadiness());
    return NsInfoIsReady() ? NS_CONTROL_DONE : NS_CONTROL_REFUSED;
}

static int
Drain(int argc, const char **argv, Ns_DString *replyPtr)
{
    bool isDraining;

    if (argc != 2 || !NsUnitsBool(argv[1], &isDraining)) {
        return NS_CONTROL_USAGE;
    }
    NsInfoSetDraining(isDraining);
    return Ready(argc, argv, replyPtr) == NS_CONTROL_DONE || isDraining
        ? NS_CONTROL_DONE
        : NS_CONTROL_REFUSED;
}

static int
Reopen(int argc, const char **argv, Ns_DString *replyPtr)
{
    NsSinkReopenAll(false);
    return NS_CONTROL_DONE;
}

/*
 * The file of the newest mapping: ours.
 */
static int
LogMemory(int argc, const char **argv, Ns_DString *replyPtr)
{
    char **paths;
    int    n = NsRingList(&nsRingKey, &paths);

    if (n > 0) {
        Ns_DStringAppend(replyPtr, paths[n - 1]);
    } else {
        Ns_DStringAppend(replyPtr, "the log memory is not in a file");
    }
    for (int i = 0; i < n; i++) {
        ns_free(paths[i]);
    }
    ns_free(paths);
    return n > 0 ? NS_CONTROL_DONE : NS_CONTROL_REFUSED;
}

static int
Restart(int argc, const char **argv, Ns_DString *replyPtr)
{
    if (NsRestartCheck(replyPtr) != NS_OK) {
        return NS_CONTROL_REFUSED;
    }
    NsRestartRequest();
    return NS_CONTROL_DONE;
}

static int
StopServer(int argc, const char **argv, Ns_DString *replyPtr)
{
    Ns_Time timeout = {0, 0};

    if (argc == 2
        || (argc == 3
            && (!STREQ(argv[1], "-timeout")
                || !NsUnitsTime(argv[2], &timeout)))) {
        return NS_CONTROL_USAGE;
    }
    (void) NsShutdownSetTimeout(NsClockFromTime(&timeout));
    NsShutdownRequest(false);
    return NS_CONTROL_DONE;
}

static void
ShortPathInit(ShortPath *shortPtr, const char *path)
{
    const char *tail = strrchr(path, '/');
    char        directory[PATH_MAX];

    shortPtr->directoryFd = -1;
    if (tail != NULL && strlen(path) >= sizeof(shortPtr->name)
        && strlen(path) < sizeof(directory)) {
        snprintf(directory, sizeof(directory), "%.*s", (int) (tail - path),
                 path);
        shortPtr->directoryFd = open(directory,
                                     O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (shortPtr->directoryFd >= 0) {
        snprintf(shortPtr->name, sizeof(shortPtr->name), "/proc/self/fd/%d%s",
                 shortPtr->directoryFd, tail);
    } else {
        snprintf(shortPtr->name, sizeof(shortPtr->name), "%s", path);
    }
}
