/* SPDX-License-Identifier: MPL-2.0
 * receive.c --
 *
 *      A syslog server that counts: datagrams on a UNIX socket.
 *
 *      receive PATH
 *
 *      Prints "ready", and for each line of standard input how many datagrams
 *      have come so far.  Ends when standard input does.
 */

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BATCH          64
#define DATAGRAM_BYTES 4096
#define QUEUE_BYTES    (4 << 20)

static int  Listen(const char *path);
static long Receive(int fd);

int
main(int argc, char **argv)
{
    struct pollfd pfds[2] = {
        {.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
    long count = 0;
    char line[80];

    if (argc != 2 || (pfds[1].fd = Listen(argv[1])) < 0) {
        perror("receive");
        return 1;
    }
    printf("ready\n");
    fflush(stdout);
    while (poll(pfds, 2, -1) > 0) {
        count += Receive(pfds[1].fd);
        if (pfds[0].revents != 0) {
            if (read(STDIN_FILENO, line, sizeof(line)) <= 0) {
                break;
            }
            printf("%ld\n", count);
            fflush(stdout);
        }
    }
    return 0;
}

static int
Listen(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int                fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int                bytes = QUEUE_BYTES;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    if (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        return -1;
    }
    return fd;
}

/*
 * Take all there is; the contents do not matter.
 */
static long
Receive(int fd)
{
    static char    buffer[DATAGRAM_BYTES];
    struct iovec   piece = {buffer, sizeof(buffer)};
    struct mmsghdr messages[BATCH];
    long           count = 0;
    int            n;

    memset(messages, 0, sizeof(messages));
    for (int i = 0; i < BATCH; i++) {
        messages[i].msg_hdr.msg_iov = &piece;
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    while ((n = recvmmsg(fd, messages, BATCH, MSG_DONTWAIT, NULL)) > 0) {
        count += n;
    }
    return count;
}
