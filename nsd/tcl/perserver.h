/* SPDX-License-Identifier: MPL-2.0
 * perserver.h --
 *
 *      Data that a family of commands keeps per server, made at first use.
 */

#ifndef NSD_TCL_PERSERVER_H
#define NSD_TCL_PERSERVER_H

#include <stdatomic.h>

#include "process/server.h"

/*
 * One per family, static, initialized with {NULL}.
 */
typedef struct NsPerServer {
    void *_Atomic *_Atomic data; /* By number of the server. */
} NsPerServer;

/*
 * Before any other.
 */
void NsPerServerInit(void);

/*
 * The data of serverPtr; createProc makes it if there is none yet.  It lives as
 * long as the process.  Any thread; no lock when it exists.
 */
typedef void *NsPerServerProc(NsServer *serverPtr);
void         *NsPerServerGet(NsPerServer *perServerPtr, NsServer *serverPtr,
                             NsPerServerProc *createProc);

#endif
