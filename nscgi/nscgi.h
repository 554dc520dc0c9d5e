/* SPDX-License-Identifier: MPL-2.0
 * nscgi.h --
 *
 *      CGI programs, inside the module: configuration, requests, the
 *      environment of scripts, and processes.
 */

#ifndef NSCGI_H
#define NSCGI_H

#include "ns.h"

#include <stdatomic.h>

/*
 * A module of a server.  Constant after the start, except for what the lock
 * guards.
 */
typedef struct Cgi {
    const char    *server;
    Ns_Set        *interps;     /* Programs by extension; or NULL. */
    Ns_Set        *environment; /* Or NULL. */
    bool           isServerEnvironment;
    bool           isHostResolved;
    bool           isStaticAllowed;
    int            limit; /* 0: none. */
    Ns_Time        maxWait;
    int64_t        maxInput;  /* 0: no limit. */
    int64_t        timeoutMs; /* Without output; 0: no limit. */
    Ns_LogSeverity debug;

    atomic_bool isStopping; /* Written under the lock. */

    Ns_Mutex        lock; /* Guards the rest. */
    Ns_Cond         changed;
    int             nRunning;      /* Those that count against the limit. */
    struct Process *firstPtr;      /* Processes of the reaper.  Only it removes
                                    * any. */
    struct Process *firstAlivePtr; /* All that are not collected yet. */
    bool            isReaping;     /* The reaper's thread runs. */
    int             wakeFds[2];    /* A pipe. */
} Cgi;

/*
 * Which requests run scripts.  Constant after creation.
 */
typedef struct Map {
    Cgi  *cgiPtr;
    char *url;
    char *path; /* NULL: use the page. */
    bool  hasWildcard;
    int   nSegments; /* Of the URL. */
} Map;

/*
 * The lines that a script writes to its standard error.
 */
typedef struct Errors {
    int  fd; /* -1: closed. */
    int  n;
    char bytes[1024];
} Errors;

/*
 * A running script.  It belongs to the connection thread first, then to the
 * reaper.
 */
typedef struct Process {
    struct Process *nextPtr;
    Cgi            *cgiPtr;
    char           *name;
    pid_t           pid;
    int             pidFd; /* Readable when the process has ended. */
    Errors          errors;

    /* Guarded by the lock of the module. */
    int64_t killMs; /* When to send SIGKILL after SIGTERM; 0: no SIGTERM
                     * was sent. */
    struct Process *nextAlivePtr;
    struct Process *prevAlivePtr;
} Process;

/*
 * A request.  Lives on the stack of its handler.
 */
typedef struct Script {
    const Map  *mapPtr;
    Cgi        *cgiPtr;
    Ns_Conn    *conn;
    Ns_DString  file;     /* Path of the program's file. */
    Ns_DString  name;     /* SCRIPT_NAME. */
    Ns_DString  pathInfo; /* Decoded. */
    const char *program;  /* Interpreter; NULL: the file itself. */
    char       *interp;   /* Holds the text of program. */
    Ns_Set     *interpEnvironment;
    Process    *processPtr;
    int         outFd;
} Script;

/*
 * Milliseconds on a monotonic clock.
 */
int64_t CgiNowMs(void);

/*
 * The environment of a script.
 */
Ns_Set *CgiEnvironment(const Script *scriptPtr);

/*
 * Pass on what the script writes.  Returns the result of the handler.
 */
int CgiRelay(Script *scriptPtr);

/*
 * Read once, no matter how much there is, and log the lines.  At the end of the
 * data, also log an unfinished line, and close.  False: closed.
 */
bool CgiErrorsRead(Errors *errorsPtr, const char *name);

/*
 * Take one of the places that the limit allows.  False: none was free within
 * maxwait.  The place is given back when the process is gone.
 */
bool CgiEnter(Cgi *cgiPtr);
void CgiLeave(Cgi *cgiPtr);

/*
 * From now on a stop of the server ends the process, no matter which thread
 * owns it.
 */
void CgiWatch(Process *processPtr);

/*
 * Hand a process to the reaper, which collects it.  isUnwanted: it also ends
 * it.
 */
void CgiReap(Process *processPtr, bool isUnwanted);

/*
 * Ns_ShutdownProc of the reaper.
 */
void CgiReaperStop(NS_API_CONST Ns_Time *toPtr, void *arg);

#endif
