/* SPDX-License-Identifier: MPL-2.0
 * tlsrejected.h --
 *
 *      Certificates of servers that were refused, kept to be looked at.
 */

#ifndef NSD_NET_TLSREJECTED_H
#define NSD_NET_TLSREJECTED_H

struct x509_st;

/*
 * Keep a certificate in a directory, which is created if it is missing, as
 * FINGERPRINT.pem; one that is there already stays as it is.  What is kept, and
 * why it cannot be, is logged.
 */
void NsTlsRejectedKeep(const char *directory, const char *host,
                       const struct x509_st *certificate, const char *reason);

#endif
