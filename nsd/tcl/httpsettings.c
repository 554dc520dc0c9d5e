/* SPDX-License-Identifier: MPL-2.0
 * httpsettings.c --
 *
 *      What the section httpclient of a server says of its requests to others.
 */

#include "tcl/httpsettings.h"

#include "nsconfig.h"
#include "nsparam.h"
#include "net/httpthreads.h"
#include "nslog.h"
#include "nsprocess.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/parameters.h"
#include "tcl/httplog.h"
#include "tcl/perserver.h"

#define EXCEPTION "validationexception"
#define ANY       NS_PARAM_NO_LIMIT

static const NsParameter rows[] = {
    NS_PATH(NsHttpSettings, caFile, "cafile", "ca-bundle.crt",
            "PEM file with CA certificates of https servers; without it, the "
            "system's are used."),
    NS_PATH(NsHttpSettings, caPath, "capath", "certificates",
            "Directory with such certificates."),
    NS_BOOL(NsHttpSettings, isValidated, "validatecertificates", "true",
            "Refuse servers whose certificate is not valid."),
    NS_INT(NsHttpSettings, maxDepth, "validationdepth", "9", 1, 100,
           "Longest chain of certificates."),
    NS_LISTED(EXCEPTION, NS_PARAM_LIST, "",
              "ip RANGE, accept LIST: what may be wrong with certificates "
              "there; can be repeated."),
    NS_PATH(NsHttpSettings, rejectedDir, "invalidcertificates", "",
            "Directory, below home, where certificates that are refused are "
            "kept; empty = nowhere."),
    NS_TIME(
        NsHttpSettings, keepAlive, "keepalive", "0", 0, ANY,
        "How long connections are kept open for the next request; 0 = not at "
        "all."),
    NS_TIME(NsHttpSettings, timeout, "defaulttimeout", "5", 1, ANY,
            "Longest silence of a server."),
    NS_PARAM_END};

static NsPerServer perServer;

static NsPerServerProc Create;
static const char     *Existing(const char *path);
static char           *Whole(const char *path);
static void ReadExceptions(NsHttpSettings *settingsPtr, const char *section);
static bool ParseException(const char *text, NsTlsException *exceptionPtr);
static bool ParseAccepted(Tcl_Interp *interp, Tcl_Obj *listObj,
                          unsigned *acceptedPtr);

void
NsHttpSettingsInit(void)
{
    NsParametersRegister("ns/server/*/httpclient", rows,
                         sizeof(NsHttpSettings));
    NsHttpLogInit();
}

const NsHttpSettings *
NsHttpSettingsGet(NsServer *serverPtr)
{
    static const NsHttpSettings none = {
        .isValidated = true, .sendsNames = true};

    return serverPtr == NULL ? &none
                             : NsPerServerGet(&perServer, serverPtr, Create);
}

void
NsHttpSettingsForTls(const NsHttpSettings *settingsPtr, int verify,
                     NsTlsClientSpec *tlsPtr)
{
    if (tlsPtr->caFile == NULL && tlsPtr->caPath == NULL) {
        tlsPtr->caFile = settingsPtr->caFile;
        tlsPtr->caPath = settingsPtr->caPath;
    }
    tlsPtr->isInsecure = verify < 0
        || (verify == 0 && !settingsPtr->isValidated);
    tlsPtr->isNameless = tlsPtr->host == NULL && !settingsPtr->sendsNames;
    tlsPtr->maxDepth = settingsPtr->maxDepth;
    tlsPtr->exceptions = settingsPtr->exceptions;
    tlsPtr->nExceptions = settingsPtr->nExceptions;
    tlsPtr->rejectedDir = settingsPtr->rejectedDir;
}

static void *
Create(NsServer *serverPtr)
{
    NsHttpSettings *settingsPtr = ns_calloc(1u, sizeof(NsHttpSettings));
    Ns_DString      ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, serverPtr->path, "/httpclient", NULL);
    NsParametersFill(rows, Ns_DStringValue(&ds), settingsPtr);
    settingsPtr->sendsNames = NsHttpSendsNames();
    settingsPtr->caFile = Existing(settingsPtr->caFile);
    settingsPtr->caPath = Existing(settingsPtr->caPath);
    settingsPtr->rejectedDir = Whole(settingsPtr->rejectedDir);
    ReadExceptions(settingsPtr, Ns_DStringValue(&ds));
    settingsPtr->logPtr = NsHttpLogCreate(serverPtr, Ns_DStringValue(&ds));
    if (!settingsPtr->isValidated) {
        Ns_Log(Security,
               "httpclient[%s]: certificates of https servers are not "
               "validated: validatecertificates is false",
               serverPtr->name);
    }
    Ns_DStringFree(&ds);
    return settingsPtr;
}

/*
 * The whole path, below home; NULL: it is not there.
 */
static const char *
Existing(const char *path)
{
    char *whole = Whole(path);

    if (whole != NULL && access(whole, R_OK) != 0) {
        ns_free(whole);
        whole = NULL;
    }
    return whole;
}

/*
 * The whole path, below home, which stays; NULL: none is given.
 */
static char *
Whole(const char *path)
{
    Ns_DString ds;

    if (path == NULL || *path == '\0') {
        return NULL;
    }
    Ns_DStringInit(&ds);
    if (*path != '/') {
        Ns_DStringVarAppend(&ds, Ns_InfoHomePath(), "/", NULL);
    }
    Ns_DStringAppend(&ds, path);
    return Ns_DStringExport(&ds);
}

static void
ReadExceptions(NsHttpSettings *settingsPtr, const char *section)
{
    Ns_Set         *setPtr = Ns_ConfigGetSection(section);
    NsTlsException *exceptions;
    int             n = 0;

    if (setPtr == NULL) {
        return;
    }
    exceptions = ns_calloc(Ns_SetSize(setPtr) + 1u, sizeof(NsTlsException));
    for (int i = 0; i < (int) Ns_SetSize(setPtr); i++) {
        const char *value = Ns_SetValue(setPtr, i);

        if (!STRIEQ(Ns_SetKey(setPtr, i), EXCEPTION)) {
            continue;
        }
        if (ParseException(value, &exceptions[n])) {
            n++;
        } else {
            Ns_Log(Error,
                   "httpclient[%s]: " EXCEPTION " is ignored: \"%s\" is not "
                   "?ip RANGE? ?accept LIST?",
                   section, value);
        }
    }
    settingsPtr->exceptions = exceptions;
    settingsPtr->nExceptions = n;
}

/*
 * ?ip RANGE? ?accept {certificate-expired ...}?; without them, all.
 */
static bool
ParseException(const char *text, NsTlsException *exceptionPtr)
{
    Tcl_Interp *interp = Tcl_CreateInterp();
    Tcl_Obj    *listObj = Tcl_NewStringObj(text, -1);
    Tcl_Obj   **words;
    int         n;
    bool        isGood;

    *exceptionPtr = (NsTlsException){.accepted = NS_TLS_WHATEVER};
    Tcl_IncrRefCount(listObj);
    isGood = Tcl_ListObjGetElements(interp, listObj, &n, &words) == TCL_OK
        && n % 2 == 0;
    for (int i = 0; isGood && i < n; i += 2) {
        const char *key = Tcl_GetString(words[i]);

        if (STREQ(key, "ip")) {
            isGood = NsIpRangeParse(Tcl_GetString(words[i + 1]),
                                    &exceptionPtr->peers);
        } else {
            isGood = STREQ(key, "accept")
                && ParseAccepted(interp, words[i + 1], &exceptionPtr->accepted);
        }
    }
    Tcl_DecrRefCount(listObj);
    Tcl_DeleteInterp(interp);
    return isGood;
}

static bool
ParseAccepted(Tcl_Interp *interp, Tcl_Obj *listObj, unsigned *acceptedPtr)
{
    static const struct {
        const char *word;
        unsigned    flag;
    } words[] = {{"certificate-expired", NS_TLS_EXPIRED},
                 {"certificate-untrusted", NS_TLS_UNTRUSTED},
                 {"chain-too-long", NS_TLS_CHAIN},
                 {"self-signed-certificate", NS_TLS_SELF_SIGNED},
                 {"*", NS_TLS_WHATEVER}};
    Tcl_Obj **elements;
    int       n;

    *acceptedPtr = 0u;
    if (Tcl_ListObjGetElements(interp, listObj, &n, &elements) != TCL_OK) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        unsigned flag = 0u;

        for (int j = 0; j < Ns_NrElements(words); j++) {
            if (STREQ(Tcl_GetString(elements[i]), words[j].word)) {
                flag = words[j].flag;
            }
        }
        if (flag == 0u) {
            return false;
        }
        *acceptedPtr |= flag;
    }
    return true;
}
