/* SPDX-License-Identifier: MPL-2.0
 * client.c --
 *
 *      The program.  It runs no server: `later-client URL` tells the host,
 *      `later-client ADDRESS PORT TEXT` sends a datagram and prints the reply.
 */

#include "shared.h"

static int
ShowHost(char *text)
{
    const char *error;
    Ns_URL      url;
    Tcl_DString ds;

    if (Ns_ParseUrl(text, true, &url, &error) != NS_OK) {
        printf("%s\n", error);
        return 1;
    }
    Tcl_DStringInit(&ds);
    printf("%s %s %s\n", url.host, url.query == NULL ? "-" : url.query,
           SharedDots(&ds, "a b"));
    Tcl_DStringFree(&ds);
    return 0;
}

static int
Ask(const char *host, unsigned short port, const char *text)
{
    struct NS_SOCKADDR_STORAGE sa;
    struct sockaddr           *saPtr = (struct sockaddr *) &sa;
    struct pollfd              poller;
    char                       reply[1000];
    ssize_t                    n = -1;
    NS_SOCKET                  sock;

    if (Ns_GetSockAddr(saPtr, host, port) != NS_OK) {
        return 1;
    }
    sock = socket(sa.ss_family, SOCK_DGRAM, 0);
    poller = (struct pollfd){.fd = sock, .events = POLLIN};
    /* A busy machine may lose one. */
    for (int i = 0; i < 100 && n < 0; i++) {
        (void) sendto(sock, text, strlen(text), 0, saPtr,
                      sa.ss_family == AF_INET ? sizeof(struct sockaddr_in)
                                              : sizeof(struct sockaddr_in6));
        if (poll(&poller, 1u, 3000) > 0) {
            n = recv(sock, reply, sizeof(reply), 0);
        }
    }
    (void) ns_sockclose(sock);
    if (n > 0) {
        printf("%.*s\n", (int) n, reply);
    }
    return n > 0 ? 0 : 1;
}

int
main(int argc, char *argv[])
{
    Nsd_LibInit();
    return argc == 2
        ? ShowHost(argv[1])
        : Ask(argv[1], (unsigned short) strtol(argv[2], NULL, 10), argv[3]);
}
