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
#include "base/assert.h"
#include "http/html.h"
#include "http/json.h"
#include "http/negotiate.h"
#include "http/parse.h"
#include "request/conn_int.h"
#include "request/auth.h"
#include "request/errorpage.h"
#include "request/reply.h"
#include "request/replytext.h"
#include "request/requestid.h"
#include "request/vhost.h"

#define TEXT_BYTES 100

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
    {400, "Invalid Request", "The server could not read this request.", false},
    {401, "Access Denied", "A user name and a password are needed here.",
     false},
    {403, "Forbidden", "You do not have permission to see this page.", false},
    {404, "Not Found", "This page does not exist.", false},
    {405, "Method Not Allowed", "This page cannot be used in this way.", false},
    {408, "Request Timeout", "The request took too long to arrive.", false},
    {413, "Payload Too Large", "What was sent is too large for this server.",
     false},
    {414, "URI Too Long", "The address of this page is too long.", false},
    {417, "Expectation Failed",
     "The server cannot do what the request expects.", false},
    {429, "Too Many Requests",
     "There were too many requests. Please try again later.", false},
    {431, "Request Header Fields Too Large",
     "The fields of the request are too large. Deleting the cookies of this "
     "site may help.",
     false},
    {500, "Server Error",
     "Something went wrong on the server. Please try again later.", true},
    {501, "Not Implemented", "The server does not know this kind of request.",
     false},
    {503, "Service Unavailable",
     "The server is busy. Please try again in a moment.", false},
    {504, "Gateway Timeout",
     "Another server did not answer in time. Please try again later.", false},
    {505, "HTTP Version Not Supported",
     "The server does not speak this version of HTTP.", false}};

/* Constant when threads run. */
static NsFailureProc  *failureProc = NULL;
static NsTemplateProc *templateProc = NULL;

static const Page *FindPage(int status);
static const char *TextOf(const Page *pagePtr, NsConn *connPtr,
                          char buffer[TEXT_BYTES]);
static void        DemandPassword(Ns_Conn *conn);
static void        AppendProblem(Ns_DString *dsPtr, NsConn *connPtr, int status,
                                 const char *title, const char *notice);
static const char *RequestId(NsConn *connPtr);
static void        AppendJsonText(Ns_DString *dsPtr, const char *html);
static void        AppendNotice(Ns_DString *dsPtr, NsConn *connPtr, int status,
                                const char *title, const char *notice);
static bool AppendTemplate(Ns_DString *dsPtr, NsConn *connPtr, int status,
                           const char *title, const char *notice,
                           const char *detail);
static void AppendBuiltIn(Ns_DString *dsPtr, const char *title,
                          const char *notice, const char *detail, int minBytes);
static int  ReturnLink(Ns_Conn *conn, int status, const char *url,
                       const char *text);

void
NsStatusPageSetFailureProc(NsFailureProc *proc)
{
    NsAssert(proc != NULL && failureProc == NULL);
    failureProc = proc;
}

void
NsNoticeSetTemplateProc(NsTemplateProc *proc)
{
    NsAssert(proc != NULL && templateProc == NULL);
    templateProc = proc;
}

bool
NsStatusPageTellFailure(NsConn *connPtr, int status)
{
    return failureProc != NULL && status >= 500 && status <= 599
        && !connPtr->messagePtr->isMalformed && connPtr->documentStatus == 0
        && !NsReplyIsClosed(connPtr)
        && (connPtr->pub.flags & NS_CONN_SENTHDRS) == 0
        && failureProc(connPtr, status);
}

int
NsReturnStatusPage(NsConn *connPtr, int status)
{
    Ns_Conn    *conn = &connPtr->pub;
    const Page *pagePtr = FindPage(status);
    int         result;
    char        text[TEXT_BYTES];

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
    if (NsStatusPageTellFailure(connPtr, status)) {
        return NS_OK;
    }
    if (NsErrorPageReturn(connPtr, status, &result)) {
        return result;
    }
    return Ns_ConnReturnNotice(conn, status, pagePtr->title,
                               TextOf(pagePtr, connPtr, text));
}

/*
 * Who sent too much is told how much would do.
 */
static const char *
TextOf(const Page *pagePtr, NsConn *connPtr, char buffer[TEXT_BYTES])
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB"};
    int64_t                  limit;
    int                      unit = 0;

    if (pagePtr->status != 413 || connPtr->sockPtr == NULL
        || connPtr->messagePtr->refusal != 413) {
        return pagePtr->text;
    }
    limit = connPtr->messagePtr->bodyLimit;
    if (limit == 0) {
        limit = NsSockMaxInput(connPtr->sockPtr);
    }
    while (limit > 0 && limit % 1024 == 0 && unit < 3) {
        limit /= 1024;
        unit++;
    }
    snprintf(buffer, TEXT_BYTES,
             "The upload is too large; the limit is %" PRId64 " %s.", limit,
             units[unit]);
    return buffer;
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
    if ((conn->flags & NS_CONN_SENTHDRS) == 0) {
        /* Of a content that is not sent. */
        Ns_SetIDeleteKey(conn->outputheaders, "Content-Encoding");
        if (status >= 400) {
            NsReplyAddVary(connPtr, "Accept");
        }
    }
    if (status >= 400
        && NsPrefersJson(NsHttpFind(&connPtr->messagePtr->head, "Accept"))) {
        AppendProblem(&ds, connPtr, status, title, notice);
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
AppendProblem(Ns_DString *dsPtr, NsConn *connPtr, int status, const char *title,
              const char *notice)
{
    const char *id = RequestId(connPtr);

    Ns_DStringAppend(dsPtr, "{\"type\":\"about:blank\",\"title\":");
    AppendJsonText(dsPtr, title);
    Ns_DStringPrintf(dsPtr, ",\"status\":%d", status);
    if (notice != NULL) {
        Ns_DStringAppend(dsPtr, ",\"detail\":");
        AppendJsonText(dsPtr, notice);
    }
    if (id != NULL) {
        Ns_DStringVarAppend(dsPtr, ",\"request_id\":\"", id, "\"", NULL);
    }
    Ns_DStringAppend(dsPtr, "}\n");
}

/*
 * For the visitor to quote: no character of it needs an escape.  NULL: none.
 */
static const char *
RequestId(NsConn *connPtr)
{
    const NsLogIdentity *identityPtr = NsConnIdentity(connPtr);

    return identityPtr == NULL ? NULL : identityPtr->requestId;
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

static void
AppendNotice(Ns_DString *dsPtr, NsConn *connPtr, int status, const char *title,
             const char *notice)
{
    NsRequestServer *requestPtr = NsConnRequestServer(connPtr);
    Ns_DString       detail;

    Ns_DStringInit(&detail);
    if (requestPtr->noticeDetail) {
        Ns_DStringVarAppend(&detail, Ns_InfoServerName(), " on ", NULL);
        (void) Ns_ConnLocationAppend(&connPtr->pub, &detail);
    }
    if (status >= 400 && RequestId(connPtr) != NULL) {
        Ns_DStringVarAppend(&detail,
                            Ns_DStringLength(&detail) > 0 ? ", request "
                                                          : "Request ",
                            RequestId(connPtr), NULL);
    }
    if (!AppendTemplate(dsPtr, connPtr, status, title, notice,
                        Ns_DStringValue(&detail))) {
        AppendBuiltIn(dsPtr, title, notice, Ns_DStringValue(&detail),
                      status >= 400 ? requestPtr->errorMinSize : 0);
    }
    Ns_DStringFree(&detail);
}

/*
 * A server that is busy has no time for it, and what was refused while it came
 * meets no script.
 */
static bool
AppendTemplate(Ns_DString *dsPtr, NsConn *connPtr, int status,
               const char *title, const char *notice, const char *detail)
{
    const char *file = NsConnRequestServer(connPtr)->noticeAdp;

    return templateProc != NULL && file != NULL && status != 503
        && !connPtr->messagePtr->isMalformed
        && templateProc(connPtr, file, title, notice, detail, dsPtr);
}

/*
 * The browser takes its colours for light or dark, as the user likes.
 */
static void
AppendBuiltIn(Ns_DString *dsPtr, const char *title, const char *notice,
              const char *detail, int minBytes)
{
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
    if (*detail != '\0') {
        Ns_DStringVarAppend(dsPtr, "<footer><small>", detail,
                            "</small></footer>\n", NULL);
    }
    while (Ns_DStringLength(dsPtr) < minBytes) {
        Ns_DStringAppend(dsPtr, "                    ");
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
 * The location of this server comes before a path.  With relativeredirects a
 * path stays one, unless browsers would take it for the name of another host:
 * two slashes.
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
            || !NsConnRequestServer(NsConnOf(conn))->relativeRedirects)) {
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
