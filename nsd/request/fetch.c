/*
 * fetch.c --
 *
 *      The body of any URL, by a request that its caller waits for.
 */

#include "nsconn.h"
#include "nslog.h"
#include "nsrequest.h"
#include "nsset.h"
#include "nssocket.h"
#include "nsstring.h"

#define WAIT_SECONDS 60         /* For the connection, and for each transfer. */

static NS_SOCKET Connect(const char *url, Ns_DString *requestPtr);
static int  Exchange(NS_SOCKET sock, Ns_DString *requestPtr,
                     Ns_DString *replyPtr);
static const char *ParseHead(char *reply, Ns_Set *headers);

int
Ns_FetchURL(Ns_DString *dsPtr, const char *url, Ns_Set *headers)
{
    Ns_DString  request, reply;
    NS_SOCKET   sock;
    const char *body;
    int         result = NS_ERROR;

    Ns_DStringInit(&request);
    Ns_DStringInit(&reply);
    sock = Connect(url, &request);
    if (sock == NS_INVALID_SOCKET) {
        Ns_Log(Error, "Ns_FetchURL: cannot connect to %s", url);
    } else {
        result = Exchange(sock, &request, &reply);
        (void) close(sock);
    }
    if (result == NS_OK) {
        body = ParseHead(Ns_DStringValue(&reply), headers);
        if (body == NULL) {
            result = NS_ERROR;
        } else {
            Ns_DStringNAppend(dsPtr, body, (int) (Ns_DStringValue(&reply)
                                  + Ns_DStringLength(&reply) - body));
        }
    }
    Ns_DStringFree(&request);
    Ns_DStringFree(&reply);
    return result;
}

/*
 * A connected socket, and what to send there.
 */
static NS_SOCKET
Connect(const char *url, Ns_DString *requestPtr)
{
    Ns_Time    timeout = {WAIT_SECONDS, 0};
    Ns_DString parts;
    char      *protocol, *host, *port, *path, *tail;
    NS_SOCKET  sock = NS_INVALID_SOCKET;

    Ns_DStringInit(&parts);
    Ns_DStringAppend(&parts, url);
    if (Ns_ParseUrl(Ns_DStringValue(&parts), &protocol, &host, &port, &path,
                    &tail) == NS_OK
            && host != NULL && protocol != NULL && STRIEQ(protocol, "http")) {
        Ns_DStringVarAppend(requestPtr, "GET /", NULL);
        if (path != NULL && *path != '\0') {
            Ns_DStringVarAppend(requestPtr, path, "/", NULL);
        }
        Ns_DStringVarAppend(requestPtr, tail == NULL ? "" : tail,
                            " HTTP/1.0\r\nHost: ", host,
                            port == NULL ? "" : ":", port == NULL ? "" : port,
                            "\r\n\r\n", NULL);
        sock = Ns_SockTimedConnect(host, port == NULL ? 80 : atoi(port),
                                   &timeout);
    }
    Ns_DStringFree(&parts);
    return sock;
}

/*
 * Send it all, receive until the server closes.
 */
static int
Exchange(NS_SOCKET sock, Ns_DString *requestPtr, Ns_DString *replyPtr)
{
    Ns_Time timeout = {WAIT_SECONDS, 0};
    char    buffer[8192], *next = Ns_DStringValue(requestPtr);
    size_t  left = (size_t) Ns_DStringLength(requestPtr);
    int     n;

    while (left > 0) {
        n = Ns_SockSend(sock, next, left, &timeout);
        if (n <= 0) {
            return NS_ERROR;
        }
        next += n;
        left -= (size_t) n;
    }
    while ((n = Ns_SockRecv(sock, buffer, sizeof(buffer), &timeout)) > 0) {
        if (Ns_DStringLength(replyPtr) > INT_MAX - (int) sizeof(buffer)) {
            return NS_ERROR;
        }
        Ns_DStringNAppend(replyPtr, buffer, n);
    }
    return n == 0 ? NS_OK : NS_ERROR;
}

/*
 * Put the header lines, names in lower case, into the set.  Where the body
 * begins; NULL without a whole header.
 */
static const char *
ParseHead(char *reply, Ns_Set *headers)
{
    char *line = reply, *end;

    while ((end = strchr(line, '\n')) != NULL) {
        char *next = end + 1;

        if (end > line && end[-1] == '\r') {
            end--;
        }
        *end = '\0';
        if (end == line) {
            return next;
        }
        if (line != reply && headers != NULL) {
            (void) Ns_ParseHeader(headers, line, ToLower);
        }
        line = next;
    }
    return NULL;
}
