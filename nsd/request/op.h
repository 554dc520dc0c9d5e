/*
 * op.h --
 *
 *      Handlers: which procedure answers a method and a URL.
 */

#ifndef NSD_REQUEST_OP_H
#define NSD_REQUEST_OP_H

#include "request/conn.h"

void NsOpInit(void);

/*
 * Run the handler of a request, by method and URL; of one with an absolute URL,
 * by method and scheme.  Its result; or, above 0, the status whose page is due
 * as there is no handler: 400 or 404.
 */
int NsOpRun(NsConn *connPtr);
int NsOpRunProxy(NsConn *connPtr);

/*
 * Whether that procedure is the handler for method and URL.
 */
bool NsOpIs(NsServer *serverPtr, const char *method, const char *url,
            Ns_OpProc *proc);

/*
 * Result of `ns_server requestprocs`, appended.
 */
void NsOpList(Ns_DString *dsPtr, NsServer *serverPtr);

#endif
