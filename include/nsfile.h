/*
 * nsfile.h --
 *
 *      Paths, files, child processes, users.
 */

#ifndef NSFILE_H
#define NSFILE_H

#include "nstypes.h"


/*
 * True for `/…`.
 */
NS_EXTERN int Ns_PathIsAbsolute(const char *);

/*
 * Resolve `.`, `..`, `//`.
 */
NS_EXTERN char *Ns_NormalizePath(Ns_DString *, const char *);

/*
 * `/a/b`.
 */
NS_EXTERN char *Ns_MakePath(Ns_DString *, ...);

/*
 * `foo`,2 → `/f/o`.
 */
NS_EXTERN char *Ns_HashPath(Ns_DString *, const char *, int);

/*
 * Below home, home/bin, home/lib, home[/servers/S][/modules/M].
 */
NS_EXTERN char *Ns_HomePath(Ns_DString *, ...);
NS_EXTERN char *Ns_BinPath(Ns_DString *, ...);
NS_EXTERN char *Ns_LibPath(Ns_DString *, ...);
NS_EXTERN char *Ns_ModulePath(Ns_DString *, const char *, const char *, ...);

/*
 * True if it exists.
 */
NS_EXTERN int Ns_HomePathExists(const char *, ...);

/*
 * Below server / page directory; NULL on error.
 */
NS_EXTERN char *Ns_ServerPath(Ns_DString *, const char *, ...);
NS_EXTERN char *Ns_PagePath(Ns_DString *, const char *, ...);

/*
 * Deprecated page directory.
 */
NS_EXTERN const char *Ns_PageRoot(const char *);

/*
 * Per-host server root (initialising server).
 */
NS_EXTERN int Ns_SetServerRootProc(Ns_ServerRootProc *, void *);

/*
 * Flag.
 */
NS_EXTERN int Ns_CloseOnExec(int);
NS_EXTERN int Ns_NoCloseOnExec(int);

/*
 * Move descriptor above 255.
 */
NS_EXTERN int Ns_DupHigh(int *);

/*
 * Pooled unlinked temporary file.
 */
NS_EXTERN int Ns_GetTemp(void);
NS_EXTERN void Ns_ReleaseTemp(int);

/*
 * Fork and exec: program (NULL = shell), directory, in, out, arguments,
 * environment; pid or −1.
 */
NS_EXTERN int Ns_ExecProc(const char *, char **);
NS_EXTERN int Ns_ExecProcess(const char *, const char *, int, int, const char *, Ns_Set *);
NS_EXTERN int Ns_ExecArgblk(const char *, const char *, int, int, const char *, Ns_Set *);
NS_EXTERN int Ns_ExecArgv(const char *, const char *, int, int, char **, Ns_Set *);

/*
 * Wait; exit status.
 */
NS_EXTERN int Ns_WaitProcess(int);
NS_EXTERN int Ns_WaitForProcess(int, int *);

/*
 * Environment vector.
 */
NS_EXTERN char **Ns_GetEnviron(void);
NS_EXTERN char **Ns_CopyEnviron(Ns_DString *);

/*
 * User database; −1 / NS_FALSE if unknown.
 */
NS_EXTERN int Ns_GetUid(const char *);
NS_EXTERN int Ns_GetGid(const char *);
NS_EXTERN int Ns_GetUserGid(const char *);
NS_EXTERN int Ns_GetUserHome(Ns_DString *, const char *);
NS_EXTERN int Ns_GetNameForUid(Ns_DString *, int);
NS_EXTERN int Ns_GetNameForGid(Ns_DString *, int);

/*
 * Drop privileges; name or number.
 */
NS_EXTERN int Ns_SetUser(const char *);
NS_EXTERN int Ns_SetGroup(const char *);

#endif
