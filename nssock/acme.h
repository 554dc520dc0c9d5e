/* SPDX-License-Identifier: MPL-2.0
 * acme.h --
 *
 *      Challenges by which an authority for certificates finds out who has a
 *      name (RFC 8555, section 8.3).
 */

#ifndef NSSOCK_ACME_H
#define NSSOCK_ACME_H

#include "ns.h"

/*
 * With parameter `acmedir` in the section of the driver: answer requests below
 * /.well-known/acme-challenge/ of the server, or (NULL) of all servers, with
 * the files of that directory.
 */
void AcmeInit(const char *server, const char *module);

#endif
