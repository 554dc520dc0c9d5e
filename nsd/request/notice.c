/* SPDX-License-Identifier: MPL-2.0
 * notice.c --
 *
 *      Small pages of the server itself.
 */

#include "request/notice.h"

#include "nsprocess.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "http/html.h"
#include "http/json.h"
#include "http/negotiate.h"
#include "http/parse.h"
#include "request/conn_int.h"
#include "request/auth.h"
#include "request/errorpage.h"
#include "request/reply.h"
#include "request/replytext.h"
#include "request/vhost.h"

/*
 * Built-in pages.
 */
typedef struct Page {
    int         status;
    const char *title;
    const char *text;
    bool        dropsHeaders; /* Fields set so far do not fit it. */
} Page;

static const Page pages[] = {
    {400, "Invalid Request",
     "The HTTP request presented by your browser is invalid.", false},
    {401, "Access Denied",
     "The requested URL cannot be accessed because a valid username and "
     "password are required.",
     false},
    {403, "Forbidden", "The requested URL cannot be accessed by this server.",
     false},
    {404, "Not Found", "The requested URL was not found on this server.",
     false},
    {405, "Method Not Allowed",
     "The requested URL does not support the method of the request.", false},
    {413, "Payload Too Large",
     "The request entity (e.g. file to be uploaded) is too large.", false},
    {414, "URI Too Long", "The request URI is too long.", false},
    {417, "Expectation Failed",
     "The server cannot do what the request expects.", false},
    {431, "Request Header Fields Too Large",
     "A request header line was too long.", false},
    {500, "Server Error",
     "The requested URL cannot be accessed due to a system error on this "
     "server.",
     true},
    {501, "Not Implemented",
     "The requested URL or method is not implemented by this server.", false},
    {503, "Service Unavailable",
     "The server is temporarily unable to service your request. Please try "
     "again later.",
     true}};

static const Page *FindPage(int status);
static void        DemandPassword(Ns_Conn *conn);
static void AppendProblem(Ns_DString *dsPtr, int status, const char *title,
                          const char *notice);
static void AppendJsonText(Ns_DString *dsPtr, const char *html);
static void AppendNotice(Ns_DString *dsPtr, NsConn *connPtr, int status,
                         const char *title, const char *notice);
static int  ReturnLink(Ns_Conn *conn, int status, const char *url,
                       const char *text);

int
NsReturnStatusPage(NsConn *connPtr, int status)
{
    Ns_Conn    *conn = &connPtr->pub;
    const Page *pagePtr = FindPage(status);
    int         result;

    if (pagePtr == NULL) {
        return Ns_ConnReturnStatus(conn, status);
    }
    if (status == 500
        && (NsReplyIsClosed(connPtr)
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
    if (NsErrorPageReturn(connPtr, status, &result)) {
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
    NsConn    *connPtr = NsConnOf(conn);
    Ns_DString ds;
    int        result;

    Ns_DStringInit(&ds);
    if (status >= 400 && (conn->flags & NS_CONN_SENTHDRS) == 0) {
        NsReplyAddVary(connPtr, "Accept");
    }
    if (status >= 400
        && NsPrefersJson(NsHttpFind(&connPtr->messagePtr->head, "Accept"))) {
        AppendProblem(&ds, status, title, notice);
        result = Ns_ConnReturnCharData(conn, status, Ns_DStringValue(&ds),
                                       Ns_DStringLength(&ds),
                                       "application/problem+json");
    } else {
        AppendNotice(&ds, connPtr, status, title, notice);
        result = Ns_ConnReturnHtml(conn, status, Ns_DStringValue(&ds),
                                   Ns_DStringLength(&ds));
    }
    Ns_DStringFree(&ds);
    return result;
}

/*
 * A problem document (RFC 9457).
 */
static void
AppendProblem(Ns_DString *dsPtr, int status, const char *title,
              const char *notice)
{
    Ns_DStringAppend(dsPtr, "{\"type\":\"about:blank\",\"title\":");
    AppendJsonText(dsPtr, title);
    Ns_DStringPrintf(dsPtr, ",\"status\":%d", status);
    if (notice != NULL) {
        Ns_DStringAppend(dsPtr, ",\"detail\":");
        AppendJsonText(dsPtr, notice);
    }
    Ns_DStringAppend(dsPtr, "}\n");
}

/*
 * HTML as a string of JSON, without its tags.
 */
static void
AppendJsonText(Ns_DString *dsPtr, const char *html)
{
    Ns_DString text;

    Ns_DStringInit(&text);
    NsHtmlStrip(&text, html, strlen(html));
    NsJsonQuote(dsPtr, Ns_DStringValue(&text),
                (size_t) Ns_DStringLength(&text));
    Ns_DStringFree(&text);
}

/*
 * The browser takes its colours for light or dark, as the user likes.
 */
static void
AppendNotice(Ns_DString *dsPtr, NsConn *connPtr, int status, const char *title,
             const char *notice)
{
    NsRequestServer *requestPtr = NsConnRequestServer(connPtr);

    Ns_DStringVarAppend(
        dsPtr,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        title, "</title>\n</head>\n<body>\n<h1>", title, "</h1>\n", NULL);
    if (notice != NULL) {
        Ns_DStringVarAppend(dsPtr, "<div>", notice, "</div>\n", NULL);
    }
    if (requestPtr->noticeDetail) {
        Ns_DStringVarAppend(dsPtr, "<footer><small>", Ns_InfoServerName(),
                            " on ", NULL);
        (void) Ns_ConnLocationAppend(&connPtr->pub, dsPtr);
        Ns_DStringAppend(dsPtr, "</small></footer>\n");
    }
    if (status >= 400) {
        while (Ns_DStringLength(dsPtr) < requestPtr->errorMinSize) {
            Ns_DStringAppend(dsPtr, "                    ");
        }
    }
    Ns_DStringAppend(dsPtr, "</body>\n</html>\n");
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
    if (NsErrorPageReturn(NsConnOf(conn), 400, &result)) {
        return result;
    }
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, pagePtr->text, "\n<p>", reason, "</p>", NULL);
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
 * A path stays one, so that it leads to the host that the client reached, by
 * whatever names proxies know this server; with redirectwithhost off, or a
 * location of a module's own, that comes before it.  It also does before what
 * browsers would take for the name of another host: two slashes.
 *
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
    if (*url == '/'
        && (url[1] == '/' || url[1] == '\\'
            || !NsVhostLeadsToHost(NsConnOf(conn)))) {
        (void) Ns_ConnLocationAppend(conn, &target);
    }
    Ns_DStringAppend(&target, url);
    Ns_ConnSetHeaders(conn, "Location", Ns_DStringValue(&target));
    Ns_DStringAppend(&notice, "<a href=\"");
    Ns_QuoteHtml(&notice, Ns_DStringValue(&target));
    Ns_DStringVarAppend(&notice, "\">", text, "</a>", NULL);
    result = Ns_ConnReturnNotice(conn, status, "Redirection",
                                 Ns_DStringValue(&notice));
    Ns_DStringFree(&target);
    Ns_DStringFree(&notice);
    return result;
}
