/*
 * text_cmd.c --
 *
 *      HTML and text: ns_quotehtml, ns_striphtml, ns_hrefs, ns_trim.
 */

#include "nsstring.h"
#include "base/chars.h"
#include "http/html.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/result.h"

static Tcl_ObjCmdProc QuoteHtmlCmd, StripHtmlCmd, HrefsCmd, TrimCmd;

static bool        NextLink(const char **textPtr, const char **valuePtr,
                            size_t *lengthPtr);
static bool        NextAttribute(const char **textPtr, const char *end,
                                 const char **namePtr, size_t *nameLengthPtr,
                                 const char **valuePtr, size_t *valueLengthPtr);
static const char *TagEnd(const char *text);
static void TrimLines(Ns_DString *dsPtr, const char *text, const char *end,
                      const char *delimiter, const char *prefix);

static const NsTclCommand commands[] = {
    {"ns_quotehtml", QuoteHtmlCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_striphtml", StripHtmlCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_hrefs", HrefsCmd, 1, 1, "html", NS_TCL_BASIC},
    {"ns_trim", TrimCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Text, commands)

/*
 * --------------------------------------------------------------- HTML
 */

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

/*
 * --------------------------------------------------------------- Trimming
 */

static int
TrimCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    char       *delimiter = NULL, *prefix = NULL;
    const char *text, *end;
    Tcl_Obj    *textPtr;
    Ns_DString  ds;
    int         isSubst = 0, length;
    Ns_ObjvSpec opts[] = {{"-subst", Ns_ObjvBool, &isSubst, INT2PTR(true)},
                          {"-delimiter", Ns_ObjvString, &delimiter, NULL},
                          {"-prefix", Ns_ObjvString, &prefix, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"text", Ns_ObjvObj, &textPtr, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    if (delimiter != NULL && Tcl_NumUtfChars(delimiter, -1) != 1) {
        return NsTclFail(interp,
                         "invalid -delimiter \"%s\": must be a "
                         "single character",
                         delimiter);
    }
    if (isSubst) {
        textPtr = Tcl_SubstObj(interp, textPtr, TCL_SUBST_ALL);
        if (textPtr == NULL) {
            return TCL_ERROR;
        }
    }
    Tcl_IncrRefCount(textPtr);
    text = Tcl_GetStringFromObj(textPtr, &length);
    end = text + length;
    text = NsSkipSpaceTo(text, end);
    end = NsTrimEnd(text, end);
    Ns_DStringInit(&ds);
    TrimLines(&ds, text, end, delimiter, prefix);
    Tcl_DecrRefCount(textPtr);
    return NsTclReturnText(interp, &ds);
}

/*
 * Without its indentation, a line also loses the delimiter or prefix that it
 * starts with.
 */
static void
TrimLines(Ns_DString *dsPtr, const char *text, const char *end,
          const char *delimiter, const char *prefix)
{
    const char *margin = delimiter != NULL ? delimiter : prefix;
    size_t      marginLength = margin == NULL ? 0 : strlen(margin);

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t) (end - text));
        const char *next = newline == NULL ? end : newline + 1;

        while (text < next && (*text == ' ' || *text == '\t')) {
            text++;
        }
        if (marginLength > 0 && (size_t) (next - text) >= marginLength
            && memcmp(text, margin, marginLength) == 0) {
            text += marginLength;
        }
        Ns_DStringNAppend(dsPtr, text, (int) (next - text));
        text = next;
    }
}
