/* SPDX-License-Identifier: MPL-2.0
 * ticket.h --
 *
 *      The keys of session tickets.
 *
 *      They change every `ticketkeyrotation`; tickets of the last two keys are
 *      still taken.  Without a file keys are random, and of this process alone.
 *      With one, they are derived from its content and the time, so that all
 *      processes and machines that have the file have the same keys at the same
 *      time, also after a restart.
 */

#ifndef NSSSL_TICKET_H
#define NSSSL_TICKET_H

#include "ns.h"

#include <openssl/ssl.h>

typedef struct SslTicketKeys SslTicketKeys;

/*
 * From the parameters of a section.  NULL: the reason is logged.
 */
SslTicketKeys *SslTicketKeysCreate(const char *module, const char *path);
void           SslTicketKeysDestroy(SslTicketKeys **keysPtrPtr);

/*
 * Use them in a context; they must live as long as its connections.
 */
void SslTicketKeysUse(SslTicketKeys *keysPtr, SSL_CTX *ctx);

/*
 * Read the file again.  If it cannot be used, the keys stay, and a Warning says
 * why.
 */
void SslTicketKeysReload(SslTicketKeys *keysPtr);

#endif
