/* SPDX-License-Identifier: MPL-2.0
 * certificate.h --
 *
 *      What a certificate says.
 */

#ifndef NSSSL_CERTIFICATE_H
#define NSSSL_CERTIFICATE_H

#include "ns.h"

#include <openssl/x509.h>

/*
 * Append keys and values: subject, issuer, serial, notbefore, notafter,
 * fingerprint (SHA-256), pem, and san with lists of dns, email, uri, ip.
 */
void SslCertificateAppend(Ns_DString *dsPtr, X509 *x509);

/*
 * The first certificate of PEM text, or of a file.  NULL: *isOpenPtr says
 * whether there was something to read.  To be freed with X509_free.
 */
X509 *SslCertificateRead(const char *fileOrPem, bool *isOpenPtr);

/*
 * Call a procedure for each host name: the DNS names, or, without any, the
 * common name.
 */
typedef void SslCertificateNameProc(const char *name, size_t length, void *arg);

void SslCertificateNames(const X509 *x509, SslCertificateNameProc *proc,
                         void *arg);

#endif
