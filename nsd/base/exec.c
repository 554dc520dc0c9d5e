/* SPDX-License-Identifier: MPL-2.0
 * exec.c --
 *
 *      Child processes.
 *
 *      They start with posix_spawn, which does not copy the page tables of a
 *      large server and reports a program that cannot be run.  The server's
 *      threads block signals and ignore some; a child starts with none blocked
 *      and all at their defaults.  It closes all descriptors but its first
 *      three itself: Tcl and other libraries open some, and the server has been
 *      started with some, that are not closed by the kernel.
 */

#include "nsfile.h"
#include "nsstring.h"
#include "nsthread.h"

#include <spawn.h>
#include <sys/wait.h>

typedef struct Child {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          attr;
    int                        fds[3]; /* Copies of those, or -1. */
} Child;

static const char shell[] = "/bin/sh";

static bool   InitChild(Child *childPtr, const Ns_ExecSpec *specPtr);
static void   FreeChild(Child *childPtr);
static void   SetAttributes(posix_spawnattr_t *attrPtr, bool isGroup);
static bool   Redirect(Child *childPtr, int fd, int target);
static char **EnvironFromSet(Ns_DString *dsPtr, const Ns_Set *envPtr);

int
Ns_ExecProc(const char *program, char **argv)
{
    return Ns_ExecArgv(program, NULL, 0, 1, argv, NULL);
}

int
Ns_ExecProcess(const char *program, const char *dir, int fdIn, int fdOut,
               const char *args, Ns_Set *envPtr)
{
    return Ns_ExecArgblk(program, dir, fdIn, fdOut, args, envPtr);
}

int
Ns_ExecArgblk(const char *program, const char *dir, int fdIn, int fdOut,
              const char *args, Ns_Set *envPtr)
{
    Ns_DString ds;
    int        pid;

    if (args == NULL) {
        return Ns_ExecArgv(program, dir, fdIn, fdOut, NULL, envPtr);
    }
    Tcl_DStringInit(&ds);
    if (program == NULL) {
        /* One command for the shell: nothing need follow its null byte. */
        Ns_DStringAppendArg(&ds, args);
    } else {
        for (; *args != '\0'; args += strlen(args) + 1) {
            Ns_DStringAppendArg(&ds, args);
        }
    }
    pid = Ns_ExecArgv(program, dir, fdIn, fdOut, Ns_DStringAppendArgv(&ds),
                      envPtr);
    Tcl_DStringFree(&ds);
    return pid;
}

int
Ns_ExecArgv(const char *program, const char *dir, int fdIn, int fdOut,
            char **argv, Ns_Set *envPtr)
{
    return Ns_ExecSpawn(&(Ns_ExecSpec){
        .program = program,
        .dir = dir,
        .fdIn = fdIn,
        .fdOut = fdOut,
        .fdErr = -1,
        .argv = argv,
        .envPtr = envPtr});
}

int
Ns_ExecSpawn(const Ns_ExecSpec *specPtr)
{
    const char *program = specPtr->program;
    char      **argv = specPtr->argv;
    char       *shellArgv[] = {(char *) shell, (char *) "-c", NULL, NULL};
    Ns_DString  env;
    Child       child;
    pid_t       pid = -1;
    int         error;

    if (program == NULL || argv == NULL) {
        shellArgv[2] = argv == NULL ? (char *) program : argv[0];
        if (shellArgv[2] == NULL) {
            errno = EINVAL;
            return -1;
        }
        argv = shellArgv;
        program = shell;
    }

    Tcl_DStringInit(&env);
    if (InitChild(&child, specPtr)) {
        error = posix_spawn(&pid, program, &child.actions, &child.attr, argv,
                            specPtr->envPtr != NULL
                                ? EnvironFromSet(&env, specPtr->envPtr)
                                : Ns_CopyEnviron(&env));
    } else {
        error = errno;
    }
    FreeChild(&child);
    Tcl_DStringFree(&env);

    errno = error;
    return error == 0 ? (int) pid : -1;
}

int
Ns_WaitProcess(int pid)
{
    return Ns_WaitForProcess(pid, NULL);
}

int
Ns_WaitForProcess(int pid, int *exitCodePtr)
{
    pid_t result;
    int   status;

    do {
        result = waitpid(pid, &status, 0);
    } while (result < 0 && errno == EINTR);

    if (result != pid || !WIFEXITED(status)) {
        return NS_ERROR;
    }
    if (exitCodePtr != NULL) {
        *exitCodePtr = WEXITSTATUS(status);
    }
    return NS_OK;
}

/*
 * What the child does before it becomes the program, in this order.
 */
static bool
InitChild(Child *childPtr, const Ns_ExecSpec *specPtr)
{
    for (int i = 0; i < Ns_NrElements(childPtr->fds); i++) {
        childPtr->fds[i] = -1;
    }
    posix_spawn_file_actions_init(&childPtr->actions);
    posix_spawnattr_init(&childPtr->attr);

    SetAttributes(&childPtr->attr, specPtr->isGroup);
    if (specPtr->dir != NULL) {
        posix_spawn_file_actions_addchdir_np(&childPtr->actions, specPtr->dir);
    }
    if (!Redirect(childPtr, specPtr->fdIn, 0)
        || !Redirect(childPtr, specPtr->fdOut, 1)
        || !Redirect(childPtr, specPtr->fdErr, 2)) {
        return false;
    }
    errno = posix_spawn_file_actions_addclosefrom_np(&childPtr->actions, 3);
    return errno == 0;
}

static void
FreeChild(Child *childPtr)
{
    for (int i = 0; i < Ns_NrElements(childPtr->fds); i++) {
        if (childPtr->fds[i] >= 0) {
            close(childPtr->fds[i]);
        }
    }
    posix_spawn_file_actions_destroy(&childPtr->actions);
    posix_spawnattr_destroy(&childPtr->attr);
}

static void
SetAttributes(posix_spawnattr_t *attrPtr, bool isGroup)
{
    short    flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t signals;

    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attrPtr, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(attrPtr, &signals);
    if (isGroup) {
        posix_spawnattr_setpgroup(attrPtr, 0);
        flags |= POSIX_SPAWN_SETPGROUP;
    }
    posix_spawnattr_setflags(attrPtr, flags);
}

/*
 * Make fd the child's descriptor target.  Through a copy: they may be each
 * other's targets.
 */
static bool
Redirect(Child *childPtr, int fd, int target)
{
    if (fd >= 0 && fd != target) {
        childPtr->fds[target] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (childPtr->fds[target] < 0) {
            return false;
        }
        posix_spawn_file_actions_adddup2(&childPtr->actions,
                                         childPtr->fds[target], target);
    }
    return true;
}

static char **
EnvironFromSet(Ns_DString *dsPtr, const Ns_Set *envPtr)
{
    for (int i = 0; i < envPtr->size; i++) {
        const char *value = envPtr->fields[i].value;

        Ns_DStringVarAppend(dsPtr, envPtr->fields[i].name, "=", NULL);
        Ns_DStringAppendArg(dsPtr, value != NULL ? value : "");
    }
    return Ns_DStringAppendArgv(dsPtr);
}
