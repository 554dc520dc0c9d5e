/* SPDX-License-Identifier: MPL-2.0
 * text_cmd.c --
 *
 *      Text: ns_trim, ns_reflow_text, ns_valid_utf8, ns_strcoll, ns_hash.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "base/chars.h"
#include "http/url.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"

#include <locale.h>
#include <wchar.h>

static Tcl_ObjCmdProc TrimCmd, ReflowTextCmd, ValidUtf8Cmd, StrCollCmd, HashCmd;

static void TrimLines(Ns_DString *dsPtr, const char *text, const char *end,
                      const char *delimiter, const char *prefix);
static int  TakeNumber(Tcl_Interp *interp, Tcl_Obj *obj, const char *option,
                       int low, int *valuePtr);
static void ReflowLine(Ns_DString *dsPtr, const char *text, const char *end,
                       int width, int used, const char *prefix);
static const char *BreakBefore(const char *text, const char *end, int room);
static locale_t    DefaultLocale(void);
static void        SetDefaultLocale(void);
static wchar_t    *WideDup(Tcl_Obj *obj);

static const NsTclCommand commands[] = {
    {"ns_trim", TrimCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_reflow_text", ReflowTextCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_valid_utf8", ValidUtf8Cmd, 1, 2, "bytes ?varname?", NS_TCL_BASIC},
    {"ns_strcoll", StrCollCmd, 0, NS_TCL_ANY, NULL, NS_TCL_BASIC},
    {"ns_hash", HashCmd, 1, 1, "string", NS_TCL_BASIC},
    NS_TCL_END};

NS_TCL_FAMILY(Text, commands)

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
    if (delimiter != NULL && prefix != NULL) {
        return NsTclFail(interp,
                         "invalid arguments: either -prefix or -delimiter can "
                         "be specified");
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

/*
 * ns_reflow_text ?-width n? ?-offset n? ?-prefix p? ?--? text
 */
static int
ReflowTextCmd(ClientData clientData, Tcl_Interp *interp, int objc,
              Tcl_Obj *const *objv)
{
    Tcl_Obj    *widthObj = NULL, *offsetObj = NULL;
    char       *prefix = NULL, *text;
    const char *end;
    Ns_DString  ds;
    int         width = 80, offset = 0, length;
    Ns_ObjvSpec opts[] = {{"-width", Ns_ObjvObj, &widthObj, NULL},
                          {"-offset", Ns_ObjvObj, &offsetObj, NULL},
                          {"-prefix", Ns_ObjvString, &prefix, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"text", Ns_ObjvString, &text, &length},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK
        || TakeNumber(interp, widthObj, "-width", 5, &width) != TCL_OK
        || TakeNumber(interp, offsetObj, "-offset", 0, &offset) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringInit(&ds);
    end = text + length;
    for (const char *line = text;; offset = 0) {
        const char *newline = memchr(line, '\n', (size_t) (end - line));

        ReflowLine(&ds, line, newline == NULL ? end : newline, width, offset,
                   prefix == NULL ? "" : prefix);
        if (newline == NULL) {
            break;
        }
        Ns_DStringNAppend(&ds, "\n", 1);
        line = newline + 1;
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * Nothing happens without the option.
 */
static int
TakeNumber(Tcl_Interp *interp, Tcl_Obj *obj, const char *option, int low,
           int *valuePtr)
{
    if (obj == NULL) {
        return TCL_OK;
    }
    if (Tcl_GetIntFromObj(interp, obj, valuePtr) != TCL_OK) {
        return TCL_ERROR;
    }
    if (*valuePtr < low) {
        return NsTclFail(interp,
                         "expected integer in range [%d,MAX] for '%s', but got "
                         "%s",
                         low, option, Tcl_GetString(obj));
    }
    return TCL_OK;
}

/*
 * Blanks where a line is broken disappear.
 */
static void
ReflowLine(Ns_DString *dsPtr, const char *text, const char *end, int width,
           int used, const char *prefix)
{
    Ns_DStringAppend(dsPtr, prefix);
    for (;;) {
        const char *stop = BreakBefore(text, end, width - MIN(width, used));

        Ns_DStringNAppend(dsPtr, text, (int) (stop - text));
        if (stop == end) {
            break;
        }
        Ns_DStringVarAppend(dsPtr, "\n", prefix, (char *) NULL);
        text = NsSkipSpaceTo(stop, end);
        used = 0;
    }
}

/*
 * Where the first line of room characters ends: at the end of the text, or at
 * blanks between two words.
 */
static const char *
BreakBefore(const char *text, const char *end, int room)
{
    const char *p = NsSkipSpaceTo(text, end), *best = NULL;
    int         n = (int) (p - text);

    while (p < end) {
        const char *stop;

        /* A word, then the blanks behind it. */
        for (; p < end && !NsIsSpace(*p); p++) {
            n += (UCHAR(*p) & 0xC0) != 0x80;
        }
        if (n > room && best != NULL) {
            return best;
        }
        stop = p;
        p = NsSkipSpaceTo(p, end);
        if (p == end) {
            break;
        }
        best = stop;
        n += (int) (p - stop);
    }
    return end;
}

/*
 * ns_valid_utf8 bytes ?varname?
 */
static int
ValidUtf8Cmd(ClientData clientData, Tcl_Interp *interp, int objc,
             Tcl_Obj *const *objv)
{
    int                  length;
    const unsigned char *bytes = Tcl_GetByteArrayFromObj(objv[1], &length);
    Ns_DString           ds;
    bool                 isValid, isSet = true;

    Ns_DStringInit(&ds);
    isValid = Ns_Valid_UTF8(bytes, (size_t) length, &ds);
    if (!isValid && objc == 3) {
        isSet = Tcl_SetVar2Ex(interp, Tcl_GetString(objv[2]), NULL,
                              Tcl_NewStringObj(Ns_DStringValue(&ds),
                                               Ns_DStringLength(&ds)),
                              TCL_LEAVE_ERR_MSG)
            != NULL;
    }
    Ns_DStringFree(&ds);
    return isSet ? NsTclReturn(interp, Tcl_NewBooleanObj(isValid)) : TCL_ERROR;
}

/*
 * ns_strcoll ?-locale l? ?--? string1 string2
 */
static int
StrCollCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    char       *name = NULL;
    Tcl_Obj    *objs[2];
    wchar_t    *words[2];
    locale_t    locale;
    int         result;
    Ns_ObjvSpec opts[] = {{"-locale", Ns_ObjvString, &name, NULL},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"string1", Ns_ObjvObj, &objs[0], NULL},
                          {"string2", Ns_ObjvObj, &objs[1], NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 1, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    locale = name == NULL
        ? DefaultLocale()
        : newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, name, (locale_t) 0);
    if (locale == (locale_t) 0) {
        return NsTclFail(interp, "specified locale '%s' is not available",
                         name == NULL ? "" : name);
    }
    words[0] = WideDup(objs[0]);
    words[1] = WideDup(objs[1]);
    result = wcscoll_l(words[0], words[1], locale);
    ns_free(words[0]);
    ns_free(words[1]);
    if (name != NULL) {
        freelocale(locale);
    }
    return NsTclReturn(interp, Tcl_NewIntObj((result > 0) - (result < 0)));
}

/*
 * That of the environment the server was started in.
 */
static locale_t defaultLocale; /* Constant once set. */

static locale_t
DefaultLocale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, SetDefaultLocale);
    return defaultLocale;
}

static void
SetDefaultLocale(void)
{
    defaultLocale = newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, "",
                              (locale_t) 0);
    if (defaultLocale == (locale_t) 0) {
        defaultLocale = newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, "C",
                                  (locale_t) 0);
    }
}

/*
 * Wide characters are code points, whatever the locale's charset; in Tcl those
 * beyond U+FFFF are two.
 */
static wchar_t *
WideDup(Tcl_Obj *obj)
{
    int                nChars;
    const Tcl_UniChar *chars = Tcl_GetUnicodeFromObj(obj, &nChars);
    wchar_t           *wide = ns_malloc(((size_t) nChars + 1) * sizeof(*wide));
    size_t             n = 0;

    for (int i = 0; i < nChars; i++) {
        wchar_t c = (wchar_t) chars[i];

        if (c >= 0xD800 && c <= 0xDBFF && i + 1 < nChars
            && chars[i + 1] >= 0xDC00 && chars[i + 1] <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10)
                + ((wchar_t) chars[++i] - 0xDC00);
        }
        /* A null character would end the text. */
        wide[n++] = c == 0 ? 1 : c;
    }
    wide[n] = 0;
    return wide;
}

/*
 * ns_hash string: the same number in all processes and releases, since
 * applications choose partitions by it.
 */
static int
HashCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(objv[1], &length);
    uint64_t    hash = 0;

    for (int i = 0; i < length; i++) {
        hash = 9 * hash + UCHAR(text[i]);
    }
    return NsTclReturn(interp, Tcl_NewWideIntObj((Tcl_WideInt) hash));
}
