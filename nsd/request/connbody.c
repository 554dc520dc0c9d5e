/* SPDX-License-Identifier: MPL-2.0
 * connbody.c --
 *
 *      The body of a request.
 *
 *      It lies in memory, in an anonymous file that is mapped, or in a named
 *      file of an upload, which is the script's business; that one is mapped
 *      for the sake of a form in it.
 */

#include "request/connbody.h"

#include <sys/mman.h>

#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "http/multipart.h"
#include "request/conn_int.h"

static int64_t contentMax; /* Main thread; constant when threads run. */

typedef Ns_ReturnCode TakeProc(const char *bytes, size_t length, void *arg);

static int CopyBody(Ns_Conn *conn, size_t length, TakeProc *proc, void *arg);
static Ns_ReturnCode TakeToDString(const char *bytes, size_t length, void *arg);
static Ns_ReturnCode TakeToFd(const char *bytes, size_t length, void *arg);
static Ns_ReturnCode TakeToFile(const char *bytes, size_t length, void *arg);
static Ns_ReturnCode TakeToChannel(const char *bytes, size_t length, void *arg);
static const char   *Unread(NsConn *connPtr, size_t *lengthPtr);

void
NsConnSetContentMax(int64_t bytes)
{
    NsAssert(bytes >= 0);
    contentMax = bytes;
}

int64_t
NsConnContentMax(void)
{
    return contentMax;
}

bool
NsConnContentFits(size_t bytes)
{
    return contentMax == 0 || bytes <= (size_t) contentMax;
}

Ns_ReturnCode
NsConnMapBody(NsConn *connPtr)
{
    NsMessage *messagePtr = connPtr->messagePtr;
    void      *map;

    if (messagePtr->contentFd < 0 || messagePtr->contentLength == 0
        || (messagePtr->contentFile != NULL && !NsConnIsForm(connPtr))) {
        return NS_OK;
    }
    map = mmap(NULL, messagePtr->contentLength, PROT_READ, MAP_PRIVATE,
               messagePtr->contentFd, 0);
    if (map == MAP_FAILED) {
        Ns_Log(Error,
               "conn: cannot map %" PRIuz " bytes of a request's body:"
               " %s; the request is answered with 503. Raise the limit on the"
               " memory of the process, or lower maxinput",
               messagePtr->contentLength, strerror(errno));
        return NS_ERROR;
    }
    NsAssert(messagePtr->content == NULL
             && NsConnGetRare(connPtr)->bodyMap == NULL);
    NsConnGetRare(connPtr)->bodyMap = map;
    return NS_OK;
}

const char *
NsConnBody(NsConn *connPtr, size_t *lengthPtr)
{
    const NsMessage *messagePtr = connPtr->messagePtr;
    const char      *bytes = messagePtr->content;

    if (bytes == NULL && messagePtr->contentFile == NULL
        && connPtr->rarePtr != NULL) {
        bytes = connPtr->rarePtr->bodyMap;
    }
    *lengthPtr = bytes == NULL ? 0 : messagePtr->contentLength;
    return bytes;
}

/*
 * A script may truncate the named file, which is its own: the missing part must
 * not be read.
 */
const char *
NsConnFormBody(NsConn *connPtr, size_t *lengthPtr)
{
    const NsMessage  *messagePtr = connPtr->messagePtr;
    const NsConnRare *rarePtr = connPtr->rarePtr;
    struct stat       st;

    if (messagePtr->contentFile == NULL) {
        return NsConnBody(connPtr, lengthPtr);
    }
    *lengthPtr = 0;
    if (rarePtr == NULL || rarePtr->bodyMap == NULL
        || fstat(messagePtr->contentFd, &st) != 0
        || (size_t) st.st_size < messagePtr->contentLength) {
        return NULL;
    }
    *lengthPtr = messagePtr->contentLength;
    return rarePtr->bodyMap;
}

bool
NsConnIsForm(NsConn *connPtr)
{
    const char       *type = Ns_SetIGet(connPtr->pub.headers, "Content-Type");
    static const char urlEncoded[] = "application/x-www-form-urlencoded";

    return type != NULL
        && (NsFormIsMultipart(type)
            || strncasecmp(type, urlEncoded, sizeof(urlEncoded) - 1) == 0
            || NsConnIsJson(connPtr));
}

bool
NsConnIsMultipart(NsConn *connPtr)
{
    const char *type = Ns_SetIGet(connPtr->pub.headers, "Content-Type");

    return type != NULL && NsFormIsMultipart(type);
}

bool
NsConnIsJson(NsConn *connPtr)
{
    const char       *type = Ns_SetIGet(connPtr->pub.headers, "Content-Type");
    static const char json[] = "application/json", suffix[] = "+json";
    const size_t      suffixBytes = sizeof(suffix) - 1u;
    size_t            length = type == NULL ? 0u : strcspn(type, "; \t");

    return (length == sizeof(json) - 1u && strncasecmp(type, json, length) == 0)
        || (length > suffixBytes
            && strncasecmp(type + length - suffixBytes, suffix, suffixBytes)
                == 0);
}

size_t
Ns_ConnContentLength(Ns_Conn *conn)
{
    return conn->contentLength;
}

char *
Ns_ConnContent(Ns_Conn *conn)
{
    return NsConnOf(conn)->messagePtr->content;
}

size_t
Ns_ConnContentSize(Ns_Conn *conn)
{
    return NsConnOf(conn)->messagePtr->contentLength;
}

char *
Ns_ConnContentFile(Ns_Conn *conn)
{
    return (char *) NsConnOf(conn)->messagePtr->contentFile;
}

int
Ns_ConnContentFd(Ns_Conn *conn)
{
    return MAX(0, NsConnOf(conn)->messagePtr->contentFd);
}

size_t
Ns_ConnRead(Ns_Conn *conn, void *buffer, size_t size)
{
    NsConn     *connPtr = NsConnOf(conn);
    size_t      length;
    const char *bytes = Unread(connPtr, &length);

    length = MIN(length, size);
    NsAssert(length == 0 || bytes != NULL);
    if (length > 0) {
        memcpy(buffer, bytes, length);
        connPtr->nRead += length;
    }
    return length;
}

int
Ns_ConnReadLine(Ns_Conn *conn, Ns_DString *dsPtr, size_t *nReadPtr)
{
    NsConn     *connPtr = NsConnOf(conn);
    size_t      length;
    const char *bytes = Unread(connPtr, &length), *end;

    NsAssert(length == 0 || bytes != NULL);
    end = length == 0 ? NULL : memchr(bytes, '\n', length);
    if (end == NULL) {
        return NS_ERROR;
    }
    length = (size_t) (end - bytes);
    connPtr->nRead += length + 1;
    if (nReadPtr != NULL) {
        *nReadPtr = length + 1;
    }
    if (length > 0 && end[-1] == '\r') {
        length--;
    }
    Ns_DStringNAppend(dsPtr, bytes, (int) length);
    return NS_OK;
}

int
Ns_ConnReadHeaders(Ns_Conn *conn, Ns_Set *setPtr, size_t *nReadPtr)
{
    NsConn    *connPtr = NsConnOf(conn);
    Ns_DString line;
    size_t     start = connPtr->nRead, n;
    int        result = NS_OK;

    Ns_DStringInit(&line);
    while (result == NS_OK) {
        Ns_DStringTrunc(&line, 0);
        result = Ns_ConnReadLine(conn, &line, &n);
        if (result == NS_OK && Ns_DStringLength(&line) == 0) {
            break;
        }
        if (result == NS_OK) {
            result = Ns_ParseHeader(setPtr, Ns_DStringValue(&line),
                                    NsConnRequestServer(connPtr)->headerCase);
        }
    }
    Ns_DStringFree(&line);
    if (nReadPtr != NULL) {
        *nReadPtr = connPtr->nRead - start;
    }
    return result;
}

char *
Ns_ConnGets(char *buffer, size_t size, Ns_Conn *conn)
{
    NsConn     *connPtr = NsConnOf(conn);
    size_t      length;
    const char *bytes = Unread(connPtr, &length), *end;

    if (length == 0 || size < 2) {
        return NULL;
    }
    length = MIN(length, size - 1);
    end = memchr(bytes, '\n', length);
    if (end != NULL) {
        length = (size_t) (end - bytes) + 1;
    }
    NsAssert(length < size);
    memcpy(buffer, bytes, length);
    buffer[length] = '\0';
    connPtr->nRead += length;
    return buffer;
}

int
Ns_ConnCopyToDString(Ns_Conn *conn, size_t length, Ns_DString *dsPtr)
{
    return CopyBody(conn, length, TakeToDString, dsPtr);
}

int
Ns_ConnCopyToFd(Ns_Conn *conn, size_t length, int fd)
{
    return CopyBody(conn, length, TakeToFd, &fd);
}

int
Ns_ConnCopyToFile(Ns_Conn *conn, size_t length, FILE *file)
{
    return CopyBody(conn, length, TakeToFile, file);
}

int
Ns_ConnCopyToChannel(Ns_Conn *conn, size_t length, Tcl_Channel channel)
{
    return CopyBody(conn, length, TakeToChannel, channel);
}

int
Ns_ConnFlushContent(Ns_Conn *conn)
{
    NsConnOf(conn)->nRead = NsConnOf(conn)->messagePtr->contentLength;
    return NS_OK;
}

/*
 * Give the next bytes of the body to proc; NS_ERROR when there are fewer.
 */
static int
CopyBody(Ns_Conn *conn, size_t length, TakeProc *proc, void *arg)
{
    NsConn       *connPtr = NsConnOf(conn);
    size_t        nUnread;
    const char   *bytes = Unread(connPtr, &nUnread);
    Ns_ReturnCode result;

    if (length > nUnread) {
        return NS_ERROR;
    }
    if (length == 0) {
        return NS_OK;
    }
    NsAssert(bytes != NULL);
    result = proc(bytes, length, arg);
    if (result == NS_OK) {
        connPtr->nRead += length;
    }
    return result;
}

static Ns_ReturnCode
TakeToDString(const char *bytes, size_t length, void *arg)
{
    if (length > INT_MAX) {
        return NS_ERROR;
    }
    Ns_DStringNAppend((Ns_DString *) arg, bytes, (int) length);
    return NS_OK;
}

static Ns_ReturnCode
TakeToFd(const char *bytes, size_t length, void *arg)
{
    while (length > 0) {
        ssize_t n = write(*(int *) arg, bytes, length);

        if (n < 0 && errno != EINTR) {
            return NS_ERROR;
        }
        if (n > 0) {
            bytes += n;
            length -= (size_t) n;
        }
    }
    return NS_OK;
}

static Ns_ReturnCode
TakeToFile(const char *bytes, size_t length, void *arg)
{
    return fwrite(bytes, 1, length, arg) == length ? NS_OK : NS_ERROR;
}

static Ns_ReturnCode
TakeToChannel(const char *bytes, size_t length, void *arg)
{
    while (length > 0) {
        int n = (int) MIN(length, INT_MAX);

        if (Tcl_Write(arg, bytes, n) != n) {
            return NS_ERROR;
        }
        bytes += n;
        length -= (size_t) n;
    }
    return NS_OK;
}

/*
 * The part that Ns_ConnRead and the like have not taken yet.
 */
static const char *
Unread(NsConn *connPtr, size_t *lengthPtr)
{
    const char *bytes = NsConnBody(connPtr, lengthPtr);

    NsAssert(connPtr->nRead <= connPtr->messagePtr->contentLength);

    if (bytes == NULL) {
        return NULL;
    }
    NsAssert(*lengthPtr >= connPtr->nRead);
    *lengthPtr -= connPtr->nRead;
    return bytes + connPtr->nRead;
}
