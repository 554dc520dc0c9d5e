/*
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
#include "nsstring.h"

typedef struct NsTlsClient NsTlsClient;

typedef struct NsTlsClientSpec {
    NS_SOCKET   sock;
    const char *host;   /* Name or address; the name is sent (SNI), and
                         * either must be in the certificate. */
    const char *caFile; /* Authorities; both NULL: the system's. */
    const char *caPath;
    const char *certificate; /* Our own, with its key; NULL: none. */
    bool        isInsecure;  /* Believe whatever certificate there is. */
} NsTlsClientSpec;

/*
 * NULL: a file is not usable; the reason is appended to errorPtr.
 */
NsTlsClient *NsTlsClientCreate(const NsTlsClientSpec *specPtr,
                               Ns_DString            *errorPtr);
void         NsTlsClientDestroy(NsTlsClient **tlsPtrPtr);

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

#endif
