/* SPDX-License-Identifier: MPL-2.0
 * port.h --
 *
 *      A port for a test.
 */

#ifndef TESTS_UNIT_PORT_H
#define TESTS_UNIT_PORT_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Below the ports that the system gives to clients, and above those of other
 * suites, which may run at the same time.
 */
#define FIRST_TEST_PORT 30000
#define N_TEST_PORTS    2700

static inline bool
IsFreePort(int port, int type)
{
    struct sockaddr_in sa = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t) port)};
    int  fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    bool isFree = bind(fd, (struct sockaddr *) &sa, sizeof(sa)) == 0;

    close(fd);
    return isFree;
}

/*
 * A port that nobody uses at the moment, for TCP and UDP; another one each
 * time.
 */
static inline int
FreePort(void)
{
    static int next;
    int        port;

    if (next == 0) {
        next = (int) (getpid() % N_TEST_PORTS);
    }
    do {
        port = FIRST_TEST_PORT + next++ % N_TEST_PORTS;
    } while (!IsFreePort(port, SOCK_STREAM) || !IsFreePort(port, SOCK_DGRAM));
    return port;
}

#endif
