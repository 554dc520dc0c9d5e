/* SPDX-License-Identifier: MPL-2.0
 * op.h --
 *
 *      Handlers: which procedure answers a method and a URL.
 */

#ifndef NSD_REQUEST_OP_H
#define NSD_REQUEST_OP_H

#include "request/conn.h"
#include "request/constraints.h"

void NsOpInit(void);

/*
 * As Ns_RegisterRequest, with constraints (NULL: none), which become the
 * registration's.
 */
typedef struct NsOpSpec {
    NsConstraints *constraintsPtr;
    const char    *method;
    const char    *url;
    Ns_OpProc     *proc;
    Ns_Callback   *freeProc;
    void          *arg;
    int            flags; /* NS_OP_NOINHERIT or 0. */
} NsOpSpec;

void NsOpRegister(NsServer *serverPtr, const NsOpSpec *specPtr);

/*
 * flags: NS_OP_NOINHERIT, NS_OP_RECURSE, and NS_OP_ALLCONSTRAINTS of urltree.h.
 */
void NsOpUnregister(NsServer *serverPtr, const char *method, const char *url,
                    int flags);

/*
 * Run the handler of a request, by method and URL; of one with an absolute URL,
 * by method and scheme.  Its result; or, above 0, the status whose page is due
 * as there is no handler: 400, 404 or 501; or, the field Allow being set, 405,
 * and 204 for OPTIONS.
 */
int NsOpRun(NsConn *connPtr);
int NsOpRunProxy(NsConn *connPtr);

/*
 * Whether that procedure is the handler for method and URL.
 */
bool NsOpIs(NsServer *serverPtr, const char *method, const char *url,
            Ns_OpProc *proc);

/*
 * Append the procedure of the handler for method and URL, and its argument, as
 * list elements; nothing if there is none.
 */
void NsOpDescribe(Ns_DString *dsPtr, NsServer *serverPtr, const char *method,
                  const char *url);

/*
 * Result of `ns_server requestprocs`, appended.
 */
void NsOpList(Ns_DString *dsPtr, NsServer *serverPtr);

#endif
