/* SPDX-License-Identifier: MPL-2.0
 * tlsrejected.c --
 *
 *      Certificates of servers that were refused, kept to be looked at.
 *
 *      The name of a file is the fingerprint: nothing that the other side
 *      chooses is part of a path, and the same certificate is kept once.
 */

#include "net/tlsrejected.h"

#include <fcntl.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/assert.h"
#include "base/writeall.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsstring.h"

static bool AppendPath(Ns_DString *pathPtr, const char *directory,
                       const X509 *certificate);
static bool Write(int fd, const X509 *certificate);

void
NsTlsRejectedKeep(const char *directory, const char *host,
                  const X509 *certificate, const char *reason)
{
    Ns_DString path;
    int        fd = -1;
    bool       isKept = false;

    Ns_DStringInit(&path);
    if (AppendPath(&path, directory, certificate)
        && Ns_RequireDirectory(directory) == NS_OK) {
        fd = open(path.string, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (fd >= 0) {
        isKept = Write(fd, certificate);
        if (isKept) {
            Ns_Log(
                Notice,
                "httpclient[%s]: the server's certificate is rejected: %s; it "
                "is saved in %s",
                host, reason, path.string);
        } else {
            (void) unlink(path.string);
        }
        NsClose(fd);
    }
    if (!isKept && errno != EEXIST) {
        Ns_Log(
            Warning,
            "httpclient[%s]: a rejected certificate cannot be saved in %s: %s",
            host, directory, strerror(errno));
    }
    Ns_DStringFree(&path);
}

static bool
AppendPath(Ns_DString *pathPtr, const char *directory, const X509 *certificate)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned      length = 0u;

    if (X509_digest(certificate, EVP_sha256(), digest, &length) != 1) {
        errno = ENOMEM;
        return false;
    }
    Ns_DStringVarAppend(pathPtr, directory, "/", NULL);
    for (unsigned i = 0u; i < length; i++) {
        Ns_DStringPrintf(pathPtr, "%02x", digest[i]);
    }
    Ns_DStringAppend(pathPtr, ".pem");
    return true;
}

static bool
Write(int fd, const X509 *certificate)
{
    BIO  *bio = BIO_new(BIO_s_mem());
    char *text;
    bool  isWritten = false;

    errno = ENOMEM;
    if (bio != NULL && PEM_write_bio_X509(bio, certificate) == 1) {
        long length = BIO_get_mem_data(bio, &text);

        NsAssert(length > 0);
        isWritten = NsWriteAll(fd, text, (size_t) length);
    }
    BIO_free(bio);
    return isWritten;
}
