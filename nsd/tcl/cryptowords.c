/* SPDX-License-Identifier: MPL-2.0
 * cryptowords.c --
 *
 *      The words of the commands of cryptography.
 */

#include "tcl/cryptowords.h"

#include "base/assert.h"
#include "tcl/objv.h"

#define MAX_SPECS    12
#define MEMBER(name) offsetof(NsCryptoWords, name)

typedef struct Word {
    const char  *name;
    Ns_ObjvProc *proc;
    size_t       offset; /* Of the member. */
    const void  *arg;
} Word;

static const Word rows[] = {
    {"-aad", Ns_ObjvObj, MEMBER(aadObj), NULL},
    {"-binary", Ns_ObjvBool, MEMBER(isBinary), INT2PTR(1)},
    {"-cipher", Ns_ObjvObj, MEMBER(cipherObj), NULL},
    {"-digest", Ns_ObjvObj, MEMBER(digestObj), NULL},
    {"-encoding", NsObjvWord, MEMBER(form), nsBytesForms},
    {"-format", NsObjvWord, MEMBER(format), NULL},
    {"-info", Ns_ObjvObj, MEMBER(infoObj), NULL},
    {"-iv", Ns_ObjvObj, MEMBER(ivObj), NULL},
    {"-key", Ns_ObjvObj, MEMBER(keyObj), NULL},
    {"-name", Ns_ObjvString, MEMBER(curve), NULL},
    {"-outfile", Ns_ObjvString, MEMBER(outFile), NULL},
    {"-passphrase", Ns_ObjvString, MEMBER(passphrase), NULL},
    {"-pem", Ns_ObjvObj, MEMBER(pemObj), NULL},
    {"-salt", Ns_ObjvObj, MEMBER(saltObj), NULL},
    {"-secret", Ns_ObjvObj, MEMBER(secretObj), NULL},
    {"-sign", Ns_ObjvObj, MEMBER(signObj), NULL},
    {"-signature", Ns_ObjvObj, MEMBER(signatureObj), NULL},
    {"-string", Ns_ObjvObj, MEMBER(publicObj), NULL},
    {"-tag", Ns_ObjvObj, MEMBER(tagObj), NULL},
    {"-verify", Ns_ObjvObj, MEMBER(verifyObj), NULL},
    {"-x", Ns_ObjvObj, MEMBER(xObj), NULL},
    {"-y", Ns_ObjvObj, MEMBER(yObj), NULL},
    {"--", Ns_ObjvBreak, MEMBER(isBinary), NULL},
    {"ctx", Ns_ObjvObj, MEMBER(contextObj), NULL},
    {"digest", Ns_ObjvObj, MEMBER(digestObj), NULL},
    {"file", Ns_ObjvObj, MEMBER(messageObj), NULL},
    {"input", Ns_ObjvObj, MEMBER(inputObj), NULL},
    {"key", Ns_ObjvObj, MEMBER(keyObj), NULL},
    {"length", Ns_ObjvInt, MEMBER(length), NULL},
    {"message", Ns_ObjvObj, MEMBER(messageObj), NULL},
    {"pubkey", Ns_ObjvObj, MEMBER(publicObj), NULL},
    {"string", Ns_ObjvObj, MEMBER(messageObj), NULL}};

static void        FindSpecs(NsCryptoWords *wordsPtr, const char *names,
                             Ns_ObjvSpec *specs);
static const Word *NextRow(const char **namesPtr, bool *isNeededPtr);

int
NsCryptoParse(NsCryptoWords *wordsPtr, Tcl_Interp *interp, int offset, int objc,
              Tcl_Obj *const *objv, const char *options, const char *args)
{
    Ns_ObjvSpec optionSpecs[MAX_SPECS], argSpecs[MAX_SPECS];
    const Word *rowPtr;
    bool        isNeeded;

    FindSpecs(wordsPtr, options, optionSpecs);
    FindSpecs(wordsPtr, args, argSpecs);
    if (Ns_ParseObjv(optionSpecs, argSpecs, interp, offset, objc, objv)
        != NS_OK) {
        return TCL_ERROR;
    }
    while ((rowPtr = NextRow(&options, &isNeeded)) != NULL) {
        const void *memberPtr = (const char *) wordsPtr + rowPtr->offset;

        if (isNeeded
            && NsCryptoNeed(interp, rowPtr->name, *(Tcl_Obj *const *) memberPtr)
                != TCL_OK) {
            return TCL_ERROR;
        }
    }
    return TCL_OK;
}

static void
FindSpecs(NsCryptoWords *wordsPtr, const char *names, Ns_ObjvSpec *specs)
{
    const Word *rowPtr;
    bool        isNeeded;
    int         n = 0;

    while ((rowPtr = NextRow(&names, &isNeeded)) != NULL) {
        NsAssert(n < MAX_SPECS - 1);
        specs[n++] = (Ns_ObjvSpec){
            (char *) rowPtr->name, rowPtr->proc,
            (char *) wordsPtr + rowPtr->offset,
            rowPtr->offset == MEMBER(format) ? (void *) wordsPtr->formats
                                             : (void *) rowPtr->arg};
    }
    specs[n] = (Ns_ObjvSpec){NULL, NULL, NULL, NULL};
}

/*
 * The row of the next name; NULL: there are no more.
 */
static const Word *
NextRow(const char **namesPtr, bool *isNeededPtr)
{
    const char *name = *namesPtr + strspn(*namesPtr, " ");
    size_t      length = strcspn(name, " !"), i = 0;

    if (length == 0) {
        return NULL;
    }
    while (strncmp(rows[i].name, name, length) != 0
           || rows[i].name[length] != '\0') {
        i++;
        NsAssert(i < Ns_NrElements(rows));
    }
    *isNeededPtr = name[length] == '!';
    *namesPtr = name + length + *isNeededPtr;
    return &rows[i];
}
