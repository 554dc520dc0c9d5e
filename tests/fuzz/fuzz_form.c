/* SPDX-License-Identifier: MPL-2.0
 * fuzz_form.c --
 *
 *      Forms: every part of a multipart body lies inside it, and every name is
 *      valid text.
 */

#include "fuzz.h"

#include "http/form.h"
#include "http/multipart.h"
#include "http/url.h"

static const char multipart[] = "multipart/form-data; boundary=b";

static void CheckPart(const NsFormPart *partPtr, void *arg);
static void CheckText(const char *text);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char        *body = FuzzDup(data, length);
    char        *text = FuzzString(data, length);
    NsFormSource source = {.data = body, .length = length};
    Ns_Set      *setPtr = Ns_SetCreate(NULL);

    NsFormParseMultipart(&source, multipart, NULL, CheckPart, &source);
    NsFormParseMultipart(&source, text, NULL, CheckPart, &source);
    NsFormIsMultipart(text);

    NsFormParseQuery(body, length, NULL, setPtr);
    FuzzAssert(Ns_SetSize(setPtr) >= 1);
    for (int i = 0; i < Ns_SetSize(setPtr); i++) {
        CheckText(Ns_SetKey(setPtr, i));
        if (Ns_SetValue(setPtr, i) != NULL) {
            CheckText(Ns_SetValue(setPtr, i));
        }
    }
    Ns_SetFree(setPtr);
    free(text);
    free(body);
    return 0;
}

static void
CheckPart(const NsFormPart *partPtr, void *arg)
{
    const NsFormSource *sourcePtr = arg;

    FuzzAssert(partPtr->contentOffset <= sourcePtr->length);
    FuzzAssert(partPtr->contentLength
               <= sourcePtr->length - partPtr->contentOffset);
    FuzzAssert(partPtr->content == sourcePtr->data + partPtr->contentOffset);
    CheckText(partPtr->name);
    if (partPtr->fileName != NULL) {
        CheckText(partPtr->fileName);
    }
    for (int i = 0; i < partPtr->nHeaders; i++) {
        FuzzAssert(partPtr->headers[i].value + partPtr->headers[i].valueLength
                   <= sourcePtr->data + sourcePtr->length);
    }
}

/*
 * UTF-8, but for Tcl's form of a null byte.
 */
static void
CheckText(const char *text)
{
    const char *end = text + strlen(text);

    while (text < end) {
        size_t n = NsUtf8Sequence(text, end);

        if (n == 0) {
            FuzzAssert(memcmp(text, "\300\200", 2) == 0);
            n = 2;
        }
        text += n;
    }
}
