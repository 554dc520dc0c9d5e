/*
 * config_file.c --
 *
 *      Evaluates the configuration file.
 *
 *      ns_section and ns_param exist only while it is evaluated.  They ask the
 *      interpreter from which line they were called, so that what is wrong with
 *      a parameter can be reported with its place.
 */

#include "process/config_file.h"

#include "nslog.h"
#include "nsthread.h"

/*
 * Lives on the stack of NsConfigEval; main thread.
 */
typedef struct Reading {
    const char *file;       /* As given. */
    NsSection  *sectionPtr; /* Selected last; NULL before the first. */
    int         baseLine;   /* Added to lines inside a block. */
} Reading;

static NsConfigInterpProc *createInterpProc = Tcl_CreateInterp;
static NsConfigDeleteProc *deleteInterpProc = Tcl_DeleteInterp;

static Tcl_ObjCmdProc SectionCmd, ParamCmd;
static NsConfigPlace  CallersPlace(Tcl_Interp    *interp,
                                   const Reading *readingPtr);
static const char    *Intern(const char *file);
static void SetVariables(Tcl_Interp *interp, int argc, char *const *argv,
                         int firstWord);
static void LogError(Tcl_Interp *interp, const char *file);

void
NsConfigSetInterpProcs(NsConfigInterpProc *createProc,
                       NsConfigDeleteProc *deleteProc)
{
    createInterpProc = createProc;
    deleteInterpProc = deleteProc;
}

char *
NsConfigReadFile(const char *file)
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
NsConfigEval(const char *text, const char *file, int argc, char *const *argv,
             int firstWord)
{
    Tcl_Interp   *interp = createInterpProc();
    Reading       reading = {.file = Intern(file)};
    Ns_ReturnCode result = NS_OK;
    Ns_DString    utf;

    SetVariables(interp, argc, argv, firstWord);
    Tcl_CreateObjCommand(interp, "ns_section", SectionCmd, &reading, NULL);
    Tcl_CreateObjCommand(interp, "ns_param", ParamCmd, &reading, NULL);
    Tcl_ExternalToUtfDString(NULL, text, -1, &utf);
    if (Tcl_EvalEx(interp, utf.string, utf.length, TCL_EVAL_GLOBAL) != TCL_OK) {
        LogError(interp, file);
        result = NS_ERROR;
    }
    Tcl_DStringFree(&utf);
    deleteInterpProc(interp);
    return result;
}

/*
 * ns_section name ?block?
 */
static int
SectionCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    Reading      *readingPtr = clientData;
    NsConfigPlace place;
    int           outerBase, result;

    if (objc != 2 && objc != 3) {
        Tcl_WrongNumArgs(interp, 1, objv, "sectionname");
        return TCL_ERROR;
    }
    place = CallersPlace(interp, readingPtr);
    readingPtr->sectionPtr = NsConfigOpen(Tcl_GetString(objv[1]), place);
    if (objc == 2) {
        return TCL_OK;
    }
    outerBase = readingPtr->baseLine;
    readingPtr->baseLine = place.line - 1;
    result = Tcl_EvalObjEx(interp, objv[2], 0);
    readingPtr->baseLine = outerBase;
    return result;
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
    if (readingPtr->sectionPtr == NULL) {
        Tcl_SetObjResult(
            interp,
            Tcl_NewStringObj("ns_param not preceded by an ns_section command.",
                             -1));
        return TCL_ERROR;
    }
    NsConfigAppend(readingPtr->sectionPtr, Tcl_GetString(objv[1]),
                   Tcl_GetString(objv[2]), CallersPlace(interp, readingPtr));
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

static void
LogError(Tcl_Interp *interp, const char *file)
{
    const char *trace = Tcl_GetVar(interp, "errorInfo", TCL_GLOBAL_ONLY);

    Ns_Log(Error, "config: error in file '%s', line %d: %s", file,
           Tcl_GetErrorLine(interp),
           trace == NULL ? Tcl_GetStringResult(interp) : trace);
}
