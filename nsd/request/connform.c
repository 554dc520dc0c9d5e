/* SPDX-License-Identifier: MPL-2.0
 * connform.c --
 *
 *      The form of a request: its query, or the body of a POST.
 */

#include "request/connform.h"

#include "nsconn.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/set.h"
#include "http/charset.h"
#include "http/form.h"
#include "http/jsonset.h"
#include "http/multipart.h"
#include "http/url.h"
#include "request/conn_int.h"
#include "request/connbody.h"

#define MAX_JSON_DEPTH 1000u

typedef struct NsConnForm {
    Ns_Set     *querySet; /* NULL: not parsed, or forgotten. */
    NsConnFile *files;
    int         epoch;
    const char *jsonProblem; /* NULL: none. */
    bool        isDubious;   /* Not UTF-8, and not to be read otherwise. */
} NsConnForm;

typedef struct PartArg {
    NsConn      *connPtr;
    Ns_Set      *setPtr;
    Tcl_Encoding encoding;
    bool         isValid; /* All text so far is in the encoding. */
    NsConnFile **linkPtr; /* The receiver of the next file. */
} PartArg;

static NsConnForm  *GetForm(NsConn *connPtr);
static void         ParseJson(NsConn *connPtr);
static void         Parse(NsConn *connPtr, Tcl_Encoding fallback);
static Tcl_Encoding NamedEncoding(Ns_Set *setPtr);
static bool         ParseAs(NsConn *connPtr, Tcl_Encoding encoding);
static bool         IsInBody(NsConn *connPtr);
static bool         ParsePost(NsConn *connPtr, Tcl_Encoding encoding);
static bool ParseFields(NsConn *connPtr, const char *text, size_t length,
                        Tcl_Encoding encoding);
static void AddPart(const NsFormPart *partPtr, void *arg);
static bool IsText(const char *bytes, size_t length, Tcl_Encoding encoding);
static void AddFile(PartArg *argPtr, const NsFormPart *partPtr);

Ns_Set *
Ns_ConnGetQuery(Ns_Conn *conn)
{
    (void) NsConnGetForm(NsConnOf(conn), NULL);
    return NsConnOf(conn)->formPtr->querySet;
}

Ns_Set *
NsConnGetForm(NsConn *connPtr, Tcl_Encoding fallback)
{
    NsConnForm *formPtr = GetForm(connPtr);

    if (formPtr->querySet == NULL || (formPtr->isDubious && fallback != NULL)) {
        Parse(connPtr, fallback);
    }
    return formPtr->isDubious || formPtr->jsonProblem != NULL
        ? NULL
        : formPtr->querySet;
}

const char *
NsConnFormJsonProblem(const NsConn *connPtr)
{
    return connPtr->formPtr == NULL ? NULL : connPtr->formPtr->jsonProblem;
}

void
Ns_ConnClearQuery(Ns_Conn *conn)
{
    NsConnForm *formPtr = NsConnOf(conn)->formPtr;

    if (formPtr != NULL && formPtr->querySet != NULL) {
        formPtr->querySet = NULL;
        formPtr->isDubious = false;
        formPtr->jsonProblem = NULL;
        formPtr->epoch++;
    }
}

const NsConnFile *
NsConnFiles(const NsConn *connPtr)
{
    return connPtr->formPtr == NULL ? NULL : connPtr->formPtr->files;
}

int
NsConnFormEpoch(const NsConn *connPtr)
{
    return connPtr->formPtr == NULL ? 0 : connPtr->formPtr->epoch;
}

static NsConnForm *
GetForm(NsConn *connPtr)
{
    if (connPtr->formPtr == NULL) {
        connPtr->formPtr = NsArenaZalloc(NsConnArena(connPtr),
                                         sizeof(NsConnForm));
    }
    return connPtr->formPtr;
}

static void
Parse(NsConn *connPtr, Tcl_Encoding fallback)
{
    NsConnForm  *formPtr = connPtr->formPtr;
    Tcl_Encoding encoding = connPtr->urlEncoding, named;
    bool         isValid;

    formPtr->isDubious = false;
    if (IsInBody(connPtr) && NsConnIsJson(connPtr)) {
        ParseJson(connPtr);
        return;
    }
    isValid = ParseAs(connPtr, encoding);
    named = NamedEncoding(formPtr->querySet);
    if (named != NULL && named != encoding) {
        encoding = named;
        isValid = ParseAs(connPtr, encoding);
    }
    if (isValid) {
        return;
    }
    if (fallback == NULL) {
        fallback = NsConnRequestServer(connPtr)->formFallback;
    }
    if (fallback == NULL && IsInBody(connPtr)) {
        fallback = Ns_GetCharsetEncoding("iso-8859-1");
    }
    if (fallback == NULL) {
        formPtr->isDubious = true;
        return;
    }
    Ns_Log(Warning,
           "form[%s]: the fields are not valid UTF-8; they are read as"
           " %s",
           NsConnRequest(connPtr)->url, Ns_GetEncodingCharset(fallback));
    (void) ParseAs(connPtr, fallback);
}

/*
 * JSON is UTF-8, whatever the charset of other forms (RFC 8259, section 8.1).
 */
static void
ParseJson(NsConn *connPtr)
{
    static const NsJsonLimits limits = {.maxDepth = MAX_JSON_DEPTH};
    NsConnForm               *formPtr = connPtr->formPtr;
    NsArena                  *arenaPtr = NsConnArena(connPtr);
    NsJsonReader              reader;
    size_t                    length = 0u;
    const char               *body = NsConnFormBody(connPtr, &length);
    bool                      isRead;

    formPtr->querySet = NsSetCreateInArena(arenaPtr, NULL, 8);
    formPtr->files = NULL;
    if (connPtr->sockPtr == NULL || length == 0u) {
        return;
    }
    connPtr->pub.flags |= NS_CONN_JSONPARSED;
    NsJsonInit(&reader, body, length, &limits);
    isRead = NsJsonReadSet(&reader, "", formPtr->querySet);
    if (isRead && !NsJsonAtEnd(&reader)) {
        isRead = false;
        snprintf(reader.error, sizeof(reader.error), "trailing data");
    }
    if (!isRead) {
        Ns_DString ds;

        Ns_DStringInit(&ds);
        Ns_DStringPrintf(&ds, "parse error at byte %td: %s",
                         reader.p - reader.text, reader.error);
        formPtr->jsonProblem = NsArenaDup(arenaPtr, Ns_DStringValue(&ds),
                                          (size_t) Ns_DStringLength(&ds));
        Ns_DStringFree(&ds);
    }
    NsJsonFree(&reader);
}

/*
 * Of the form itself; NULL if it does not say, or nobody knows that charset.
 */
static Tcl_Encoding
NamedEncoding(Ns_Set *setPtr)
{
    const char *charset = Ns_SetGet(setPtr, "_charset_");

    return charset == NULL ? NULL : Ns_GetCharsetEncoding(charset);
}

/*
 * False if something is not in the encoding.
 */
static bool
ParseAs(NsConn *connPtr, Tcl_Encoding encoding)
{
    NsConnForm *formPtr = connPtr->formPtr;
    const char *query = NsConnRequest(connPtr)->query;

    formPtr->querySet = NsSetCreateInArena(NsConnArena(connPtr), NULL, 8);
    formPtr->files = NULL;
    if (IsInBody(connPtr)) {
        return ParsePost(connPtr, encoding);
    }
    return query == NULL
        || ParseFields(connPtr, query, strlen(query), encoding);
}

/*
 * A large upload that is not a form, in a file of its own, has its form in the
 * query.
 */
static bool
IsInBody(NsConn *connPtr)
{
    const char *method = NsConnRequest(connPtr)->method;

    if (method == NULL || !STREQ(method, "POST")) {
        /* Other forms come with POST alone. */
        return method != NULL
            && (STREQ(method, "PUT") || STREQ(method, "PATCH"))
            && NsConnIsJson(connPtr);
    }
    return connPtr->messagePtr->contentFile == NULL || NsConnIsForm(connPtr);
}

/*
 * After the reply is finished a body is no longer parsed.
 */
static bool
ParsePost(NsConn *connPtr, Tcl_Encoding encoding)
{
    NsFormSource source = {.isMapped = false};
    PartArg      part = {.connPtr = connPtr,
                         .setPtr = connPtr->formPtr->querySet,
                         .encoding = encoding,
                         .isValid = true,
                         .linkPtr = &connPtr->formPtr->files};
    const char  *type = Ns_SetIGet(connPtr->pub.headers, "Content-Type");

    if (connPtr->sockPtr == NULL) {
        return true;
    }
    source.data = NsConnFormBody(connPtr, &source.length);
    if (source.data == NULL) {
        source.data = "";
        source.length = 0;
    }
    if (type != NULL
        && NsFormParseMultipart(&source, type, encoding, AddPart, &part)
            == NS_OK) {
        return part.isValid;
    }
    return ParseFields(connPtr, source.data, source.length, encoding);
}

static bool
ParseFields(NsConn *connPtr, const char *text, size_t length,
            Tcl_Encoding encoding)
{
    NsFormParseQuery(text, length, encoding, connPtr->formPtr->querySet);
    return !NsEncodingIsUtf8(encoding) || NsFormIsUtf8(text, length);
}

static void
AddPart(const NsFormPart *partPtr, void *arg)
{
    PartArg   *argPtr = arg;
    Ns_DString ds;

    for (int i = 0; i < partPtr->nHeaders; i++) {
        argPtr->isValid &= IsText(partPtr->headers[i].value,
                                  partPtr->headers[i].valueLength,
                                  argPtr->encoding);
    }
    if (partPtr->fileName != NULL) {
        (void) Ns_SetPut(argPtr->setPtr, partPtr->name, partPtr->fileName);
        AddFile(argPtr, partPtr);
        return;
    }
    argPtr->isValid &= IsText(partPtr->content, partPtr->contentLength,
                              argPtr->encoding);
    Ns_DStringInit(&ds);
    NsFormDecode(&ds, partPtr->content, partPtr->contentLength,
                 argPtr->encoding);
    (void) Ns_SetPut(argPtr->setPtr, partPtr->name, Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

static bool
IsText(const char *bytes, size_t length, Tcl_Encoding encoding)
{
    return !NsEncodingIsUtf8(encoding)
        || NsUtf8ValidBytes(bytes, length) == length;
}

static void
AddFile(PartArg *argPtr, const NsFormPart *partPtr)
{
    NsArena    *arenaPtr = NsConnArena(argPtr->connPtr);
    NsConnFile *filePtr;

    NsAssert(partPtr->contentOffset + partPtr->contentLength
             <= argPtr->connPtr->messagePtr->contentLength);
    filePtr = NsArenaZalloc(arenaPtr, sizeof(NsConnFile));
    filePtr->field = NsArenaDup(arenaPtr, partPtr->name, strlen(partPtr->name));
    filePtr->fileName = NsArenaDup(arenaPtr, partPtr->fileName,
                                   strlen(partPtr->fileName));
    filePtr->offset = partPtr->contentOffset;
    filePtr->length = partPtr->contentLength;
    filePtr->headers = NsSetCreateInArena(arenaPtr, NULL, partPtr->nHeaders);
    for (int i = 0; i < partPtr->nHeaders; i++) {
        const NsFormHeader *headerPtr = &partPtr->headers[i];
        char               *name = NsArenaDup(arenaPtr, headerPtr->name,
                                              headerPtr->nameLength);
        char               *value = NsArenaDup(arenaPtr, headerPtr->value,
                                               headerPtr->valueLength);

        (void) NsSetPutBorrowed(filePtr->headers, Ns_StrToLower(name), value);
    }
    NsAssert(*argPtr->linkPtr == NULL);
    *argPtr->linkPtr = filePtr;
    argPtr->linkPtr = &filePtr->nextPtr;
}
