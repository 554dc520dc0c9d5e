/* SPDX-License-Identifier: MPL-2.0
 * host.h --
 *
 *      The certificates of one loaded driver, by the names that clients ask
 *      for.
 *
 *      One certificate is for all who ask for an unknown name, or none: that of
 *      the driver's own section.  The others belong to servers with a section
 *      of their own, if the driver is one of all servers, and to the files of
 *      the directory `vhostcertificates`.  Each is chosen by the names that it
 *      has itself, wildcards included, by those of its server in the host map,
 *      and by the name of its file.
 */

#ifndef NSSSL_HOST_H
#define NSSSL_HOST_H

#include <stdatomic.h>

#include "context.h"

/*
 * One loaded instance of the driver; Ns_Driver.arg.
 */
typedef struct SslHost SslHost;

/*
 * Handshakes of its clients: by version of TLS, the last being all others, and
 * whether a session was resumed; and those that came to nothing, by reason.
 * Counted by any thread, relaxed: figures.
 */
enum { SSL_TLS_1_2, SSL_TLS_1_3, SSL_TLS_OTHER, SSL_TLS_COUNT };

typedef enum {
    SSL_FAILED_OTHER,
    SSL_FAILED_VERSION,     /* None that both allow. */
    SSL_FAILED_CIPHER,      /* Nor a cipher, group or kind of signature. */
    SSL_FAILED_CERTIFICATE, /* The client's is missing or not valid. */
    SSL_FAILED_ALERT,       /* The client refuses ours, for example. */
    SSL_FAILED_TIMEOUT,     /* We have closed before it came to an end. */
    SSL_FAILED_PLAIN,       /* The client does not speak TLS. */
    SSL_FAILED_CLOSED,      /* The client has left. */
    SSL_FAILED_COUNT
} SslFailure;

typedef struct SslHandshakes {
    _Atomic uint64_t full[SSL_TLS_COUNT];
    _Atomic uint64_t resumed[SSL_TLS_COUNT];
    _Atomic uint64_t failed[SSL_FAILED_COUNT];
} SslHandshakes;

SslHandshakes *SslHostHandshakes(SslHost *hostPtr);
const char    *SslHostModule(const SslHost *hostPtr);

/*
 * One without certificates yet; lives as long as the process.  Load all of a
 * section, once; false: the reason is logged.
 */
SslHost *SslHostCreate(const char *module, const char *path);
bool     SslHostLoad(SslHost *hostPtr, const char *server);

SSL *SslHostNewConnection(SslHost *hostPtr);

/*
 * Load certificates again, and those that are new in the directory:  all of
 * them, or those whose files have changed.
 */
void SslHostReload(SslHost *hostPtr);
void SslHostReloadChanged(SslHost *hostPtr);

/*
 * Certificate number i, the default being 0; NULL: there are no more.
 */
SslContext *SslHostContext(SslHost *hostPtr, int i);

/*
 * The certificate for a name; with what it was found, for tests and listings.
 */
SslContext *SslHostFind(SslHost *hostPtr, const char *name);

#endif
