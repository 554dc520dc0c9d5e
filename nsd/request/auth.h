/*
 * auth.h --
 *
 *      Whether a request is allowed.
 */

#ifndef NSD_REQUEST_AUTH_H
#define NSD_REQUEST_AUTH_H

#include "request/conn.h"

/*
 * Whether an authorization hook is installed.
 */
bool NsAuthExists(NsServer *serverPtr);

/*
 * Ask the hook.  NS_OK: allowed.  Otherwise the request has been answered with
 * 401, 403 or 500: NS_FILTER_RETURN.
 */
int NsConnAuthorize(NsConn *connPtr);

#endif
