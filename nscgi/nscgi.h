/*
 * nscgi.h --
 *
 *      CGI programs, inside the module: what a configuration says, a request on
 *      its way, the environment of a script, and processes.
 */

#ifndef NSCGI_H
#define NSCGI_H

#include "ns.h"

#include <stdatomic.h>

/*
 * A module of a server.  Constant after the start, but for what the lock
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
    int             nRunning; /* Of those that count against the limit. */
    struct Process *firstPtr; /* What the reaper has; its own but for adding. */
    struct Process *firstAlivePtr; /* All that are not collected. */
    bool            isReaping;     /* Its thread runs. */
    int             wakeFds[2];    /* A pipe. */
} Cgi;

/*
 * Which requests run scripts.  Constant after creation.
 */
typedef struct Map {
    Cgi  *cgiPtr;
    char *url;
    char *path; /* NULL: the page. */
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
 * A running script.  The connection thread has it first, then the reaper.
 */
typedef struct Process {
    struct Process *nextPtr;
    Cgi            *cgiPtr;
    char           *name;
    pid_t           pid;
    int             pidFd; /* Readable when it has ended. */
    Errors          errors;

    /* Guarded by the lock of the module. */
    int64_t         killMs; /* When SIGKILL follows SIGTERM; 0: not ended. */
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
    Ns_DString  file;     /* The program's file. */
    Ns_DString  name;     /* SCRIPT_NAME. */
    Ns_DString  pathInfo; /* Decoded. */
    const char *program;  /* Interpreter; NULL: the file itself. */
    char       *interp;   /* What program points into. */
    Ns_Set     *interpEnvironment;
    Process    *processPtr;
    int         outFd;
} Script;

/*
 * Milliseconds on a clock that nobody sets.
 */
int64_t CgiNowMs(void);

/*
 * The environment of a script.
 */
Ns_Set *CgiEnvironment(const Script *scriptPtr);

/*
 * Pass on what the script writes.  The result of the handler.
 */
int CgiRelay(Script *scriptPtr);

/*
 * Read once, however much there is, and log the lines; at the end of the data
 * also what has no end, and close.  False: closed.
 */
bool CgiErrorsRead(Errors *errorsPtr, const char *name);

/*
 * Take one of the places that the limit allows; false: none within maxwait.
 * The process gives it back when it is gone.
 */
bool CgiEnter(Cgi *cgiPtr);
void CgiLeave(Cgi *cgiPtr);

/*
 * From now on a stop of the server ends the process, whoever has it.
 */
void CgiWatch(Process *processPtr);

/*
 * The reaper takes a process: with isUnwanted it is ended, in any case
 * collected.
 */
void CgiReap(Process *processPtr, bool isUnwanted);

/*
 * Ns_ShutdownProc of the reaper.
 */
void CgiReaperStop(NS_API_CONST Ns_Time *toPtr, void *arg);

#endif
