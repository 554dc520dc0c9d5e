/* SPDX-License-Identifier: MPL-2.0
 * control_clients.c --
 *
 *      Many clients of a control socket at the same time.
 *
 *      control_clients PATH N REQUEST ?stay|shut?: connect N times, send the
 *      request each time, then read the replies.  "half" sends half of a line,
 *      says so, and stays; so it does with "stay" when all requests are sent.
 *      With "shut" no client has more to say.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int
Connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int                fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

/*
 * The bytes of one `ok N` reply; -1: there is none.
 */
static int
ReadReply(int fd)
{
    char   head[64] = "", byte;
    size_t n = 0;
    int    length = -1;

    while (n < sizeof(head) - 1 && read(fd, head + n, 1) == 1
           && head[n] != '\n') {
        n++;
    }
    if (sscanf(head, "ok %d", &length) != 1) {
        return -1;
    }
    for (int i = 0; i < length; i++) {
        if (read(fd, &byte, 1) != 1) {
            return -1;
        }
    }
    return length;
}

int
main(int argc, char **argv)
{
    int  n = argc > 3 ? atoi(argv[2]) : 0, nAnswers = 0, bytes = 0;
    int  fds[128];
    char line[256];
    bool stays = argc > 4 && strcmp(argv[4], "stay") == 0;
    bool shuts = argc > 4 && strcmp(argv[4], "shut") == 0;

    if (n < 1 || n > 128) {
        return 2;
    }
    for (int i = 0; i < n; i++) {
        fds[i] = Connect(argv[1]);
    }
    if (strcmp(argv[3], "half") == 0) {
        if (write(fds[0], "eval", 4) == 4) {
            puts("connected");
            fflush(stdout);
        }
        return pause();
    }
    for (int i = 0; i < n; i++) {
        snprintf(line, sizeof(line), "%s\n", argv[3]);
        if (send(fds[i], line, strlen(line), MSG_NOSIGNAL) < 0) {
            /* It has been refused: there is no reply. */
            continue;
        }
        if (shuts) {
            shutdown(fds[i], SHUT_WR);
        }
    }
    if (stays) {
        puts("sent");
        fflush(stdout);
        return pause();
    }
    for (int i = 0; i < n; i++) {
        int length = ReadReply(fds[i]);

        nAnswers += length >= 0;
        bytes = length > bytes ? length : bytes;
    }
    printf("%d answers of %d bytes\n", nAnswers, bytes);
    return 0;
}
