/* SPDX-License-Identifier: MPL-2.0
 * nsfile.h --
 *
 *      Paths, files, child processes, users.
 */

#ifndef NSFILE_H
#define NSFILE_H

#include "nstypes.h"

/*
 * -------------------------------------------------------------------- Paths
 *
 * What builds a path appends it to dsPtr and returns the string's start.
 * Elements end with NULL.
 */

/*
 * True for `/...`.
 */
NS_EXTERN int Ns_PathIsAbsolute(const char *path);

/*
 * An absolute path without `.`, `..`, empty segments and final slash;
 * backslashes count as slashes, and `..` does not climb above the root.
 */
NS_EXTERN char *Ns_NormalizePath(Ns_DString *dsPtr, const char *path);

/*
 * The elements, each preceded by a slash.
 */
NS_EXTERN char *Ns_MakePath(Ns_DString *dsPtr, ...);

/*
 * One segment per level from the string's first characters, `_` when they run
 * out: `/f/o` of `foo` and 2.
 */
NS_EXTERN char *Ns_HashPath(Ns_DString *dsPtr, const char *string, int levels);

/*
 * Below the home directory, its bin, its lib, and
 * home[/servers/SERVER][/modules/MODULE], where both may be NULL.
 */
NS_EXTERN char *Ns_HomePath(Ns_DString *dsPtr, ...);
NS_EXTERN char *Ns_BinPath(Ns_DString *dsPtr, ...);

/*
 * The directory of a server's logs; NULL: it has none of its own.  The path of
 * a log file: there, or in the log directory of all servers, unless the name is
 * absolute.
 */
NS_EXTERN const char *Ns_ServerLogDir(const char *server);
NS_EXTERN char       *Ns_LogPath(Ns_DString *dsPtr, const char *server,
                                 const char *file);
NS_EXTERN char       *Ns_LibPath(Ns_DString *dsPtr, ...);
NS_EXTERN char       *Ns_ModulePath(Ns_DString *dsPtr, const char *server,
                                    const char *module, ...);

/*
 * True if the path below the home directory exists.
 */
NS_EXTERN int Ns_HomePathExists(const char *element, ...);

/*
 * Below the server's directory, and its pages; NULL for an unknown server.
 */
NS_EXTERN char *Ns_ServerPath(Ns_DString *dsPtr, const char *server, ...);
NS_EXTERN char *Ns_PagePath(Ns_DString *dsPtr, const char *server, ...);

/*
 * The directory of pages.  Deprecated: use Ns_PagePath.
 */
NS_EXTERN const char *Ns_PageRoot(const char *server);

/*
 * Let rootProc choose the server's directory by host, for the server being
 * initialized.
 */
NS_EXTERN int Ns_SetServerRootProc(Ns_ServerRootProc *rootProc, void *arg);

/*
 * Make a directory, and those above it, where they are missing: mode 0755, less
 * the umask.  NS_ERROR: errno says why it is not there.
 */
NS_EXTERN Ns_ReturnCode Ns_RequireDirectory(const char *path);

/*
 * -------------------------------------------------------------- Descriptors
 */

#define ns_mkstemp mkstemp
#define ns_mkdtemp mkdtemp

/*
 * Whether programs that the process executes find the descriptor closed.
 * NS_ERROR: errno tells why.
 */
NS_EXTERN int Ns_CloseOnExec(int fd);
NS_EXTERN int Ns_NoCloseOnExec(int fd);

/*
 * Move the descriptor above 255, if there is room; the descriptor to use.
 */
NS_EXTERN int Ns_DupHigh(int *fdPtr);

/*
 * An empty temporary file without name, -1 and errno if there is none; give it
 * back.
 */
NS_EXTERN int  Ns_GetTemp(void);
NS_EXTERN void Ns_ReleaseTemp(int fd);

/*
 * ---------------------------------------------------------- Child processes
 */

/*
 * Run a program, with dir (may be NULL) as its directory, fdIn and fdOut as its
 * standard input and output (-1: the server's own).  Arguments are a vector, or
 * strings each ended by a null byte and the last by two.  With arguments NULL
 * the program is a command for the shell, with program NULL the first argument
 * is.  The environment is the set's fields, or the server's for NULL.  The
 * program has no descriptors but 0, 1 and 2.
 *
 * The process id; -1 and errno when the program cannot be run.
 */
NS_EXTERN int Ns_ExecProc(const char *program, char **argv);
NS_EXTERN int Ns_ExecProcess(const char *program, const char *dir, int fdIn,
                             int fdOut, const char *args, Ns_Set *envPtr);
NS_EXTERN int Ns_ExecArgblk(const char *program, const char *dir, int fdIn,
                            int fdOut, const char *args, Ns_Set *envPtr);
NS_EXTERN int Ns_ExecArgv(const char *program, const char *dir, int fdIn,
                          int fdOut, char **argv, Ns_Set *envPtr);

/*
 * The same with more to choose.
 */
typedef struct Ns_ExecSpec {
    const char *program;
    const char *dir;
    int         fdIn;
    int         fdOut;
    int         fdErr;
    char      **argv;
    Ns_Set     *envPtr;
    bool        isGroup; /* In a process group of its own. */
} Ns_ExecSpec;

NS_EXTERN int Ns_ExecSpawn(const Ns_ExecSpec *specPtr);

/*
 * Wait for its end.  NS_ERROR: killed by a signal, or no child.  exitCodePtr
 * may be NULL and is set only with NS_OK.
 */
NS_EXTERN int Ns_WaitProcess(int pid);
NS_EXTERN int Ns_WaitForProcess(int pid, int *exitCodePtr);

/*
 * The environment itself; a copy inside dsPtr, as a vector.
 */
NS_EXTERN char **Ns_GetEnviron(void);
NS_EXTERN char **Ns_CopyEnviron(Ns_DString *dsPtr);

/*
 * -------------------------------------------------------------------- Users
 */

/*
 * By name; -1 if unknown.
 */
NS_EXTERN int Ns_GetUid(const char *user);
NS_EXTERN int Ns_GetGid(const char *group);
NS_EXTERN int Ns_GetUserGid(const char *user);

/*
 * Append the home directory or the name; NS_FALSE if unknown.
 */
NS_EXTERN int Ns_GetUserHome(Ns_DString *dsPtr, const char *user);
NS_EXTERN int Ns_GetNameForUid(Ns_DString *dsPtr, int uid);
NS_EXTERN int Ns_GetNameForGid(Ns_DString *dsPtr, int gid);

/*
 * Become that user or group, by name or number.
 */
NS_EXTERN int Ns_SetUser(const char *user);
NS_EXTERN int Ns_SetGroup(const char *group);

#endif
