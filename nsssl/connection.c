/* SPDX-License-Identifier: MPL-2.0
 * connection.c --
 *
 *      The clients of the TLS driver.
 *
 *      The library never touches the socket itself: it reads and writes through
 *      functions of ours, which do not wait, and which remember when a read has
 *      emptied the socket.  Reading and writing continue until the request is
 *      satisfied or the socket is empty or full, so that the server knows from
 *      a short result that there is nothing left to do.
 *
 *      What the library writes while it reads is held back and sent at once at
 *      the end, and the session tickets of TLS 1.3, for which no client waits,
 *      together with the first reply: one call and one packet instead of three.
 *      Of records that are written one after the other, the kernel makes as few
 *      packets as it can, and wakes the client as rarely.
 *
 *      A connection is used by one thread at a time, as with any driver.
 */

#include "connection.h"
#include "certificate.h"
#include "host.h"
#include "plain.h"

#include <openssl/err.h>

#define RECORD_BYTES 16384

/*
 * One client; Ns_Sock.arg.
 */
typedef struct Connection {
    SSL       *ssl;
    NS_SOCKET  sock;
    bool       isDrained;   /* The last read took all there was. */
    bool       hasReceived; /* Anything at all. */
    bool       hasFailed;   /* Send no close_notify. */
    bool       isCounted;   /* Its handshake is over. */
    bool       isReading;   /* What is written meanwhile is held back. */
    bool       hasMore;     /* Another record follows what is written. */
    uint16_t   heldBytes;
    uint16_t   heldRoom;
    char      *held;     /* Or NULL. */
    SslPlain  *plainPtr; /* The client does not speak TLS; or NULL. */
    SslFailure failure;  /* Once hasFailed. */
} Connection;

/*
 * More than the tickets and the answer to a ClientHello take with a usual chain
 * of certificates; what is longer is sent at once.
 */
#define HELD_BYTES 6144

/*
 * Write one record of what follows the first bytes of the pieces, with the rest
 * of them to come: the result of SSL_write, or FILE_IS_SHORT when a file no
 * longer has what it should.
 */
typedef int WriteProc(Connection *connPtr, const void *bufs, int nbufs,
                      size_t skip, size_t rest);

#define FILE_IS_SHORT (-2)

static BIO_METHOD *bioMethod; /* Constant after SslConnectionInit. */

static ssize_t ReadAll(Connection *connPtr, const Ns_Sock *sock, char *buffer,
                       size_t size);
static void    CountHandshake(Connection *connPtr, SslHandshakes *countsPtr,
                              ssize_t nRead);
static void    CountUnfinished(Connection *connPtr, SslHandshakes *countsPtr);
static bool    MayHold(const Connection *connPtr);
static bool    MustRetry(Connection *connPtr, const Ns_Sock *sock, int result);
static void    Fail(Connection *connPtr, const Ns_Sock *sock);
static SslFailure FailureOf(unsigned long code);
static ssize_t    WriteAll(Ns_Sock *sock, WriteProc *proc, const void *bufs,
                           int nbufs, size_t wanted);
static WriteProc  WriteSome;
static WriteProc  WriteFiles;
static int    WriteRecord(Connection *connPtr, const char *bytes, size_t length,
                          size_t rest);
static size_t FillRecord(char *record, const Ns_FileVec *bufs, int nbufs,
                         size_t skip);
static size_t ReadFile(int fd, char *buffer, size_t size, off_t offset);
static int    ReadSocket(BIO *bio, char *buffer, int length);
static int    WriteSocket(BIO *bio, const char *buffer, int length);
static bool   Hold(Connection *connPtr, const char *buffer, int length);
static void   Shrink(Connection *connPtr);
static void   Flush(Connection *connPtr);
static ssize_t SendHeld(Connection *connPtr, const char *buffer, size_t length);
static long    ControlSocket(BIO *bio, int command, long number, void *pointer);

void
SslConnectionInit(void)
{
    bioMethod = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                             "nsssl socket");
    BIO_meth_set_read(bioMethod, ReadSocket);
    BIO_meth_set_write(bioMethod, WriteSocket);
    BIO_meth_set_ctrl(bioMethod, ControlSocket);
}

NS_DRIVER_ACCEPT_STATUS
SslAccept(Ns_Sock *sock, NS_SOCKET listensock, struct sockaddr *sockaddrPtr,
          int *socklenPtr)
{
    SslHost    *hostPtr = sock->driver->arg;
    socklen_t   length = (socklen_t) *socklenPtr;
    Connection *connPtr;
    BIO        *bio;

    sock->sock = accept4(listensock, sockaddrPtr, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (sock->sock == NS_INVALID_SOCKET) {
        return NS_DRIVER_ACCEPT_ERROR;
    }
    *socklenPtr = (int) length;
    connPtr = ns_calloc(1u, sizeof(Connection));
    connPtr->sock = sock->sock;
    connPtr->ssl = SslHostNewConnection(hostPtr);
    bio = BIO_new(bioMethod);
    if (connPtr->ssl == NULL || bio == NULL) {
        SSL_free(connPtr->ssl);
        BIO_free(bio);
        ns_free(connPtr);
        close(sock->sock);
        sock->sock = NS_INVALID_SOCKET;
        errno = ENOMEM;
        return NS_DRIVER_ACCEPT_ERROR;
    }
    BIO_set_data(bio, connPtr);
    BIO_set_init(bio, 1);
    SSL_set_bio(connPtr->ssl, bio, bio);
    SSL_set_accept_state(connPtr->ssl);
    sock->arg = connPtr;
    return NS_DRIVER_ACCEPT;
}

/*
 * Read until the buffer is full or the socket is empty.  The handshake happens
 * on the way.
 */
ssize_t
SslRecv(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
        int flags)
{
    Connection *connPtr = sock->arg;
    ssize_t     n;

    connPtr->sock = sock->sock; /* Another one once it was taken over. */
    connPtr->isReading = true;
    n = ReadAll(connPtr, sock, bufs[0].iov_base, bufs[0].iov_len);
    connPtr->isReading = false;
    if (unlikely(!connPtr->isCounted)) {
        CountHandshake(connPtr, SslHostHandshakes(sock->driver->arg), n);
    }
    if (connPtr->heldBytes > 0u) {
        if (MayHold(connPtr)) {
            Shrink(connPtr);
        } else {
            Flush(connPtr);
        }
    }
    return n;
}

/*
 * After a read that has given this; a client that leaves without having sent a
 * byte has not tried.
 */
static void
CountHandshake(Connection *connPtr, SslHandshakes *countsPtr, ssize_t nRead)
{
    int               version = SSL_version(connPtr->ssl);
    int               i = version == TLS1_3_VERSION ? SSL_TLS_1_3
                      : version == TLS1_2_VERSION
                      ? SSL_TLS_1_2
                      : SSL_TLS_OTHER;
    _Atomic uint64_t *countPtr = NULL;

    if (SSL_is_init_finished(connPtr->ssl)) {
        countPtr = SSL_session_reused(connPtr->ssl) != 0
            ? &countsPtr->resumed[i]
            : &countsPtr->full[i];
    } else if (nRead < 0 && connPtr->hasReceived) {
        countPtr = &countsPtr->failed[connPtr->failure];
    }
    if (countPtr != NULL) {
        connPtr->isCounted = true;
        atomic_fetch_add_explicit(countPtr, 1, memory_order_relaxed);
    }
}

/*
 * The connection ends: the server has waited for the rest long enough.
 */
static void
CountUnfinished(Connection *connPtr, SslHandshakes *countsPtr)
{
    if (!connPtr->isCounted && connPtr->hasReceived
        && !SSL_is_init_finished(connPtr->ssl)) {
        SslFailure failure = connPtr->hasFailed
            ? connPtr->failure
            : SSL_FAILED_TIMEOUT;

        connPtr->isCounted = true;
        atomic_fetch_add_explicit(&countsPtr->failed[failure], 1,
                                  memory_order_relaxed);
    }
}

static ssize_t
ReadAll(Connection *connPtr, const Ns_Sock *sock, char *buffer, size_t size)
{
    size_t total = 0u;

    ERR_clear_error();
    while (total < size) {
        int n = SSL_read(connPtr->ssl, buffer + total,
                         (int) MIN(size - total, INT_MAX));

        if (n > 0) {
            total += (size_t) n;
            if (connPtr->isDrained && !SSL_has_pending(connPtr->ssl)) {
                break;
            }
        } else if (MustRetry(connPtr, sock, n)) {
            break;
        } else {
            return total > 0u ? (ssize_t) total : -1;
        }
    }
    return (ssize_t) total;
}

/*
 * After the handshake of TLS 1.3 no client waits for what comes before the
 * reply; in that of TLS 1.2 it waits for the server's last words.
 */
static bool
MayHold(const Connection *connPtr)
{
    return !connPtr->hasFailed && SSL_version(connPtr->ssl) == TLS1_3_VERSION
        && SSL_is_init_finished(connPtr->ssl);
}

ssize_t
SslSend(Ns_Sock *sock, struct iovec *bufs, int nbufs, Ns_Time *timeoutPtr,
        int flags)
{
    return WriteAll(sock, WriteSome, bufs, nbufs, Ns_SumVec(bufs, nbufs));
}

/*
 * Until all is taken or the socket is full.
 */
static ssize_t
WriteAll(Ns_Sock *sock, WriteProc *proc, const void *bufs, int nbufs,
         size_t wanted)
{
    Connection *connPtr = sock->arg;
    size_t      total = 0u;

    connPtr->sock = sock->sock;
    ERR_clear_error();
    while (total < wanted) {
        int n = proc(connPtr, bufs, nbufs, total, wanted - total);

        if (n > 0) {
            total += (size_t) n;
        } else if (n == FILE_IS_SHORT) {
            errno = EIO;
            return total > 0u ? (ssize_t) total : -1;
        } else if (MustRetry(connPtr, sock, n)) {
            break;
        } else {
            return -1;
        }
    }
    return (ssize_t) total;
}

/*
 * One record.  Small pieces are joined, so that a header and a short body share
 * it.  When the socket was full, the next call begins with the same bytes, and
 * at least as many, as the library wants it.
 */
static int
WriteSome(Connection *connPtr, const void *arg, int nbufs, size_t skip,
          size_t rest)
{
    const struct iovec *bufs = arg;
    char                record[RECORD_BYTES];
    size_t              length = 0u;
    int                 i = 0;

    while (skip >= bufs[i].iov_len) {
        skip -= bufs[i].iov_len;
        i++;
    }
    if (i == nbufs - 1 || bufs[i].iov_len - skip >= RECORD_BYTES) {
        return WriteRecord(connPtr, (char *) bufs[i].iov_base + skip,
                           MIN(bufs[i].iov_len - skip, RECORD_BYTES), rest);
    }
    while (i < nbufs && length < RECORD_BYTES) {
        size_t n = MIN(bufs[i].iov_len - skip, RECORD_BYTES - length);

        memcpy(record + length, (char *) bufs[i].iov_base + skip, n);
        length += n;
        skip = 0u;
        i++;
    }
    return WriteRecord(connPtr, record, length, rest);
}

/*
 * Of all the bytes that there are.
 */
static int
WriteRecord(Connection *connPtr, const char *bytes, size_t length, size_t rest)
{
    int n;

    connPtr->hasMore = rest > length;
    n = SSL_write(connPtr->ssl, bytes, (int) length);
    connPtr->hasMore = false;
    return n;
}

ssize_t
SslSendFile(Ns_Sock *sock, Ns_FileVec *bufs, int nbufs, Ns_Time *timeoutPtr,
            int flags)
{
    size_t wanted = 0u;

    for (int i = 0; i < nbufs; i++) {
        wanted += bufs[i].length;
    }
    return WriteAll(sock, WriteFiles, bufs, nbufs, wanted);
}

/*
 * The same with parts of files, so that a small one shares its record with the
 * head.
 */
static int
WriteFiles(Connection *connPtr, const void *arg, int nbufs, size_t skip,
           size_t rest)
{
    char   record[RECORD_BYTES];
    size_t length = FillRecord(record, arg, nbufs, skip);

    return length == 0u ? FILE_IS_SHORT
                        : WriteRecord(connPtr, record, length, rest);
}

/*
 * What comes behind the first bytes, as much as a record has room for.  A read
 * may give less than there is, but the library wants no less than it was given
 * before.
 */
static size_t
FillRecord(char *record, const Ns_FileVec *bufs, int nbufs, size_t skip)
{
    size_t length = 0u;

    for (int i = 0; i < nbufs && length < RECORD_BYTES; i++) {
        size_t n = MIN(bufs[i].length - MIN(bufs[i].length, skip),
                       RECORD_BYTES - length);
        off_t  offset = bufs[i].offset + (off_t) skip;
        size_t got = n;

        if (n == 0u) {
            skip -= bufs[i].length;
            continue;
        }
        skip = 0u;
        if (bufs[i].fd < 0) {
            memcpy(record + length, INT2PTR(offset), n);
        } else {
            got = ReadFile(bufs[i].fd, record + length, n, offset);
        }
        length += got;
        if (got < n) {
            break;
        }
    }
    return length;
}

/*
 * As much of it as the file has.
 */
static size_t
ReadFile(int fd, char *buffer, size_t size, off_t offset)
{
    size_t  total = 0u;
    ssize_t n;

    do {
        n = pread(fd, buffer + total, size - total, offset + (off_t) total);
        total += n > 0 ? (size_t) n : 0u;
    } while ((n > 0 && total < size) || (n < 0 && errno == EINTR));
    return total;
}

/*
 * Tell "not now" from the end.  Only a failure is worth a line in the log: not
 * that a client left.
 */
static bool
MustRetry(Connection *connPtr, const Ns_Sock *sock, int result)
{
    switch (SSL_get_error(connPtr->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return true;

    case SSL_ERROR_ZERO_RETURN:
        connPtr->failure = SSL_FAILED_CLOSED;
        return false;

    case SSL_ERROR_SSL:
        Fail(connPtr, sock);
        return false;

    default:
        if (connPtr->plainPtr != NULL) {
            Fail(connPtr, sock);
            return false;
        }
        connPtr->hasFailed = true;
        connPtr->failure = SSL_FAILED_CLOSED;
        Ns_Log(Debug, "%s: connection broken", sock->driver->module);
        ERR_clear_error();
        return false;
    }
}

static void
Fail(Connection *connPtr, const Ns_Sock *sock)
{
    const char   *module = sock->driver->module;
    unsigned long code = ERR_peek_last_error();
    char          peer[NS_IPADDR_SIZE] = "unknown";

    connPtr->hasFailed = true;
    connPtr->failure = connPtr->plainPtr != NULL
        ? SSL_FAILED_PLAIN
        : FailureOf(code);
    (void) ns_inet_ntop((const struct sockaddr *) &sock->later_sa, peer,
                        sizeof(peer));
    if (connPtr->plainPtr != NULL) {
        SslPlainReply(&connPtr->plainPtr, connPtr->sock,
                      sock->driver->location);
        Ns_Log(Notice, "%s: answered a plain http request of %s with 400",
               module, peer);
    } else if (ERR_GET_REASON(code)
               == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        Ns_Log(Error, "%s: no client certificate provided by %s", module, peer);
    } else if (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        Ns_Log(Error, "%s: client certificate not valid by %s", module, peer);
    } else {
        Ns_Log(Notice, "%s: connection with %s failed: %s", module, peer,
               SslErrorReason());
    }
    ERR_clear_error();
}

/*
 * The class of what the library says.  Reasons from SSL_AD_REASON_OFFSET on are
 * alerts that the client has sent.
 */
static SslFailure
FailureOf(unsigned long code)
{
    int reason = ERR_GET_REASON(code);

    if (ERR_GET_LIB(code) != ERR_LIB_SSL) {
        return SSL_FAILED_OTHER;
    }
    switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_VERSION_TOO_HIGH:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_BAD_LEGACY_VERSION:
    case SSL_R_INAPPROPRIATE_FALLBACK:
        return SSL_FAILED_VERSION;

    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_CIPHERS_SPECIFIED:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
        return SSL_FAILED_CIPHER;

    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
        return SSL_FAILED_CERTIFICATE;

#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
        return SSL_FAILED_CLOSED;
#endif

    default:
        return reason >= SSL_AD_REASON_OFFSET
            ? SSL_FAILED_ALERT
            : SSL_FAILED_OTHER;
    }
}

int
SslKeep(Ns_Sock *sock)
{
    const Connection *connPtr = sock->arg;

    return !connPtr->hasFailed && SSL_get_shutdown(connPtr->ssl) == 0;
}

/*
 * Send close_notify if the peer is still there; the server closes the socket.
 */
void
SslClose(Ns_Sock *sock)
{
    Connection *connPtr = sock->arg;

    if (connPtr == NULL) {
        return;
    }
    connPtr->sock = sock->sock;
    CountUnfinished(connPtr, SslHostHandshakes(sock->driver->arg));
    ERR_clear_error();
    if (!connPtr->hasFailed && SSL_is_init_finished(connPtr->ssl)) {
        (void) SSL_shutdown(connPtr->ssl);
    }
    SSL_free(connPtr->ssl);
    ERR_clear_error();
    SslPlainDestroy(&connPtr->plainPtr);
    ns_free(connPtr->held);
    ns_free(connPtr);
    sock->arg = NULL;
}

/*
 * What was agreed on, and the certificate of the client.
 */
void
SslDetails(Ns_Sock *sock, Ns_DString *dsPtr)
{
    const Connection *connPtr = sock->arg;
    SSL              *ssl = connPtr->ssl;
    const char       *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    X509             *x509 = SSL_get0_peer_certificate(ssl);
    bool              hasCertificate = x509 != NULL;
    long              result = SSL_get_verify_result(ssl);

    Ns_DStringVarAppend(dsPtr, " sslversion ", SSL_get_version(ssl), " cipher ",
                        SSL_get_cipher_name(ssl), " servername", NULL);
    Ns_DStringAppendElement(dsPtr, name != NULL ? name : "");
    Ns_DStringPrintf(dsPtr, " clientcert {present %d verified %d verifyresult",
                     hasCertificate, hasCertificate && result == X509_V_OK);
    Ns_DStringAppendElement(dsPtr,
                            !hasCertificate
                                ? "absent"
                                : X509_verify_cert_error_string(result));
    if (hasCertificate) {
        SslCertificateAppend(dsPtr, x509);
    }
    Ns_DStringAppend(dsPtr, "}");
}

int
SslIsShakingHands(const Ns_Sock *sock)
{
    const Connection *connPtr = sock->arg;

    if (connPtr->heldBytes > 0u && !MayHold(connPtr)) {
        return NS_DRIVER_SETUP_WRITE;
    }
    return connPtr->hasReceived && !SSL_is_init_finished(connPtr->ssl);
}

/*
 * Only this one is of interest to anybody.
 */
const char *
SslProtocol(const Ns_Sock *sock)
{
    const Connection    *connPtr = sock->arg;
    const unsigned char *bytes;
    unsigned             length;

    SSL_get0_alpn_selected(connPtr->ssl, &bytes, &length);
    return length == 2u && memcmp(bytes, "h2", 2u) == 0 ? "h2" : NULL;
}

/*
 * The library's way to the socket.  One who speaks plain HTTP is found by the
 * first byte, before the library makes something else of it.
 */
static int
ReadSocket(BIO *bio, char *buffer, int length)
{
    Connection *connPtr = BIO_get_data(bio);
    ssize_t     n;

    BIO_clear_retry_flags(bio);
    if (connPtr->heldBytes > 0u && connPtr->isDrained && !MayHold(connPtr)) {
        /* The client waits for what is still here. */
        BIO_set_retry_read(bio);
        return -1;
    }
    do {
        n = recv(connPtr->sock, buffer, (size_t) length, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    connPtr->isDrained = n < length;
    if (n > 0 && !connPtr->hasReceived) {
        connPtr->hasReceived = true;
        connPtr->plainPtr = SslPlainCreate(buffer, (size_t) n);
        if (connPtr->plainPtr != NULL) {
            errno = EPROTO;
            return -1;
        }
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        BIO_set_retry_read(bio);
    }
    return (int) n;
}

static int
WriteSocket(BIO *bio, const char *buffer, int length)
{
    Connection *connPtr = BIO_get_data(bio);
    ssize_t     n;

    BIO_clear_retry_flags(bio);
    if (connPtr->isReading && Hold(connPtr, buffer, length)) {
        return length;
    }
    n = SendHeld(connPtr, buffer, (size_t) length);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        BIO_set_retry_write(bio);
    }
    return (int) n;
}

static bool
Hold(Connection *connPtr, const char *buffer, int length)
{
    if (length > HELD_BYTES - connPtr->heldBytes) {
        return false;
    }
    if (length > connPtr->heldRoom - connPtr->heldBytes) {
        connPtr->heldRoom = HELD_BYTES;
        connPtr->held = ns_realloc(connPtr->held, HELD_BYTES);
    }
    memcpy(connPtr->held + connPtr->heldBytes, buffer, (size_t) length);
    connPtr->heldBytes = (uint16_t) (connPtr->heldBytes + length);
    return true;
}

/*
 * It may have to be kept for as long as the client is silent.
 */
static void
Shrink(Connection *connPtr)
{
    if (connPtr->heldRoom > connPtr->heldBytes) {
        connPtr->heldRoom = connPtr->heldBytes;
        connPtr->held = ns_realloc(connPtr->held, connPtr->heldRoom);
    }
}

/*
 * What the socket does not take goes with what is written next, or when there
 * is room again (NS_DRIVER_SETUP_WRITE).
 */
static void
Flush(Connection *connPtr)
{
    (void) SendHeld(connPtr, NULL, 0u);
}

/*
 * What was held back, and then these bytes: how many of these were taken; -1
 * and errno if none was.
 */
static ssize_t
SendHeld(Connection *connPtr, const char *buffer, size_t length)
{
    struct iovec vecs[] = {
        {connPtr->held, connPtr->heldBytes}, {(void *) buffer, length}};
    bool          hasHeld = connPtr->heldBytes > 0u;
    struct msghdr message = {
        .msg_iov = hasHeld ? vecs : vecs + 1, .msg_iovlen = hasHeld ? 2u : 1u};
    size_t  nHeld;
    ssize_t n;

    do {
        n = sendmsg(connPtr->sock, &message,
                    MSG_DONTWAIT | MSG_NOSIGNAL
                        | (connPtr->hasMore ? MSG_MORE : 0));
    } while (n < 0 && errno == EINTR);
    if (n < 0 || !hasHeld) {
        return n;
    }
    nHeld = MIN((size_t) n, connPtr->heldBytes);
    connPtr->heldBytes = (uint16_t) (connPtr->heldBytes - nHeld);
    if (connPtr->heldBytes > 0u) {
        memmove(connPtr->held, connPtr->held + nHeld, connPtr->heldBytes);
    } else {
        ns_free(connPtr->held);
        connPtr->held = NULL;
        connPtr->heldRoom = 0u;
    }
    n -= (ssize_t) nHeld;
    if (n == 0 && length > 0u) {
        errno = EAGAIN;
        return -1;
    }
    return n;
}

static long
ControlSocket(BIO *bio, int command, long number, void *pointer)
{
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}
