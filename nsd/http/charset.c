/* SPDX-License-Identifier: MPL-2.0
 * charset.c --
 *
 *      From names of character sets to Tcl encodings and back.
 */

#include "http/charset.h"

#include <pthread.h>

#include "nsthread.h"

#include "base/chars.h"
#include "http/header.h"

#define MAX_NAME    64  /* No charset has a longer name. */
#define MAX_UNKNOWN 100 /* Clients choose names; remember no more. */

static const struct {
    const char *charset;
    const char *encodingName;
} builtins[] = {
    {"iso-2022-jp", "iso2022-jp"}, {"iso-2022-kr", "iso2022-kr"},
    {"iso-8859-1", "iso8859-1"},   {"iso-8859-2", "iso8859-2"},
    {"iso-8859-3", "iso8859-3"},   {"iso-8859-4", "iso8859-4"},
    {"iso-8859-5", "iso8859-5"},   {"iso-8859-6", "iso8859-6"},
    {"iso-8859-7", "iso8859-7"},   {"iso-8859-8", "iso8859-8"},
    {"iso-8859-9", "iso8859-9"},   {"windows-1250", "cp1250"},
    {"windows-1251", "cp1251"},    {"windows-1252", "cp1252"},
    {"windows-1253", "cp1253"},    {"windows-1254", "cp1254"},
    {"windows-1255", "cp1255"},    {"windows-1256", "cp1256"},
    {"windows-1257", "cp1257"},    {"windows-1258", "cp1258"},
    {"us-ascii", "ascii"},         {"shift_jis", "shiftjis"},
    {"korean", "ksc5601"},         {"ksc_5601", "ksc5601"},
    {"mac", "macRoman"},           {"macintosh", "macRoman"},
    {"x-mac", "macRoman"},         {"x-macintosh", "macRoman"}};

/*
 * Each gives mac-NAME, macNAME, and x-mac-NAME.
 */
static const struct {
    const char *name;
    const char *encodingName;
} macBuiltins[] = {
    {"centeuro", "macCentEuro"}, {"centraleupore", "macCentEuro"},
    {"croatian", "macCroatian"}, {"cyrillic", "macCyrillic"},
    {"greek", "macGreek"},       {"iceland", "macIceland"},
    {"japan", "macJapan"},       {"roman", "macRoman"},
    {"romania", "macRomania"},   {"thai", "macThai"},
    {"turkish", "macTurkish"},   {"ukraine", "macUkraine"}};

static NsNameTable aliases;   /* Charset -> name of the encoding. */
static NsNameTable charsets;  /* Name of an encoding -> its first alias. */
static NsNameTable encodings; /* Name of an encoding -> Tcl_Encoding, or
                               * &unknownMark. */
static NsNameTable extensions = {.isExact = true}; /* Of files -> charset. */

static const char unknownMark;
static const char utf8Name[] = "utf-8";

/*
 * Set before there are other threads, as a rule; atomic because nothing
 * enforces that.
 */
static _Atomic(NsCharsetConnProc *) connProc;

static pthread_once_t builtinsOnce = PTHREAD_ONCE_INIT;

static Tcl_Encoding LoadEncoding(const char *name, size_t length);
static bool         IsName(const char *name, size_t length);
static void         NoteUnknown(const char *name, size_t length);
static void         AddBuiltins(void);
static void         AddAlias(const char *charset, const char *encodingName);

void
NsCharsetAdd(const char *charset, const char *encodingName)
{
    pthread_once(&builtinsOnce, AddBuiltins);
    AddAlias(charset, ns_strdup(encodingName));
}

void
NsCharsetAddExtension(const char *extension, const char *charset)
{
    pthread_once(&builtinsOnce, AddBuiltins);
    NsNamePut(&extensions, extension, strlen(extension), ns_strdup(charset));
}

void
NsCharsetSetConnProc(NsCharsetConnProc *proc)
{
    atomic_store_explicit(&connProc, proc, memory_order_release);
}

void
NsCharsetEach(NsNameProc *proc, void *arg)
{
    pthread_once(&builtinsOnce, AddBuiltins);
    NsNameEach(&aliases, proc, arg);
}

bool
NsEncodingIsUtf8(Tcl_Encoding encoding)
{
    return encoding == NULL
        || strcmp(Tcl_GetEncodingName(encoding), utf8Name) == 0;
}

bool
NsTypeCharset(const char *type, const char **startPtr, size_t *lengthPtr)
{
    return NsFieldParameter(type, "charset", startPtr, lengthPtr);
}

Tcl_Encoding
Ns_GetCharsetEncoding(const char *charset)
{
    return Ns_GetCharsetEncodingEx(charset, strlen(charset));
}

Tcl_Encoding
Ns_GetCharsetEncodingEx(const char *charset, size_t length)
{
    const char *name;

    while (length > 0 && NsIsSpace(*charset)) {
        charset++;
        length--;
    }
    while (length > 0 && NsIsSpace(charset[length - 1])) {
        length--;
    }
    if (length == 0 || length > MAX_NAME) {
        return NULL;
    }
    pthread_once(&builtinsOnce, AddBuiltins);
    name = NsNameGet(&aliases, charset, length);
    return name == NULL ? LoadEncoding(charset, length)
                        : LoadEncoding(name, strlen(name));
}

const char *
Ns_GetEncodingCharset(Tcl_Encoding encoding)
{
    const char *name = Tcl_GetEncodingName(encoding);
    const char *charset;

    pthread_once(&builtinsOnce, AddBuiltins);
    charset = NsNameGet(&charsets, name, strlen(name));
    return charset == NULL ? name : charset;
}

Tcl_Encoding
Ns_GetTypeEncoding(const char *type)
{
    const char *charset;
    size_t      length;

    if (NsTypeCharset(type, &charset, &length)) {
        return Ns_GetCharsetEncodingEx(charset, length);
    }
    if (strncasecmp(type, "text/", 5) == 0) {
        return Ns_GetCharsetEncoding("iso-8859-1");
    }
    return NULL;
}

Tcl_Encoding
Ns_GetFileEncoding(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(slash == NULL ? file : slash, '.');
    const char *charset = NULL;

    if (dot != NULL) {
        pthread_once(&builtinsOnce, AddBuiltins);
        charset = NsNameGet(&extensions, dot, strlen(dot));
    }
    return Ns_GetCharsetEncoding(charset == NULL ? utf8Name : charset);
}

Tcl_Encoding
Ns_GetEncoding(const char *name)
{
    return Ns_GetCharsetEncoding(name);
}

Tcl_Encoding
Ns_GetUrlEncoding(const char *charset)
{
    Tcl_Encoding       encoding = NULL;
    NsCharsetConnProc *proc;

    if (charset != NULL) {
        encoding = Ns_GetCharsetEncoding(charset);
    }
    if (encoding == NULL) {
        proc = atomic_load_explicit(&connProc, memory_order_acquire);
        encoding = proc == NULL ? NULL : proc();
    }
    return encoding != NULL ? encoding : Ns_GetCharsetEncoding(utf8Name);
}

/*
 * Tcl's encoding of that name, loaded at first use and kept.
 */
static Tcl_Encoding
LoadEncoding(const char *name, size_t length)
{
    const void  *known = NsNameGet(&encodings, name, length);
    char         text[MAX_NAME + 1];
    Tcl_Encoding encoding;

    if (known != NULL) {
        return known == &unknownMark ? NULL : (Tcl_Encoding) (uintptr_t) known;
    }
    if (!IsName(name, length)) {
        return NULL;
    }
    /* Tcl's own names have case (macRoman); charsets have none. */
    memcpy(text, name, length);
    text[length] = '\0';
    encoding = Tcl_GetEncoding(NULL, text);
    if (encoding == NULL) {
        for (size_t i = 0; i < length; i++) {
            text[i] = NsToLower(text[i]);
        }
        encoding = Tcl_GetEncoding(NULL, text);
    }
    if (encoding == NULL) {
        NoteUnknown(text, length);
    } else {
        NsNamePut(&encodings, name, length, encoding);
    }
    return encoding;
}

/*
 * Tcl looks for a file of that name; a client must not lead it elsewhere.
 */
static bool
IsName(const char *name, size_t length)
{
    if (length > MAX_NAME) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!NsIsAlpha(name[i]) && !NsIsDigit(name[i]) && name[i] != '-'
            && name[i] != '_' && (name[i] != '.' || i == 0)) {
            return false;
        }
    }
    return true;
}

static void
NoteUnknown(const char *name, size_t length)
{
    static atomic_int nUnknown;

    if (atomic_fetch_add_explicit(&nUnknown, 1, memory_order_relaxed)
        < MAX_UNKNOWN) {
        NsNamePut(&encodings, name, length, &unknownMark);
    }
}

static void
AddBuiltins(void)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
        AddAlias(builtins[i].charset, builtins[i].encodingName);
    }
    for (size_t i = 0; i < sizeof(macBuiltins) / sizeof(macBuiltins[0]); i++) {
        static const char *const prefixes[] = {"mac-", "mac", "x-mac-"};

        for (int j = 0; j < Ns_NrElements(prefixes); j++) {
            char alias[MAX_NAME];

            snprintf(alias, sizeof(alias), "%s%s", prefixes[j],
                     macBuiltins[i].name);
            AddAlias(alias, macBuiltins[i].encodingName);
        }
    }
    NsNamePut(&extensions, ".txt", 4, "ascii");
    NsNamePut(&extensions, ".htm", 4, "iso8859-1");
    NsNamePut(&extensions, ".html", 5, "iso8859-1");
    NsNamePut(&extensions, ".adp", 4, "iso8859-1");
}

/*
 * The first alias of an encoding is its name outside.
 */
static void
AddAlias(const char *charset, const char *encodingName)
{
    size_t length = strlen(encodingName);

    NsNamePut(&aliases, charset, strlen(charset), encodingName);
    if (NsNameGet(&charsets, encodingName, length) == NULL) {
        char *lower = ns_strdup(charset);

        for (char *p = lower; *p != '\0'; p++) {
            *p = NsToLower(*p);
        }
        NsNamePut(&charsets, encodingName, length, lower);
    }
}
