/*
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
    const char *server;   /* Whose interpreters sessions have. */
    bool        isShared; /* Of all servers. */
    char       *address;  /* As configured. */
    int         number;
    bool        isPasswordShown;
    bool        isLoggingCommands;
    bool        isEmptyUserAllowed; /* From a loopback address. */
    bool        isAuthAsked;        /* Whether the server knows the user. */
    Ns_Time     loginTime;
    Ns_Set     *users; /* Names and hashes. */
    NS_SOCKET   sock;
    int         wakeFds[2]; /* A pipe; closed at the writing end: stop. */

    Ns_Mutex        lock; /* Guards the rest. */
    Ns_Cond         ended;
    struct Session *firstPtr;
    int             nThreads;   /* Of sessions and of the listener. */
    int             nLoggingIn; /* Sessions before their login. */
    bool            isRefusing; /* The Warning was logged. */
    bool            isStopping;
} Port;

/*
 * What has been received.  Telnet's codes are taken out wherever they stand.
 */
typedef struct Input {
    NS_SOCKET     sock;
    int64_t       deadlineMs; /* On the clock of NscpNowMs; 0: none. */
    int           n;
    int           next;
    unsigned char bytes[4096];
} Input;

/*
 * A client.  Belongs to its thread, but for what the port's lock guards.
 */
typedef struct Session {
    Port           *portPtr;
    struct Session *nextPtr; /* Guarded by the port's lock. */
    struct Session *prevPtr; /* Likewise. */
    NS_SOCKET       sock;
    unsigned        id;
    char           *user;    /* NULL before the login. */
    bool            isLocal; /* From this machine. */
    bool            isOver;  /* `exit` was called. */
    char            peer[INET6_ADDRSTRLEN];
    Input           input;
} Session;

/*
 * Read the entries `user` of a section; each says in the log what came of it.
 */
Ns_Set *NscpUsersRead(const char *server, const char *section);

/*
 * Whether a user may log in with a password.  Takes as long for a user who does
 * not exist.
 */
bool NscpUsersAllow(const Port *portPtr, const char *user,
                    const char *password);

/*
 * Ns_ThreadProc of a session: from the login to its end.
 */
void NscpSessionRun(void *arg);

/*
 * The port takes a session off its lists and closes its socket; the login is
 * over.
 */
void NscpPortRemove(Session *sessionPtr, bool isLoggingIn);
void NscpPortLoggedIn(Session *sessionPtr);

/*
 * Append the next line without its end.  False: end of input, time is up, or
 * the line is longer than maxBytes.
 */
bool NscpInputLine(Input *inputPtr, Ns_DString *dsPtr, int maxBytes);

/*
 * Milliseconds on a clock that nobody sets.
 */
int64_t NscpNowMs(void);

#endif
