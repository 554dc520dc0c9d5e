/* SPDX-License-Identifier: MPL-2.0
 * context.h --
 *
 *      Certificates and rules of the TLS driver.
 */

#ifndef NSSSL_CONTEXT_H
#define NSSSL_CONTEXT_H

#include "ns.h"

#include <openssl/ssl.h>

typedef struct SslContext SslContext;

/*
 * Read the parameters of a section and load the certificate.  NULL: the reason
 * is logged.  Lives as long as the process.
 */
SslContext *SslContextCreate(const char *module, const char *path);

/*
 * A new server-side connection with the certificate in force; NULL when out of
 * memory.
 */
SSL *SslContextNewConnection(SslContext *contextPtr);

/*
 * Load the certificate again.  If it cannot be used, the old one stays in
 * force, and a Warning says why.
 */
void SslContextReload(SslContext *contextPtr);

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
