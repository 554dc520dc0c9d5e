/* SPDX-License-Identifier: MPL-2.0
 * cryptocontext.c --
 *
 *      Digests and message authentication codes that are computed piece by
 *      piece, and those of them that scripts keep.
 */

#include "tcl/cryptocontext.h"

#include "base/assert.h"
#include "nsthread.h"
#include "tcl/result.h"

#include <openssl/core_names.h>

#define ASSOC_KEY "nsd:crypto"

/*
 * The contexts of an interpreter.
 */
typedef struct Contexts {
    Tcl_HashTable byName;
    int           nMade;
} Contexts;

static const char *const kindNames[] = {"md", "hmac"};

static EVP_MD_CTX  *NewMd(Tcl_Interp *interp, Tcl_Obj *digestObj);
static EVP_MAC_CTX *NewMac(Tcl_Interp *interp, const NsCryptoWords *wordsPtr);
static Contexts    *ContextsOf(NsInterp *itPtr);
static void         FreeContexts(ClientData clientData, Tcl_Interp *interp);

int
NsCryptoContextInit(Tcl_Interp *interp, NsCryptoContext *contextPtr,
                    NsCryptoKind kind, const NsCryptoWords *wordsPtr)
{
    *contextPtr = (NsCryptoContext){NULL, NULL};
    if (kind == NS_CRYPTO_HMAC) {
        contextPtr->macPtr = NewMac(interp, wordsPtr);
    } else {
        contextPtr->mdPtr = NewMd(interp, wordsPtr->digestObj);
    }
    return contextPtr->macPtr != NULL || contextPtr->mdPtr != NULL
        ? TCL_OK
        : TCL_ERROR;
}

static EVP_MD_CTX *
NewMd(Tcl_Interp *interp, Tcl_Obj *digestObj)
{
    EVP_MD     *mdPtr = NsCryptoDigest(interp, digestObj);
    EVP_MD_CTX *contextPtr;
    int         isDone;

    if (mdPtr == NULL) {
        return NULL;
    }
    contextPtr = EVP_MD_CTX_new();
    isDone = contextPtr != NULL && EVP_DigestInit_ex(contextPtr, mdPtr, NULL);
    NsAssert(isDone);
    EVP_MD_free(mdPtr);
    return contextPtr;
}

static EVP_MAC_CTX *
NewMac(Tcl_Interp *interp, const NsCryptoWords *wordsPtr)
{
    EVP_MD      *mdPtr = NsCryptoDigest(interp, wordsPtr->digestObj);
    EVP_MAC     *macPtr;
    EVP_MAC_CTX *contextPtr;
    OSSL_PARAM   params[2];
    NsBytes      key;

    if (mdPtr == NULL) {
        return NULL;
    }
    macPtr = EVP_MAC_fetch(NULL, "HMAC", NULL);
    contextPtr = macPtr != NULL ? EVP_MAC_CTX_new(macPtr) : NULL;
    EVP_MAC_free(macPtr);
    params[0] =
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
                                         (char *) EVP_MD_get0_name(mdPtr), 0);
    params[1] = OSSL_PARAM_construct_end();
    NsBytesInit(&key, wordsPtr->keyObj, wordsPtr->isBinary);
    if (contextPtr != NULL
        && !EVP_MAC_init(contextPtr, key.bytes, key.length, params)) {
        EVP_MAC_CTX_free(contextPtr);
        contextPtr = NULL;
    }
    NsBytesFree(&key);
    EVP_MD_free(mdPtr);
    if (contextPtr == NULL) {
        NsCryptoFail(interp, "could not compute an hmac with this digest");
    }
    return contextPtr;
}

int
NsCryptoContextReturn(NsInterp *itPtr, NsCryptoKind kind,
                      NsCryptoContext context)
{
    Contexts        *contextsPtr = ContextsOf(itPtr);
    NsCryptoContext *contextPtr = ns_malloc(sizeof(*contextPtr));
    Tcl_HashEntry   *entryPtr;
    Ns_DString       name;
    int              isNew;

    *contextPtr = context;
    Ns_DStringInit(&name);
    Ns_DStringPrintf(&name, "%s%d", kindNames[kind], contextsPtr->nMade++);
    entryPtr = Tcl_CreateHashEntry(&contextsPtr->byName, Ns_DStringValue(&name),
                                   &isNew);
    NsAssert(isNew);
    Tcl_SetHashValue(entryPtr, contextPtr);
    return NsTclReturnText(itPtr->interp, &name);
}

static Contexts *
ContextsOf(NsInterp *itPtr)
{
    Contexts *contextsPtr = Tcl_GetAssocData(itPtr->interp, ASSOC_KEY, NULL);

    if (contextsPtr == NULL) {
        contextsPtr = ns_calloc(1, sizeof(*contextsPtr));
        Tcl_InitHashTable(&contextsPtr->byName, TCL_STRING_KEYS);
        Tcl_SetAssocData(itPtr->interp, ASSOC_KEY, FreeContexts, contextsPtr);
    }
    return contextsPtr;
}

Tcl_HashEntry *
NsCryptoContextFind(NsInterp *itPtr, NsCryptoKind kind, Tcl_Obj *nameObj)
{
    const char    *name = Tcl_GetString(nameObj);
    Tcl_HashEntry *entryPtr =
        strncmp(name, kindNames[kind], strlen(kindNames[kind])) == 0
        ? Tcl_FindHashEntry(&ContextsOf(itPtr)->byName, name)
        : NULL;

    if (entryPtr == NULL) {
        NsCryptoFail(itPtr->interp, "no such %s context: %s", kindNames[kind],
                     name);
    }
    return entryPtr;
}

static void
FreeContexts(ClientData clientData, Tcl_Interp *interp)
{
    Contexts      *contextsPtr = clientData;
    Tcl_HashEntry *entryPtr;
    Tcl_HashSearch search;

    for (entryPtr = Tcl_FirstHashEntry(&contextsPtr->byName, &search);
         entryPtr != NULL; entryPtr = Tcl_NextHashEntry(&search)) {
        NsCryptoContextFree(Tcl_GetHashValue(entryPtr));
        ns_free(Tcl_GetHashValue(entryPtr));
    }
    Tcl_DeleteHashTable(&contextsPtr->byName);
    ns_free(contextsPtr);
}

void
NsCryptoContextFree(NsCryptoContext *contextPtr)
{
    EVP_MD_CTX_free(contextPtr->mdPtr);
    EVP_MAC_CTX_free(contextPtr->macPtr);
    *contextPtr = (NsCryptoContext){NULL, NULL};
}

void
NsCryptoUpdate(const NsCryptoContext *contextPtr, const void *bytes,
               size_t length)
{
    int isDone = contextPtr->mdPtr != NULL
        ? EVP_DigestUpdate(contextPtr->mdPtr, bytes, length)
        : EVP_MAC_update(contextPtr->macPtr, bytes, length);

    NsAssert(isDone);
}

int
NsCryptoReturnDigest(Tcl_Interp *interp, const NsCryptoContext *contextPtr,
                     int form)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned      mdLength = 0;
    size_t        length = 0;
    int           isDone;

    if (contextPtr->mdPtr != NULL) {
        EVP_MD_CTX *copyPtr = EVP_MD_CTX_new();

        isDone = copyPtr != NULL && EVP_MD_CTX_copy(copyPtr, contextPtr->mdPtr)
            && EVP_DigestFinal_ex(copyPtr, digest, &mdLength);
        length = mdLength;
        EVP_MD_CTX_free(copyPtr);
    } else {
        EVP_MAC_CTX *copyPtr = EVP_MAC_CTX_dup(contextPtr->macPtr);

        isDone = copyPtr != NULL
            && EVP_MAC_final(copyPtr, digest, &length, sizeof(digest));
        EVP_MAC_CTX_free(copyPtr);
    }
    return isDone ? NsTclReturn(interp, NsBytesObj(digest, length, form))
                  : NsCryptoFail(interp, "could not compute digest");
}
