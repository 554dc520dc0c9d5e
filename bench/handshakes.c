/* SPDX-License-Identifier: MPL-2.0
 * handshakes.c --
 *
 *      A TLS client that makes a connection for each request.
 *
 *      handshakes PORT full|resumed PATH SECONDS THREADS ?NAMES COUNT?
 *          Each thread connects, makes a handshake, asks for the page with
 *          Connection: close, and takes the reply, again and again.  With
 *          "resumed", each connection but the first of a thread uses the
 *          session of the last one.  NAMES, such as h%d.bench, and COUNT give
 *          the names of hosts that are asked for by turns; a certificate for
 *          another name is counted.
 *
 *      Prints a dict: handshakes, how many of them were resumed, per second,
 *      errors, wrongnames.
 */

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"

#define MAX_THREADS 64
#define PATIENCE    5 /* Seconds until a reply is an error. */

typedef struct Client {
    pthread_t    thread;
    SSL_CTX     *ctx;
    SSL_SESSION *session; /* The last one that came, or NULL. */
    int          number;
    long         nHandshakes;
    long         nResumed;
    long         nErrors;
    long         nWrongNames;
} Client;

static int         port;
static bool        isResumed;
static const char *path;
static int64_t     end;
static const char *names; /* NULL: no name is sent. */
static int         nNames = 1;

static void *RunClient(void *arg);
static bool  MakeRequest(Client *clientPtr, const char *name);
static bool  Talk(Client *clientPtr, SSL *ssl, const char *name);
static int   KeepSession(SSL *ssl, SSL_SESSION *session);
static int   Connect(void);

int
main(int argc, char **argv)
{
    static Client clients[MAX_THREADS];
    Client        sum = {.nHandshakes = 0};
    int64_t       begin = BenchNow();
    double        seconds;
    int           nThreads;

    if (argc != 6 && argc != 8) {
        fprintf(stderr, "usage: see the top of handshakes.c\n");
        return 2;
    }
    port = atoi(argv[1]);
    isResumed = strcmp(argv[2], "resumed") == 0;
    path = argv[3];
    seconds = atof(argv[4]);
    nThreads = atoi(argv[5]);
    if (argc == 8) {
        names = argv[6];
        nNames = atoi(argv[7]);
    }
    if (nThreads < 1 || nThreads > MAX_THREADS || nNames < 1) {
        fprintf(stderr, "handshakes: 1 to %d threads, 1 name or more\n",
                MAX_THREADS);
        return 2;
    }
    end = begin + (int64_t) (seconds * 1e9);
    for (int i = 0; i < nThreads; i++) {
        clients[i].number = i;
        pthread_create(&clients[i].thread, NULL, RunClient, &clients[i]);
    }
    for (int i = 0; i < nThreads; i++) {
        pthread_join(clients[i].thread, NULL);
        sum.nHandshakes += clients[i].nHandshakes;
        sum.nResumed += clients[i].nResumed;
        sum.nErrors += clients[i].nErrors;
        sum.nWrongNames += clients[i].nWrongNames;
    }
    printf("handshakes %ld resumed %ld rate %.1f errors %ld wrongnames %ld\n",
           sum.nHandshakes, sum.nResumed,
           (double) sum.nHandshakes * 1e9 / (double) (BenchNow() - begin),
           sum.nErrors, sum.nWrongNames);
    return 0;
}

static void *
RunClient(void *arg)
{
    Client *clientPtr = arg;
    int     i = clientPtr->number;

    clientPtr->ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(clientPtr->ctx, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_session_cache_mode(clientPtr->ctx,
                                   SSL_SESS_CACHE_CLIENT
                                       | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_set_app_data(clientPtr->ctx, clientPtr);
    if (isResumed) {
        SSL_CTX_sess_set_new_cb(clientPtr->ctx, KeepSession);
    }
    while (BenchNow() < end && clientPtr->nErrors < 10) {
        char name[256] = "";

        if (names != NULL) {
            const char *number = strstr(names, "%d");
            size_t      start = number == NULL ? strlen(names)
                                               : (size_t) (number - names);

            snprintf(name, sizeof(name), "%.*s", (int) start, names);
            if (number != NULL) {
                snprintf(name + start, sizeof(name) - start, "%d%s",
                         i++ % nNames, number + 2);
            }
        }
        if (MakeRequest(clientPtr, name)) {
            clientPtr->nHandshakes++;
        } else {
            clientPtr->nErrors++;
        }
    }
    SSL_SESSION_free(clientPtr->session);
    SSL_CTX_free(clientPtr->ctx);
    return NULL;
}

static bool
MakeRequest(Client *clientPtr, const char *name)
{
    int  fd = Connect();
    SSL *ssl;
    bool isGood;

    if (fd < 0) {
        return false;
    }
    ssl = SSL_new(clientPtr->ctx);
    SSL_set_fd(ssl, fd);
    if (*name != '\0') {
        SSL_set_tlsext_host_name(ssl, name);
    }
    if (clientPtr->session != NULL) {
        SSL_set_session(ssl, clientPtr->session);
    }
    isGood = SSL_connect(ssl) == 1 && Talk(clientPtr, ssl, name);
    /* Else OpenSSL would not use the session again. */
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl);
    close(fd);
    return isGood;
}

/*
 * The tickets of TLS 1.3 come with the reply.
 */
static bool
Talk(Client *clientPtr, SSL *ssl, const char *name)
{
    char  buffer[16384];
    int   n, total = 0;
    X509 *certificate = SSL_get1_peer_certificate(ssl);

    clientPtr->nResumed += SSL_session_reused(ssl);
    if (*name != '\0'
        && (certificate == NULL
            || X509_check_host(certificate, name, 0, 0, NULL) != 1)) {
        clientPtr->nWrongNames++;
    }
    X509_free(certificate);
    n = snprintf(buffer, sizeof(buffer),
                 "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                 path, *name == '\0' ? "127.0.0.1" : name);
    if (SSL_write(ssl, buffer, n) != n) {
        return false;
    }
    while ((n = SSL_read(ssl, buffer, sizeof(buffer))) > 0) {
        if (total == 0 && (n < 12 || memcmp(buffer + 8, " 200", 4) != 0)) {
            return false;
        }
        total += n;
    }
    return total > 0;
}

/*
 * Takes the reference.
 */
static int
KeepSession(SSL *ssl, SSL_SESSION *session)
{
    Client *clientPtr = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    SSL_SESSION_free(clientPtr->session);
    clientPtr->session = session;
    return 1;
}

/*
 * Closing with a reset leaves no port waiting: there are not many.
 */
static int
Connect(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t) port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval     patience = {PATIENCE, 0};
    struct linger      reset = {1, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    if (fd < 0
        || connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        perror("handshakes: connect");
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}
