/*
 * pidfile.c --
 *
 *      The file that holds the process id.
 */

#include "process/pidfile.h"

#include "nsparam.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsthread.h"

#include <stdatomic.h>

/*
 * NULL: none was written.  Whoever takes it removes the file: the main thread,
 * or one that ends the process for it.
 */
static _Atomic(char *) pidPath;

static char *FindPath(void);
static bool IsOurs(const char *path);


void
NsPidfileWrite(void)
{
    char *path = FindPath();
    char  text[32];
    int   length = snprintf(text, sizeof(text), "%d\n", Ns_InfoPid());
    int   fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0) {
        Ns_Log(Error, "pidfile: failed to open pid file '%s': '%s'", path,
               strerror(errno));
        ns_free(path);
        return;
    }
    if (write(fd, text, (size_t) length) != length) {
        Ns_Log(Error, "pidfile: failed to write pid file '%s': '%s'", path,
               strerror(errno));
    }
    close(fd);
    atomic_store(&pidPath, path);
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
 * Another instance may have written its own since.
 */
static bool
IsOurs(const char *path)
{
    FILE *file = fopen(path, "re");
    int   pid = 0;

    if (file == NULL) {
        return false;
    }
    if (fscanf(file, "%d", &pid) != 1) {
        pid = 0;
    }
    fclose(file);
    return pid == Ns_InfoPid();
}
