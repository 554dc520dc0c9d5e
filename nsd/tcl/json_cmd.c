/* SPDX-License-Identifier: MPL-2.0
 * json_cmd.c --
 *
 *      ns_json: JSON as values, as triples of name, type and value, or as a
 *      set; and back.
 */

#include "nsset.h"
#include "nsstring.h"
#include "nstcl.h"
#include "nsthread.h"
#include "base/assert.h"
#include "base/chars.h"
#include "http/jsonset.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/jsontriples.h"
#include "tcl/result.h"
#include "tcl/set.h"

#include <math.h>

#define MAX_DEPTH 1000

/*
 * A container that is being read.
 */
typedef struct Frame {
    Tcl_Obj *obj;       /* A dict or list; ours. */
    Tcl_Obj *keyObj;    /* Of the element to come, in an object; ours. */
    int      nElements; /* That are complete. */
    bool     isObject;
} Frame;

typedef struct Builder {
    Ns_JsonOutput output;
    NsJsonReader  reader;
    Tcl_Obj      *nullObj;   /* The value of null; the caller's. */
    Tcl_Obj      *resultObj; /* The whole; ours. */
    const char   *resultType;
    Ns_Set       *setPtr;
    Frame        *frames;
    int           nFrames;
    int           maxFrames;
} Builder;

/*
 * Writes a value, with its elements on lines of their own if isPretty.
 */
typedef struct Writer {
    Tcl_Interp *interp;
    Ns_DString  ds;
    bool        isPretty;
    int         depth;
} Writer;

static Tcl_ObjCmdProc ParseCmd, ValueCmd, NullCmd, IsNullCmd, KeyCmd,
    KeyInfoCmd;

static const char *BytesOf(Tcl_Obj *textObj, Tcl_DString *bytesPtr,
                           int *lengthPtr);
static int  TakeLimit(Tcl_Interp *interp, Tcl_Obj *obj, const char *option,
                      size_t max, size_t *limitPtr);
static void InitBuilder(Builder *builderPtr, Ns_JsonOutput output,
                        Tcl_Obj *nullObj);
static int  ParseText(Tcl_Interp *interp, Builder *builderPtr, bool isContainer,
                      bool isScan);
static bool Build(Builder *builderPtr, bool isContainer);
static void Push(Builder *builderPtr, bool isObject);
static void Pop(Builder *builderPtr);
static void Put(Builder *builderPtr, Tcl_Obj *obj, const char *type);
static void EndElement(Builder *builderPtr);
static Tcl_Obj *NameObj(const Frame *framePtr);
static Tcl_Obj *ResultOf(NsInterp *itPtr, Builder *builderPtr);
static void     FreeBuilder(Builder *builderPtr);
static int      Write(Writer *writerPtr, Tcl_Obj *obj, NsTripleType type);
static int      WriteNumber(Writer *writerPtr, Tcl_Obj *obj);
static int      WriteBoolean(Writer *writerPtr, Tcl_Obj *obj);
static int      WriteContainer(Writer *writerPtr, Tcl_Obj *obj, bool isObject);
static void     NewLine(Writer *writerPtr);

#define IS_DECODING 1

static const NsTclCommand subcmds[] = {
    {"isnull", IsNullCmd, 1, 1, "value", 0},
    {"keydecode", KeyCmd, 1, 1, "string", NS_TCL_DATA(IS_DECODING)},
    {"keyencode", KeyCmd, 1, 1, "string", 0},
    {"keyinfo", KeyInfoCmd, 1, 1, "key", 0},
    {"null", NullCmd, 0, 0, NULL, 0},
    {"parse", ParseCmd, 0, NS_TCL_ANY, NULL, 0},
    {"triples", NsTriplesCmd, 1, NS_TCL_ANY, "subcommand ?arg ...?", 0},
    {"value", ValueCmd, 0, NS_TCL_ANY, NULL, 0},
    NS_TCL_END,
    NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_json", "subcommand ?arg ...?", "subcommand", NS_TCL_BASIC, subcmds};

NS_TCL_FAMILY_OF_ONE(Json, &ensemble)

/* ---- Reading. ---- */

/*
 * ns_json parse ?options? ?--? text
 */
static int
ParseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    static Ns_ObjvTable outputs[] = {
        {"tclvalue", NS_JSON_AS_VALUE},
        {"triples", NS_JSON_AS_TRIPLES},
        {"set", NS_JSON_AS_SET},
        {NULL, 0}};
    static Ns_ObjvTable tops[] = {{"any", 0}, {"container", 1}, {NULL, 0}};

    Builder      builder = {0};
    NsJsonLimits limits = {.maxDepth = MAX_DEPTH};
    Tcl_Obj     *textObj, *nullObj = NULL, *depthObj = NULL, *stringObj = NULL;
    Tcl_Obj     *containerObj = NULL;
    Tcl_DString  bytes;
    const char  *text;
    int output = NS_JSON_AS_VALUE, isContainer = 0, isScan = 0, isChecked,
        length;
    int         result;
    Ns_ObjvSpec opts[] = {
        {"-output", Ns_ObjvIndex, &output, outputs},
        {"-scan", Ns_ObjvBool, &isScan, INT2PTR(true)},
        {"-top", Ns_ObjvIndex, &isContainer, tops},
        {"-nullvalue", Ns_ObjvObj, &nullObj, NULL},
        /* Numbers always are. */
        {"-validatenumbers", Ns_ObjvBool, &isChecked, INT2PTR(true)},
        {"-maxdepth", Ns_ObjvObj, &depthObj, NULL},
        {"-maxstring", Ns_ObjvObj, &stringObj, NULL},
        {"-maxcontainer", Ns_ObjvObj, &containerObj, NULL},
        {"--", Ns_ObjvBreak, NULL, NULL},
        {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"text", Ns_ObjvObj, &textObj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK
        || TakeLimit(interp, depthObj, "-maxdepth", 10000, &limits.maxDepth)
            != TCL_OK
        || TakeLimit(interp, stringObj, "-maxstring", INT_MAX,
                     &limits.maxString)
            != TCL_OK
        || TakeLimit(interp, containerObj, "-maxcontainer", INT_MAX,
                     &limits.maxContainer)
            != TCL_OK) {
        return TCL_ERROR;
    }
    Tcl_DStringInit(&bytes);
    text = BytesOf(textObj, &bytes, &length);
    InitBuilder(&builder, (Ns_JsonOutput) output, nullObj);
    NsJsonInit(&builder.reader, text, (size_t) length, &limits);
    result = ParseText(interp, &builder, isContainer != 0, isScan != 0);
    FreeBuilder(&builder);
    Tcl_DStringFree(&bytes);
    return result;
}

int
Ns_JsonParse(Tcl_Interp *interp, const char *text, size_t length,
             Ns_JsonOutput output)
{
    const NsJsonLimits limits = {.maxDepth = MAX_DEPTH};
    Builder            builder = {0};
    int                result;

    if (output == NS_JSON_AS_SET && NsInterpOf(interp) == NULL) {
        return NsTclFail(interp, "ns_set not supported");
    }
    InitBuilder(&builder, output, NULL);
    NsJsonInit(&builder.reader, text, length, &limits);
    result = ParseText(interp, &builder, false, false);
    FreeBuilder(&builder);
    if (result != TCL_OK) {
        Tcl_SetErrorCode(interp, "NS_INVALID_JSON", (char *) NULL);
    }
    return result;
}

static void
InitBuilder(Builder *builderPtr, Ns_JsonOutput output, Tcl_Obj *nullObj)
{
    builderPtr->output = output;
    builderPtr->nullObj = nullObj == NULL ? Tcl_NewObj() : nullObj;
    Tcl_IncrRefCount(builderPtr->nullObj);
}

/*
 * A text in UTF-8, in the buffer if need be.
 */
static const char *
BytesOf(Tcl_Obj *textObj, Tcl_DString *bytesPtr, int *lengthPtr)
{
    const char *text;

    if (NsTclIsByteArray(textObj)) {
        return (const char *) Tcl_GetByteArrayFromObj(textObj, lengthPtr);
    }
    text = Tcl_GetStringFromObj(textObj, lengthPtr);
    text = Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), text,
                                    *lengthPtr, bytesPtr);
    *lengthPtr = Tcl_DStringLength(bytesPtr);
    return text;
}

/*
 * Nothing changes without the option.
 */
static int
TakeLimit(Tcl_Interp *interp, Tcl_Obj *obj, const char *option, size_t max,
          size_t *limitPtr)
{
    Tcl_WideInt value;

    if (obj == NULL) {
        return TCL_OK;
    }
    if (Tcl_GetWideIntFromObj(interp, obj, &value) != TCL_OK) {
        return TCL_ERROR;
    }
    if (value < 1 || (size_t) value > max) {
        return NsTclFail(interp,
                         "expected integer in range [1,%zu] for '%s', but got "
                         "%s",
                         max, option, Tcl_GetString(obj));
    }
    *limitPtr = (size_t) value;
    return TCL_OK;
}

static int
ParseText(Tcl_Interp *interp, Builder *builderPtr, bool isContainer,
          bool isScan)
{
    NsJsonReader *readerPtr = &builderPtr->reader;
    Tcl_Obj      *objs[2];

    if (!Build(builderPtr, isContainer)) {
        return NsTclFail(interp, "ns_json: parse error at byte %td: %s",
                         readerPtr->p - readerPtr->text, readerPtr->error);
    }
    if (!isScan && !NsJsonAtEnd(readerPtr)) {
        return NsTclFail(interp, "ns_json parse: trailing data at byte %td",
                         readerPtr->p - readerPtr->text);
    }
    objs[0] = ResultOf(NsInterpOf(interp), builderPtr);
    objs[1] = Tcl_NewWideIntObj(readerPtr->p - readerPtr->text);
    Tcl_SetObjResult(interp, isScan ? Tcl_NewListObj(2, objs) : objs[0]);
    if (!isScan) {
        Tcl_DecrRefCount(objs[1]);
    }
    return TCL_OK;
}

/*
 * False: the reader has the error.
 */
static bool
Build(Builder *builderPtr, bool isContainer)
{
    static const char needed[] =
        "top-level value must be object or array (-top container)";
    NsJsonReader *readerPtr = &builderPtr->reader;
    NsJsonEvent   event;

    if (isContainer && !NsJsonAtEnd(readerPtr) && *readerPtr->p != '{'
        && *readerPtr->p != '[') {
        snprintf(readerPtr->error, sizeof(readerPtr->error), "%s", needed);
        return false;
    }
    if (builderPtr->output == NS_JSON_AS_SET) {
        builderPtr->setPtr = Ns_SetCreate(NULL);
        return NsJsonReadSet(readerPtr, Tcl_GetString(builderPtr->nullObj),
                             builderPtr->setPtr);
    }
    while ((event = NsJsonNext(readerPtr)) != NS_JSON_DONE) {
        Tcl_Obj *obj = NULL;

        if (event >= NS_JSON_STRING || event == NS_JSON_KEY) {
            obj = event == NS_JSON_NULL
                ? builderPtr->nullObj
                : Tcl_NewStringObj(Ns_DStringValue(&readerPtr->value),
                                   Ns_DStringLength(&readerPtr->value));
        }
        switch (event) {
        case NS_JSON_KEY:
            Tcl_IncrRefCount(obj);
            builderPtr->frames[builderPtr->nFrames - 1].keyObj = obj;
            break;
        case NS_JSON_OBJECT:
        case NS_JSON_ARRAY:
            Push(builderPtr, event == NS_JSON_OBJECT);
            break;
        case NS_JSON_OBJECT_END:
        case NS_JSON_ARRAY_END:
            Pop(builderPtr);
            break;
        case NS_JSON_STRING:
            Put(builderPtr, obj, "string");
            break;
        case NS_JSON_NUMBER:
            Put(builderPtr, obj, "number");
            break;
        case NS_JSON_BOOLEAN:
            Put(builderPtr, obj, "boolean");
            break;
        case NS_JSON_NULL:
            Put(builderPtr, obj, "null");
            break;
        default:
            return false;
        }
    }
    return true;
}

static void
Push(Builder *builderPtr, bool isObject)
{
    Frame *framePtr;

    if (builderPtr->nFrames == builderPtr->maxFrames) {
        builderPtr->maxFrames = MAX(2 * builderPtr->maxFrames, 16);
        builderPtr->frames = ns_realloc(builderPtr->frames,
                                        (size_t) builderPtr->maxFrames
                                            * sizeof(Frame));
    }
    framePtr = &builderPtr->frames[builderPtr->nFrames];
    *framePtr = (Frame){.isObject = isObject};
    framePtr->obj = isObject && builderPtr->output == NS_JSON_AS_VALUE
        ? Tcl_NewDictObj()
        : Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(framePtr->obj);
    builderPtr->nFrames++;
}

static void
Pop(Builder *builderPtr)
{
    Frame frame;

    NsAssert(builderPtr->nFrames > 0);
    frame = builderPtr->frames[--builderPtr->nFrames];
    Put(builderPtr, frame.obj, frame.isObject ? "object" : "array");
    Tcl_DecrRefCount(frame.obj);
}

/*
 * A complete value goes to the container around it.
 */
static void
Put(Builder *builderPtr, Tcl_Obj *obj, const char *type)
{
    Frame *framePtr = builderPtr->nFrames == 0
        ? NULL
        : &builderPtr->frames[builderPtr->nFrames - 1];

    Tcl_IncrRefCount(obj);
    if (framePtr == NULL) {
        builderPtr->resultObj = obj;
        builderPtr->resultType = type;
        return;
    } else if (builderPtr->output == NS_JSON_AS_TRIPLES) {
        Tcl_Obj *objs[3] = {NameObj(framePtr), Tcl_NewStringObj(type, -1), obj};

        for (int i = 0; i < Ns_NrElements(objs); i++) {
            Tcl_ListObjAppendElement(NULL, framePtr->obj, objs[i]);
        }
    } else if (framePtr->isObject) {
        Tcl_DictObjPut(NULL, framePtr->obj, framePtr->keyObj, obj);
    } else {
        Tcl_ListObjAppendElement(NULL, framePtr->obj, obj);
    }
    Tcl_DecrRefCount(obj);
    EndElement(builderPtr);
}

/*
 * One more is complete in the innermost container, if there is one.
 */
static void
EndElement(Builder *builderPtr)
{
    if (builderPtr->nFrames > 0) {
        Frame *framePtr = &builderPtr->frames[builderPtr->nFrames - 1];

        framePtr->nElements++;
        if (framePtr->keyObj != NULL) {
            Tcl_DecrRefCount(framePtr->keyObj);
            framePtr->keyObj = NULL;
        }
    }
}

static Tcl_Obj *
NameObj(const Frame *framePtr)
{
    NsAssert(framePtr->isObject == (framePtr->keyObj != NULL));
    return framePtr->isObject ? framePtr->keyObj
                              : Tcl_NewIntObj(framePtr->nElements);
}

/*
 * The set gets an id, and belongs to the interpreter.
 */
static Tcl_Obj *
ResultOf(NsInterp *itPtr, Builder *builderPtr)
{
    Tcl_Obj *objs[3];

    if (builderPtr->output == NS_JSON_AS_SET) {
        Ns_Set *setPtr = builderPtr->setPtr;

        builderPtr->setPtr = NULL;
        return NsTclSetEnter(itPtr, setPtr, true);
    }
    if (builderPtr->output == NS_JSON_AS_VALUE) {
        return builderPtr->resultObj;
    }
    objs[0] = Tcl_NewObj();
    objs[1] = Tcl_NewStringObj(builderPtr->resultType, -1);
    objs[2] = builderPtr->resultObj;
    return Tcl_NewListObj(3, objs);
}

static void
FreeBuilder(Builder *builderPtr)
{
    for (int i = 0; i < builderPtr->nFrames; i++) {
        Tcl_DecrRefCount(builderPtr->frames[i].obj);
        if (builderPtr->frames[i].keyObj != NULL) {
            Tcl_DecrRefCount(builderPtr->frames[i].keyObj);
        }
    }
    ns_free(builderPtr->frames);
    if (builderPtr->resultObj != NULL) {
        Tcl_DecrRefCount(builderPtr->resultObj);
    }
    Tcl_DecrRefCount(builderPtr->nullObj);
    Ns_SetFree(builderPtr->setPtr);
    NsJsonFree(&builderPtr->reader);
}

/* ---- Writing. ---- */

/*
 * ns_json value ?-type type? ?-pretty? ?--? value
 */
static int
ValueCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    static Ns_ObjvTable types[] = {
        {"auto", NS_TRIPLE_AUTO},     {"string", NS_TRIPLE_STRING},
        {"number", NS_TRIPLE_NUMBER}, {"boolean", NS_TRIPLE_BOOLEAN},
        {"null", NS_TRIPLE_NULL},     {"object", NS_TRIPLE_OBJECT},
        {"array", NS_TRIPLE_ARRAY},   {NULL, 0}};
    Writer      writer = {.interp = interp};
    Tcl_Obj    *obj;
    int         type = NS_TRIPLE_AUTO, isPretty = 0;
    Ns_ObjvSpec opts[] = {{"-type", Ns_ObjvIndex, &type, types},
                          {"-pretty", Ns_ObjvBool, &isPretty, INT2PTR(true)},
                          {"--", Ns_ObjvBreak, NULL, NULL},
                          {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec args[] = {{"value", Ns_ObjvObj, &obj, NULL},
                          {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    writer.isPretty = isPretty != 0;
    Ns_DStringInit(&writer.ds);
    if (Write(&writer, obj, (NsTripleType) type) != TCL_OK) {
        Ns_DStringFree(&writer.ds);
        return TCL_ERROR;
    }
    return NsTclReturnText(interp, &writer.ds);
}

static int
Write(Writer *writerPtr, Tcl_Obj *obj, NsTripleType type)
{
    const char *text;
    int         length;

    if (type == NS_TRIPLE_AUTO) {
        type = NsTripleTypeOf(obj, &obj);
    }
    switch (type) {
    case NS_TRIPLE_NUMBER:
        return WriteNumber(writerPtr, obj);
    case NS_TRIPLE_BOOLEAN:
        return WriteBoolean(writerPtr, obj);
    case NS_TRIPLE_NULL:
        Ns_DStringAppend(&writerPtr->ds, "null");
        return TCL_OK;
    case NS_TRIPLE_OBJECT:
    case NS_TRIPLE_ARRAY:
        return WriteContainer(writerPtr, obj, type == NS_TRIPLE_OBJECT);
    default:
        break;
    }
    text = Tcl_GetStringFromObj(obj, &length);
    NsJsonQuote(&writerPtr->ds, text, (size_t) length);
    return TCL_OK;
}

/*
 * As JSON has it already, or any number of Tcl that is finite.
 */
static int
WriteNumber(Writer *writerPtr, Tcl_Obj *obj)
{
    int         length;
    const char *text = Tcl_GetStringFromObj(obj, &length);
    char        digits[TCL_DOUBLE_SPACE];
    Tcl_WideInt integer;
    double      number;

    if (NsJsonIsNumber(text, (size_t) length)) {
        Ns_DStringNAppend(&writerPtr->ds, text, length);
    } else if (Tcl_GetWideIntFromObj(NULL, obj, &integer) == TCL_OK) {
        Ns_DStringPrintf(&writerPtr->ds, "%" TCL_LL_MODIFIER "d", integer);
    } else if (Tcl_GetDoubleFromObj(NULL, obj, &number) == TCL_OK
               && isfinite(number)) {
        Tcl_PrintDouble(NULL, number, digits);
        Ns_DStringAppend(&writerPtr->ds, digits);
    } else {
        return NsTclFail(writerPtr->interp,
                         "expected numeric Tcl value, got \"%s\"", text);
    }
    return TCL_OK;
}

static int
WriteBoolean(Writer *writerPtr, Tcl_Obj *obj)
{
    int value;

    if (Tcl_GetBooleanFromObj(writerPtr->interp, obj, &value) != TCL_OK) {
        return TCL_ERROR;
    }
    Ns_DStringAppend(&writerPtr->ds, value ? "true" : "false");
    return TCL_OK;
}

static int
WriteContainer(Writer *writerPtr, Tcl_Obj *obj, bool isObject)
{
    Tcl_Obj    **objs;
    int          n;
    NsTripleType type;

    if (Tcl_ListObjGetElements(writerPtr->interp, obj, &n, &objs) != TCL_OK) {
        return TCL_ERROR;
    }
    if (n % 3 != 0) {
        return NsTclFail(writerPtr->interp,
                         "ns_json value: triples length must be multiple of 3");
    }
    if (++writerPtr->depth > MAX_DEPTH) {
        return NsTclFail(writerPtr->interp,
                         "ns_json value: max depth exceeded");
    }
    Ns_DStringAppend(&writerPtr->ds, isObject ? "{" : "[");
    for (int i = 0; i < n; i += 3) {
        if (i > 0) {
            Ns_DStringAppend(&writerPtr->ds, ",");
        }
        NewLine(writerPtr);
        if (isObject) {
            (void) Write(writerPtr, objs[i], NS_TRIPLE_STRING);
            Ns_DStringAppend(&writerPtr->ds, writerPtr->isPretty ? ": " : ":");
        }
        if (NsTripleTypeFind(writerPtr->interp, objs[i + 1], &type) != TCL_OK
            || Write(writerPtr, objs[i + 2], type) != TCL_OK) {
            return TCL_ERROR;
        }
    }
    writerPtr->depth--;
    if (n > 0) {
        NewLine(writerPtr);
    }
    Ns_DStringAppend(&writerPtr->ds, isObject ? "}" : "]");
    return TCL_OK;
}

static void
NewLine(Writer *writerPtr)
{
    if (writerPtr->isPretty) {
        Ns_DStringAppend(&writerPtr->ds, "\n");
        for (int i = 0; i < writerPtr->depth; i++) {
            Ns_DStringAppend(&writerPtr->ds, "  ");
        }
    }
}

/* ---- Null, and keys of sets. ---- */

/*
 * ns_json null
 */
static int
NullCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    return NsTclReturn(interp, NsTripleNewNull());
}

/*
 * ns_json isnull value
 */
static int
IsNullCmd(ClientData clientData, Tcl_Interp *interp, int objc,
          Tcl_Obj *const *objv)
{
    return NsTclReturn(interp, Tcl_NewBooleanObj(NsTripleIsNull(objv[2])));
}

/*
 * ns_json keyencode|keydecode string
 */
static int
KeyCmd(ClientData clientData, Tcl_Interp *interp, int objc,
       Tcl_Obj *const *objv)
{
    int         isDecoding = NsTclData(clientData), length;
    const char *key = Tcl_GetStringFromObj(objv[2], &length);
    Ns_DString  ds;

    Ns_DStringInit(&ds);
    if (isDecoding) {
        NsJsonKeyDecode(&ds, key, (size_t) length);
    } else {
        NsJsonKeyEncode(&ds, key, (size_t) length);
    }
    return NsTclReturnText(interp, &ds);
}

/*
 * ns_json keyinfo key: of a set, without and with what is behind the dot.
 */
static int
KeyInfoCmd(ClientData clientData, Tcl_Interp *interp, int objc,
           Tcl_Obj *const *objv)
{
    const char *key = Tcl_GetString(objv[2]), *dot = strrchr(key, '.');
    int         length = dot == NULL ? (int) strlen(key) : (int) (dot - key);
    Tcl_Obj    *dictObj = Tcl_NewDictObj();

    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("key", -1),
                   Tcl_NewStringObj(key, length));
    Tcl_DictObjPut(NULL, dictObj, Tcl_NewStringObj("field", -1),
                   Tcl_NewStringObj(dot == NULL ? "" : dot + 1, -1));
    return NsTclReturn(interp, dictObj);
}
