/* SPDX-License-Identifier: MPL-2.0
 * cookie_cmd.c --
 *
 *      ns_setcookie, ns_deletecookie, ns_getcookie.
 *
 *      The words of a call are checked before the connection, so that the usage
 *      can be asked for anywhere.
 */

#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "request/fields.h"

/*
 * What both commands take that write a cookie.
 */
typedef struct Call {
    NsCookie cookie;
    Ns_Time *expiresPtr;
    int      discards;
    int      replaces;
    int      isSecure;
    int      isScriptable;
    int      sameSite;
} Call;

static Tcl_ObjCmdProc SetCookieCmd, DeleteCookieCmd, GetCookieCmd;

static int     SendCookie(NsInterp *interpPtr, Call *callPtr);
static NsConn *CookieConn(NsInterp *interpPtr);
static void    SetLife(NsCookie *cookiePtr, const Ns_Time *expiresPtr);
static int     FindValues(Ns_Set *headers, const char *field, const char *name,
                          Tcl_Obj *listObj);

static const NsTclCommand commands[] = {
    {"ns_setcookie", SetCookieCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_deletecookie", DeleteCookieCmd, 0, NS_TCL_ANY, NULL, 0},
    {"ns_getcookie", GetCookieCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END};

enum { STRICT, LAX, NONE };

static Ns_ObjvTable sameSites[] = {
    {"strict", STRICT}, {"lax", LAX}, {"none", NONE}, {NULL, 0}};

NS_TCL_FAMILY(Cookie, commands)

static int
SetCookieCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Call        call = {.sameSite = LAX};
    NsCookie   *cookiePtr = &call.cookie;
    Ns_ObjvSpec options[] = {
        {"-discard", Ns_ObjvBool, &call.discards, NULL},
        {"-domain", Ns_ObjvString, &cookiePtr->domain, NULL},
        {"-expires", Ns_ObjvTime, &call.expiresPtr, NULL},
        {"-path", Ns_ObjvString, &cookiePtr->path, NULL},
        {"-replace", Ns_ObjvBool, &call.replaces, NULL},
        {"-samesite", Ns_ObjvIndex, &call.sameSite, sameSites},
        {"-scriptable", Ns_ObjvBool, &call.isScriptable, NULL},
        {"-secure", Ns_ObjvBool, &call.isSecure, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"name", Ns_ObjvString, &cookiePtr->name, NULL},
                          {"data", Ns_ObjvString, &cookiePtr->data, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    SetLife(cookiePtr, call.expiresPtr);
    return SendCookie(clientData, &call);
}

static int
DeleteCookieCmd(ClientData clientData, Tcl_Interp *interp, int objc,
                Tcl_Obj *const *objv)
{
    Call        call = {.sameSite = LAX};
    NsCookie   *cookiePtr = &call.cookie;
    Ns_ObjvSpec options[] = {
        {"-domain", Ns_ObjvString, &cookiePtr->domain, NULL},
        {"-path", Ns_ObjvString, &cookiePtr->path, NULL},
        {"-replace", Ns_ObjvBool, &call.replaces, NULL},
        {"-samesite", Ns_ObjvIndex, &call.sameSite, sameSites},
        {"-secure", Ns_ObjvBool, &call.isSecure, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"name", Ns_ObjvString, &cookiePtr->name, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    cookiePtr->life = NS_COOKIE_DELETED;
    return SendCookie(clientData, &call);
}

/*
 * Browsers ignore a cookie of SameSite=None that is not secure.
 */
static int
SendCookie(NsInterp *interpPtr, Call *callPtr)
{
    static const char *const names[] = {
        [STRICT] = "Strict", [LAX] = "Lax", [NONE] = "None"};
    NsCookie *cookiePtr = &callPtr->cookie;
    NsConn   *connPtr = CookieConn(interpPtr);

    if (connPtr == NULL) {
        return TCL_ERROR;
    }
    if (callPtr->sameSite == NONE && !callPtr->isSecure) {
        Ns_Log(Warning,
               "cookie[%s]: SameSite=None needs '-secure true'; it is sent as"
               " SameSite=Lax",
               cookiePtr->name);
        callPtr->sameSite = LAX;
    }
    cookiePtr->sameSite = names[callPtr->sameSite];
    cookiePtr->isSecure = callPtr->isSecure;
    cookiePtr->isScriptable = callPtr->isScriptable;
    cookiePtr->isDiscarded = callPtr->discards;
    NsConnAddCookie(&connPtr->pub, cookiePtr, callPtr->replaces);
    return TCL_OK;
}

/*
 * A time is one from now, or, when it lies ahead, a point in time; below 0 it
 * is forever.
 */
static void
SetLife(NsCookie *cookiePtr, const Ns_Time *expiresPtr)
{
    time_t now = time(NULL);

    if (expiresPtr == NULL || expiresPtr->sec == 0) {
        return;
    }
    if (expiresPtr->sec < 0) {
        cookiePtr->life = NS_COOKIE_NEVER_ENDS;
        return;
    }
    cookiePtr->life = NS_COOKIE_MAX_AGE;
    cookiePtr->maxAge = expiresPtr->sec > now
        ? expiresPtr->sec - now
        : expiresPtr->sec;
}

static int
GetCookieCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    NsConn     *connPtr;
    const char *name = NULL;
    int         all = 0, includesSet = 0, nFound = 0;
    Tcl_Obj    *defaultObj = NULL, *listObj, *valueObj;
    Ns_ObjvSpec options[] = {
        {"-all", Ns_ObjvBool, &all, NULL},
        {"-include_set_cookies", Ns_ObjvBool, &includesSet, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"name", Ns_ObjvString, &name, NULL},
                          {"?default", Ns_ObjvObj, &defaultObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(options, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (all && includesSet) {
        return NsTclFail(interp,
                         "invalid combination of flags -include_set_cookies "
                         "and -all");
    }
    connPtr = CookieConn(clientData);
    if (connPtr == NULL) {
        return TCL_ERROR;
    }
    listObj = Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(listObj);
    if (includesSet) {
        nFound = FindValues(connPtr->pub.outputheaders, "Set-Cookie", name,
                            listObj);
    }
    /* Of several in the reply the browser keeps the last. */
    if (nFound > 0) {
        (void) Tcl_ListObjIndex(NULL, listObj, nFound - 1, &valueObj);
    } else {
        nFound = FindValues(connPtr->pub.headers, "Cookie", name, listObj);
        (void) Tcl_ListObjIndex(NULL, listObj, 0, &valueObj);
    }
    if (nFound > 0 || (all && defaultObj == NULL)) {
        Tcl_SetObjResult(interp, all ? listObj : valueObj);
    } else if (defaultObj != NULL) {
        Tcl_SetObjResult(interp, defaultObj);
    }
    Tcl_DecrRefCount(listObj);
    return nFound > 0 || all || defaultObj != NULL
        ? TCL_OK
        : NsTclFail(interp, "no matching cookie");
}

/*
 * Append the values of all cookies of that name; how many.  In a Set-Cookie
 * field the cookie comes first, and attributes follow.
 */
static int
FindValues(Ns_Set *headers, const char *field, const char *name,
           Tcl_Obj *listObj)
{
    bool        isSet = STREQ(field, "Set-Cookie");
    const char *next, *value;
    size_t      length;
    Ns_DString  ds;
    int         n = 0;

    Ns_DStringInit(&ds);
    for (int i = 0; i < Ns_SetSize(headers); i++) {
        if (!STRIEQ(Ns_SetKey(headers, i), field)) {
            continue;
        }
        next = Ns_SetValue(headers, i);
        while (NsCookieFindNext(&next, name, &value, &length)
               && (!isSet
                   || memchr(Ns_SetValue(headers, i), ';',
                             (size_t) (value - Ns_SetValue(headers, i)))
                       == NULL)) {
            Ns_DStringTrunc(&ds, 0);
            NsCookieDecode(&ds, value, length);
            Tcl_ListObjAppendElement(NULL, listObj,
                                     Tcl_NewStringObj(Ns_DStringValue(&ds),
                                                      Ns_DStringLength(&ds)));
            n++;
        }
    }
    Ns_DStringFree(&ds);
    return n;
}

static NsConn *
CookieConn(NsInterp *interpPtr)
{
    if (interpPtr->connPtr == NULL) {
        Ns_TclPrintfResult(interpPtr->interp, "No connection available.");
    }
    return interpPtr->connPtr;
}
