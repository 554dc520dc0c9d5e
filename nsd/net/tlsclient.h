/* SPDX-License-Identifier: MPL-2.0
 * tlsclient.h --
 *
 *      TLS over a connected, or connecting, non-blocking socket: the client's
 *      side.
 *
 *      One thread at a time uses it, and need not be the one that created it.
 *      It neither owns nor closes the socket.
 */

#ifndef NSD_NET_TLSCLIENT_H
#define NSD_NET_TLSCLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "nssocket.h"
#include "base/ipaddress.h"
#include "base/tlscontext.h"
#include "nsstring.h"

typedef struct NsTlsClient NsTlsClient;

/*
 * The library and its version, as text.
 */
const char *NsTlsLibraryVersion(void);

/*
 * What can be wrong with a certificate that is accepted all the same.
 */
#define NS_TLS_EXPIRED     0x1u
#define NS_TLS_UNTRUSTED   0x2u
#define NS_TLS_CHAIN       0x4u /* Too long. */
#define NS_TLS_SELF_SIGNED 0x8u
#define NS_TLS_WHATEVER    0x10u

typedef struct NsTlsException {
    NsIpRange peers;
    unsigned  accepted; /* Of the above. */
} NsTlsException;

typedef struct NsTlsClientSpec {
    NS_SOCKET   sock;
    const char *host;   /* Name or address; the name is sent (SNI), and
                         * either must be in the certificate. */
    const char *caFile; /* Authorities; both NULL: the system's. */
    const char *caPath;
    const char *certificate; /* Our own; NULL: none. */
    const char *key;         /* Its key; NULL: in the same file. */
    bool        isInsecure;  /* Believe whatever certificate there is. */
    bool        isNameless;  /* Do not send the name. */
    int         maxDepth;    /* Of chains; 0: that of the library. */
    const NsTlsException *exceptions; /* Live as long as the process. */
    int                   nExceptions;
    const char *rejectedDir; /* Where to keep certificates that are refused;
                              * lives as long.  NULL: nowhere. */
} NsTlsClientSpec;

/*
 * NULL: a file is not usable; the reason is appended to errorPtr.
 */
NsTlsClient *NsTlsClientCreate(const NsTlsClientSpec *specPtr,
                               Ns_DString            *errorPtr);
void         NsTlsClientDestroy(NsTlsClient **tlsPtrPtr);

/*
 * Go on with a duplicate of the socket; or begin anew, with the same settings,
 * on another connection.
 */
void NsTlsClientSetSock(NsTlsClient *tlsPtr, NS_SOCKET sock);
void NsTlsClientRestart(NsTlsClient *tlsPtr, NS_SOCKET sock);

/*
 * Each does what can be done now.  WAIT: nothing; it continues when the socket
 * is as NsTlsClientWhen says.  END: the peer has sent its close_notify.
 * FAILED: also when it has gone without that; NsTlsClientReason says why.
 */
typedef enum { NS_TLS_OK, NS_TLS_WAIT, NS_TLS_END, NS_TLS_FAILED } NsTlsStatus;

NsTlsStatus NsTlsClientHandshake(NsTlsClient *tlsPtr);
NsTlsStatus NsTlsClientSend(NsTlsClient *tlsPtr, const char *data, int length,
                            int *nSentPtr);
NsTlsStatus NsTlsClientReceive(NsTlsClient *tlsPtr, char *buffer, int size,
                               int *nReadPtr);

/*
 * NS_SOCK_READ or NS_SOCK_WRITE.
 */
int         NsTlsClientWhen(const NsTlsClient *tlsPtr);
const char *NsTlsClientReason(const NsTlsClient *tlsPtr);

/*
 * After the handshake: what was agreed on.
 */
const char *NsTlsClientVersion(const NsTlsClient *tlsPtr);
const char *NsTlsClientCipher(const NsTlsClient *tlsPtr);

/*
 * A client's context with files of the spec, as a connection would make it; the
 * caller's.  NULL: a file is not usable, the reason is appended.
 */
struct ssl_ctx_st *NsTlsClientContext(const NsTlsClientSpec *specPtr,
                                      Ns_DString            *errorPtr);

#endif
