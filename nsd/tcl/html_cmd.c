/*
 * html_cmd.c --
 *
 *      HTML: ns_quotehtml, ns_striphtml, ns_hrefs.
 */

#include "nsstring.h"
#include "base/chars.h"
#include "http/html.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc QuoteHtmlCmd, StripHtmlCmd, HrefsCmd;

static bool        NextLink(const char **textPtr, const char **valuePtr,
                            size_t *lengthPtr);
static bool        NextAttribute(const char **textPtr, const char *end,
                                 const char **namePtr, size_t *nameLengthPtr,
                                 const char **valuePtr, size_t *valueLengthPtr);
static const char *TagEnd(const char *text);

static const NsTclCommand commands[] = {
    {"ns_quotehtml", QuoteHtmlCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
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
        return NsTclFail(interp, "wrong # args:  should be \"%s html\"",
                         Tcl_GetString(objv[0]));
    }
    html = Tcl_GetStringFromObj(objv[1], &length);
    Ns_DStringInit(&ds);
    NsHtmlQuote(&ds, html, (size_t) length);
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
        return NsTclFail(interp, "wrong # of args:  should be \"%s page\"",
                         Tcl_GetString(objv[0]));
    }
    html = Tcl_GetStringFromObj(objv[1], &length);
    Ns_DStringInit(&ds);
    NsHtmlStrip(&ds, html, (size_t) length);
    return NsTclReturnText(interp, &ds);
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
