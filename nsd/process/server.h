/* SPDX-License-Identifier: MPL-2.0
 * server.h --
 *
 *      A virtual server, as the rooms share it.
 *
 *      Each room keeps what it needs per server in a structure of its own, hung
 *      up here when the server is initialized.  Servers live as long as the
 *      process.
 */

#ifndef NSD_PROCESS_SERVER_H
#define NSD_PROCESS_SERVER_H

#include "nstypes.h"
#include "base/chains.h"

struct NsPoolServer;
struct NsRequestServer;
struct NsTclServer;
struct NsAdpServer;

typedef struct NsServer {
    NsChainLink link;                   /* First: in the table; its hash is
                                         * that of the name. */
    int         number;                 /* Constant: from 0. */
    const char *name;                   /* Constant. */
    const char *path;                   /* Constant: "ns/server/NAME". */
    const char *logDir;                 /* Its own; NULL: that of all;
                                         * constant after start. */
    struct NsPoolServer    *poolsPtr;   /* dispatch; constant after start */
    struct NsRequestServer *requestPtr; /* request; likewise. */
    struct NsTclServer     *tclPtr;     /* tcl; likewise. */
    struct NsAdpServer     *adpPtr;     /* adp; likewise. */
} NsServer;

/*
 * Create a server.  Main thread, before start-up is complete.
 */
NsServer *NsServerCreate(const char *name);

/*
 * By name; NULL if there is none.  No lock: the table is constant after start.
 */
NsServer *NsServerFind(const char *name);

/*
 * All servers in the order of the configuration.
 */
int       NsServerCount(void);
NsServer *NsServerAt(int i);

/*
 * The server that is being initialized; NULL outside initialization.
 */
NsServer *NsServerInitializing(void);

/*
 * The same for a public function, the caller, that registers something for
 * that server.  NULL: there is none, which is logged.
 */
NsServer *NsServerRegistering(const char *caller);
void      NsServerSetInitializing(NsServer *serverPtr);

#endif
