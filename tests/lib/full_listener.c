/* SPDX-License-Identifier: MPL-2.0
 * full_listener.c --
 *
 *      Prints the number of a local port at which nobody accepts, and whose
 *      queue is full, so that a connect waits; until its input ends.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int
main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t          length = sizeof(address);
    int                fd = socket(AF_INET, SOCK_STREAM, 0), isFull = 0;
    char               byte;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *) &address, length) != 0
        || listen(fd, 0) != 0
        || getsockname(fd, (struct sockaddr *) &address, &length) != 0) {
        return 1;
    }
    while (!isFull) {
        int           client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        struct pollfd poller = {.fd = client, .events = POLLOUT};

        if (connect(client, (struct sockaddr *) &address, length) != 0
            && errno != EINPROGRESS) {
            return 1;
        }
        isFull = poll(&poller, 1, 300) == 0;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
        /* Until the end. */
    }
    return 0;
}
