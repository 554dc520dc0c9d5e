/* SPDX-License-Identifier: MPL-2.0
 * reaper.c --
 *
 *      The end of scripts: a thread collects the processes that connection
 *      threads have finished with, ends those that are no longer wanted, and
 *      logs what they still write to their standard error.  It exits when no
 *      process is left.
 */

#include "nscgi.h"

#define GRACE_MS 2000
/* For what an ended script has left in the pipe of its standard error. */
#define MAX_LAST_READS 1000

static void          StartLocked(Cgi *cgiPtr);
static Ns_ThreadProc Reap;
static int           Prepare(Cgi *cgiPtr, struct pollfd *pfds, int64_t nowMs);
static bool          HasEndedLocked(Process *processPtr);
static void          TerminateLocked(Process *processPtr);
static void          Collect(Cgi *cgiPtr);
static void          KillLocked(Process *processPtr);
static void          Free(Process *processPtr);
static void          LogLines(Errors *errorsPtr, const char *name, bool isLast);

int64_t
CgiNowMs(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool
CgiEnter(Cgi *cgiPtr)
{
    Ns_Time deadline;
    int     status = NS_OK;
    bool    isIn;

    Ns_GetTime(&deadline);
    Ns_IncrTime(&deadline, cgiPtr->maxWait.sec, cgiPtr->maxWait.usec);
    Ns_MutexLock(&cgiPtr->lock);
    while (cgiPtr->limit > 0 && cgiPtr->nRunning >= cgiPtr->limit
           && !cgiPtr->isStopping && status == NS_OK) {
        status = Ns_CondTimedWait(&cgiPtr->changed, &cgiPtr->lock, &deadline);
    }
    isIn = !cgiPtr->isStopping
        && (cgiPtr->limit == 0 || cgiPtr->nRunning < cgiPtr->limit);
    if (isIn) {
        cgiPtr->nRunning++;
    }
    Ns_MutexUnlock(&cgiPtr->lock);
    return isIn;
}

void
CgiLeave(Cgi *cgiPtr)
{
    Ns_MutexLock(&cgiPtr->lock);
    assert(cgiPtr->nRunning > 0);
    cgiPtr->nRunning--;
    Ns_CondBroadcast(&cgiPtr->changed);
    Ns_MutexUnlock(&cgiPtr->lock);
}

void
CgiWatch(Process *processPtr)
{
    Cgi *cgiPtr = processPtr->cgiPtr;

    Ns_MutexLock(&cgiPtr->lock);
    processPtr->nextAlivePtr = cgiPtr->firstAlivePtr;
    if (cgiPtr->firstAlivePtr != NULL) {
        cgiPtr->firstAlivePtr->prevAlivePtr = processPtr;
    }
    cgiPtr->firstAlivePtr = processPtr;
    if (cgiPtr->isStopping) {
        /* The server was stopped before this, and does not look again. */
        KillLocked(processPtr);
    }
    Ns_MutexUnlock(&cgiPtr->lock);
}

void
CgiReap(Process *processPtr, bool isUnwanted)
{
    Cgi *cgiPtr = processPtr->cgiPtr;
    bool hasEnded = false;

    Ns_MutexLock(&cgiPtr->lock);
    if (isUnwanted) {
        TerminateLocked(processPtr);
    } else {
        /* Most have ended by now. */
        hasEnded = HasEndedLocked(processPtr);
    }
    if (!hasEnded) {
        processPtr->nextPtr = cgiPtr->firstPtr;
        cgiPtr->firstPtr = processPtr;
        if (!cgiPtr->isReaping) {
            StartLocked(cgiPtr);
        }
    }
    Ns_MutexUnlock(&cgiPtr->lock);
    if (hasEnded) {
        Free(processPtr);
        CgiLeave(cgiPtr);
        return;
    }
    while (ns_write(cgiPtr->wakeFds[1], "", 1) < 0 && errno == EINTR) {
    }
}

static void
StartLocked(Cgi *cgiPtr)
{
    cgiPtr->isReaping = true;
    Ns_ThreadCreate(Reap, cgiPtr, 0, NULL);
}

static void
Reap(void *arg)
{
    Cgi           *cgiPtr = arg;
    struct pollfd *pfds = NULL;
    int            nRoom = 0;

    Ns_ThreadSetName("-nscgi:reap:%s-", cgiPtr->server);
    for (;;) {
        char    bytes[64];
        int64_t nowMs = CgiNowMs();
        int     n = 1, timeoutMs;

        Ns_MutexLock(&cgiPtr->lock);
        for (Process *p = cgiPtr->firstPtr; p != NULL; p = p->nextPtr) {
            n += 2;
        }
        if (n == 1) {
            cgiPtr->isReaping = false;
            Ns_CondBroadcast(&cgiPtr->changed);
            Ns_MutexUnlock(&cgiPtr->lock);
            break;
        }
        if (n > nRoom) {
            nRoom = 2 * n;
            pfds = ns_realloc(pfds, (size_t) nRoom * sizeof(*pfds));
        }
        timeoutMs = Prepare(cgiPtr, pfds, nowMs);
        Ns_MutexUnlock(&cgiPtr->lock);

        (void) ns_poll(pfds, (unsigned long) n, timeoutMs);
        if (pfds[0].revents != 0) {
            while (ns_read(cgiPtr->wakeFds[0], bytes, sizeof(bytes)) > 0) {
            }
        }
        Collect(cgiPtr);
    }
    ns_free(pfds);
}

/*
 * Prepare what to wait for.  No other thread removes processes from the list.
 */
static int
Prepare(Cgi *cgiPtr, struct pollfd *pfds, int64_t nowMs)
{
    int64_t timeoutMs = -1;
    int     i = 1;

    pfds[0] = (struct pollfd){.fd = cgiPtr->wakeFds[0], .events = POLLIN};
    for (Process *p = cgiPtr->firstPtr; p != NULL; p = p->nextPtr) {
        pfds[i++] = (struct pollfd){.fd = p->pidFd, .events = POLLIN};
        pfds[i++] = (struct pollfd){.fd = p->errors.fd, .events = POLLIN};
        if (p->killMs != 0 && p->killMs != INT64_MAX) {
            int64_t leftMs = MAX(p->killMs - nowMs, 0);

            timeoutMs = timeoutMs < 0 ? leftMs : MIN(timeoutMs, leftMs);
        }
        if (p->pidFd < 0) {
            /* The system has no process descriptors: poll. */
            timeoutMs = timeoutMs < 0 ? 50 : MIN(timeoutMs, 50);
        }
    }
    return (int) timeoutMs;
}

/*
 * Remove processes that have ended from the list.
 */
static void
Collect(Cgi *cgiPtr)
{
    Process *endedPtr = NULL, **linkPtr;
    int64_t  nowMs = CgiNowMs();

    Ns_MutexLock(&cgiPtr->lock);
    linkPtr = &cgiPtr->firstPtr;
    while (*linkPtr != NULL) {
        Process *processPtr = *linkPtr;

        (void) CgiErrorsRead(&processPtr->errors, processPtr->name);
        if (HasEndedLocked(processPtr)) {
            *linkPtr = processPtr->nextPtr;
            processPtr->nextPtr = endedPtr;
            endedPtr = processPtr;
            continue;
        }
        if (processPtr->killMs != 0 && nowMs >= processPtr->killMs) {
            Ns_Log(Warning, "nscgi: %s: pid %d did not end, killed",
                   processPtr->name, (int) processPtr->pid);
            KillLocked(processPtr);
        }
        linkPtr = &processPtr->nextPtr;
    }
    Ns_MutexUnlock(&cgiPtr->lock);

    while (endedPtr != NULL) {
        Process *processPtr = endedPtr;

        endedPtr = processPtr->nextPtr;
        Free(processPtr);
        CgiLeave(cgiPtr);
    }
}

/*
 * Collect the process if it has ended.  What remains of an unwanted process's
 * group is killed with it; until the process is collected, the number of the
 * group is not reused.
 */
static bool
HasEndedLocked(Process *processPtr)
{
    siginfo_t info = {.si_pid = 0};
    int       status;

    if (waitid(P_PID, (id_t) processPtr->pid, &info,
               WEXITED | WNOHANG | WNOWAIT)
        != 0) {
        info.si_pid = errno == ECHILD ? processPtr->pid : 0;
    }
    if (info.si_pid == 0) {
        return false;
    }
    if (processPtr->killMs != 0) {
        (void) kill(-processPtr->pid, SIGKILL);
    }
    (void) waitpid(processPtr->pid, &status, WNOHANG);
    if (processPtr->prevAlivePtr != NULL) {
        processPtr->prevAlivePtr->nextAlivePtr = processPtr->nextAlivePtr;
    } else {
        processPtr->cgiPtr->firstAlivePtr = processPtr->nextAlivePtr;
    }
    if (processPtr->nextAlivePtr != NULL) {
        processPtr->nextAlivePtr->prevAlivePtr = processPtr->prevAlivePtr;
    }
    return true;
}

static void
TerminateLocked(Process *processPtr)
{
    assert(processPtr->pid > 1);
    if (processPtr->killMs == 0) {
        (void) kill(-processPtr->pid, SIGTERM);
        processPtr->killMs = CgiNowMs() + GRACE_MS;
    }
}

static void
KillLocked(Process *processPtr)
{
    assert(processPtr->pid > 1);
    (void) kill(-processPtr->pid, SIGKILL);
    processPtr->killMs = INT64_MAX;
}

static void
Free(Process *processPtr)
{
    Errors *errorsPtr = &processPtr->errors;

    /* A grandchild may keep it open for ever and never stop writing. */
    for (int i = 0; i < MAX_LAST_READS && errorsPtr->fd >= 0; i++) {
        struct pollfd pfd = {.fd = errorsPtr->fd, .events = POLLIN};

        if (ns_poll(&pfd, 1, 0) <= 0) {
            break;
        }
        (void) CgiErrorsRead(errorsPtr, processPtr->name);
    }
    if (errorsPtr->fd >= 0) {
        LogLines(errorsPtr, processPtr->name, true);
        ns_close(errorsPtr->fd);
    }
    if (processPtr->pidFd >= 0) {
        ns_close(processPtr->pidFd);
    }
    ns_free(processPtr->name);
    ns_free(processPtr);
}

/*
 * First call: end all processes.  Second call: wait for them, and kill the rest
 * when no time is left, because a request that outlasts the stop may never end
 * its script.
 */
void
CgiReaperStop(NS_API_CONST Ns_Time *toPtr, void *arg)
{
    Cgi *cgiPtr = arg;
    int  status = NS_OK;

    Ns_MutexLock(&cgiPtr->lock);
    cgiPtr->isStopping = true;
    for (Process *p = cgiPtr->firstAlivePtr; p != NULL; p = p->nextAlivePtr) {
        TerminateLocked(p);
    }
    if (cgiPtr->isReaping) {
        (void) !ns_write(cgiPtr->wakeFds[1], "", 1);
    }
    Ns_CondBroadcast(&cgiPtr->changed);
    /*
     * Processes of connection threads follow as soon as those threads notice.
     */
    while (toPtr != NULL && cgiPtr->nRunning > 0 && status == NS_OK) {
        status = Ns_CondTimedWait(&cgiPtr->changed, &cgiPtr->lock,
                                  (Ns_Time *) toPtr);
    }
    if (toPtr != NULL && cgiPtr->firstAlivePtr != NULL) {
        Ns_Log(Warning, "nscgi[%s]: %d scripts still run, killed",
               cgiPtr->server, cgiPtr->nRunning);
        for (Process *p = cgiPtr->firstAlivePtr; p != NULL;
             p = p->nextAlivePtr) {
            KillLocked(p);
        }
    }
    Ns_MutexUnlock(&cgiPtr->lock);
}

bool
CgiErrorsRead(Errors *errorsPtr, const char *name)
{
    size_t  room = sizeof(errorsPtr->bytes) - (size_t) errorsPtr->n;
    ssize_t n;

    if (errorsPtr->fd < 0) {
        return false;
    }
    n = ns_read(errorsPtr->fd, errorsPtr->bytes + errorsPtr->n, room);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    errorsPtr->n += (int) n;
    LogLines(errorsPtr, name, n == 0);
    if (n == 0) {
        ns_close(errorsPtr->fd);
        errorsPtr->fd = -1;
    }
    return n > 0;
}

/*
 * Log the complete lines; with isLast, also an unfinished one.  A line that
 * fills the buffer counts as complete.
 */
static void
LogLines(Errors *errorsPtr, const char *name, bool isLast)
{
    char *start = errorsPtr->bytes, *last = start + errorsPtr->n, *end;

    while (start < last) {
        end = memchr(start, '\n', (size_t) (last - start));
        if (end == NULL && !isLast
            && last - start < (ptrdiff_t) sizeof(errorsPtr->bytes)) {
            break;
        }
        end = end != NULL ? end : last;
        Ns_Log(Error, "nscgi: %s: %.*s", name, (int) (end - start), start);
        start = MIN(end + 1, last);
    }
    errorsPtr->n = (int) (last - start);
    memmove(errorsPtr->bytes, start, (size_t) errorsPtr->n);
}
