/* SPDX-License-Identifier: MPL-2.0
 * httpjob.h --
 *
 *      A request of ns_http: what its options say, and the scripts that are
 *      called on the way.
 */

#ifndef NSD_TCL_HTTPJOB_H
#define NSD_TCL_HTTPJOB_H

#include "net/httpclient.h"
#include "tcl/interp.h"

/*
 * Owned by the interpreter that began it; with a done callback, by the thread
 * that works on it.
 */
typedef struct NsHttpJob {
    struct NsHttpJob *nextPtr; /* In the order of their begin. */
    int               id;
    NsHttpClient     *client;
    NsServer         *serverPtr;
    Tcl_Interp *interp; /* It runs here; NULL: in a thread for requests. */
    bool        isBinary;
    bool        takesPartial;
    char       *bodyChannel; /* Name, or NULL. */
    Tcl_Channel channel;     /* For the body, or NULL. */
    bool        isDetached;  /* The channel is of no interpreter. */
    char       *headScript;  /* NULL: none. */
    char       *dataScript;
    char       *doneScript;
    Ns_DString  error; /* Of a script or of the channel. */
} NsHttpJob;

/*
 * Parse the words behind `ns_http run` or `queue` and create the request.
 * NULL, with a message.  Destroy cancels what still runs.
 */
NsHttpJob *NsHttpJobCreate(NsInterp *itPtr, bool isQueued, int objc,
                           Tcl_Obj *const *objv);
void       NsHttpJobDestroy(NsHttpJob **jobPtrPtr);

/*
 * The result of one that is done; TCL_ERROR with message and code.
 */
int NsHttpJobResult(NsHttpJob *jobPtr, Tcl_Interp *interp);

/*
 * Start one that has a done callback; it is no longer the caller's.  NS_ERROR:
 * the server stops, and it still is.
 */
Ns_ReturnCode NsHttpJobStart(NsHttpJob *jobPtr);

#endif
