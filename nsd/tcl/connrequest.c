/* SPDX-License-Identifier: MPL-2.0
 * connrequest.c --
 *
 *      The options of ns_conn about the request's target, its host, and what
 *      its header says of the client.
 */

#include "tcl/connrequest.h"

#include "nsconn.h"
#include "nsstring.h"
#include "base/chars.h"
#include "http/charset.h"
#include "http/parse.h"
#include "request/proxies.h"
#include "request/requestid.h"
#include "tcl/result.h"

static Tcl_Obj    *TargetObj(const NsConnCall *callPtr);
static const char *GetAuthority(const NsConnCall *callPtr, size_t *lengthPtr,
                                int *portPtr);
static void        PutText(Tcl_Obj *dictObj, const char *key, const char *text,
                           size_t length);
static void PutParameter(Tcl_Obj *dictObj, const char *type, const char *name);
static void PutSignal(Tcl_Obj *dictObj, const char *key,
                      const NsHttpHead *headPtr, const char *field);
static Tcl_Obj *ParseAdpc(const char *value);
static void     AppendPeer(const NsConnCall *callPtr, Ns_DString *dsPtr);
static void     AppendFlags(int flags, Ns_DString *dsPtr);

/* ---- The target, as sent. ---- */

int
NsConnOptionTarget(NsConnCall *callPtr)
{
    return NsTclReturn(callPtr->interp, TargetObj(callPtr));
}

int
NsConnOptionFragment(NsConnCall *callPtr)
{
    const NsHttpHead *headPtr = &callPtr->connPtr->messagePtr->head;
    const char       *end = headPtr->target + headPtr->targetLength;
    const char *hash = memchr(headPtr->target, '#', headPtr->targetLength);

    return NsTclReturn(callPtr->interp,
                       hash == NULL ? Tcl_NewObj()
                                    : Tcl_NewStringObj(hash + 1,
                                                       (int) (end - hash - 1)));
}

/* ---- Ids that other programs know. ---- */

int
NsConnOptionRequestId(NsConnCall *callPtr)
{
    char id[NS_REQUEST_ID_BYTES];

    NsRequestIdText(id, callPtr->connPtr->messagePtr,
                    callPtr->connPtr->work.id);
    return NsConnReturnString(callPtr, id);
}

int
NsConnOptionTraceParent(NsConnCall *callPtr)
{
    return NsConnReturnString(callPtr,
                              NsRequestTraceParent(callPtr->connPtr
                                                       ->messagePtr));
}

/*
 * What ns_parseurl says of the target.
 */
int
NsConnOptionUrlDict(NsConnCall *callPtr)
{
    Tcl_Obj *words[] = {Tcl_NewStringObj("::ns_parseurl", -1),
                        Tcl_NewStringObj("--", -1), TargetObj(callPtr)};
    int      result;

    for (int i = 0; i < Ns_NrElements(words); i++) {
        Tcl_IncrRefCount(words[i]);
    }
    result = Tcl_EvalObjv(callPtr->interp, Ns_NrElements(words), words,
                          TCL_EVAL_GLOBAL);
    for (int i = 0; i < Ns_NrElements(words); i++) {
        Tcl_DecrRefCount(words[i]);
    }
    return result;
}

static Tcl_Obj *
TargetObj(const NsConnCall *callPtr)
{
    const NsHttpHead *headPtr = &callPtr->connPtr->messagePtr->head;

    return Tcl_NewStringObj(headPtr->target, (int) headPtr->targetLength);
}

/* ---- To whom the request was sent. ---- */

/*
 * host ?default?
 */
int
NsConnOptionHost(NsConnCall *callPtr)
{
    size_t      length;
    int         port;
    const char *host = GetAuthority(callPtr, &length, &port);

    if (length == 0 && callPtr->objc == 1) {
        return NsTclReturn(callPtr->interp, callPtr->objv[0]);
    }
    return NsTclReturn(callPtr->interp, Tcl_NewStringObj(host, (int) length));
}

int
NsConnOptionPort(NsConnCall *callPtr)
{
    size_t length;
    int    port;

    (void) GetAuthority(callPtr, &length, &port);
    if (port == 0) {
        port = Ns_ConnCurrentPort(callPtr->conn);
    }
    return NsConnReturnInt(callPtr, port);
}

int
NsConnOptionProtocol(NsConnCall *callPtr)
{
    const char *protocol = callPtr->conn->request->protocol;

    if (protocol == NULL) {
        protocol = callPtr->connPtr->settingsPtr->isTls ? "https" : "http";
    }
    return NsConnReturnString(callPtr, protocol);
}

/*
 * The host that the client named, without brackets; the port is 0 where it
 * named none.
 */
static const char *
GetAuthority(const NsConnCall *callPtr, size_t *lengthPtr, int *portPtr)
{
    const Ns_Request *requestPtr = callPtr->conn->request;
    const NsHttpHead *headPtr = &callPtr->connPtr->messagePtr->head;
    const char       *host = requestPtr->host, *colon;

    *portPtr = requestPtr->port;
    if (host == NULL) {
        host = NsHttpKnown(headPtr, NS_FIELD_HOST);
        host = host == NULL ? "" : host;
    }
    if (*host == '[') {
        *lengthPtr = strcspn(++host, "]");
        colon = host + *lengthPtr + (host[*lengthPtr] == ']');
    } else {
        *lengthPtr = strcspn(host, ":");
        colon = host + *lengthPtr;
    }
    if (*colon == ':' && *portPtr == 0) {
        *portPtr = (int) strtol(colon + 1, NULL, 10);
    }
    return host;
}

int
NsConnOptionCurrentAddr(NsConnCall *callPtr)
{
    return NsConnReturnString(callPtr, Ns_ConnCurrentAddr(callPtr->conn));
}

int
NsConnOptionCurrentPort(NsConnCall *callPtr)
{
    return NsConnReturnInt(callPtr, Ns_ConnCurrentPort(callPtr->conn));
}

/* ---- What the header says. ---- */

/*
 * dict raw, type, and where there are charset, boundary, suffix
 */
int
NsConnOptionContentType(NsConnCall *callPtr)
{
    const char *type = NsHttpKnown(&callPtr->connPtr->messagePtr->head,
                                   NS_FIELD_CONTENT_TYPE);
    Tcl_Obj    *dictObj = Tcl_NewDictObj(), *typeObj;
    const char *plus;
    size_t      length;

    if (type != NULL) {
        PutText(dictObj, "raw", type, strlen(type));
        length = strcspn(type, "; \t");
        typeObj = Tcl_NewStringObj(type, (int) length);
        Tcl_SetObjLength(typeObj, Tcl_UtfToLower(Tcl_GetString(typeObj)));
        Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("type", -1), typeObj);
        PutParameter(dictObj, type, "charset");
        PutParameter(dictObj, type, "boundary");
        plus = strrchr(Tcl_GetString(typeObj), '+');
        if (plus != NULL) {
            PutText(dictObj, "suffix", plus + 1, strlen(plus + 1));
        }
    }
    return NsTclReturn(callPtr->interp, dictObj);
}

/*
 * The value of a parameter, without quotes.
 */
static void
PutParameter(Tcl_Obj *dictObj, const char *type, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = strchr(type, ';'); p != NULL; p = strchr(p, ';')) {
        p = NsSkipSpace(p + 1);
        if (strncasecmp(p, name, length) == 0 && p[length] == '=') {
            p += length + 1;
            if (*p == '"') {
                p++;
                PutText(dictObj, name, p, strcspn(p, "\""));
            } else {
                PutText(dictObj, name, p, strcspn(p, "; \t"));
            }
            return;
        }
    }
}

/*
 * dict gpc, dnt, adpc: what the client wishes.
 */
int
NsConnOptionPrivacy(NsConnCall *callPtr)
{
    const NsHttpHead *headPtr = &callPtr->connPtr->messagePtr->head;
    Tcl_Obj          *dictObj = Tcl_NewDictObj();

    PutSignal(dictObj, "gpc", headPtr, "Sec-GPC");
    PutSignal(dictObj, "dnt", headPtr, "DNT");
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("adpc", -1),
                   ParseAdpc(NsHttpFind(headPtr, "ADPC")));
    return NsTclReturn(callPtr->interp, dictObj);
}

/*
 * 1 or 0; empty without the field.
 */
static void
PutSignal(Tcl_Obj *dictObj, const char *key, const NsHttpHead *headPtr,
          const char *field)
{
    const char *value = NsHttpFind(headPtr, field);

    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(key, -1),
                   value == NULL ? Tcl_NewObj()
                                 : Tcl_NewIntObj(STREQ(value, "1")));
}

/*
 * `consent="a b", withdraw=*`: present 1, and each with its value.
 */
static Tcl_Obj *
ParseAdpc(const char *value)
{
    Tcl_Obj *dictObj = Tcl_NewDictObj();

    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("present", -1),
                   Tcl_NewBooleanObj(value != NULL));
    while (value != NULL && *(value = NsSkipSpace(value)) != '\0') {
        size_t   length = strcspn(value, "=, ");
        Tcl_Obj *keyObj = Tcl_NewStringObj(value, (int) length);
        Tcl_Obj *valueObj = Tcl_NewObj();

        value += length;
        if (*value == '=') {
            bool isQuoted = *++value == '"';

            value += isQuoted;
            length = strcspn(value, isQuoted ? "\"" : ", ");
            Tcl_AppendToObj(valueObj, value, (int) length);
            value += length;
        }
        NsTclDictPut(dictObj, keyObj, valueObj);
        value += strcspn(value, ",");
        value += *value == ',';
    }
    return dictObj;
}

static void
PutText(Tcl_Obj *dictObj, const char *key, const char *text, size_t length)
{
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj(key, -1),
                   Tcl_NewStringObj(text, (int) length));
}

/* ---- The connection. ---- */

/*
 * dict: the way of the request, the direct peer, the connection's flags, and
 * what the driver knows.
 */
int
NsConnOptionDetails(NsConnCall *callPtr)
{
    NsSock    *sockPtr = callPtr->connPtr->sockPtr;
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds, "proxied %d currentaddr",
                     callPtr->connPtr->settingsPtr->proxyProtocol != 0
                         || !STREQ(Ns_ConnPeer(callPtr->conn),
                                   callPtr->connPtr->messagePtr->peer));
    Ns_DStringAppendElement(&ds, Ns_ConnCurrentAddr(callPtr->conn));
    Ns_DStringPrintf(&ds, " currentport %d", Ns_ConnCurrentPort(callPtr->conn));
    AppendPeer(callPtr, &ds);
    AppendFlags(callPtr->conn->flags, &ds);
    if (sockPtr != NULL) {
        NsSockDetails(sockPtr, &ds);
    }
    return NsTclReturnText(callPtr->interp, &ds);
}

static void
AppendPeer(const NsConnCall *callPtr, Ns_DString *dsPtr)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    const char          *peer = callPtr->connPtr->messagePtr->peer;
    NsIpAddress          address;
    NsIpRange            any4, any6;

    if (!NsIpParse(peer, &address) || !NsIpRangeParse("0.0.0.0", &any4)
        || !NsIpRangeParse("::", &any6)) {
        return;
    }
    Ns_DStringPrintf(dsPtr, " public %d trusted %d inany %d type %s",
                     NsIpIsPublic(&address), NsProxiesTrust(peer),
                     NsIpRangeHas(&any4, &address)
                         || NsIpRangeHas(&any6, &address),
                     memcmp(address.bytes, mapped, sizeof(mapped)) == 0
                         ? "IPv4"
                         : "IPv6");
}

static void
AppendFlags(int flags, Ns_DString *dsPtr)
{
    static const struct {
        int         flag;
        const char *name;
    } names[] = {
        {NS_CONN_CLOSED, "SOCK_CLOSED"},
        {NS_CONN_SKIPHDRS, "SKIPHDRS"},
        {NS_CONN_SKIPBODY, "SKIPBODY"},
        {NS_CONN_READHDRS, "READHDRS"},
        {NS_CONN_SENTHDRS, "SENTHDRS"},
        {NS_CONN_WRITE_ENCODED, "WRITE_ENCODED"},
        {NS_CONN_STREAM, "STREAM"},
        {NS_CONN_STREAM_CLOSE, "STREAM_CLOSE"},
        {NS_CONN_CHUNK, "CHUNK"},
        {NS_CONN_SENT_LAST_CHUNK, "SENT_LAST_CHUNK"},
        {NS_CONN_SENT_VIA_WRITER, "SENT_VIA_WRITER"},
        {NS_CONN_SOCK_CORKED, "SOCK_CORKED"},
        {NS_CONN_ZIPACCEPTED, "ZIPACCEPTED"},
        {NS_CONN_BROTLIACCEPTED, "BROTLIACCEPTED"},
        {NS_CONN_JSONPARSED, "JSONPARSED"},
        {NS_CONN_ENTITYTOOLARGE, "ENTITYTOOLARGE"},
        {NS_CONN_REQUESTURITOOLONG, "REQUESTURITOOLONG"},
        {NS_CONN_LINETOOLONG, "LINETOOLONG"}};
    const char *mark = "";

    Ns_DStringAppend(dsPtr, " flags {");
    for (int i = 0; i < Ns_NrElements(names); i++) {
        if ((flags & names[i].flag) != 0) {
            Ns_DStringVarAppend(dsPtr, mark, names[i].name, NULL);
            mark = "|";
        }
    }
    Ns_DStringAppend(dsPtr, "}");
}

/*
 * What the driver knows of the client's certificate.
 */
int
NsConnOptionClientCert(NsConnCall *callPtr)
{
    NsSock    *sockPtr = callPtr->connPtr->sockPtr;
    Tcl_Obj   *dictObj, *keyObj, *certObj = NULL;
    Ns_DString ds;
    int        result;

    Ns_DStringInit(&ds);
    if (sockPtr != NULL) {
        NsSockDetails(sockPtr, &ds);
    }
    dictObj = Tcl_NewStringObj(Ns_DStringValue(&ds), Ns_DStringLength(&ds));
    keyObj = Tcl_NewStringObj("clientcert", -1);
    Tcl_IncrRefCount(dictObj);
    Tcl_IncrRefCount(keyObj);
    if (Tcl_DictObjGet(NULL, dictObj, keyObj, &certObj) == TCL_OK
        && certObj != NULL) {
        result = NsTclReturn(callPtr->interp, certObj);
    } else {
        result = NsTclFail(callPtr->interp, "connection is not TLS");
    }
    Tcl_DecrRefCount(keyObj);
    Tcl_DecrRefCount(dictObj);
    Ns_DStringFree(&ds);
    return result;
}
