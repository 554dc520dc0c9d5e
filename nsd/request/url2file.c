/* SPDX-License-Identifier: MPL-2.0
 * url2file.c --
 *
 *      From a URL to the name of a file.
 *
 *      Mappings have a URL space of their own under the method "x".
 */

#include "request/url2file.h"

#include <stdatomic.h>

#include "nsfile.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "request/reqserver.h"
#include "request/urlspace.h"
#include "request/vhost.h"

#define METHOD "x"

typedef struct Mapping {
    atomic_int       nRefs;
    Ns_Url2FileProc *proc;
    Ns_Callback     *freeProc;
    void            *arg;
} Mapping;

/*
 * A directory that serves the URLs below a prefix.
 */
typedef struct Mount {
    NsServer *serverPtr;
    char     *basePath;
    char     *url;
} Mount;

static int mappingId; /* Constant after NsUrl2FileInit. */

static Ns_Url2FileProc MountProc;
static Ns_Callback     FreeMount;
static Ns_ArgProc      MountArgProc;
static Ns_ArgProc      FastArgProc;

static bool     RefMapping(void *data, void *arg);
static void     UnrefMapping(void *data);
static Mapping *FindMapping(NsServer *serverPtr, const char *url);
static bool     IsDefault(const Mapping *mappingPtr, const NsServer *serverPtr);
static void     AppendMapping(const NsUrlEntry *entryPtr, void *arg);
static void     TrimSlashes(Ns_DString *dsPtr, int start);
static int      FileMode(const char *server, const char *url);

void
NsUrl2FileInit(void)
{
    mappingId = Ns_UrlSpecificAlloc();
    Ns_RegisterProcInfo((void *) Ns_FastUrl2FileProc, "ns:fasturl2file",
                        FastArgProc);
    Ns_RegisterProcInfo((void *) MountProc, "ns:mounturl2file", MountArgProc);
}

void
Ns_RegisterUrl2FileProc(const char *server, const char *url,
                        Ns_Url2FileProc *proc, Ns_Callback *freeProc, void *arg,
                        int flags)
{
    Mapping *mappingPtr = ns_calloc(1, sizeof(Mapping));

    atomic_init(&mappingPtr->nRefs, 1);
    mappingPtr->proc = proc;
    mappingPtr->freeProc = freeProc;
    mappingPtr->arg = arg;
    Ns_UrlSpecificSet(server, METHOD, url, mappingId, mappingPtr,
                      flags & ~NS_OP_NODELETE, UnrefMapping);
}

void
Ns_UnRegisterUrl2FileProc(const char *server, const char *url, int flags)
{
    (void) Ns_UrlSpecificDestroy(server, METHOD, url, mappingId,
                                 flags & ~NS_OP_NODELETE);
}

void
Ns_SetUrlToFileProc(const char *server, Ns_UrlToFileProc *proc)
{
    NsRequestServer *requestPtr = NsRequestServerFind(server,
                                                      "Ns_SetUrlToFileProc");

    if (requestPtr != NULL) {
        requestPtr->oldUrlToFileProc = proc;
        NsRequestChanged();
    }
}

void
NsRegisterFastUrl2File(const char *server, const char *url,
                       const char *basePath, int flags)
{
    NsServer *serverPtr = NsServerFind(server);
    Mount    *mountPtr;

    if (serverPtr == NULL) {
        return;
    }
    if (basePath == NULL) {
        Ns_RegisterUrl2FileProc(server, url, Ns_FastUrl2FileProc, NULL,
                                serverPtr, flags);
        return;
    }
    mountPtr = ns_calloc(1, sizeof(Mount));
    mountPtr->serverPtr = serverPtr;
    mountPtr->basePath = ns_strdup(basePath);
    mountPtr->url = ns_strdup(url);
    Ns_RegisterUrl2FileProc(server, url, MountProc, FreeMount, mountPtr, flags);
}

int
Ns_UrlToFile(Ns_DString *dsPtr, const char *server, const char *url)
{
    NsServer *serverPtr = NsServerFind(server);
    bool      isDefault;

    return serverPtr == NULL ? NS_ERROR
                             : NsUrlToFile(dsPtr, serverPtr, url, &isDefault);
}

int
Ns_FastUrl2FileProc(Ns_DString *dsPtr, const char *url, void *arg)
{
    (void) NsPageRoot(dsPtr, arg, NULL);
    if (*url != '\0' && !STREQ(url, "/")) {
        if (*url != '/') {
            Ns_DStringAppend(dsPtr, "/");
        }
        Ns_DStringAppend(dsPtr, url);
    }
    return NS_OK;
}

bool
NsUrl2FileIsDefault(NsServer *serverPtr, const char *url)
{
    Mapping *mappingPtr;
    bool     isDefault;

    if (serverPtr->requestPtr->oldUrlToFileProc != NULL) {
        return false;
    }
    mappingPtr = FindMapping(serverPtr, url);
    if (mappingPtr == NULL) {
        return false;
    }
    isDefault = IsDefault(mappingPtr, serverPtr);
    UnrefMapping(mappingPtr);
    return isDefault;
}

int
NsUrlToFile(Ns_DString *dsPtr, NsServer *serverPtr, const char *url,
            bool *isDefaultPtr)
{
    Ns_UrlToFileProc *oldProc = serverPtr->requestPtr->oldUrlToFileProc;
    Mapping          *mappingPtr;
    int               start = Ns_DStringLength(dsPtr), result;

    *isDefaultPtr = false;
    if (oldProc != NULL) {
        result = oldProc(dsPtr, serverPtr->name, url);
    } else {
        mappingPtr = FindMapping(serverPtr, url);
        if (mappingPtr == NULL) {
            return NS_ERROR;
        }
        *isDefaultPtr = IsDefault(mappingPtr, serverPtr);
        result = mappingPtr->proc(dsPtr, url, mappingPtr->arg);
        UnrefMapping(mappingPtr);
    }
    TrimSlashes(dsPtr, start);
    return result;
}

int
Ns_UrlIsFile(const char *server, const char *url)
{
    return FileMode(server, url) == S_IFREG;
}

int
Ns_UrlIsDir(const char *server, const char *url)
{
    return FileMode(server, url) == S_IFDIR;
}

void
NsUrl2FileList(Ns_DString *dsPtr, NsServer *serverPtr)
{
    NsUrlSpaceVisit(serverPtr, mappingId, AppendMapping, dsPtr);
}

static int
MountProc(Ns_DString *dsPtr, const char *url, void *arg)
{
    const Mount *mountPtr = arg;
    const char  *prefix = mountPtr->url;

    if (Ns_PathIsAbsolute(mountPtr->basePath)) {
        Ns_DStringAppend(dsPtr, mountPtr->basePath);
    } else {
        (void) NsPageRoot(dsPtr, mountPtr->serverPtr, NULL);
        (void) Ns_MakePath(dsPtr, mountPtr->basePath, NULL);
    }
    TrimSlashes(dsPtr, 0);

    /*
     * Skip what the prefix consumed, segment by segment: it may have been
     * registered with other slashes than the URL has.
     */
    for (;;) {
        prefix += strspn(prefix, "/");
        if (*prefix == '\0' || strcspn(prefix, "*?") < strcspn(prefix, "/")) {
            break;
        }
        prefix += strcspn(prefix, "/");
        url += strspn(url, "/");
        url += strcspn(url, "/");
    }
    if (*url != '\0' && *url != '/') {
        Ns_DStringAppend(dsPtr, "/");
    }
    Ns_DStringAppend(dsPtr, url);
    return NS_OK;
}

static void
FreeMount(void *arg)
{
    Mount *mountPtr = arg;

    ns_free(mountPtr->basePath);
    ns_free(mountPtr->url);
    ns_free(mountPtr);
}

static void
MountArgProc(Ns_DString *dsPtr, void *arg)
{
    const Mount *mountPtr = arg;

    Ns_DStringAppendElement(dsPtr, mountPtr->basePath);
    Ns_DStringAppendElement(dsPtr, mountPtr->url);
}

static void
FastArgProc(Ns_DString *dsPtr, void *arg)
{
    const NsServer *serverPtr = arg;

    Ns_DStringAppendElement(dsPtr, serverPtr->name);
}

static bool
RefMapping(void *data, void *arg)
{
    Mapping *mappingPtr = data;

    NsAssert(mappingPtr->nRefs > 0);
    atomic_fetch_add_explicit(&mappingPtr->nRefs, 1, memory_order_relaxed);
    return true;
}

static void
UnrefMapping(void *data)
{
    Mapping *mappingPtr = data;

    NsAssert(mappingPtr->nRefs > 0);
    if (atomic_fetch_sub_explicit(&mappingPtr->nRefs, 1, memory_order_acq_rel)
        == 1) {
        if (mappingPtr->freeProc != NULL) {
            mappingPtr->freeProc(mappingPtr->arg);
        }
        ns_free(mappingPtr);
    }
}

static Mapping *
FindMapping(NsServer *serverPtr, const char *url)
{
    return NsUrlSpaceFind(serverPtr, mappingId, METHOD, url, RefMapping, NULL);
}

static bool
IsDefault(const Mapping *mappingPtr, const NsServer *serverPtr)
{
    return mappingPtr->proc == Ns_FastUrl2FileProc
        && mappingPtr->arg == serverPtr && !NsVhostIsEnabled(serverPtr);
}

static void
AppendMapping(const NsUrlEntry *entryPtr, void *arg)
{
    Ns_DString    *dsPtr = arg;
    const Mapping *mappingPtr = entryPtr->data;

    NsUrlEntryStart(dsPtr, entryPtr);
    Ns_GetProcInfo(dsPtr, (void *) mappingPtr->proc, mappingPtr->arg);
    Tcl_DStringEndSublist(dsPtr);
}

/*
 * From the result appended behind start.
 */
static void
TrimSlashes(Ns_DString *dsPtr, int start)
{
    int length = Ns_DStringLength(dsPtr);

    while (length > start + 1 && Ns_DStringValue(dsPtr)[length - 1] == '/') {
        length--;
    }
    Ns_DStringTrunc(dsPtr, length);
}

/*
 * The type of the file behind a URL; 0 if there is none.
 */
static int
FileMode(const char *server, const char *url)
{
    Ns_DString  ds;
    struct stat status;
    int         mode = 0;

    Ns_DStringInit(&ds);
    if (Ns_UrlToFile(&ds, server, url) == NS_OK
        && stat(Ns_DStringValue(&ds), &status) == 0) {
        mode = (int) (status.st_mode & S_IFMT);
    }
    Ns_DStringFree(&ds);
    return mode;
}
