/* SPDX-License-Identifier: MPL-2.0
 * context.h --
 *
 *      Certificates and rules of the TLS driver.
 */

#ifndef NSSSL_CONTEXT_H
#define NSSSL_CONTEXT_H

#include "ns.h"

#include <openssl/ssl.h>

#include "ticket.h"

typedef struct SslContext SslContext;

/*
 * What a context is made of.  The strings but path live as long as the process.
 */
typedef struct SslContextSpec {
    const char            *module;
    const char            *path;       /* Section of its parameters; ... */
    const char            *driverPath; /* ... others are taken from here. */
    const char            *file; /* Certificate and key; NULL: parameters. */
    SslTicketKeys         *keysPtr;
    SSL_client_hello_cb_fn helloProc; /* Sees each client first. */
    void                  *helloArg;
} SslContextSpec;

/*
 * Read the parameters and load the certificate.  NULL: the reason is logged.
 * Lives as long as the process.
 */
SslContext *SslContextCreate(const SslContextSpec *specPtr);

/*
 * A new server-side connection with the certificate in force; NULL when out of
 * memory.
 */
SSL *SslContextNewConnection(SslContext *contextPtr);

/*
 * The library's context in force; the caller's reference.
 */
SSL_CTX *SslContextTake(SslContext *contextPtr);

/*
 * In helloProc: go on with this context.
 */
void SslContextSwitch(SslContext *contextPtr, SSL *ssl);

/*
 * Load the certificate again.  False: it cannot be used, the old one stays in
 * force, and a Warning says why.
 */
bool SslContextReload(SslContext *contextPtr);

/*
 * Fetch what is to be stapled, if it is time to; may take some seconds.  One
 * thread at a time.
 */
void SslContextStaple(SslContext *contextPtr);

/*
 * Whether its files are others than those loaded, and were not changed between
 * this look and the one before.
 */
bool SslContextHasChanged(SslContext *contextPtr);

/*
 * The file of the certificate, and its days to live.
 */
const char *SslContextFile(const SslContext *contextPtr);
double      SslContextRemainingDays(SslContext *contextPtr);

/*
 * The path of a file, to be freed: a relative one is looked up below home, then
 * in its `certificates`.
 */
char *SslFindFile(const char *file);

/*
 * The reason of the last error of the library in this thread, and forget it.
 */
const char *SslErrorReason(void);

#endif
