/* SPDX-License-Identifier: MPL-2.0
 * pidfile.c --
 *
 *      The file that holds the process id.
 */

#include "process/pidfile.h"

#include "base/fatal.h"
#include "nsparam.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsthread.h"
#include "process/parameters.h"
#include "process/paths.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>

#define HOLDER_BYTES 32
/* How long, and how often, to look whether it is let go. */
#define PATIENCE_MS 1000
#define PAUSE_MS    50

/*
 * NULL: none was written.  Whoever takes it removes the file: the main thread,
 * or one that ends the process for it.
 */
static _Atomic(char *) pidPath;
static int             pidFd = -1; /* Locked until we stop. */

typedef enum Outcome {
    TAKEN,
    HELD, /* By a server that runs. */
    FAILED
} Outcome;

typedef struct Settings {
    const char *file;
} Settings;

static NsParameterAdjustProc AdjustFile;

static const NsParameter rows[] = {
    NS_PATH(Settings, file, "pidfile", "logs/nsd.pid, or nsd.pid",
            "File with the process id; the first default applies if home/logs "
            "exists.",
            .isDescribed = true, .adjustProc = AdjustFile),
    NS_PARAM_END};

static bool         IsHeld(const char *path, char *holder, size_t size);
static void         ReadHolder(int fd, char *holder, size_t size);
static bool         MaySharePorts(void);
static Outcome      Take(const char *path);
static int          Lock(const char *path);
static Ns_SchedProc TryAgain;
static bool         IsOurs(const char *path);

void
NsPidfileInit(void)
{
    NsParametersRegister("ns/parameters", rows, sizeof(Settings));
}

/*
 * A server that was killed lets go of it when the system has cleared up.
 */
void
NsPidfileCheck(void)
{
    char *path = NsPidfilePath(), holder[HOLDER_BYTES];
    bool  isHeld = IsHeld(path, holder, sizeof(holder));

    if (isHeld && !MaySharePorts()) {
        for (int i = 0; i < PATIENCE_MS / PAUSE_MS && isHeld; i++) {
            (void) poll(NULL, 0, PAUSE_MS);
            isHeld = IsHeld(path, holder, sizeof(holder));
        }
        if (isHeld) {
            Ns_Fatal("pidfile: '%s' belongs to a running server, process %s: "
                     "stop that first, or give this one a pidfile of its own",
                     path, holder);
        }
    }
    ns_free(path);
}

static bool
IsHeld(const char *path, char *holder, size_t size)
{
    struct stat st;
    bool        isHeld;
    int         fd = stat(path, &st) == 0 && S_ISREG(st.st_mode)
                ? open(path, O_RDONLY | O_CLOEXEC)
                : -1;

    if (fd < 0) {
        return false;
    }
    isHeld = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (isHeld) {
        ReadHolder(fd, holder, size);
    }
    close(fd);
    return isHeld;
}

static void
ReadHolder(int fd, char *holder, size_t size)
{
    ssize_t n = pread(fd, holder, size - 1, 0);

    holder[n > 0 ? n : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
}

/*
 * Then a new server may start while the old one stops.  The drivers, which know
 * it, are loaded later.
 */
static bool
MaySharePorts(void)
{
    Ns_Set **sections = Ns_ConfigGetSections();
    bool     mayShare = false;

    for (int i = 0; sections[i] != NULL && !mayShare; i++) {
        const char *share = Ns_SetIGet(sections[i], "reuseport");
        int         value;

        mayShare = share != NULL
            && Tcl_GetBoolean(NULL, share, &value) == TCL_OK && value;
    }
    ns_free(sections);
    return mayShare;
}

void
NsPidfileWrite(void)
{
    char *path = NsPidfilePath();

    if (Take(path) == HELD) {
        char holder[HOLDER_BYTES] = "";

        (void) IsHeld(path, holder, sizeof(holder));
        Ns_Log(Warning,
               "pidfile: '%s' belongs to a running server, process "
               "%s: taken over when that stops",
               path, holder);
        Ns_RegisterProcInfo((void *) TryAgain, "ns:pidfile", NULL);
        (void) Ns_ScheduleProcEx(TryAgain, NULL, NS_SCHED_ONCE, 1, NULL);
    }
    ns_free(path);
}

static void
TryAgain(void *arg, int id)
{
    char *path = NsPidfilePath();

    switch (Take(path)) {
    case HELD:
        (void) Ns_ScheduleProcEx(TryAgain, NULL, NS_SCHED_ONCE, 1, NULL);
        break;
    case TAKEN:
        Ns_Log(Notice, "pidfile: took over '%s'", path);
        break;
    case FAILED:
        break;
    }
    ns_free(path);
}

/*
 * The lock says whether the file belongs to a running server; the number in it
 * may be that of another process by now.
 */
static Outcome
Take(const char *path)
{
    char text[32];
    int  length = snprintf(text, sizeof(text), "%d\n", Ns_InfoPid());
    int  fd = Lock(path);

    if (fd < 0 && errno == EWOULDBLOCK) {
        return HELD;
    }
    if (fd < 0) {
        Ns_Log(Error, "pidfile: failed to open pid file '%s': '%s'", path,
               strerror(errno));
        return FAILED;
    }
    if (pwrite(fd, text, (size_t) length, 0) != length
        || ftruncate(fd, length) != 0) {
        Ns_Log(Error, "pidfile: failed to write pid file '%s': '%s'", path,
               strerror(errno));
    }
    pidFd = fd;
    atomic_store(&pidPath, ns_strdup(path));
    NsFatalSetEndProc(NsPidfileRemove);
    return TAKEN;
}

/*
 * Opened and locked, or -1.  Between the two its owner may have removed it.
 */
static int
Lock(const char *path)
{
    for (;;) {
        struct stat opened, there;
        int         fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

        if (fd < 0) {
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(fd);
            errno = EWOULDBLOCK;
            return -1;
        }
        if (fstat(fd, &opened) == 0 && stat(path, &there) == 0
            && opened.st_dev == there.st_dev && opened.st_ino == there.st_ino) {
            return fd;
        }
        close(fd);
    }
}

void
NsPidfileYield(void)
{
    if (atomic_load(&pidPath) != NULL) {
        (void) flock(pidFd, LOCK_UN);
    }
}

void
NsPidfileRemove(void)
{
    char *path = atomic_exchange(&pidPath, NULL);

    if (path == NULL) {
        return;
    }
    /* Without the lock it is that of the server that has taken it over. */
    if (!(flock(pidFd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        && IsOurs(path) && unlink(path) != 0) {
        Ns_Log(Error, "pidfile: failed to remove '%s': '%s'", path,
               strerror(errno));
    }
    close(pidFd);
    ns_free(path);
}

static void
AdjustFile(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    static char file[PATH_MAX];

    limitsPtr->defaultText = Ns_HomePathExists("logs", NULL)
        ? "logs/nsd.pid"
        : "nsd.pid";
    if (NsPathsLogSetting() != NULL) {
        snprintf(file, sizeof(file), "%s/nsd.pid", NsPathsLogSetting());
        limitsPtr->defaultText = file;
    }
}

char *
NsPidfilePath(void)
{
    Settings   settings;
    Ns_DString ds;
    char      *path;

    NsParametersFill(rows, "ns/parameters", &settings);
    Tcl_DStringInit(&ds);
    if (Ns_PathIsAbsolute(settings.file)) {
        Tcl_DStringAppend(&ds, settings.file, -1);
    } else {
        Ns_HomePath(&ds, settings.file, NULL);
    }
    path = ns_strdup(ds.string);
    Tcl_DStringFree(&ds);
    return path;
}

/*
 * Somebody may have replaced it since.  Without memory from the heap: this may
 * be the last that a server in trouble does.
 */
static bool
IsOurs(const char *path)
{
    struct stat ours, there;

    return fstat(pidFd, &ours) == 0 && stat(path, &there) == 0
        && S_ISREG(there.st_mode) && ours.st_dev == there.st_dev
        && ours.st_ino == there.st_ino;
}
