/* SPDX-License-Identifier: MPL-2.0
 * config_file.c --
 *
 *      Evaluates the configuration: one file, or those of a directory.
 *
 *      ns_section, ns_param and ns_configure_variables exist only while it is
 *      evaluated.  They ask the interpreter from which line they were called,
 *      so that what is wrong with a parameter can be reported with its place.
 */

#include "process/config_file.h"

#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/config_variables.h"

#include <glob.h>

/*
 * What ns_param adds to.
 */
typedef struct Selection {
    NsSection *sectionPtr; /* NULL before the first section. */
    bool       isUpdate;   /* A key that is there is replaced. */
} Selection;

/*
 * Lives on the stack of NsConfigEval; main thread.
 */
typedef struct Reading {
    const char *file; /* As given. */
    Selection   selection;
    int         baseLine; /* Added to lines inside a block. */
} Reading;

/*
 * The words of ns_section.
 */
typedef struct SectionCall {
    bool     isUpdate;
    Tcl_Obj *fromPtr; /* NULL: not given. */
    Tcl_Obj *setPtr;  /* NULL: not given. */
    Tcl_Obj *namePtr;
    Tcl_Obj *blockPtr; /* NULL: not given. */
} SectionCall;

static NsConfigInterpProc *createInterpProc = Tcl_CreateInterp;
static NsConfigDeleteProc *deleteInterpProc = Tcl_DeleteInterp;

static Tcl_ObjCmdProc SectionCmd, ParamCmd;
static char          *ReadFile(const char *file);
static NsConfigText  *ReadDirectory(const char *directory);
static NsConfigText  *CreateText(const char *file);
static int  ParseSection(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
                         SectionCall *callPtr);
static int  CopySection(Tcl_Interp *interp, const Selection *toPtr,
                        Tcl_Obj *fromPtr, NsConfigPlace place);
static int  CopySet(Tcl_Interp *interp, const Selection *toPtr, Tcl_Obj *setPtr,
                    NsConfigPlace place);
static void Put(const Selection *toPtr, const char *key, const char *value,
                NsConfigPlace place);
static NsConfigPlace CallersPlace(Tcl_Interp    *interp,
                                  const Reading *readingPtr);
static const char   *Intern(const char *file);
static void SetVariables(Tcl_Interp *interp, int argc, char *const *argv,
                         int firstWord);
static void NameScript(Tcl_Interp *interp, const char *file);
static void LogError(Tcl_Interp *interp, const char *file);

void
NsConfigSetInterpProcs(NsConfigInterpProc *createProc,
                       NsConfigDeleteProc *deleteProc)
{
    createInterpProc = createProc;
    deleteInterpProc = deleteProc;
}

NsConfigText *
NsConfigRead(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return ReadDirectory(path);
    }
    return CreateText(path);
}

void
NsConfigTextFree(NsConfigText *textPtr)
{
    while (textPtr != NULL) {
        NsConfigText *nextPtr = textPtr->nextPtr;

        ns_free(textPtr->file);
        ns_free(textPtr->text);
        ns_free(textPtr);
        textPtr = nextPtr;
    }
}

/*
 * Its Tcl files, in the order of their names.
 */
static NsConfigText *
ReadDirectory(const char *directory)
{
    NsConfigText *firstPtr = NULL, **linkPtr = &firstPtr;
    Ns_DString    ds;
    glob_t        found;

    Ns_DStringInit(&ds);
    for (const char *p = directory; *p != '\0'; p++) {
        if (strchr("*?[\\", *p) != NULL) {
            Ns_DStringNAppend(&ds, "\\", 1);
        }
        Ns_DStringNAppend(&ds, p, 1);
    }
    Ns_DStringAppend(&ds, "/*.tcl");
    if (glob(Ns_DStringValue(&ds), 0, NULL, &found) != 0) {
        Ns_Fatal("config: no files *.tcl in the directory '%s'", directory);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        *linkPtr = CreateText(found.gl_pathv[i]);
        linkPtr = &(*linkPtr)->nextPtr;
    }
    globfree(&found);
    Ns_DStringFree(&ds);
    return firstPtr;
}

static NsConfigText *
CreateText(const char *file)
{
    NsConfigText *textPtr = ns_calloc(1, sizeof(NsConfigText));

    textPtr->file = ns_strdup(file);
    textPtr->text = ReadFile(file);
    return textPtr;
}

static char *
ReadFile(const char *file)
{
    FILE  *stream = fopen(file, "rb");
    char  *text = NULL;
    size_t length = 0, room = 0;

    if (stream == NULL) {
        Ns_Fatal("config: can't open config file '%s': '%s' ", file,
                 strerror(errno));
    }
    do {
        room = room * 2 + 16384;
        text = ns_realloc(text, room);
        length += fread(text + length, 1, room - length - 1, stream);
    } while (length == room - 1);
    if (ferror(stream)) {
        Ns_Fatal("config: can't read config file '%s': '%s' ", file,
                 strerror(errno));
    }
    fclose(stream);
    text[length] = '\0';
    return text;
}

Ns_ReturnCode
NsConfigEval(const NsConfigText *textPtr, int argc, char *const *argv,
             int firstWord)
{
    Tcl_Interp   *interp = createInterpProc();
    Reading       reading = {.file = Intern(textPtr->file)};
    Ns_ReturnCode result = NS_OK;

    SetVariables(interp, argc, argv, firstWord);
    Tcl_CreateObjCommand(interp, "ns_section", SectionCmd, &reading, NULL);
    Tcl_CreateObjCommand(interp, "ns_param", ParamCmd, &reading, NULL);
    Tcl_CreateObjCommand(interp, "ns_configure_variables", NsConfigVariablesCmd,
                         (ClientData) reading.file, NULL);
    for (; textPtr != NULL && result == NS_OK; textPtr = textPtr->nextPtr) {
        Ns_DString utf;

        reading.file = Intern(textPtr->file);
        NameScript(interp, reading.file);
        Tcl_ExternalToUtfDString(NULL, textPtr->text, -1, &utf);
        if (Tcl_EvalEx(interp, utf.string, utf.length, TCL_EVAL_GLOBAL)
            != TCL_OK) {
            LogError(interp, reading.file);
            result = NS_ERROR;
        }
        Tcl_DStringFree(&utf);
    }
    deleteInterpProc(interp);
    return result;
}

/*
 * ns_section ?-update? ?-from section? ?-set set? ?--? sectionname ?block?
 */
static int
SectionCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Reading      *readingPtr = clientData;
    Selection     outer = readingPtr->selection;
    int           outerBase = readingPtr->baseLine, result = TCL_OK;
    SectionCall   call;
    NsConfigPlace place;

    if (ParseSection(interp, objc, objv, &call) != TCL_OK) {
        return TCL_ERROR;
    }
    place = CallersPlace(interp, readingPtr);
    readingPtr->selection = (Selection){
        NsConfigOpen(Tcl_GetString(call.namePtr), place), call.isUpdate};
    if (call.fromPtr != NULL) {
        result = CopySection(interp, &readingPtr->selection, call.fromPtr,
                             place);
    }
    if (call.setPtr != NULL && result == TCL_OK) {
        result = CopySet(interp, &readingPtr->selection, call.setPtr, place);
    }
    if (call.blockPtr != NULL && result == TCL_OK) {
        readingPtr->baseLine = place.line - 1;
        result = Tcl_EvalObjEx(interp, call.blockPtr, 0);
        readingPtr->baseLine = outerBase;
        readingPtr->selection = outer;
    }
    return result;
}

static int
ParseSection(Tcl_Interp *interp, int objc, Tcl_Obj *const *objv,
             SectionCall *callPtr)
{
    int i = 1;

    *callPtr = (SectionCall){.isUpdate = false};
    for (; i < objc && *Tcl_GetString(objv[i]) == '-'; i++) {
        const char *word = Tcl_GetString(objv[i]);

        if (STREQ(word, "-update")) {
            callPtr->isUpdate = true;
        } else if (STREQ(word, "-from") && i + 1 < objc) {
            callPtr->fromPtr = objv[++i];
        } else if (STREQ(word, "-set") && i + 1 < objc) {
            callPtr->setPtr = objv[++i];
        } else {
            i += STREQ(word, "--");
            break;
        }
    }
    if (objc - i != 1 && objc - i != 2) {
        Tcl_WrongNumArgs(interp, 1, objv,
                         "?-update? ?-from section? ?-set set? ?--? "
                         "sectionname ?block?");
        return TCL_ERROR;
    }
    callPtr->namePtr = objv[i];
    callPtr->blockPtr = i + 1 < objc ? objv[i + 1] : NULL;
    return TCL_OK;
}

/*
 * What the file has set there so far.
 */
static int
CopySection(Tcl_Interp *interp, const Selection *toPtr, Tcl_Obj *fromPtr,
            NsConfigPlace place)
{
    Ns_Set *copyPtr = NsConfigDupSection(Tcl_GetString(fromPtr),
                                         NS_CONFIG_CONFIGURED);

    if (copyPtr == NULL) {
        Tcl_SetObjResult(interp,
                         Tcl_ObjPrintf("no such section: %s",
                                       Tcl_GetString(fromPtr)));
        return TCL_ERROR;
    }
    for (int i = 0; i < (int) Ns_SetSize(copyPtr); i++) {
        Put(toPtr, Ns_SetKey(copyPtr, i), Ns_SetValue(copyPtr, i), place);
    }
    Ns_SetFree(copyPtr);
    return TCL_OK;
}

/*
 * Sets are the interpreter's, and only its commands know them.
 */
static int
CopySet(Tcl_Interp *interp, const Selection *toPtr, Tcl_Obj *setPtr,
        NsConfigPlace place)
{
    Tcl_Obj  *words[] = {Tcl_NewStringObj("ns_set", -1),
                         Tcl_NewStringObj("array", -1), setPtr};
    Tcl_Obj  *listPtr = Tcl_NewListObj(Ns_NrElements(words), words);
    Tcl_Obj **fields;
    int       nFields, result;

    Tcl_IncrRefCount(listPtr);
    result = Tcl_EvalObjEx(interp, listPtr, TCL_EVAL_DIRECT);
    Tcl_DecrRefCount(listPtr);
    if (result != TCL_OK) {
        return TCL_ERROR;
    }
    listPtr = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(listPtr);
    result = Tcl_ListObjGetElements(interp, listPtr, &nFields, &fields);
    for (int i = 0; result == TCL_OK && i + 1 < nFields; i += 2) {
        Put(toPtr, Tcl_GetString(fields[i]), Tcl_GetString(fields[i + 1]),
            place);
    }
    Tcl_DecrRefCount(listPtr);
    Tcl_ResetResult(interp);
    return result;
}

static void
Put(const Selection *toPtr, const char *key, const char *value,
    NsConfigPlace place)
{
    if (toPtr->isUpdate) {
        NsConfigReplace(toPtr->sectionPtr, key, value, place);
    } else {
        NsConfigAppend(toPtr->sectionPtr, key, value, place);
    }
}

/*
 * ns_param key value
 */
static int
ParamCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Reading *readingPtr = clientData;

    if (objc != 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "key value");
        return TCL_ERROR;
    }
    if (readingPtr->selection.sectionPtr == NULL) {
        Tcl_SetObjResult(
            interp,
            Tcl_NewStringObj("ns_param not preceded by an ns_section command.",
                             -1));
        return TCL_ERROR;
    }
    Put(&readingPtr->selection, Tcl_GetString(objv[1]), Tcl_GetString(objv[2]),
        CallersPlace(interp, readingPtr));
    return TCL_OK;
}

/*
 * Text that is evaluated counts its lines from its own beginning; only files
 * that the configuration sources have a name here.
 */
static NsConfigPlace
CallersPlace(Tcl_Interp *interp, const Reading *readingPtr)
{
    NsConfigPlace   place = {readingPtr->file, 0};
    Tcl_Obj        *framePtr, *valuePtr = NULL;
    Tcl_Obj        *keyPtr = Tcl_NewStringObj("line", -1);
    Tcl_InterpState state = Tcl_SaveInterpState(interp, TCL_OK);

    Tcl_IncrRefCount(keyPtr);
    if (Tcl_EvalEx(interp, "::info frame -1", -1, 0) == TCL_OK) {
        framePtr = Tcl_GetObjResult(interp);
        Tcl_IncrRefCount(framePtr);
        if (Tcl_DictObjGet(interp, framePtr, keyPtr, &valuePtr) == TCL_OK
            && valuePtr != NULL) {
            (void) Tcl_GetIntFromObj(NULL, valuePtr, &place.line);
        }
        Tcl_SetStringObj(keyPtr, "file", -1);
        if (Tcl_DictObjGet(interp, framePtr, keyPtr, &valuePtr) == TCL_OK
            && valuePtr != NULL) {
            place.file = Intern(Tcl_GetString(valuePtr));
        } else {
            place.line += readingPtr->baseLine;
        }
        Tcl_DecrRefCount(framePtr);
    }
    Tcl_DecrRefCount(keyPtr);
    Tcl_RestoreInterpState(interp, state);
    return place;
}

/*
 * One copy of each file's name, which lives as long as the process.
 */
static const char *
Intern(const char *file)
{
    static Tcl_HashTable names;
    static bool          hasNames;
    Tcl_HashEntry       *entryPtr;
    int                  isNew;

    if (!hasNames) {
        Tcl_InitHashTable(&names, TCL_STRING_KEYS);
        hasNames = true;
    }
    entryPtr = Tcl_CreateHashEntry(&names, file, &isNew);
    return Tcl_GetHashKey(&names, entryPtr);
}

static void
SetVariables(Tcl_Interp *interp, int argc, char *const *argv, int firstWord)
{
    Tcl_Obj *listPtr = Tcl_NewListObj(0, NULL);

    for (int i = 0; i < argc; i++) {
        Tcl_ListObjAppendElement(NULL, listPtr, Tcl_NewStringObj(argv[i], -1));
    }
    Tcl_SetVar2Ex(interp, "argv", NULL, listPtr, TCL_GLOBAL_ONLY);
    Tcl_SetVar2Ex(interp, "argc", NULL, Tcl_NewIntObj(argc), TCL_GLOBAL_ONLY);
    Tcl_SetVar2Ex(interp, "optind", NULL, Tcl_NewIntObj(firstWord),
                  TCL_GLOBAL_ONLY);
}

/*
 * Let [info script] be the file, as in a script that is sourced: so what lies
 * beside the configuration can be found.
 */
static void
NameScript(Tcl_Interp *interp, const char *file)
{
    Tcl_Obj *words[] = {Tcl_NewStringObj("info", -1),
                        Tcl_NewStringObj("script", -1),
                        Tcl_NewStringObj(file, -1)};

    for (int i = 0; i < 3; i++) {
        Tcl_IncrRefCount(words[i]);
    }
    (void) Tcl_EvalObjv(interp, 3, words, TCL_EVAL_GLOBAL);
    for (int i = 0; i < 3; i++) {
        Tcl_DecrRefCount(words[i]);
    }
    Tcl_ResetResult(interp);
}

static void
LogError(Tcl_Interp *interp, const char *file)
{
    const char *trace = Tcl_GetVar(interp, "errorInfo", TCL_GLOBAL_ONLY);

    Ns_Log(Error, "config: error in file '%s', line %d: %s", file,
           Tcl_GetErrorLine(interp),
           trace == NULL ? Tcl_GetStringResult(interp) : trace);
}
