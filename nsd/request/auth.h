/* SPDX-License-Identifier: MPL-2.0
 * auth.h --
 *
 *      Whether a request is allowed, and whether a user is known: the chains of
 *      authorities that each server has (nsrequest.h).
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
 * Append the authorities, each {request|user PROC ARG}.
 */
void NsAuthList(Ns_DString *dsPtr, NsServer *serverPtr);

/*
 * Whether somebody decides about requests.
 */
bool NsAuthExists(NsServer *serverPtr);

/*
 * What a chain is asked about.  Strings may be NULL.  A user has no method, URL
 * and peer.
 */
typedef struct NsAuthQuery {
    const char *method;
    const char *url;
    const char *user;
    const char *password;
    const char *peer;
} NsAuthQuery;

/*
 * Ask a chain.  NS_OK, NS_UNAUTHORIZED, NS_FORBIDDEN, NS_FILTER_RETURN (the
 * client has been answered) or NS_ERROR.  *authorityPtr: who decided; NULL if
 * there is nobody, and then requests are allowed, and users unauthorized.
 */
int NsAuthRequest(NsServer *serverPtr, const NsAuthQuery *queryPtr,
                  const char **authorityPtr);
int NsAuthUser(NsServer *serverPtr, const NsAuthQuery *queryPtr,
               const char **authorityPtr);

/*
 * Ask about the request.  0: allowed; -1: an authority has answered; otherwise
 * the status whose page is due: 401, 403 or 500.
 */
#define NS_AUTH_ANSWERED (-1)
int NsConnAuthorize(NsConn *connPtr);

#endif
