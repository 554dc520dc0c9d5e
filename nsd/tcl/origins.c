/* SPDX-License-Identifier: MPL-2.0
 * origins.c --
 *
 *      Where the procedures of a server's libraries are defined.
 *
 *      `proc` does what Tcl's own does, and then looks for the command of a
 *      file, it or one that has called it, of which the body is the last word.
 */

#include "tcl/origins.h"

#include "base/assert.h"
#include "base/chars.h"
#include "base/lock.h"
#include "nsstring.h"
#include "nsthread.h"
#include "tcl/interp.h"
#include "tcl/perserver.h"

/*
 * How far from `proc` the command may be that has its body: those that define
 * procedures in their own way call it themselves.
 */
#define MAX_FRAMES 12

typedef struct Origin {
    const char *file; /* A key of files. */
    uint64_t    hash; /* Of the body. */
    int         line; /* Where the body begins. */
    int         nContinued;
    int         continued[]; /* Lines of the body that are continued in the
                              * file: Tcl makes one line of both. */
} Origin;

typedef struct Origins {
    Ns_Mutex      lock;  /* Guards the rest. */
    Tcl_HashTable procs; /* Full name -> Origin. */
    Tcl_HashTable files;
} Origins;

static NsPerServer all;

static NsPerServerProc CreateOrigins;
static Tcl_ObjCmdProc  ProcCmd;
static void        Note(Tcl_Interp *interp, const char *name, const char *body);
static Origin     *FindBody(Tcl_Interp *interp, const char *body,
                            Ns_DString *filePtr);
static Tcl_Obj    *GetFrame(Tcl_Interp *interp, int level);
static const char *BodyAtEnd(const char *command, const char *body,
                             size_t *lengthPtr);
static const char *LastWord(Tcl_Interp *interp, const char *command,
                            size_t *lengthPtr);
static Origin     *Compare(const char *text, size_t length, const char *body);
static void        Keep(Origins *originsPtr, const char *name, const char *file,
                        Origin *originPtr);
static const char *Value(Tcl_Obj *frameObj, const char *key);
static uint64_t    Hash(const char *text);

static void *
CreateOrigins(NsServer *serverPtr)
{
    Origins *originsPtr = ns_calloc(1, sizeof(*originsPtr));

    NsMutexSetup(&originsPtr->lock, NS_RANK_TCL_MISC, "nsd:origins",
                 serverPtr->name);
    Tcl_InitHashTable(&originsPtr->procs, TCL_STRING_KEYS);
    Tcl_InitHashTable(&originsPtr->files, TCL_STRING_KEYS);
    return originsPtr;
}

void
NsOriginsNote(Tcl_Interp *interp)
{
    Tcl_CmdInfo info;

    if (Tcl_GetCommandInfo(interp, "::proc", &info) && info.objProc != NULL
        && info.objProc != ProcCmd) {
        /* Tcl's own has no use for the client data. */
        info.objClientData = (void *) info.objProc;
        info.objProc = ProcCmd;
        (void) Tcl_SetCommandInfo(interp, "::proc", &info);
    }
}

static int
ProcCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Tcl_ObjCmdProc *originalProc = (Tcl_ObjCmdProc *) clientData;
    int             result = originalProc(NULL, interp, objc, objv);

    if (result == TCL_OK) {
        NsAssert(objc == 4);
        Note(interp, Tcl_GetString(objv[1]), Tcl_GetString(objv[3]));
    }
    return result;
}

static void
Note(Tcl_Interp *interp, const char *name, const char *body)
{
    const NsInterp *itPtr = NsInterpOf(interp);
    Tcl_Command     command = Tcl_FindCommand(interp, name, NULL, 0);
    Tcl_InterpState state = Tcl_SaveInterpState(interp, TCL_OK);
    Ns_DString      file;
    Origin         *originPtr;

    Ns_DStringInit(&file);
    originPtr = command == NULL || itPtr == NULL || itPtr->serverPtr == NULL
        ? NULL
        : FindBody(interp, body, &file);
    if (originPtr != NULL) {
        Tcl_Obj *nameObj = Tcl_NewObj();

        Tcl_IncrRefCount(nameObj);
        Tcl_GetCommandFullName(interp, command, nameObj);
        originPtr->hash = Hash(body);
        Keep(NsPerServerGet(&all, itPtr->serverPtr, CreateOrigins),
             Tcl_GetString(nameObj), Ns_DStringValue(&file), originPtr);
        Tcl_DecrRefCount(nameObj);
    }
    Ns_DStringFree(&file);
    (void) Tcl_RestoreInterpState(interp, state);
}

/*
 * The origin, without its hash, and its file; or NULL.
 */
static Origin *
FindBody(Tcl_Interp *interp, const char *body, Ns_DString *filePtr)
{
    Origin *originPtr = NULL;

    for (int level = 0; level > -MAX_FRAMES && originPtr == NULL; level--) {
        Tcl_Obj    *frameObj = GetFrame(interp, level);
        const char *file, *command, *word = NULL;
        size_t      length;

        if (frameObj == NULL) {
            break;
        }
        file = Value(frameObj, "file");
        command = Value(frameObj, "cmd");
        if (file != NULL && command != NULL) {
            word = BodyAtEnd(command, body, &length);
            if (word == NULL) {
                word = LastWord(interp, command, &length);
            }
        }
        originPtr = word == NULL ? NULL : Compare(word, length, body);
        if (originPtr != NULL) {
            const char *line = Value(frameObj, "line");

            originPtr->line = line == NULL ? 0 : atoi(line);
            for (const char *at = command; at < word; at++) {
                originPtr->line += *at == '\n';
            }
            Ns_DStringAppend(filePtr, file);
        }
        Tcl_DecrRefCount(frameObj);
    }
    return originPtr;
}

/*
 * What `info frame` says, 0 being the command that is running and -1 its
 * caller, with a reference; NULL: there are not so many.
 *
 * Not by Tcl_Eval, for that adds a frame, and makes a string of the result:
 * most of the time of a start went into quoting whole files.
 */
static Tcl_Obj *
GetFrame(Tcl_Interp *interp, int level)
{
    Tcl_Obj *words[3] = {Tcl_NewStringObj("::info", -1),
                         Tcl_NewStringObj("frame", -1), Tcl_NewIntObj(level)};
    Tcl_Obj *frameObj = NULL;

    for (int i = 0; i < 3; i++) {
        Tcl_IncrRefCount(words[i]);
    }
    if (Tcl_EvalObjv(interp, 3, words, 0) == TCL_OK) {
        frameObj = Tcl_GetObjResult(interp);
        Tcl_IncrRefCount(frameObj);
    }
    for (int i = 0; i < 3; i++) {
        Tcl_DecrRefCount(words[i]);
    }
    return frameObj;
}

/*
 * The body at the end of a command, in braces, when no line of it is continued;
 * NULL: it is not there in this form.  Most are, and need not be parsed.
 */
static const char *
BodyAtEnd(const char *command, const char *body, size_t *lengthPtr)
{
    size_t      length = strlen(body), nBytes = strlen(command);
    const char *text;

    if (nBytes < length + 3) {
        return NULL;
    }
    text = command + nBytes - length - 1;
    if (text[length] != '}' || text[-1] != '{' || !NsIsSpace(text[-2])
        || memcmp(text, body, length) != 0) {
        return NULL;
    }
    *lengthPtr = length;
    return text;
}

/*
 * What stands in braces at the end of a command; NULL if it ends otherwise.
 */
static const char *
LastWord(Tcl_Interp *interp, const char *command, size_t *lengthPtr)
{
    Tcl_Parse        parse;
    const Tcl_Token *wordPtr;
    const char      *text = NULL;

    if (Tcl_ParseCommand(interp, command, -1, 0, &parse) != TCL_OK) {
        return NULL;
    }
    wordPtr = parse.tokenPtr;
    for (int i = 1; i < parse.numWords; i++) {
        wordPtr += wordPtr->numComponents + 1;
    }
    if (parse.numWords > 1 && wordPtr->start[0] == '{'
        && (wordPtr->type == TCL_TOKEN_SIMPLE_WORD
            || wordPtr->type == TCL_TOKEN_WORD)) {
        NsAssert(wordPtr->size >= 2);
        text = wordPtr->start + 1;
        *lengthPtr = (size_t) wordPtr->size - 2u;
    }
    Tcl_FreeParse(&parse);
    return text;
}

/*
 * A new origin if the text is the body's, and the lines that it continues;
 * NULL if not.
 */
static Origin *
Compare(const char *text, size_t length, const char *body)
{
    const char *end = text + length;
    Origin     *originPtr = ns_calloc(1, sizeof(*originPtr));
    int         line = 1;

    if (strncmp(text, body, length) == 0 && body[length] == '\0') {
        return originPtr;
    }
    while (text < end) {
        char c = *text++;

        if (c == '\\' && text < end && *text == '\n') {
            size_t bytes = sizeof(*originPtr)
                + (size_t) (originPtr->nContinued + 1) * sizeof(int);

            originPtr = ns_realloc(originPtr, bytes);
            originPtr->continued[originPtr->nContinued++] = line;
            c = ' ';
            text++;
            while (text < end && (*text == ' ' || *text == '\t')) {
                text++;
            }
        } else if (c == '\\' && text < end && *body == c) {
            body++;
            c = *text++; /* A backslash that this one escapes. */
        }
        if (c != *body) {
            break;
        }
        line += c == '\n';
        body++;
    }
    if (text < end || *body != '\0') {
        ns_free(originPtr);
        originPtr = NULL;
    }
    return originPtr;
}

/*
 * What the frame says under the key, as long as the frame is there; NULL:
 * nothing.
 */
static const char *
Value(Tcl_Obj *frameObj, const char *key)
{
    Tcl_Obj **words;
    int       n;

    if (Tcl_ListObjGetElements(NULL, frameObj, &n, &words) != TCL_OK) {
        return NULL;
    }
    for (int i = 0; i + 1 < n; i += 2) {
        if (STREQ(Tcl_GetString(words[i]), key)) {
            return Tcl_GetString(words[i + 1]);
        }
    }
    return NULL;
}

/*
 * The origin is the table's.
 */
static void
Keep(Origins *originsPtr, const char *name, const char *file, Origin *originPtr)
{
    Tcl_HashEntry *hPtr;
    int            isNew;

    Ns_MutexLock(&originsPtr->lock);
    hPtr = Tcl_CreateHashEntry(&originsPtr->files, file, &isNew);
    originPtr->file = Tcl_GetHashKey(&originsPtr->files, hPtr);
    hPtr = Tcl_CreateHashEntry(&originsPtr->procs, name, &isNew);
    if (!isNew) {
        ns_free(Tcl_GetHashValue(hPtr));
    }
    Tcl_SetHashValue(hPtr, originPtr);
    Ns_MutexUnlock(&originsPtr->lock);
}

bool
NsOriginOf(Tcl_Interp *interp, const char *name, Ns_DString *filePtr,
           int *linePtr)
{
    const NsInterp *itPtr = NsInterpOf(interp);
    Origins        *originsPtr;
    Ns_DString      script;
    Tcl_HashEntry  *hPtr;
    uint64_t        hash;
    bool            isKnown = false;

    if (itPtr == NULL || itPtr->serverPtr == NULL) {
        return false;
    }
    Ns_DStringInit(&script);
    Ns_DStringAppend(&script, "::info body");
    Ns_DStringAppendElement(&script, name);
    if (Tcl_Eval(interp, Ns_DStringValue(&script)) == TCL_OK) {
        hash = Hash(Tcl_GetStringResult(interp));
        originsPtr = NsPerServerGet(&all, itPtr->serverPtr, CreateOrigins);
        Ns_MutexLock(&originsPtr->lock);
        hPtr = Tcl_FindHashEntry(&originsPtr->procs, name);
        if (hPtr != NULL) {
            const Origin *originPtr = Tcl_GetHashValue(hPtr);
            int           line = *linePtr;

            isKnown = originPtr->hash == hash;
            for (int i = 0; isKnown && i < originPtr->nContinued; i++) {
                *linePtr += originPtr->continued[i] < line;
            }
            if (isKnown) {
                *linePtr += originPtr->line - 1;
                Ns_DStringAppend(filePtr, originPtr->file);
            }
        }
        Ns_MutexUnlock(&originsPtr->lock);
    }
    Ns_DStringFree(&script);
    return isKnown;
}

/*
 * FNV-1a: bodies of one name are few, and nobody makes them collide.
 */
static uint64_t
Hash(const char *text)
{
    uint64_t hash = 14695981039346656037u;

    while (*text != '\0') {
        hash = (hash ^ UCHAR(*text++)) * 1099511628211u;
    }
    return hash;
}
