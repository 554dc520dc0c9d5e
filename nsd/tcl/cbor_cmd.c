/* SPDX-License-Identifier: MPL-2.0
 * cbor_cmd.c --
 *
 *      ns_cbor: CBOR as values.
 */

#include "nsstring.h"
#include "nsthread.h"
#include "base/assert.h"
#include "http/cbor.h"
#include "tcl/bytes.h"
#include "tcl/command.h"
#include "tcl/commands.h"
#include "tcl/objv.h"
#include "tcl/result.h"

/*
 * A container that is being read.
 */
typedef struct Frame {
    Tcl_Obj *obj;    /* A dict or list; ours. */
    Tcl_Obj *keyObj; /* Of a map, whose value is to come; ours. */
    bool     isMap;
} Frame;

typedef struct Builder {
    NsCborReader reader;
    int          form;      /* Of strings of bytes. */
    Tcl_Obj     *resultObj; /* The whole; ours. */
    Ns_DString   frames;    /* A Frame each. */
} Builder;

static Tcl_ObjCmdProc ParseCmd;

static bool     Build(Builder *builderPtr);
static Tcl_Obj *NewValue(const Builder *builderPtr, NsCborEvent event);
static void     Push(Builder *builderPtr, bool isMap);
static Tcl_Obj *Pop(Builder *builderPtr);
static void     Put(Builder *builderPtr, Tcl_Obj *obj);
static int      CountFrames(const Builder *builderPtr);
static Frame   *Top(const Builder *builderPtr);
static void     FreeBuilder(Builder *builderPtr);

static const NsTclCommand subcmds[] = {
    {"parse", ParseCmd, 0, NS_TCL_ANY, NULL, 0}, NS_TCL_END, NS_TCL_END};

static const NsTclEnsemble ensemble = {
    "ns_cbor", "subcommand ?arg ...?", "subcommand", NS_TCL_BASIC, subcmds};

NS_TCL_FAMILY_OF_ONE(Cbor, &ensemble)

/*
 * ns_cbor parse ?-binary? ?-encoding encoding? ?-scan? ?--? value
 */
static int
ParseCmd(ClientData clientData, Tcl_Interp *interp, int objc,
         Tcl_Obj *const *objv)
{
    Builder       builder = {.form = NS_BYTES_HEX};
    NsCborReader *readerPtr = &builder.reader;
    NsBytes       bytes;
    Tcl_Obj      *valueObj, *objs[2];
    int           isBinary = 0, isScan = 0, result = TCL_ERROR;
    Ns_ObjvSpec   opts[] = {NS_OBJV_BINARY(&isBinary),
                            NS_OBJV_ENCODING(&builder.form),
                            {"-scan", Ns_ObjvBool, &isScan, INT2PTR(1)},
                            {"--", Ns_ObjvBreak, NULL, NULL},
                            {NULL, NULL, NULL, NULL}};
    Ns_ObjvSpec   args[] = {{"value", Ns_ObjvObj, &valueObj, NULL},
                            {NULL, NULL, NULL, NULL}};

    if (Ns_ParseObjv(opts, args, interp, 2, objc, objv) != NS_OK) {
        return TCL_ERROR;
    }
    NsBytesInit(&bytes, valueObj, isBinary != 0);
    NsCborInit(readerPtr, bytes.bytes, bytes.length);
    Ns_DStringInit(&builder.frames);
    if (!Build(&builder)) {
        Ns_TclPrintfResult(interp, "ns_cbor: parse error at byte %td: %s",
                           readerPtr->p - readerPtr->bytes, readerPtr->error);
    } else if (isScan != 0) {
        objs[0] = builder.resultObj;
        objs[1] = Tcl_NewWideIntObj(readerPtr->p - readerPtr->bytes);
        result = NsTclReturn(interp, Tcl_NewListObj(2, objs));
    } else if (readerPtr->p < readerPtr->end) {
        Ns_TclPrintfResult(interp, "ns_cbor parse: trailing data at byte %td",
                           readerPtr->p - readerPtr->bytes);
    } else {
        result = NsTclReturn(interp, builder.resultObj);
    }
    FreeBuilder(&builder);
    NsBytesFree(&bytes);
    return result;
}

/*
 * False: the reader has the error.
 */
static bool
Build(Builder *builderPtr)
{
    NsCborEvent event;
    Tcl_Obj    *obj;

    while ((event = NsCborNext(&builderPtr->reader)) != NS_CBOR_DONE) {
        switch (event) {
        case NS_CBOR_ERROR:
            return false;
        case NS_CBOR_ARRAY:
        case NS_CBOR_MAP:
            Push(builderPtr, event == NS_CBOR_MAP);
            break;
        case NS_CBOR_END:
            obj = Pop(builderPtr);

            Put(builderPtr, obj);
            Tcl_DecrRefCount(obj);
            break;
        default:
            obj = NewValue(builderPtr, event);
            Tcl_IncrRefCount(obj);
            Put(builderPtr, obj);
            Tcl_DecrRefCount(obj);
            break;
        }
    }
    return true;
}

static Tcl_Obj *
NewValue(const Builder *builderPtr, NsCborEvent event)
{
    const Ns_DString *valuePtr = &builderPtr->reader.value;

    switch (event) {
    case NS_CBOR_BYTES:
        return NsBytesObj((const unsigned char *) Ns_DStringValue(valuePtr),
                          (size_t) Ns_DStringLength(valuePtr),
                          builderPtr->form);
    case NS_CBOR_REAL:
        return Tcl_NewDoubleObj(builderPtr->reader.real);
    default:
        return Tcl_NewStringObj(Ns_DStringValue(valuePtr),
                                Ns_DStringLength(valuePtr));
    }
}

static void
Push(Builder *builderPtr, bool isMap)
{
    const Frame frame = {
        .obj = isMap ? Tcl_NewDictObj() : Tcl_NewListObj(0, NULL),
        .isMap = isMap};

    Tcl_IncrRefCount(frame.obj);
    Ns_DStringNAppend(&builderPtr->frames, (const char *) &frame,
                      (int) sizeof(frame));
}

/*
 * The innermost container, complete; the caller's.
 */
static Tcl_Obj *
Pop(Builder *builderPtr)
{
    Tcl_Obj *obj = Top(builderPtr)->obj;

    NsAssert(Top(builderPtr)->keyObj == NULL);
    Ns_DStringSetLength(&builderPtr->frames,
                        Ns_DStringLength(&builderPtr->frames)
                            - (int) sizeof(Frame));
    return obj;
}

/*
 * A complete value goes to the container around it.
 */
static void
Put(Builder *builderPtr, Tcl_Obj *obj)
{
    Frame *framePtr;

    if (CountFrames(builderPtr) == 0) {
        NsAssert(builderPtr->resultObj == NULL);
        Tcl_IncrRefCount(obj);
        builderPtr->resultObj = obj;
        return;
    }
    framePtr = Top(builderPtr);
    if (!framePtr->isMap) {
        Tcl_ListObjAppendElement(NULL, framePtr->obj, obj);
    } else if (framePtr->keyObj == NULL) {
        Tcl_IncrRefCount(obj);
        framePtr->keyObj = obj;
    } else {
        Tcl_DictObjPut(NULL, framePtr->obj, framePtr->keyObj, obj);
        Tcl_DecrRefCount(framePtr->keyObj);
        framePtr->keyObj = NULL;
    }
}

static int
CountFrames(const Builder *builderPtr)
{
    return Ns_DStringLength(&builderPtr->frames) / (int) sizeof(Frame);
}

static Frame *
Top(const Builder *builderPtr)
{
    NsAssert(CountFrames(builderPtr) > 0);
    return (Frame *) (void *) Ns_DStringValue(&builderPtr->frames)
        + (CountFrames(builderPtr) - 1);
}

static void
FreeBuilder(Builder *builderPtr)
{
    while (CountFrames(builderPtr) > 0) {
        if (Top(builderPtr)->keyObj != NULL) {
            Tcl_DecrRefCount(Top(builderPtr)->keyObj);
            Top(builderPtr)->keyObj = NULL;
        }
        Tcl_DecrRefCount(Pop(builderPtr));
    }
    if (builderPtr->resultObj != NULL) {
        Tcl_DecrRefCount(builderPtr->resultObj);
    }
    Ns_DStringFree(&builderPtr->frames);
    NsCborFree(&builderPtr->reader);
}
