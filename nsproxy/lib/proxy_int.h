/* SPDX-License-Identifier: MPL-2.0
 * proxy_int.h --
 *
 *      Pools, handles, workers, and their protocol, inside the library.
 */

#ifndef PROXY_INT_H
#define PROXY_INT_H

#include "../nsproxy.h"

#define PROXY_MAJOR 1u
#define PROXY_MINOR 0u
/* A longer frame is invalid. */
#define PROXY_MAX_BYTES (1024u * 1024u * 1024u)

typedef enum {
    PROXY_OK,
    PROXY_EBUSY,
    PROXY_EDEAD,
    PROXY_EDEADLOCK,
    PROXY_EEXEC,
    PROXY_EGETTIMEOUT,
    PROXY_EIDLE,
    PROXY_EIMPORT,
    PROXY_EINIT,
    PROXY_ERANGE,
    PROXY_ERECV,
    PROXY_ESEND,
    PROXY_ESTOPPING,
    PROXY_ENOWAIT,
    PROXY_EEVALTIMEOUT,
    PROXY_SCRIPT /* The script's own error is in the interpreter. */
} ProxyError;

typedef enum { PROXY_IDLE, PROXY_BUSY, PROXY_DONE } ProxyState;

/*
 * What `ns_proxy configure` sets.  The strings belong to the pool.
 */
typedef struct Settings {
    Ns_Set *env; /* NULL: the server's environment. */
    char   *exec;
    char   *init;
    char   *reinit;
    int     maxWorkers;
    int     maxRuns;
    Ns_Time getTimeout; /* 0: no limit; the same for the next one. */
    Ns_Time evalTimeout;
    Ns_Time sendTimeout;
    Ns_Time recvTimeout;
    Ns_Time waitTimeout;
    Ns_Time idleTimeout;
    Ns_Time logMinDuration;
} Settings;

/*
 * A process.  The handle's owner uses the socket.  The lock of the pool guards
 * what `stop` and lists look at.
 */
typedef struct Worker {
    int     sock;
    pid_t   pid;       /* Lock. 0: the reaper has it. */
    bool    isStopped; /* Lock. */
    int     nRuns;     /* Lock. */
    Ns_Time created;
    int64_t expireMs; /* Lock: when to end it if idle. */
} Worker;

typedef struct Proxy {
    /* Constant after creation. */
    struct Pool *poolPtr;
    char        *id;

    /* Guarded by the lock of the pool. */
    struct Proxy *nextPtr;
    ProxyState    state;
    Worker       *workerPtr;
    Ns_Time       start;
    Tcl_DString   script; /* While a script runs. */

    /* Belongs to the owner. */
    Settings    settings; /* A copy made when the handle was got. */
    Tcl_Interp *interp;
    Tcl_Command command;
} Proxy;

typedef struct Pool {
    struct Pool *nextPtr;     /* Lock of all pools. */
    char        *name;        /* Constant. */
    char        *defaultExec; /* Constant: the program of the configuration. */

    Ns_Mutex lock; /* Guards the rest. */
    Ns_Cond  changed;
    Settings settings;
    Proxy   *firstFreePtr;
    Proxy   *firstUsedPtr;
    int      nFree;
    int      nUsed;
    int      nMade;
    int64_t  nTaken; /* Handles that somebody got. */
    bool     isCollecting;
    int64_t  nRequests;
    Ns_Time  runTime;
} Pool;

/*
 * frame.c: transfer whole frames, until a time on the clock of ProxyNowMs; -1:
 * no limit.  Text is in UTF-8.
 */
int64_t    ProxyNowMs(void);
int64_t    ProxyDeadline(const Ns_Time *timeoutPtr);
bool       ProxyWait(int sock, int events, int64_t deadlineMs);
ProxyError ProxySendFrame(int sock, const Tcl_DString *bytesPtr,
                          int64_t deadlineMs);
ProxyError ProxyRecvFrame(int sock, Tcl_DString *bytesPtr, int64_t deadlineMs);
void       ProxyPutNumber(Tcl_DString *bytesPtr, uint32_t number);
bool       ProxyGetNumber(const Tcl_DString *bytesPtr, int *atPtr,
                          uint32_t *numberPtr);

/*
 * pool.c: a pool by name; made if there is none.
 */
Pool *ProxyPoolGet(Tcl_Interp *interp, const char *name);
Pool *ProxyPoolFirst(void);
void  ProxyPoolResize(Pool *poolPtr);
/*
 * Take n handles, which have no owner at first.  On an error, none is taken.
 */
ProxyError ProxyTake(Pool *poolPtr, int n, const Ns_Time *timeoutPtr,
                     Proxy **proxies);
void       ProxyGive(Proxy *proxyPtr);
/*
 * End the workers of free (Clear) or used (Stop) handles; NULL: all of them.
 */
void ProxyPoolClear(Pool *poolPtr, const char *id);
void ProxyPoolStop(Pool *poolPtr, const char *id);
/*
 * End workers that were idle for too long.  Returns when the next one is due;
 * INT64_MAX: never.
 */
int64_t ProxyPoolExpire(void);

/*
 * handle.c: what an owner does with a handle.
 */
ProxyError ProxyCheck(Tcl_Interp *interp, Proxy *proxyPtr);
ProxyError ProxySend(Tcl_Interp *interp, Proxy *proxyPtr, Tcl_Obj *scriptPtr);
ProxyError ProxyAwait(Proxy *proxyPtr, const Ns_Time *timeoutPtr);
ProxyError ProxyRecv(Tcl_Interp *interp, Proxy *proxyPtr, int *codePtr);
ProxyError ProxyEvaluate(Tcl_Interp *interp, Proxy *proxyPtr,
                         Tcl_Obj *scriptPtr, const Ns_Time *timeoutPtr,
                         int *codePtr);
ProxyError ProxyPing(Tcl_Interp *interp, Proxy *proxyPtr);
void       ProxyEndWorker(Proxy *proxyPtr);
/*
 * Whether the worker has run as many scripts as it may, or was stopped.
 */
bool ProxyIsSpent(Proxy *proxyPtr);

/*
 * reaper.c: end a process and collect it; wake up for workers that expire.
 */
void ProxyReap(const char *pool, pid_t pid, const Ns_Time *stepPtr);
void ProxyReaperWake(void);
/*
 * The server stops: no worker may be started any more.
 */
bool ProxyIsClosed(void);

/*
 * setting.c: `ns_proxy configure pool`, with the words behind the pool.
 */
int ProxyConfigure(Tcl_Interp *interp, Pool *poolPtr, int objc,
                   Tcl_Obj *const *objv);
/*
 * A time from a word, and as a result in seconds; isShort: without trailing
 * zeros.
 */
int      ProxyReadTime(Tcl_Interp *interp, Tcl_Obj *objPtr, Ns_Time *timePtr);
Tcl_Obj *ProxyTimeObj(const Ns_Time *timePtr, bool isShort);
void     ProxyAppendPair(Tcl_Obj *listPtr, const char *key, Tcl_Obj *valuePtr);

/*
 * Copy and free settings.
 */
void SettingsCopy(Settings *toPtr, const Settings *fromPtr);
void SettingsFree(Settings *settingsPtr);

#endif
