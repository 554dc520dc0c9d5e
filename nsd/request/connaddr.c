/* SPDX-License-Identifier: MPL-2.0
 * connaddr.c --
 *
 *      Addresses of a request: of its client, as far as it is known, and its
 *      own; and what the client asked for, as it was sent.
 */

#include "nssockaddr.h"
#include "nsstring.h"
#include "process/server.h"
#include "request/conn_int.h"
#include "request/proxies.h"
#include "request/reply.h"

typedef union Address {
    struct sockaddr         any;
    struct sockaddr_in6     in6;
    struct sockaddr_storage storage;
} Address;

static bool        OwnAddress(const Ns_Conn *conn, Address *addressPtr);
static const char *Keep(const Ns_Conn *conn, const char *text);

const char *
Ns_ConnPeerAddr(const Ns_Conn *conn)
{
    return NsConnOf(conn)->messagePtr->peer;
}

const char *
Ns_ConnConfiguredPeerAddr(const Ns_Conn *conn)
{
    return Ns_ConnPeer((Ns_Conn *) conn);
}

const char *
Ns_ConnForwardedPeerAddr(const Ns_Conn *conn)
{
    const NsMessage *messagePtr = NsConnOf(conn)->messagePtr;
    char             buffer[NS_FORWARDED_BYTES];

    return NsProxiesForwarded(&messagePtr->head, messagePtr->peer, buffer)
            == buffer
        ? Keep(conn, buffer)
        : "";
}

const char *
Ns_ConnCurrentAddr(const Ns_Conn *conn)
{
    Address address;
    char    text[NS_IPADDR_SIZE];

    return OwnAddress(conn, &address)
            && ns_inet_ntop(&address.any, text, sizeof(text)) != NULL
        ? Keep(conn, text)
        : "";
}

unsigned short
Ns_ConnCurrentPort(const Ns_Conn *conn)
{
    Address address;

    return OwnAddress(conn, &address) ? Ns_SockaddrGetPort(&address.any) : 0;
}

/*
 * An IPv4 address at a socket for both families is one of IPv4.
 */
static bool
OwnAddress(const Ns_Conn *conn, Address *addressPtr)
{
    socklen_t length = sizeof(*addressPtr);

    if (getsockname(Ns_ConnSock((Ns_Conn *) conn), &addressPtr->any, &length)
        != 0) {
        return false;
    }
    if (addressPtr->any.sa_family == AF_INET6
        && IN6_IS_ADDR_V4MAPPED(&addressPtr->in6.sin6_addr)) {
        uint8_t bytes[4];

        memcpy(bytes, addressPtr->in6.sin6_addr.s6_addr + 12, sizeof(bytes));
        addressPtr->any.sa_family = AF_INET;
        memcpy(&((struct sockaddr_in *) (void *) addressPtr)->sin_addr, bytes,
               sizeof(bytes));
    }
    return true;
}

static const char *
Keep(const Ns_Conn *conn, const char *text)
{
    return NsArenaDup(NsConnArena(NsConnOf(conn)), text, strlen(text));
}

const char *
Ns_ConnTarget(const Ns_Conn *conn, Ns_DString *dsPtr)
{
    const NsHttpHead *headPtr = &NsConnOf(conn)->messagePtr->head;

    if (headPtr->target != NULL) {
        Ns_DStringNAppend(dsPtr, headPtr->target, (int) headPtr->targetLength);
    }
    return Ns_DStringValue(dsPtr);
}

bool
Ns_ConnIsClosed(const Ns_Conn *conn)
{
    return NsReplyIsClosed(NsConnOf(conn));
}

/*
 * For modules a server has no parts.
 */
Ns_Server *
Ns_ConnServPtr(const Ns_Conn *conn)
{
    return (Ns_Server *) (void *) NsConnOf(conn)->serverPtr;
}

Ns_Server *
Ns_GetServer(const char *server)
{
    return (Ns_Server *) (void *) NsServerFind(server);
}

const char *
Ns_ServerName(const Ns_Server *server)
{
    return ((const NsServer *) (const void *) server)->name;
}
