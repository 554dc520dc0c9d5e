/* SPDX-License-Identifier: MPL-2.0
 * prebind.h --
 *
 *      Sockets bound while the process was still root: those that -b and -B
 *      name, and those that a helper with root's rights binds during the start.
 */

#ifndef NSD_PROCESS_PREBIND_H
#define NSD_PROCESS_PREBIND_H

#include "nstypes.h"

#include <sys/socket.h>

typedef enum {
    NS_PREBIND_TCP,
    NS_PREBIND_UDP,
    NS_PREBIND_ICMP, /* Raw; address and port do not count. */
    NS_PREBIND_UNIX  /* address is a path, port its mode. */
} NsPrebindKind;

/*
 * With whom a socket's port is shared.  Connections of an earlier process do
 * not count.
 */
typedef enum {
    NS_BIND_USUAL, /* Nobody who listens. */
    NS_BIND_ALONE, /* Nobody, also before anybody listens. */
    NS_BIND_SHARED /* All who share it as well. */
} NsBindMode;

typedef struct NsPrebindSpec {
    NsPrebindKind kind;
    char          address[256];
    int           port; /* ICMP: how many sockets. */
    NsBindMode    mode;
} NsPrebindSpec;

/*
 * Once, before the rest.
 */
void NsPrebindInit(void);

/*
 * Parse one element of a list: PORT, ADDR:PORT, [ADDR6]:PORT, with /tcp or /udp
 * behind it, icmp, icmp/COUNT, /path, /path|MODE (octal).  Pure.
 */
bool NsPrebindParse(const char *text, NsPrebindSpec *specPtr);

/*
 * Bind what a comma-separated list names, or the lines of a file.  What cannot
 * be bound is logged and left out.
 */
void NsPrebindList(const char *list);
void NsPrebindFile(const char *file);

/*
 * Take over a bound socket: the caller's to listen on, and to close.  -1: there
 * is none for exactly this address and port.
 */
int NsPrebindTake(NsPrebindKind kind, const char *address, int port);

/*
 * Keep a bound TCP socket, which is the table's from now on, until it is taken.
 */
void NsPrebindKeep(const char *address, int port, int fd);

/*
 * Likewise one of any kind, of an address in numbers.
 */
void NsPrebindKeepSpec(const NsPrebindSpec *specPtr, int fd);

/*
 * Close, with a Warning each, those that nobody took.
 */
void NsPrebindClose(void);

/*
 * A new bound socket; -1 with errno.
 */
int NsPrebindBind(const NsPrebindSpec *specPtr);
int NsBindAddress(const struct sockaddr *addressPtr, socklen_t length, int type,
                  NsBindMode mode);

/*
 * Likewise in the file system, with these permissions unless 0.  A socket that
 * nobody listens on is replaced.
 */
int NsBindUnix(const char *path, int type, int permissions);

#endif
