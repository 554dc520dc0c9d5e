/* SPDX-License-Identifier: MPL-2.0
 * html_cmd.c --
 *
 *      HTML: ns_quotehtml, ns_unquotehtml, ns_striphtml, ns_parsehtml,
 *      ns_hrefs.
 */

#include "nsstring.h"
#include "base/chars.h"
#include "http/html.h"
#include "http/htmltoken.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc QuoteHtmlCmd, UnquoteHtmlCmd, StripHtmlCmd, ParseHtmlCmd,
    HrefsCmd;

static Tcl_Obj *TokenObj(const NsHtmlToken *tokenPtr, bool isBare);
static Tcl_Obj *TagObj(const NsHtmlToken *tokenPtr);
static Tcl_Obj *SpanObj(NsSpan span);

static bool        NextLink(const char **textPtr, const char **valuePtr,
                            size_t *lengthPtr);
static bool        NextAttribute(const char **textPtr, const char *end,
                                 const char **namePtr, size_t *nameLengthPtr,
                                 const char **valuePtr, size_t *valueLengthPtr);
static const char *TagEnd(const char *text);

static const NsTclCommand commands[] = {
    {"ns_quotehtml", QuoteHtmlCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_unquotehtml", UnquoteHtmlCmd, 1, 1, "text", NS_TCL_BASIC},
    {"ns_parsehtml", ParseHtmlCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_striphtml", StripHtmlCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_hrefs", HrefsCmd, 1, 1, "html", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Html, commands)

static int
QuoteHtmlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    const char *html;
    Ns_DString  ds;
    int         length;

    if (objc != 2) {
        return NsTclFailArgs(interp, "wrong # args:  should be \"%s html\"",
                             Tcl_GetString(objv[0]));
    }
    html = Tcl_GetStringFromObj(objv[1], &length);
    Ns_DStringInit(&ds);
    NsHtmlQuote(&ds, html, (size_t) length);
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_unquotehtml text
 */
static int
UnquoteHtmlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
               Tcl_Obj *const *objv)
{
    Ns_DString  ds;
    int         length;
    const char *html = Tcl_GetStringFromObj(objv[1], &length);

    Ns_DStringInit(&ds);
    NsHtmlUnquote(&ds, html, (size_t) length);
    return NsTclReturnText(interp, &ds);
}

static int
StripHtmlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    const char *html;
    Ns_DString  ds;
    int         length;

    if (objc != 2) {
        return NsTclFailArgs(interp, "wrong # of args:  should be \"%s page\"",
                             Tcl_GetString(objv[0]));
    }
    html = Tcl_GetStringFromObj(objv[1], &length);
    Ns_DStringInit(&ds);
    NsHtmlStrip(&ds, html, (size_t) length);
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_parsehtml ?-noangle? ?-onlytags? ?--? html
 */
static int
ParseHtmlCmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    Tcl_Obj    *listObj;
    NsHtmlScan  scan = {0};
    NsHtmlToken token;
    char       *html;
    int         isBare = 0, isTagsOnly = 0, length;
    Ns_ObjvSpec opts[] = {
        {"-noangle", Ns_ObjvBool, &isBare, INT2PTR(true)},
        {"-onlytags", Ns_ObjvBool, &isTagsOnly, INT2PTR(true)},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"html", Ns_ObjvString, &html, &length},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    scan.p = html;
    scan.end = html + length;
    listObj = Tcl_NewListObj(0, NULL);
    while (NsHtmlNext(&scan, &token)) {
        if (!isTagsOnly) {
            Tcl_ListObjAppendElement(NULL, listObj,
                                     TokenObj(&token, isBare != 0));
        } else if (token.kind == NS_HTML_TAG) {
            Tcl_ListObjAppendElement(NULL, listObj, TagObj(&token));
        }
    }
    return NsTclReturn(interp, listObj);
}

/*
 * {text T}, {tag SOURCE TAG}, {comment SOURCE}, {pi SOURCE}; bare without angle
 * brackets.
 */
static Tcl_Obj *
TokenObj(const NsHtmlToken *tokenPtr, bool isBare)
{
    static const char *const kinds[] = {
        [NS_HTML_TEXT] = "text",
        [NS_HTML_TAG] = "tag",
        [NS_HTML_COMMENT] = "comment",
        [NS_HTML_PI] = "pi"};
    NsSpan   source = tokenPtr->source;
    Tcl_Obj *objs[3];

    if (isBare && tokenPtr->kind != NS_HTML_TEXT) {
        source = (NsSpan){source.start + 1, source.length - 2};
    }
    objs[0] = Tcl_NewStringObj(kinds[tokenPtr->kind], -1);
    objs[1] = SpanObj(source);
    if (tokenPtr->kind != NS_HTML_TAG) {
        return Tcl_NewListObj(2, objs);
    }
    objs[2] = TagObj(tokenPtr);
    return Tcl_NewListObj(3, objs);
}

/*
 * {NAME {ATTRIBUTE VALUE ...}}, or the name of an end tag.
 */
static Tcl_Obj *
TagObj(const NsHtmlToken *tokenPtr)
{
    Tcl_Obj *objs[2];
    NsSpan   attributes = tokenPtr->attributes, name, value;

    objs[0] = SpanObj(tokenPtr->name);
    if (*tokenPtr->name.start == '/') {
        return objs[0];
    }
    objs[1] = Tcl_NewDictObj();
    while (NsHtmlAttribute(&attributes, &name, &value)) {
        NsTclDictPut(objs[1], SpanObj(name), SpanObj(value));
    }
    return Tcl_NewListObj(2, objs);
}

static Tcl_Obj *
SpanObj(NsSpan span)
{
    return Tcl_NewStringObj(span.start, (int) span.length);
}

static int
HrefsCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    const char *text, *value;
    Tcl_Obj    *listPtr;
    size_t      length;

    listPtr = Tcl_NewListObj(0, NULL);
    text = Tcl_GetString(objv[1]);
    while (NextLink(&text, &value, &length)) {
        Tcl_ListObjAppendElement(NULL, listPtr,
                                 Tcl_NewStringObj(value, (int) length));
    }
    return NsTclReturn(interp, listPtr);
}

/*
 * The first href of the next tag <a ...> that has one.
 */
static bool
NextLink(const char **textPtr, const char **valuePtr, size_t *lengthPtr)
{
    const char *tag = *textPtr, *end, *name;
    size_t      nameLength;

    while ((tag = strchr(tag, '<')) != NULL) {
        tag++;
        if (*tag != 'a' && *tag != 'A') {
            continue;
        }
        if (!NsIsSpace(tag[1])) {
            continue;
        }
        end = TagEnd(tag);
        if (end == NULL) {
            break;
        }
        *textPtr = end + 1;
        tag++;
        while (NextAttribute(&tag, end, &name, &nameLength, valuePtr,
                             lengthPtr)) {
            if (nameLength == 4 && strncasecmp(name, "href", 4) == 0
                && *valuePtr != NULL) {
                return true;
            }
        }
        tag = end;
    }
    return false;
}

/*
 * The > that ends a tag; quoted values may hold one.
 */
static const char *
TagEnd(const char *text)
{
    while (*text != '\0' && *text != '>') {
        if (*text == '=') {
            const char *quote = text + 1;

            quote = NsSkipSpace(quote);
            if (*quote == '"' || *quote == '\'') {
                const char *close = strchr(quote + 1, *quote);

                text = close == NULL ? quote : close;
            } else {
                text = quote - 1;
            }
        }
        text++;
    }
    return *text == '>' ? text : NULL;
}

static bool
NextAttribute(const char **textPtr, const char *end, const char **namePtr,
              size_t *nameLengthPtr, const char **valuePtr,
              size_t *valueLengthPtr)
{
    const char *text = NsSkipSpaceTo(*textPtr, end);

    if (text == end) {
        return false;
    }
    *namePtr = text;
    while (text < end && *text != '=' && !NsIsSpace(*text)) {
        text++;
    }
    *nameLengthPtr = (size_t) (text - *namePtr);
    *valuePtr = NULL;
    *valueLengthPtr = 0;
    *textPtr = text;
    text = NsSkipSpaceTo(text, end);
    if (text == end || *text != '=') {
        return true;
    }
    text = NsSkipSpaceTo(text + 1, end);
    *valuePtr = text;
    if (text < end && (*text == '"' || *text == '\'')) {
        const char *close = memchr(text + 1, *text, (size_t) (end - text - 1));

        *valuePtr = text + 1;
        text = close == NULL ? end : close;
    } else {
        while (text < end && !NsIsSpace(*text)) {
            text++;
        }
    }
    *valueLengthPtr = (size_t) (text - *valuePtr);
    *textPtr = text < end && (*text == '"' || *text == '\'') ? text + 1 : text;
    return true;
}
