/*
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
#include "nsthread.h"

#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>

/*
 * NULL: none was written.  Whoever takes it removes the file: the main thread,
 * or one that ends the process for it.
 */
static _Atomic(char *) pidPath;
static int             pidFd = -1;  /* Locked as long as we live. */

static bool Take(const char *path);
static char *FindPath(void);
static bool IsOurs(const char *path);


void
NsPidfileWrite(void)
{
    char *path = FindPath();

    if (Take(path)) {
        atomic_store(&pidPath, path);
    } else {
        ns_free(path);
    }
}

/*
 * The lock tells whether the file belongs to a server that runs; the number in
 * it may be that of another process by now.
 */
static bool
Take(const char *path)
{
    char text[32];
    int  length = snprintf(text, sizeof(text), "%d\n", Ns_InfoPid());
    int  fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0) {
        Ns_Log(Error, "pidfile: failed to open pid file '%s': '%s'", path,
               strerror(errno));
        return false;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ssize_t n = read(fd, text, sizeof(text) - 1);

        text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
        Ns_Log(Error, "pidfile: '%s' belongs to a running server, process %s: "
               "give this one a pidfile of its own", path, text);
        close(fd);
        return false;
    }
    if (pwrite(fd, text, (size_t) length, 0) != length
            || ftruncate(fd, length) != 0) {
        Ns_Log(Error, "pidfile: failed to write pid file '%s': '%s'", path,
               strerror(errno));
    }
    pidFd = fd;
    NsFatalSetEndProc(NsPidfileRemove);
    return true;
}

void
NsPidfileRemove(void)
{
    char *path = atomic_exchange(&pidPath, NULL);

    if (path == NULL) {
        return;
    }
    if (IsOurs(path) && unlink(path) != 0) {
        Ns_Log(Error, "pidfile: failed to remove '%s': '%s'", path,
               strerror(errno));
    }
    close(pidFd);
    ns_free(path);
}

static char *
FindPath(void)
{
    bool        hasLogs = Ns_HomePathExists("logs", NULL);
    const char *file = Ns_ConfigString("ns/parameters", "pidfile",
                                       hasLogs ? "logs/nsd.pid" : "nsd.pid");
    Ns_DString  ds;
    char       *path;

    Tcl_DStringInit(&ds);
    if (Ns_PathIsAbsolute(file)) {
        Tcl_DStringAppend(&ds, file, -1);
    } else {
        Ns_HomePath(&ds, file, NULL);
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
        && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}
