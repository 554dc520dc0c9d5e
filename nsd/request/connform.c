/*
 * connform.c --
 *
 *      The form of a request: its query, or the body of a POST.
 */

#include "request/connform.h"

#include "nsconn.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "base/set.h"
#include "http/form.h"
#include "http/multipart.h"
#include "request/conn_int.h"
#include "request/connbody.h"

typedef struct NsConnForm {
    Ns_Set     *querySet; /* NULL: not parsed, or forgotten. */
    NsConnFile *files;
    int         epoch;
} NsConnForm;

typedef struct PartArg {
    NsConn       *connPtr;
    Ns_Set       *setPtr;
    Tcl_HashTable fields;  /* Those that have a file. */
    NsConnFile  **linkPtr; /* The receiver of the next file. */
} PartArg;

static NsConnForm *GetForm(NsConn *connPtr);
static bool        IsInBody(NsConn *connPtr);
static void        ParsePost(NsConn *connPtr, Ns_Set *setPtr);
static void        AddPart(const NsFormPart *partPtr, void *arg);
static void        AddFile(PartArg *argPtr, const NsFormPart *partPtr);

Ns_Set *
Ns_ConnGetQuery(Ns_Conn *conn)
{
    NsConn     *connPtr = NsConnOf(conn);
    NsConnForm *formPtr = GetForm(connPtr);
    const char *query = connPtr->request.query;

    if (formPtr->querySet == NULL) {
        formPtr->querySet = NsSetCreateInArena(NsConnArena(connPtr), NULL, 8);
        if (IsInBody(connPtr)) {
            ParsePost(connPtr, formPtr->querySet);
        } else if (query != NULL) {
            NsFormParseQuery(query, strlen(query), connPtr->urlEncoding,
                             formPtr->querySet);
        }
    }
    return formPtr->querySet;
}

void
Ns_ConnClearQuery(Ns_Conn *conn)
{
    NsConnForm *formPtr = NsConnOf(conn)->formPtr;

    if (formPtr != NULL && formPtr->querySet != NULL) {
        formPtr->querySet = NULL;
        formPtr->files = NULL;
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

/*
 * A large upload that is not a form, in a file of its own, has its form in the
 * query.
 */
static bool
IsInBody(NsConn *connPtr)
{
    return connPtr->request.method != NULL
        && STREQ(connPtr->request.method, "POST")
        && (connPtr->messagePtr->contentFile == NULL || NsConnIsForm(connPtr));
}

/*
 * After the reply is finished a body is no longer parsed.
 */
static void
ParsePost(NsConn *connPtr, Ns_Set *setPtr)
{
    NsFormSource source = {.isMapped = false};
    PartArg      part = {.connPtr = connPtr,
                         .setPtr = setPtr,
                         .linkPtr = &connPtr->formPtr->files};
    const char  *type = Ns_SetIGet(connPtr->pub.headers, "Content-Type");

    if (connPtr->sockPtr == NULL) {
        return;
    }
    source.data = NsConnFormBody(connPtr, &source.length);
    if (source.data == NULL) {
        source.data = "";
        source.length = 0;
    }
    Tcl_InitHashTable(&part.fields, TCL_STRING_KEYS);
    if (type == NULL
        || NsFormParseMultipart(&source, type, connPtr->urlEncoding, AddPart,
                                &part)
            != NS_OK) {
        NsFormParseQuery(source.data, source.length, connPtr->urlEncoding,
                         setPtr);
    }
    Tcl_DeleteHashTable(&part.fields);
}

static void
AddPart(const NsFormPart *partPtr, void *arg)
{
    PartArg   *argPtr = arg;
    Ns_DString ds;

    if (partPtr->fileName != NULL) {
        (void) Ns_SetPut(argPtr->setPtr, partPtr->name, partPtr->fileName);
        AddFile(argPtr, partPtr);
        return;
    }
    Ns_DStringInit(&ds);
    NsFormDecode(&ds, partPtr->content, partPtr->contentLength,
                 argPtr->connPtr->urlEncoding);
    (void) Ns_SetPut(argPtr->setPtr, partPtr->name, Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

/*
 * Only the first file of a field is kept.
 */
static void
AddFile(PartArg *argPtr, const NsFormPart *partPtr)
{
    NsArena    *arenaPtr = NsConnArena(argPtr->connPtr);
    NsConnFile *filePtr;
    int         isNew;

    (void) Tcl_CreateHashEntry(&argPtr->fields, partPtr->name, &isNew);
    if (!isNew) {
        return;
    }
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
