/* SPDX-License-Identifier: MPL-2.0
 * plain.h --
 *
 *      Clients that speak plain HTTP on the port for HTTPS.
 */

#ifndef NSSSL_PLAIN_H
#define NSSSL_PLAIN_H

#include "ns.h"

/*
 * What such a client has sent first.
 */
typedef struct SslPlain SslPlain;

/*
 * NULL: these are not the first bytes of a plain request.
 */
SslPlain *SslPlainCreate(const char *bytes, size_t length);
void      SslPlainDestroy(SslPlain **plainPtrPtr);

/*
 * Answer 400, with a page that leads to the same page of https, or to the
 * location, and end our side of the connection.  Does not wait.
 */
void SslPlainReply(SslPlain **plainPtrPtr, NS_SOCKET sock,
                   const char *location);

#endif
