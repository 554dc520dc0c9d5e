/* SPDX-License-Identifier: MPL-2.0
 * publicfile.c --
 *
 *      Which files a URL may lead to.
 *
 *      Only the names that the path has from the URL are judged: the page root
 *      itself, and a directory that a mapping names, may be links.
 */

#include "request/publicfile.h"
#include "nsstring.h"
#include "base/assert.h"
#include "request/reqserver.h"
#include "request/url2file.h"

static bool   HasHiddenName(const char *url);
static bool   HasDeniedName(const NsRequestServer *requestPtr, const char *url);
static bool   IsDenied(const NsRequestServer *requestPtr, const char *name);
static bool   MayFollow(int rule, char *path, const char *url);
static size_t SharedBytes(const char *path, const char *url);
static bool   IsAllowed(int rule, const char *path);

Ns_ReturnCode
NsPublicFile(Ns_DString *dsPtr, NsServer *serverPtr, const char *url,
             bool *isDefaultPtr)
{
    const NsRequestServer *requestPtr = serverPtr->requestPtr;
    int                    start = Ns_DStringLength(dsPtr);

    *isDefaultPtr = false;
    if ((requestPtr->servesDotFiles || !HasHiddenName(url))
        && (requestPtr->nDenyFiles == 0 || !HasDeniedName(requestPtr, url))
        && NsUrlToFile(dsPtr, serverPtr, url, isDefaultPtr) == NS_OK
        && MayFollow(requestPtr->followSymlinks, Ns_DStringValue(dsPtr) + start,
                     url)) {
        return NS_OK;
    }
    errno = ENOENT;
    return NS_ERROR;
}

bool
NsPublicLink(const NsServer *serverPtr, const char *path)
{
    return IsAllowed(serverPtr->requestPtr->followSymlinks, path);
}

static bool
HasHiddenName(const char *url)
{
    static const char known[] = "/.well-known/";

    return strstr(url, "/.") != NULL
        && strncmp(url, known, sizeof(known) - 1u) != 0;
}

static bool
HasDeniedName(const NsRequestServer *requestPtr, const char *url)
{
    Ns_DString names;
    char      *name;
    bool       isDenied = false;

    Ns_DStringInit(&names);
    name = Ns_DStringAppend(&names, url);
    while (name != NULL && !isDenied) {
        char *end = strchr(name, '/');

        if (end != NULL) {
            *end++ = '\0';
        }
        isDenied = *name != '\0' && IsDenied(requestPtr, name);
        name = end;
    }
    Ns_DStringFree(&names);
    return isDenied;
}

static bool
IsDenied(const NsRequestServer *requestPtr, const char *name)
{
    for (int i = 0; i < requestPtr->nDenyFiles; i++) {
        if (Tcl_StringMatch(name, requestPtr->denyFiles[i])) {
            return true;
        }
    }
    return false;
}

/*
 * Name by name, as far as there is something.
 */
static bool
MayFollow(int rule, char *path, const char *url)
{
    size_t length = strlen(path);
    size_t n = rule == NS_LINKS_ALL ? length : length - SharedBytes(path, url);
    bool   isOk = true;

    while (isOk && n < length) {
        char *end = path + n + 1 + strcspn(path + n + 1, "/");
        char  saved = *end;

        NsAssert(path[n] == '/');
        *end = '\0';
        isOk = IsAllowed(rule, path);
        *end = saved;
        n = (size_t) (end - path);
    }
    return isOk;
}

/*
 * The bytes at the end of the path that are those of the URL, whole names with
 * the slashes before them.
 */
static size_t
SharedBytes(const char *path, const char *url)
{
    size_t length = strlen(path), urlLength = strlen(url), n = 0, shared = 0;

    while (urlLength > 0 && url[urlLength - 1] == '/') {
        urlLength--;
    }
    while (n < length && n < urlLength
           && path[length - 1 - n] == url[urlLength - 1 - n]) {
        n++;
        if (path[length - n] == '/') {
            shared = n;
        }
    }
    NsAssert(shared <= length && shared <= strlen(url));
    return shared;
}

static bool
IsAllowed(int rule, const char *path)
{
    struct stat link, target;

    NsAssert(rule >= NS_LINKS_ALL && rule <= NS_LINKS_OWN);
    if (rule == NS_LINKS_ALL || lstat(path, &link) != 0
        || !S_ISLNK(link.st_mode)) {
        return true;
    }
    return rule == NS_LINKS_OWN && stat(path, &target) == 0
        && link.st_uid == target.st_uid;
}
