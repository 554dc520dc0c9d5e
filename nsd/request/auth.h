/*
 * auth.h --
 *
 *      Whether a request is allowed.
 */

#ifndef NSD_REQUEST_AUTH_H
#define NSD_REQUEST_AUTH_H

#include "request/conn.h"

/*
 * The realm of a server, which browsers show when they ask for a password.
 */
void NsAuthAppendRealm(Ns_DString *dsPtr, NsServer *serverPtr);
void NsAuthSetRealm(NsServer *serverPtr, const char *realm);

/*
 * Append the authorization hooks, each {request|user PROC ARG}.
 */
void NsAuthList(Ns_DString *dsPtr, NsServer *serverPtr);

/*
 * Whether an authorization hook is installed.
 */
bool NsAuthExists(NsServer *serverPtr);

/*
 * Ask the hook.  0: allowed; otherwise the status whose page is due: 401, 403
 * or 500.
 */
int NsConnAuthorize(NsConn *connPtr);

#endif
