/* SPDX-License-Identifier: MPL-2.0
 * auth.h --
 *
 *      The Authorization field: RFC 7617 (Basic), RFC 7616 (Digest).
 */

#ifndef NSD_HTTP_AUTH_H
#define NSD_HTTP_AUTH_H

#include "nsset.h"

/*
 * Append what the field says to the set: AuthMethod, and for Basic Password
 * (only if there is a colon) and Username, for Digest every parameter.  Other
 * schemes add nothing.
 */
void NsAuthParse(const char *authorization, Ns_Set *setPtr);

#endif
