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
 * Run the handler of a request with an absolute URL, by method and scheme; 404
 * if there is none.
 */
int NsConnRunProxyRequest(NsConn *connPtr);

/*
 * Whether the handler for method and URL is the static file server.
 */
bool NsOpIsFastPath(NsServer *serverPtr, const char *method, const char *url);

/*
 * Result of `ns_server requestprocs`, appended.
 */
void NsOpList(Ns_DString *dsPtr, NsServer *serverPtr);

#endif
