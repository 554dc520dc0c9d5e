/* SPDX-License-Identifier: MPL-2.0
 * control.h --
 *
 *      The control socket, through which `nsd ctl` talks to a running server.
 *
 *      A request is a line, the words of a Tcl list.  Its reply is `ok N`,
 *      `error N`, or `usage N` when the words are wrong, a line end, and N
 *      bytes.  One session, one thread: none waits for another, and none needs
 *      a connection thread.
 */

#ifndef NSD_PROCESS_CONTROL_H
#define NSD_PROCESS_CONTROL_H

#include "nstypes.h"

/*
 * How a request ends, and the exit status of `nsd ctl`.
 */
#define NS_CONTROL_DONE    0
#define NS_CONTROL_REFUSED 1 /* The reply says why. */
#define NS_CONTROL_USAGE   2 /* The words are wrong; the reply says how. */
#define NS_CONTROL_NOBODY  3 /* No server listens there. */

/*
 * The first word of a reply that ends so: there is one for all but the last.
 */
#define NS_CONTROL_WORDS 3
extern const char *const nsControlWords[NS_CONTROL_WORDS];

/*
 * Requests that this room does not know.  The first and the last are called in
 * the session's thread, as is runProc, which appends the reply and returns one
 * of the first three of the above; cancelProc from another one: what runs is to
 * end, since the client has left.  It may be called again, and when nothing
 * runs any more.
 */
typedef struct NsControlProcs {
    void *(*beginProc)(void); /* The state of a session. */
    int (*runProc)(void *state, const char *request, uid_t uid,
                   Ns_DString *replyPtr);
    void (*cancelProc)(void *state);
    void (*endProc)(void *state); /* Frees it. */
} NsControlProcs;

void NsControlInit(void);

/*
 * Once, before the start; they live on.
 */
void NsControlSetProcs(const NsControlProcs *procsPtr);

/*
 * Listen, and serve.  A socket that cannot be had is a Warning, and the server
 * goes on without.  Main thread.
 */
void NsControlStart(void);

/*
 * The end of all sessions, after those of scripts have been waited for.
 * NS_ERROR: some still run at the deadline, and Warnings name them, or have not
 * ended by the last call.  Clients see the end of the connection when the
 * process ends.
 */
Ns_ReturnCode NsControlStop(const Ns_Time *deadlinePtr,
                            const Ns_Time *lastCallPtr);

/*
 * The path of the socket as configured, to be freed by ns_free; NULL: there is
 * to be none.  The home directory is known.
 */
char *NsControlPath(void);

/*
 * Connect to, or be the owner of, a socket whose path may be longer than an
 * address of a socket can be.  -1: errno says why.
 */
int NsControlConnect(const char *path);

#endif
