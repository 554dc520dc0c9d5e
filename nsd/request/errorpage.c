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
#include "http/status.h"
#include "process/parameters.h"
#include "process/setting.h"
#include "request/conn_int.h"
#include "request/reply.h"

#define MAX_REDIRECTS 3 /* Error documents that one request may meet. */

typedef struct NsErrorPage {
    struct NsErrorPage *nextPtr; /* Constant. */
    int                 status;  /* Constant. */
    const char *_Atomic url;     /* NULL: removed; old ones stay, for those who
                                  * read them. */
} NsErrorPage;

static NsSectionReloadProc ReloadPages;
static void                SetErrorPage(NsRequestServer *requestPtr, int status,
                                        const char *url);
static NsErrorPage        *FindOwnPage(const NsServer *serverPtr, int status);
static NsErrorPage        *FindErrorPage(const NsServer *serverPtr, int status);

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

        if (!NsStatusKeyParse(key, &status) || url == NULL || *url == '\0') {
            Ns_Log(Error, "redirects[%s]: invalid redirect '%s=%s'",
                   serverPtr->name, key, url == NULL ? "" : url);
        } else {
            SetErrorPage(serverPtr->requestPtr, status, url);
        }
    }
    Ns_DStringFree(&path);
}

static Ns_ReturnCode
ReloadPages(const char *section, const Ns_Set *oldPtr, bool isTrial,
            Ns_DString *problemPtr)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);
    NsServer     *serverPtr = NULL;
    int           status;

    for (int i = 0; i < NsServerCount() && serverPtr == NULL; i++) {
        size_t length = strlen(NsServerAt(i)->path);

        if (strncasecmp(NsServerAt(i)->path, section, length) == 0
            && STREQ(section + length, "/redirects")) {
            serverPtr = NsServerAt(i);
        }
    }
    if (serverPtr == NULL || isTrial) {
        /* `nsd -T` has judged keys and values. */
        return NS_OK;
    }
    for (int i = 0; oldPtr != NULL && i < (int) Ns_SetSize(oldPtr); i++) {
        if ((setPtr == NULL
             || Ns_SetIFind((Ns_Set *) setPtr, Ns_SetKey(oldPtr, i)) < 0)
            && NsStatusKeyParse(Ns_SetKey(oldPtr, i), &status)) {
            SetErrorPage(serverPtr->requestPtr, status, NULL);
        }
    }
    NsErrorPageServerInit(serverPtr);
    return NS_OK;
}

void
NsErrorPageInit(void)
{
    NsParameterSectionSetReload("ns/server/*/redirects", ReloadPages);
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

    if (pagePtr == NULL || connPtr->messagePtr->isMalformed
        || NsReplyIsClosed(connPtr)
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
               "redirects[%s]: error document '%s' for status %d itself fails "
               "with that status; the built-in page is sent",
               connPtr->serverPtr->name, pagePtr->url, status);
        return false;
    }
    NsAssert(connPtr->replyState == NS_REPLY_OPEN);
    connPtr->nRedirects++;
    connPtr->documentStatus = status;
    connPtr->status = status;
    connPtr->responseLength = -1;
    Ns_SetIDeleteKey(connPtr->pub.outputheaders, "Content-Encoding");
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
        pagePtr->url = NsSettingKeepText(url);
        requestPtr->errorPages = pagePtr;
    } else {
        pagePtr->url = NsSettingKeepText(url);
    }
    NsRequestChanged();
}

/*
 * That of the status; of an error, also that of its class, or of all errors.
 */
static NsErrorPage *
FindErrorPage(const NsServer *serverPtr, int status)
{
    NsErrorPage *pagePtr = FindOwnPage(serverPtr, status);

    NsAssert(status >= 100 && status <= 999);

    if (pagePtr == NULL && status >= 400) {
        pagePtr = FindOwnPage(serverPtr, NS_STATUS_CLASS(status));
    }
    if (pagePtr == NULL && status >= 400) {
        pagePtr = FindOwnPage(serverPtr, NS_STATUS_DEFAULT);
    }
    return pagePtr;
}

static NsErrorPage *
FindOwnPage(const NsServer *serverPtr, int status)
{
    NsErrorPage *pagePtr = serverPtr->requestPtr->errorPages;

    while (pagePtr != NULL
           && (pagePtr->status != status || pagePtr->url == NULL)) {
        pagePtr = pagePtr->nextPtr;
    }
    return pagePtr;
}
