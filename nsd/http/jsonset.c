/* SPDX-License-Identifier: MPL-2.0
 * jsonset.c --
 *
 *      JSON as a set.
 *
 *      Each value has the names of all containers around it in its key, twice,
 *      so a text of n bytes could ask for n * n.  It does not get them.
 */

#include "http/jsonset.h"

#include "base/assert.h"

/*
 * Bytes of keys and values: for each byte of the text, and besides.  Short
 * elements of a long array need some 30.
 */
#define BYTES_PER_BYTE 64u
#define MIN_BYTES      65536u

/*
 * A container that is being read.
 */
typedef struct Frame {
    size_t nElements;  /* That began. */
    int    pathLength; /* Of its own path. */
    bool   isObject;
} Frame;

typedef struct Builder {
    NsJsonReader *readerPtr;
    const char   *nullValue;
    Ns_Set       *setPtr;
    Ns_DString    path;
    Ns_DString    frames;    /* A Frame each. */
    size_t        bytesLeft; /* Until the set is too large. */
} Builder;

static bool Take(Builder *builderPtr, NsJsonEvent event);
static void Push(Builder *builderPtr, bool isObject);
static bool Pop(Builder *builderPtr);
static void BeginElement(Builder *builderPtr, const char *name, size_t length);
static bool Put(Builder *builderPtr, const char *type, const char *value);
static Frame *Top(const Builder *builderPtr);

bool
NsJsonReadSet(NsJsonReader *readerPtr, const char *nullValue, Ns_Set *setPtr)
{
    size_t  length = (size_t) (readerPtr->end - readerPtr->text);
    Builder builder = {.readerPtr = readerPtr,
                       .nullValue = nullValue,
                       .setPtr = setPtr,
                       .bytesLeft = MIN_BYTES + BYTES_PER_BYTE * length};
    bool    isRead = true;

    Ns_DStringInit(&builder.path);
    Ns_DStringInit(&builder.frames);
    while (isRead) {
        NsJsonEvent event = NsJsonNext(readerPtr);

        if (event == NS_JSON_DONE) {
            break;
        }
        isRead = Take(&builder, event);
    }
    Ns_DStringFree(&builder.frames);
    Ns_DStringFree(&builder.path);
    return isRead;
}

static bool
Take(Builder *builderPtr, NsJsonEvent event)
{
    static const char *const types[] = {
        [NS_JSON_STRING] = "string",
        [NS_JSON_NUMBER] = "number",
        [NS_JSON_BOOLEAN] = "boolean",
        [NS_JSON_NULL] = "null"};
    const Ns_DString *valuePtr = &builderPtr->readerPtr->value;

    switch (event) {
    case NS_JSON_ERROR:
    case NS_JSON_DONE:
        return false;
    case NS_JSON_KEY:
        BeginElement(builderPtr, Ns_DStringValue(valuePtr),
                     (size_t) Ns_DStringLength(valuePtr));
        return true;
    case NS_JSON_OBJECT_END:
    case NS_JSON_ARRAY_END:
        return Pop(builderPtr);
    default:
        break;
    }
    if (Ns_DStringLength(&builderPtr->frames) > 0
        && !Top(builderPtr)->isObject) {
        BeginElement(builderPtr, NULL, 0u);
    }
    if (event == NS_JSON_OBJECT || event == NS_JSON_ARRAY) {
        Push(builderPtr, event == NS_JSON_OBJECT);
        return true;
    }
    return Put(builderPtr, types[event],
               event == NS_JSON_NULL ? builderPtr->nullValue
                                     : Ns_DStringValue(valuePtr));
}

static void
Push(Builder *builderPtr, bool isObject)
{
    const Frame frame = {.pathLength = Ns_DStringLength(&builderPtr->path),
                         .isObject = isObject};

    Ns_DStringNAppend(&builderPtr->frames, (const char *) &frame,
                      (int) sizeof(frame));
}

static bool
Pop(Builder *builderPtr)
{
    const Frame frame = *Top(builderPtr);

    Ns_DStringSetLength(&builderPtr->frames,
                        Ns_DStringLength(&builderPtr->frames)
                            - (int) sizeof(Frame));
    Ns_DStringSetLength(&builderPtr->path, frame.pathLength);
    return frame.nElements > 0
        || Put(builderPtr, frame.isObject ? "object" : "array", "");
}

/*
 * The path is now that of the next element of the innermost container: of a
 * member of that name, or NULL, of an array's next one.
 */
static void
BeginElement(Builder *builderPtr, const char *name, size_t length)
{
    Frame      *framePtr = Top(builderPtr);
    Ns_DString *pathPtr = &builderPtr->path;

    Ns_DStringSetLength(pathPtr, framePtr->pathLength);
    if (Ns_DStringLength(&builderPtr->frames) > (int) sizeof(Frame)) {
        Ns_DStringNAppend(pathPtr, "/", 1);
    }
    if (name == NULL) {
        Ns_DStringPrintf(pathPtr, "%zu", framePtr->nElements);
    } else {
        NsJsonKeyEncode(pathPtr, name, length);
    }
    framePtr->nElements++;
}

static bool
Put(Builder *builderPtr, const char *type, const char *value)
{
    NsJsonReader *readerPtr = builderPtr->readerPtr;
    Ns_DString   *pathPtr = &builderPtr->path;
    int           length = Ns_DStringLength(pathPtr);
    size_t        bytes = 2u * (size_t) length + sizeof(".type") + strlen(type)
        + strlen(value);

    if (bytes > builderPtr->bytesLeft) {
        snprintf(readerPtr->error, sizeof(readerPtr->error),
                 "keys too long for a set");
        return false;
    }
    builderPtr->bytesLeft -= bytes;
    Ns_DStringAppend(pathPtr, ".type");
    (void) Ns_SetPut(builderPtr->setPtr, Ns_DStringValue(pathPtr), type);
    Ns_DStringSetLength(pathPtr, length);
    (void) Ns_SetPut(builderPtr->setPtr, Ns_DStringValue(pathPtr), value);
    return true;
}

static Frame *
Top(const Builder *builderPtr)
{
    int length = Ns_DStringLength(&builderPtr->frames);

    NsAssert(length >= (int) sizeof(Frame));
    return (Frame *) (void *) (Ns_DStringValue(&builderPtr->frames) + length)
        - 1;
}
