/* SPDX-License-Identifier: MPL-2.0
 * nscp.h --
 *
 *      The control port, inside the module: port, logins, sessions, lines.
 */

#ifndef NSCP_H
#define NSCP_H

#include "ns.h"

/*
 * A control port.
 */
typedef struct Port {
    /* Constant after creation. */
    const char *server;   /* Sessions use its interpreters. */
    bool        isShared; /* One port for all servers. */
    char       *address;  /* As configured. */
    int         number;
    bool        isPasswordShown;
    bool        isLoggingCommands;
    bool        isEmptyUserAllowed; /* From a loopback address. */
    bool        isAuthAsked;        /* Ask the server whether it knows the
                                     * user. */
    Ns_Time   loginTime;
    Ns_Set   *users; /* Names and hashes. */
    NS_SOCKET sock;
    int       wakeFds[2]; /* A pipe; its write end is closed to stop. */

    Ns_Mutex        lock; /* Guards the rest. */
    Ns_Cond         ended;
    struct Session *firstPtr;
    int             nThreads;   /* Sessions and the listener. */
    int             nLoggingIn; /* Sessions that have not logged in. */
    bool            isRefusing; /* The warning was logged. */
    bool            isStopping;
} Port;

/*
 * Received data.  Telnet codes are removed wherever they occur.
 */
typedef struct Input {
    NS_SOCKET     sock;
    int64_t       deadlineMs; /* As NscpNowMs; 0: none. */
    int           n;
    int           next;
    unsigned char bytes[4096];
} Input;

/*
 * A client.  Belongs to its thread, except for what the port's lock guards.
 */
typedef struct Session {
    Port           *portPtr;
    struct Session *nextPtr; /* Guarded by the port's lock. */
    struct Session *prevPtr; /* Guarded by the port's lock. */
    NS_SOCKET       sock;
    unsigned        id;
    char           *user;    /* NULL before the login. */
    bool            isLocal; /* From this machine. */
    bool            isOver;  /* `exit` was called. */
    char            peer[INET6_ADDRSTRLEN];
    Input           input;
} Session;

/*
 * Read the entries `user` of a section; the log says for each whether it is
 * valid.
 */
Ns_Set *NscpUsersRead(const char *server, const char *section);

/*
 * Whether a user may log in with a password.  Takes the same time if the user
 * does not exist.
 */
bool NscpUsersAllow(const Port *portPtr, const char *user,
                    const char *password);

/*
 * Ns_ThreadProc of a session, from the login to its end.
 */
void NscpSessionRun(void *arg);

/*
 * Remove: take a session off the port's list and close its socket.  LoggedIn:
 * the session's login is complete.
 */
void NscpPortRemove(Session *sessionPtr, bool isLoggingIn);
void NscpPortLoggedIn(Session *sessionPtr);

/*
 * Append the next line without its end.  False: end of input, timeout, or the
 * line is longer than maxBytes.
 */
bool NscpInputLine(Input *inputPtr, Ns_DString *dsPtr, int maxBytes);

/*
 * Milliseconds on a monotonic clock.
 */
int64_t NscpNowMs(void);

#endif
