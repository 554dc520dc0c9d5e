/*
 * notice.c --
 *
 *      Small pages of the server itself.
 */

#include "nsparam.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "request/conn_int.h"
#include "request/auth.h"
#include "request/notice.h"
#include "request/reply.h"

#define MAX_REDIRECTS 3         /* Error documents that one request may meet. */

typedef struct NsErrorPage {
    struct NsErrorPage *nextPtr;
    int         status;
    const char *url;            /* NULL: removed. */
} NsErrorPage;

/*
 * Built-in pages.
 */
typedef struct Page {
    int         status;
    const char *title;
    const char *text;
    bool        dropsHeaders;   /* Fields set so far do not fit it. */
} Page;

static const Page pages[] = {
    {400, "Invalid Request",
     "The HTTP request presented by your browser is invalid.", false},
    {401, "Access Denied",
     "The requested URL cannot be accessed because a valid username and "
     "password are required.", false},
    {403, "Forbidden",
     "The requested URL cannot be accessed by this server.", false},
    {404, "Not Found",
     "The requested URL was not found on this server.", false},
    {413, "Request Entity Too Large",
     "The request entity (e.g. file to be uploaded) is too large.", false},
    {414, "Request-URI Too Long",
     "The request URI is too long.", false},
    {431, "Request Header Fields Too Large",
     "A request header line was too long.", false},
    {500, "Server Error",
     "The requested URL cannot be accessed due to a system error on this "
     "server.", true},
    {501, "Not Implemented",
     "The requested URL or method is not implemented by this server.", false},
    {503, "Service Unavailable",
     "The server is temporarily unable to service your request. Please try "
     "again later.", true}
};

static const Page *FindPage(int status);
static void DemandPassword(Ns_Conn *conn);
static int  ReturnLink(Ns_Conn *conn, int status, const char *url,
                       const char *text);
static void SetErrorPage(NsRequestServer *requestPtr, int status,
                         const char *url);
static NsErrorPage *FindErrorPage(const NsServer *serverPtr, int status);

void
NsNoticeServerInit(NsServer *serverPtr)
{
    Ns_DString path;
    Ns_Set    *setPtr;
    int        i, status;

    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&path, serverPtr->path, "/redirects", NULL);
    setPtr = Ns_ConfigGetSection(Ns_DStringValue(&path));
    for (i = 0; setPtr != NULL && i < Ns_SetSize(setPtr); i++) {
        const char *key = Ns_SetKey(setPtr, i), *url = Ns_SetValue(setPtr, i);

        if (Ns_StrToInt(key, &status) != NS_OK || status <= 0
                || url == NULL || *url == '\0') {
            Ns_Log(Error, "redirects[%s]: invalid redirect '%s=%s'",
                   serverPtr->name, key, url == NULL ? "" : url);
        } else {
            SetErrorPage(serverPtr->requestPtr, status, url);
        }
    }
    Ns_DStringFree(&path);
}

void
Ns_RegisterReturn(int status, const char *url)
{
    NsServer *serverPtr = NsServerInitializing();

    if (serverPtr == NULL) {
        Ns_Log(Error, "Ns_RegisterReturn: no initializing server");
        return;
    }
    SetErrorPage(serverPtr->requestPtr, status, url);
}

bool
NsHasErrorPage(NsServer *serverPtr, int status)
{
    return FindErrorPage(serverPtr, status) != NULL;
}

bool
NsReturnErrorPage(NsConn *connPtr, int status, int *resultPtr)
{
    const NsErrorPage *pagePtr = FindErrorPage(connPtr->serverPtr, status);
    char              *method = connPtr->request.method;
    int                outerStatus = connPtr->documentStatus;

    if (pagePtr == NULL || NsReplyIsClosed(connPtr)
            || (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0) {
        return false;
    }
    if (connPtr->nRedirects >= MAX_REDIRECTS) {
        Ns_Log(Error, "return: failed to redirect '%d': "
               "exceeded recursion limit of %d", status, MAX_REDIRECTS);
        return false;
    }
    if (status == outerStatus) {
        Ns_Log(Error, "redirects[%s]: error document '%s' of status %d fails"
               " with that status itself; the built-in page is sent",
               connPtr->serverPtr->name, pagePtr->url, status);
        return false;
    }
    connPtr->nRedirects++;
    connPtr->documentStatus = status;
    connPtr->status = status;
    connPtr->responseLength = -1;
    if (method != NULL && !STREQ(method, "HEAD")) {
        connPtr->request.method = (char *) "GET";
    }
    *resultPtr = Ns_ConnRedirect(&connPtr->pub, pagePtr->url);
    connPtr->request.method = method;
    connPtr->documentStatus = outerStatus;
    return true;
}

int
NsReturnStatusPage(NsConn *connPtr, int status)
{
    Ns_Conn    *conn = &connPtr->pub;
    const Page *pagePtr = FindPage(status);
    int         result;

    if (pagePtr == NULL) {
        return Ns_ConnReturnStatus(conn, status);
    }
    if (status == 500 && (NsReplyIsClosed(connPtr)
                          || (conn->flags & NS_CONN_SENTHDRS) != 0)) {
        connPtr->status = MAX(connPtr->status, 500);
        NsReplyAbort(connPtr);
        return NS_OK;
    }
    if (pagePtr->dropsHeaders && (conn->flags & NS_CONN_SENTHDRS) == 0) {
        Ns_SetTrunc(conn->outputheaders, 0);
    }
    if (status == 401) {
        DemandPassword(conn);
    }
    if (NsReturnErrorPage(connPtr, status, &result)) {
        return result;
    }
    return Ns_ConnReturnNotice(conn, status, pagePtr->title, pagePtr->text);
}

static const Page *
FindPage(int status)
{
    for (int i = 0; i < Ns_NrElements(pages); i++) {
        if (pages[i].status == status) {
            return &pages[i];
        }
    }
    return NULL;
}

static void
DemandPassword(Ns_Conn *conn)
{
    Ns_DString ds;

    if (Ns_SetIFind(conn->outputheaders, "WWW-Authenticate") < 0) {
        Ns_DStringInit(&ds);
        NsAuthAppendRealm(&ds, NsConnOf(conn)->serverPtr);
        Ns_ConnPrintfHeaders(conn, "WWW-Authenticate", "Basic realm=\"%s\"",
                             Ns_DStringValue(&ds));
        Ns_DStringFree(&ds);
    }
}

int
Ns_ConnReturnNotice(Ns_Conn *conn, int status, const char *title,
                    const char *notice)
{
    NsConn          *connPtr = NsConnOf(conn);
    NsRequestServer *requestPtr = NsConnRequestServer(connPtr);
    Ns_DString       ds;
    int              result;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds,
        "<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n"
        "<HTML>\n<HEAD>\n<TITLE>", title, "</TITLE>\n</HEAD>\n"
        "<BODY>\n<H2>", title, "</H2>\n", NULL);
    if (notice != NULL) {
        Ns_DStringVarAppend(&ds, notice, "\n", NULL);
    }
    if (requestPtr->noticeDetail) {
        Ns_DStringVarAppend(&ds, "<P ALIGN=RIGHT><SMALL><I>",
                            Ns_InfoServerName(), "/", Ns_InfoServerVersion(),
                            " on ", NULL);
        (void) Ns_ConnLocationAppend(conn, &ds);
        Ns_DStringAppend(&ds, "</I></SMALL></P>\n");
    }
    if (status >= 400) {
        while (Ns_DStringLength(&ds) < requestPtr->errorMinSize) {
            Ns_DStringAppend(&ds, "                    ");
        }
    }
    Ns_DStringAppend(&ds, "</BODY>\n</HTML>\n");
    result = Ns_ConnReturnHtml(conn, status, Ns_DStringValue(&ds),
                               Ns_DStringLength(&ds));
    Ns_DStringFree(&ds);
    return result;
}

int
Ns_ConnReturnAdminNotice(Ns_Conn *conn, int status, const char *title,
                         const char *notice)
{
    return Ns_ConnReturnNotice(conn, status, title, notice);
}

int
Ns_ConnReturnBadRequest(Ns_Conn *conn, const char *reason)
{
    const Page *pagePtr = FindPage(400);
    Ns_DString  ds;
    int         result;

    if (reason == NULL) {
        return NsReturnStatusPage(NsConnOf(conn), 400);
    }
    if (NsReturnErrorPage(NsConnOf(conn), 400, &result)) {
        return result;
    }
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, pagePtr->text, "<P>\n", reason, NULL);
    result = Ns_ConnReturnNotice(conn, 400, pagePtr->title,
                                 Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
    return result;
}

int
Ns_ConnReturnUnauthorized(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 401);
}

int
Ns_ConnReturnForbidden(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 403);
}

int
Ns_ConnReturnNotFound(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 404);
}

int
Ns_ConnReturnEntityTooLarge(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 413);
}

int
Ns_ConnReturnRequestURITooLong(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 414);
}

int
Ns_ConnReturnHeaderLineTooLong(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 431);
}

int
Ns_ConnReturnInternalError(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 500);
}

int
Ns_ConnReturnNotImplemented(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 501);
}

int
Ns_ConnReturnUnavailable(Ns_Conn *conn)
{
    return NsReturnStatusPage(NsConnOf(conn), 503);
}

int
Ns_ConnReturnRedirect(Ns_Conn *conn, const char *url)
{
    if (url == NULL) {
        return Ns_ConnReturnNoResponse(conn);
    }
    return ReturnLink(conn, 302, url, "The requested URL has moved here.");
}

int
Ns_ConnReturnMoved(Ns_Conn *conn, const char *url)
{
    if (url == NULL) {
        return Ns_ConnReturnNoResponse(conn);
    }
    return ReturnLink(conn, 301, url,
                      "The requested URL has moved permanently here.");
}

/*
 * The target goes into the page as text, so it is quoted; the Location field
 * has it as given, but for characters that would end the field.
 */
static int
ReturnLink(Ns_Conn *conn, int status, const char *url, const char *text)
{
    Ns_DString target, notice;
    int        result;

    Ns_DStringInit(&target);
    Ns_DStringInit(&notice);
    if (*url == '/') {
        (void) Ns_ConnLocationAppend(conn, &target);
    }
    Ns_DStringAppend(&target, url);
    Ns_ConnSetHeaders(conn, "Location", Ns_DStringValue(&target));
    Ns_DStringAppend(&notice, "<A HREF=\"");
    Ns_QuoteHtml(&notice, Ns_DStringValue(&target));
    Ns_DStringVarAppend(&notice, "\">", text, "</A>", NULL);
    result = Ns_ConnReturnNotice(conn, status, "Redirection",
                                 Ns_DStringValue(&notice));
    Ns_DStringFree(&target);
    Ns_DStringFree(&notice);
    return result;
}

static void
SetErrorPage(NsRequestServer *requestPtr, int status, const char *url)
{
    NsErrorPage *pagePtr = requestPtr->errorPages;

    while (pagePtr != NULL && pagePtr->status != status) {
        pagePtr = pagePtr->nextPtr;
    }
    if (pagePtr == NULL) {
        pagePtr = ns_calloc(1, sizeof(NsErrorPage));
        pagePtr->status = status;
        pagePtr->nextPtr = requestPtr->errorPages;
        requestPtr->errorPages = pagePtr;
    }
    pagePtr->url = ns_strcopy(url);
    NsRequestChanged();
}

static NsErrorPage *
FindErrorPage(const NsServer *serverPtr, int status)
{
    NsErrorPage *pagePtr = serverPtr->requestPtr->errorPages;

    while (pagePtr != NULL
           && (pagePtr->status != status || pagePtr->url == NULL)) {
        pagePtr = pagePtr->nextPtr;
    }
    return pagePtr;
}
