/* SPDX-License-Identifier: MPL-2.0
 * notify_listener.c --
 *
 *      The socket of a service manager: notify_listener PATH prints what comes.
 */

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int                fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    char               text[4096];
    ssize_t            n;

    if (argc != 2) {
        return 2;
    }
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]);
    if (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        perror(argv[1]);
        return 1;
    }
    while ((n = recv(fd, text, sizeof(text) - 1, 0)) >= 0) {
        text[n] = '\0';
        puts(text);
        fflush(stdout);
    }
    return 0;
}
