/* SPDX-License-Identifier: MPL-2.0
 * connections.c --
 *
 *      A client that makes a connection for each request, and counts those that
 *      have failed.
 *
 *      connections PORT REQUESTS PATH TEXT
 *
 *      Each reply must have status 200 and end with the text.  Prints how many
 *      requests were sent, how many failed, and what the first failure was.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS 4

static int         port;
static const char *path, *text;
static atomic_long nLeft, nSent, nFailed;
static char        failure[200] = "none";

static void
Fail(const char *what, int reason)
{
    if (atomic_fetch_add(&nFailed, 1) == 0) {
        snprintf(failure, sizeof(failure), "%s: %s", what,
                 reason == 0 ? "end of file" : strerror(reason));
    }
}

static void
AskOnce(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t) port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char               bytes[4096];
    size_t             length = 0, textLength = strlen(text);
    ssize_t            n;
    int                fd = socket(AF_INET, SOCK_STREAM, 0);

    atomic_fetch_add(&nSent, 1);
    if (fd < 0
        || connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        Fail("connect", errno);
        close(fd);
        return;
    }
    n = snprintf(bytes, sizeof(bytes),
                 "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                 path);
    if (send(fd, bytes, (size_t) n, MSG_NOSIGNAL) != n) {
        Fail("send", errno);
        close(fd);
        return;
    }
    while ((n = recv(fd, bytes + length, sizeof(bytes) - length, 0)) > 0) {
        length += (size_t) n;
    }
    if (n < 0 || length < textLength + 12
        || memcmp(bytes, "HTTP/1.1 200", 12) != 0
        || memcmp(bytes + length - textLength, text, textLength) != 0) {
        Fail(length == 0 ? "receive" : "reply", n < 0 ? errno : 0);
    }
    close(fd);
}

static void *
Run(void *arg)
{
    (void) arg;
    while (atomic_fetch_sub(&nLeft, 1) > 0) {
        AskOnce();
    }
    return NULL;
}

int
main(int argc, char *argv[])
{
    pthread_t threads[THREADS];

    if (argc != 5) {
        return 2;
    }
    port = atoi(argv[1]);
    nLeft = atol(argv[2]);
    path = argv[3];
    text = argv[4];
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, Run, NULL) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld requests, %ld failed, first: %s\n", nSent, nFailed, failure);
    return 0;
}
