/* SPDX-License-Identifier: MPL-2.0
 * form.c --
 *
 *      How a sink writes records.
 */

#include "log/stream/form.h"

#include "base/assert.h"
#include "log/stream/json.h"
#include "log/stream/mask.h"
#include "log/stream/pairs.h"
#include "log/stream/template.h"
#include "nsstring.h"
#include "nsthread.h"

#define END      "}\n" /* Of an object of JSON. */
#define END_SIZE (sizeof(END) - 1)

struct NsForm {
    int         format;
    int32_t     number;
    NsTemplate *templatePtr; /* These may be NULL. */
    NsMask     *maskPtr;
    char       *added; /* Members of an object, a comma before each. */
    size_t      addedLength;
};

static bool     AddFields(NsForm *formPtr, const char *fields,
                          Ns_DString *errorPtr);
static uint32_t Hash(uint32_t hash, const char *text);

static size_t PutLine(const NsForm *formPtr, Ns_LogStream stream,
                      const Ns_LogRecord *recordPtr, bool isNote, char *buffer,
                      size_t room);

NsForm *
NsFormCreate(const NsFormSpec *specPtr, Ns_DString *errorPtr)
{
    NsForm *formPtr = ns_calloc(1u, sizeof(*formPtr));
    bool    isOk = true;

    NsAssert((specPtr->format == NS_LOG_TEMPLATE)
             == (specPtr->template != NULL));
    formPtr->format = formPtr->number = specPtr->format;
    if (specPtr->template != NULL) {
        formPtr->templatePtr = NsTemplateCreate(specPtr->template, errorPtr);
        isOk = formPtr->templatePtr != NULL;
    }
    if (isOk && specPtr->mask != NULL) {
        formPtr->maskPtr = NsMaskCreate(specPtr->mask, errorPtr);
        isOk = formPtr->maskPtr != NULL;
    }
    if (isOk && specPtr->fields != NULL) {
        isOk = AddFields(formPtr, specPtr->fields, errorPtr);
    }
    if (!isOk) {
        NsFormDestroy(&formPtr);
        return NULL;
    }
    if (specPtr->template != NULL || specPtr->mask != NULL
        || specPtr->fields != NULL) {
        uint32_t hash =
            Hash(Hash(Hash((uint32_t) specPtr->format, specPtr->template),
                      specPtr->mask),
                 specPtr->fields);

        formPtr->number = NS_LOG_NFORMATS + (int32_t) (hash & 0x3fffffff);
    }
    return formPtr;
}

void
NsFormDestroy(NsForm **formPtrPtr)
{
    NsForm *formPtr = *formPtrPtr;

    *formPtrPtr = NULL;
    if (formPtr != NULL) {
        NsTemplateDestroy(&formPtr->templatePtr);
        NsMaskDestroy(&formPtr->maskPtr);
        ns_free(formPtr->added);
        ns_free(formPtr);
    }
}

static bool
AddFields(NsForm *formPtr, const char *fields, Ns_DString *errorPtr)
{
    NsLogOut     out = {NULL, 0, 0};
    int          n;
    const char **words = NsPairsSplit(fields, &n);

    if (words == NULL) {
        Ns_DStringAppend(errorPtr, "not a list of names and values");
        return false;
    }
    /* The first round counts. */
    for (int round = 0; round < 2; round++) {
        out = (NsLogOut){formPtr->added, out.length, 0};
        for (int i = 0; i < n; i += 2) {
            NsJsonName(&out, words[i], false);
            NsJsonString(&out, words[i + 1], strlen(words[i + 1]));
        }
        if (round == 0) {
            formPtr->added = ns_malloc(out.length + 1);
        }
    }
    NsAssert(out.length == out.room);
    formPtr->addedLength = out.length;
    Tcl_Free((char *) words);
    return true;
}

static uint32_t
Hash(uint32_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        hash = hash * 31 + UCHAR(*text);
    }
    return hash * 31 + 1;
}

int32_t
NsFormNumber(const NsForm *formPtr)
{
    return formPtr->number;
}

bool
NsFormFits(int format, Ns_LogStream stream)
{
    return format == NS_LOG_TEMPLATE
        ? !NsStreamHasFormat(stream) || NsStreamFields(stream) != NULL
        : NsStreamKnowsFormat(stream, format);
}

Ns_LogRecord
NsFormRecord(NsForm *formPtr, Ns_LogStream stream,
             const Ns_LogRecord *recordPtr)
{
    return formPtr->maskPtr != NULL
        ? NsMaskRecord(formPtr->maskPtr, NsStreamFields(stream), recordPtr)
        : *recordPtr;
}

size_t
NsFormLine(NsForm *formPtr, Ns_LogStream stream, const Ns_LogRecord *recordPtr,
           bool isNote, char *buffer, size_t room)
{
    Ns_LogRecord masked;
    size_t       n;

    if (likely(formPtr->number < NS_LOG_NFORMATS)) {
        return NsStreamFormat(stream, formPtr->format, recordPtr, buffer, room);
    }
    masked = NsFormRecord(formPtr, stream, recordPtr);
    recordPtr = &masked;
    n = PutLine(formPtr, stream, recordPtr, isNote, buffer, room);
    if (formPtr->addedLength > 0 && n > 0) {
        NsAssert(formPtr->added != NULL);
        if (n + formPtr->addedLength > room) {
            return n + formPtr->addedLength;
        }
        if (n > END_SIZE + 1 && buffer[0] == '{'
            && memcmp(buffer + n - END_SIZE, END, END_SIZE) == 0) {
            memcpy(buffer + n - END_SIZE, formPtr->added, formPtr->addedLength);
            n += formPtr->addedLength;
            memcpy(buffer + n - END_SIZE, END, END_SIZE);
        }
    }
    return n;
}

static size_t
PutLine(const NsForm *formPtr, Ns_LogStream stream,
        const Ns_LogRecord *recordPtr, bool isNote, char *buffer, size_t room)
{
    if (formPtr->format != NS_LOG_TEMPLATE) {
        return NsStreamFormat(stream, formPtr->format, recordPtr, buffer, room);
    }
    NsAssert(formPtr->templatePtr != NULL);
    if (isNote) {
        return NsStreamFormat(stream,
                              NsTemplateIsJson(formPtr->templatePtr)
                                  ? NS_LOG_JSON
                                  : NS_LOG_NATIVE,
                              recordPtr, buffer, room);
    }
    return NsTemplateLine(formPtr->templatePtr, NsStreamFields(stream),
                          recordPtr, buffer, room);
}
