/* SPDX-License-Identifier: MPL-2.0
 * replyhead.c --
 *
 *      The header of a reply.
 */

#include "request/replyhead.h"

#include "nslog.h"
#include "nsprocess.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/set.h"
#include "http/date.h"
#include "http/header.h"
#include "http/judge.h"
#include "http/status.h"
#include "net/driver.h"
#include "process/info.h"
#include "request/conn_int.h"
#include "request/requestid.h"

#define MAX_SERVER_FIELD 90 /* MAX_START_BYTES hold it. */
#define MAX_START_BYTES  (NS_REPLY_START_BYTES - NS_HTTP_DATE_LENGTH - 2)

typedef struct Start {
    char   text[MAX_START_BYTES];
    size_t length;
} Start;

typedef struct Field {
    const char *name;
    const char *value;
    size_t      nameLength;
    size_t      valueLength;
} Field;

/* Constant after NsReplySetServer. */
static Start starts[2][2]; /* HTTP/1.0, HTTP/1.1; with Server, without. */
static char  serverField[MAX_SERVER_FIELD + 3]; /* The whole field. */

static void   SetServerField(const char *text);
static void   RefuseInterim(NsConn *connPtr);
static void   DropOwnFields(Ns_Set *setPtr);
static size_t RenderStart(char *text, bool isHttp11, bool isStealthy,
                          int status);
static void   AddExtraHeaders(Ns_Conn *conn, const char *list, int nOwn);
static void   SetRequestId(NsConn *connPtr);
static bool   CanChunk(const NsConn *connPtr);
static bool   DecideKeep(const NsConn *connPtr, int64_t bodyBytes);
static bool   IsMultipart(const NsConn *connPtr);
static int MeasureFields(NsConn *connPtr, Field **fieldsPtr, size_t *bytesPtr);

void
NsReplySetServer(const char *text)
{
    SetServerField(text);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            starts[i][j].length = RenderStart(starts[i][j].text, i == 1, j == 1,
                                              200);
        }
    }
}

/*
 * Characters that a field cannot hold are left out.
 */
static void
SetServerField(const char *text)
{
    char *next = stpcpy(serverField, "Server: ");

    if (*text == '\0') {
        serverField[0] = '\0';
        return;
    }
    for (; *text != '\0' && next < serverField + MAX_SERVER_FIELD; text++) {
        if (UCHAR(*text) >= ' ' && UCHAR(*text) != 0x7f) {
            *next++ = *text;
        }
    }
    NsAssert(next < serverField + sizeof(serverField) - 2);
    strcpy(next, "\r\n");
}

void
NsReplyDecide(NsConn *connPtr, int64_t bodyBytes)
{
    Ns_Conn *conn = &connPtr->pub;
    int      nOwn;
    bool     isChunked = false;

    NsAssert(connPtr->replyState == NS_REPLY_OPEN);
    connPtr->replyState = NS_REPLY_DECIDED;
    if (unlikely(connPtr->status < 200 && connPtr->status != 101)) {
        RefuseInterim(connPtr);
    }
    nOwn = (int) Ns_SetSize(conn->outputheaders);
    AddExtraHeaders(conn, NsConnRequestServer(connPtr)->extraHeaders, nOwn);
    AddExtraHeaders(conn, connPtr->settingsPtr->extraHeaders, nOwn);
    DropOwnFields(conn->outputheaders);
    SetRequestId(connPtr);
    if (bodyBytes == NS_LENGTH_UNKNOWN) {
        bodyBytes = connPtr->responseLength;
    }
    /* What follows a 101 is another protocol's. */
    if (NsStatusHasNoBody(connPtr->status) && connPtr->status != 101) {
        conn->flags |= NS_CONN_SKIPBODY;
        bodyBytes = 0;
    } else if (bodyBytes != NS_LENGTH_UNKNOWN) {
        Ns_ConnSetLengthHeader(conn, bodyBytes);
    } else {
        isChunked = CanChunk(connPtr);
    }
    if (isChunked) {
        conn->flags |= NS_CONN_CHUNK;
    }
    connPtr->keep = DecideKeep(connPtr, bodyBytes);
    (void) NsSetPutBorrowed(conn->outputheaders, "Connection",
                            connPtr->keep ? "keep-alive" : "close");
    if (isChunked) {
        (void) NsSetPutBorrowed(conn->outputheaders, "Transfer-Encoding",
                                "chunked");
    }
}

/*
 * The client would wait for another reply, and take that of its next request
 * for it (RFC 9110 15.2).
 */
static void
RefuseInterim(NsConn *connPtr)
{
    Ns_Log(Warning,
           "conn[%s]: status %d does not end a request; 500 is sent instead",
           NsConnRequest(connPtr)->url, connPtr->status);
    connPtr->status = 500;
}

char *
NsReplyRender(NsConn *connPtr, size_t room, size_t *lengthPtr)
{
    size_t bytes = NS_REPLY_START_BYTES + 2 + room;
    Field *fields;
    int    n = MeasureFields(connPtr, &fields, &bytes);
    char  *text = NsArenaAlloc(NsConnArena(connPtr), bytes);
    char  *next;

    NsAssert(connPtr->replyState != NS_REPLY_OPEN);
    if (connPtr->replyState == NS_REPLY_DECIDED) {
        connPtr->replyState = NS_REPLY_HEADED;
    }
    connPtr->pub.flags |= NS_CONN_SENTHDRS;
    next = NsReplyStart(text, &connPtr->messagePtr->head,
                        NsConnRequestServer(connPtr)->isStealthy,
                        connPtr->status);
    for (int i = 0; i < n; i++) {
        bool isClean = true;

        next = NsHeaderWrite(next, fields[i].name, fields[i].nameLength,
                             fields[i].value, fields[i].valueLength, &isClean);
        if (unlikely(!isClean)) {
            Ns_Log(
                Warning,
                "conn[%s]: reply field \"%s: %s\": a name that is not a token is"
                " left out, control characters in a value become blanks",
                NsConnRequest(connPtr)->url, fields[i].name, fields[i].value);
        }
    }
    *next++ = '\r';
    *next++ = '\n';
    *lengthPtr = (size_t) (next - text);
    NsAssert(*lengthPtr + room <= bytes);
    return text;
}

/*
 * Then clients are to look for another server.
 */
static inline bool
IsGoing(void)
{
    return NsDriversStopping() || NsInfoIsDraining();
}

bool
NsReplyMayKeep(const NsSockSettings *settingsPtr, const NsHttpHead *headPtr,
               int64_t bodyBytes)
{
    if (settingsPtr->keepWait <= 0 || IsGoing() || !NsHttpAsksKeep(headPtr)) {
        return false;
    }
    if (settingsPtr->keepaliveMaxDownloadSize > 0
        && bodyBytes > settingsPtr->keepaliveMaxDownloadSize) {
        Ns_Log(Notice,
               "Disallow keep-alive, response of %" PRId64
               " bytes exceeds keepalivemaxdownloadsize",
               bodyBytes);
        return false;
    }
    return true;
}

char *
NsReplyStart(char *text, const NsHttpHead *headPtr, bool isStealthy, int status)
{
    bool         isHttp11 = headPtr->version >= NS_HTTP_1_1;
    const Start *startPtr = &starts[isHttp11][isStealthy];

    if (status == 200) {
        NsAssert(startPtr->length > 0);
        memcpy(text, startPtr->text, startPtr->length);
        text += startPtr->length;
    } else {
        text += RenderStart(text, isHttp11, isStealthy, status);
    }
    memcpy(text, NsHttpDateNow(), NS_HTTP_DATE_LENGTH);
    text += NS_HTTP_DATE_LENGTH;
    *text++ = '\r';
    *text++ = '\n';
    return text;
}

static size_t
RenderStart(char *text, bool isHttp11, bool isStealthy, int status)
{
    int n = snprintf(text, MAX_START_BYTES,
                     "HTTP/1.%d %d %s\r\n"
                     "%s"
                     "Date: ",
                     isHttp11, status, NsStatusReason(status),
                     isStealthy ? "" : serverField);

    NsAssert(n > 0 && n < MAX_START_BYTES);
    return (size_t) n;
}

/*
 * Server, date, connection and framing are the server's to tell: a script or
 * module that also does would make two fields of one.
 */
static void
DropOwnFields(Ns_Set *setPtr)
{
    static const char *const names[] = {
        [4] = "Date",
        [6] = "Server",
        [10] = "Connection",
        [14] = "Content-Length",
        [17] = "Transfer-Encoding"};

    for (int i = (int) Ns_SetSize(setPtr) - 1; i >= 0; i--) {
        const char *key = Ns_SetKey(setPtr, i);
        size_t      length = key == NULL ? 0u : strlen(key);

        if (length < Ns_NrElements(names) && names[length] != NULL
            && strcasecmp(key, names[length]) == 0) {
            Ns_SetDelete(setPtr, i);
        }
    }
}

/*
 * Add the fields of the server or the driver to the reply, except those that
 * are among its first nOwn: it has them itself.  A list of NULL has none.
 */
static void
AddExtraHeaders(Ns_Conn *conn, const char *list, int nOwn)
{
    const char **words;
    int          n;

    if (list == NULL || Tcl_SplitList(NULL, list, &n, &words) != TCL_OK) {
        return;
    }
    for (int i = 0; i + 1 < n; i += 2) {
        int at = Ns_SetIFind(conn->outputheaders, words[i]);

        if (at < 0 || at >= nOwn) {
            Ns_ConnSetHeaders(conn, words[i], words[i + 1]);
        }
    }
    Tcl_Free((char *) words);
}

/*
 * Whatever a script or another server has given as the id: logs have this one.
 */
static void
SetRequestId(NsConn *connPtr)
{
    const char *field = NsConnRequestServer(connPtr)->requestIdField;

    if (unlikely(field != NULL)) {
        Ns_SetIDeleteKey(connPtr->pub.outputheaders, field);
        (void) NsSetPutBorrowed(connPtr->pub.outputheaders, field,
                                NsConnIdentity(connPtr)->requestId);
    }
}

/*
 * A body of unknown length needs chunks, or the end of the connection.
 */
static bool
CanChunk(const NsConn *connPtr)
{
    return connPtr->messagePtr->head.version == NS_HTTP_1_1
        && connPtr->keep != 0 && !IsMultipart(connPtr);
}

static bool
DecideKeep(const NsConn *connPtr, int64_t bodyBytes)
{
    const NsSockSettings *settingsPtr = connPtr->settingsPtr;
    const NsMessage      *messagePtr = connPtr->messagePtr;
    int64_t               maxUpload = settingsPtr->keepaliveMaxUploadSize;
    Ns_Set               *headers = connPtr->pub.headers;

    if (messagePtr->mustClose || connPtr->status == 101) {
        return false;
    }
    if (connPtr->keep >= 0) {
        return connPtr->keep > 0 && settingsPtr->keepWait > 0 && !IsGoing();
    }
    if (bodyBytes == NS_LENGTH_UNKNOWN
        && (connPtr->pub.flags & NS_CONN_CHUNK) == 0 && !IsMultipart(connPtr)) {
        return false;
    }
    if (!NsReplyMayKeep(settingsPtr, &messagePtr->head, bodyBytes)) {
        return false;
    }
    if (messagePtr->contentLength == 0 && !messagePtr->head.isChunked) {
        return true;
    }
    if (Ns_SetIFind(headers, "Content-Length") < 0) {
        return false;
    }
    if (maxUpload > 0 && messagePtr->contentLength > (uint64_t) maxUpload) {
        Ns_Log(Notice,
               "Disallow keep-alive, request body of %" PRIuz
               " bytes exceeds keepalivemaxuploadsize",
               messagePtr->contentLength);
        return false;
    }
    return true;
}

static bool
IsMultipart(const NsConn *connPtr)
{
    static const char prefix[] = "multipart/byteranges";
    const char *type = Ns_SetIGet(connPtr->pub.outputheaders, "Content-Type");

    return type != NULL && strncasecmp(type, prefix, sizeof(prefix) - 1) == 0;
}

/*
 * The fields, how many, and the room that they take, added.
 */
static int
MeasureFields(NsConn *connPtr, Field **fieldsPtr, size_t *bytesPtr)
{
    const Ns_Set *setPtr = connPtr->pub.outputheaders;
    Field        *fields = NsArenaAlloc(NsConnArena(connPtr),
                                        sizeof(Field) * (size_t) Ns_SetSize(setPtr));
    int           i, n = 0;

    for (i = 0; i < Ns_SetSize(setPtr); i++) {
        const char *name = Ns_SetKey(setPtr, i);
        const char *value = Ns_SetValue(setPtr, i);

        if (name != NULL && value != NULL) {
            fields[n] = (Field){name, value, strlen(name), strlen(value)};
            *bytesPtr += fields[n].nameLength + fields[n].valueLength
                + NS_HEADER_EXTRA;
            n++;
        }
    }
    NsAssert(n <= Ns_SetSize(setPtr));
    *fieldsPtr = fields;
    return n;
}
