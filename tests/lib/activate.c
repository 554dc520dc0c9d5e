/* SPDX-License-Identifier: MPL-2.0
 * activate.c --
 *
 *      Start a program with a listening socket, as a service manager does.
 *
 *      activate ADDRESS PORT PROGRAM ARG ...
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int                on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    char               pid[24];

    if (argc < 4 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
        return 2;
    }
    address.sin_port = htons((unsigned short) atoi(argv[2]));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0
        || listen(fd, 16) != 0 || (fd != 3 && dup2(fd, 3) != 3)) {
        perror("activate");
        return 1;
    }
    snprintf(pid, sizeof(pid), "%ld", (long) getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 1;
}
