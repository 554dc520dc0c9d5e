/* SPDX-License-Identifier: MPL-2.0
 * errorpage.c --
 *
 *      Pages of the site's own for error statuses.
 */

#include "request/errorpage.h"

#include "nsparam.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsreturn.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "request/conn_int.h"
#include "request/reply.h"

#define MAX_REDIRECTS 3 /* Error documents that one request may meet. */

typedef struct NsErrorPage {
    struct NsErrorPage *nextPtr;
    int                 status;
    const char         *url; /* NULL: removed. */
} NsErrorPage;

static void         SetErrorPage(NsRequestServer *requestPtr, int status,
                                 const char *url);
static NsErrorPage *FindErrorPage(const NsServer *serverPtr, int status);

void
NsErrorPageServerInit(NsServer *serverPtr)
{
    Ns_DString path;
    Ns_Set    *setPtr;
    int        status;

    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&path, serverPtr->path, "/redirects", NULL);
    setPtr = Ns_ConfigGetSection(Ns_DStringValue(&path));
    for (int i = 0; setPtr != NULL && i < Ns_SetSize(setPtr); i++) {
        const char *key = Ns_SetKey(setPtr, i), *url = Ns_SetValue(setPtr, i);

        if (Ns_StrToInt(key, &status) != NS_OK || status <= 0 || url == NULL
            || *url == '\0') {
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
    NsServer *serverPtr = NsServerRegistering("Ns_RegisterReturn");

    if (serverPtr == NULL) {
        return;
    }
    SetErrorPage(serverPtr->requestPtr, status, url);
}

bool
NsErrorPageExists(NsServer *serverPtr, int status)
{
    return FindErrorPage(serverPtr, status) != NULL;
}

bool
NsErrorPageReturn(NsConn *connPtr, int status, int *resultPtr)
{
    const NsErrorPage *pagePtr = FindErrorPage(connPtr->serverPtr, status);
    char              *method = NsConnRequest(connPtr)->method;
    int                outerStatus = connPtr->documentStatus;

    if (pagePtr == NULL || NsReplyIsClosed(connPtr)
        || (connPtr->pub.flags & NS_CONN_SENTHDRS) != 0) {
        return false;
    }
    if (connPtr->nRedirects >= MAX_REDIRECTS) {
        Ns_Log(Error,
               "return: failed to redirect '%d': "
               "exceeded recursion limit of %d",
               status, MAX_REDIRECTS);
        return false;
    }
    if (status == outerStatus) {
        Ns_Log(Error,
               "redirects[%s]: error document '%s' of status %d fails"
               " with that status itself; the built-in page is sent",
               connPtr->serverPtr->name, pagePtr->url, status);
        return false;
    }
    NsAssert(connPtr->replyState == NS_REPLY_OPEN);
    connPtr->nRedirects++;
    connPtr->documentStatus = status;
    connPtr->status = status;
    connPtr->responseLength = -1;
    if (method != NULL && !STREQ(method, "HEAD")) {
        NsConnRequest(connPtr)->method = (char *) "GET";
    }
    *resultPtr = Ns_ConnRedirect(&connPtr->pub, pagePtr->url);
    NsConnRequest(connPtr)->method = method;
    connPtr->documentStatus = outerStatus;
    return true;
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
    NsAssert(pagePtr->status == status);
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
