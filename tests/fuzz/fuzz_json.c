/* SPDX-License-Identifier: MPL-2.0
 * fuzz_json.c --
 *
 *      JSON: a reader ends, containers are closed in their order, strings are
 *      text, and what was quoted reads as the same string.
 */

#include "fuzz.h"

#include "http/jsonset.h"
#include "http/url.h"

static void CheckReading(const char *text, size_t length, size_t maxDepth);
static void CheckQuoting(const char *text);
static void CheckSet(const char *text, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char *bytes = FuzzDup(data, length);
    char *text = FuzzString(data, length);

    CheckReading(bytes, length, 0);
    CheckReading(bytes, length, 3);
    CheckSet(bytes, length);
    if (NsUtf8ValidBytes(text, strlen(text)) == strlen(text)) {
        CheckQuoting(text);
    }
    free(text);
    free(bytes);
    return 0;
}

static void
CheckReading(const char *text, size_t length, size_t maxDepth)
{
    const NsJsonLimits limits = {.maxDepth = maxDepth, .maxString = 1000};
    NsJsonReader       reader;
    NsJsonEvent        event;
    size_t             depth = 0;

    NsJsonInit(&reader, text, length, &limits);
    while ((event = NsJsonNext(&reader)) != NS_JSON_DONE
           && event != NS_JSON_ERROR) {
        depth += event == NS_JSON_OBJECT || event == NS_JSON_ARRAY;
        FuzzAssert(maxDepth == 0 || depth <= maxDepth);
        if (event == NS_JSON_OBJECT_END || event == NS_JSON_ARRAY_END) {
            FuzzAssert(depth > 0);
            depth--;
        }
        if (event == NS_JSON_STRING) {
            FuzzAssert(Ns_DStringLength(&reader.value) <= 1000);
        }
        if (event == NS_JSON_NUMBER) {
            FuzzAssert(NsJsonIsNumber(Ns_DStringValue(&reader.value),
                                      (size_t)
                                          Ns_DStringLength(&reader.value)));
        }
    }
    FuzzAssert(event == NS_JSON_ERROR || depth == 0);
    FuzzAssert((event == NS_JSON_ERROR) == (reader.error[0] != '\0'));
    FuzzAssert(reader.p >= text && reader.p <= text + length);
    NsJsonFree(&reader);
}

/*
 * Two fields for each value, of bounded size.
 */
static void
CheckSet(const char *text, size_t length)
{
    const NsJsonLimits limits = {.maxDepth = 1000u};
    NsJsonReader       reader;
    Ns_Set            *setPtr = Ns_SetCreate(NULL);
    size_t             bytes = 0u;
    bool               isRead;

    NsJsonInit(&reader, text, length, &limits);
    isRead = NsJsonReadSet(&reader, "", setPtr);
    FuzzAssert(isRead == (reader.error[0] == '\0'));
    FuzzAssert(Ns_SetSize(setPtr) % 2 == 0);
    for (int i = 0; i < (int) Ns_SetSize(setPtr); i++) {
        bytes += strlen(Ns_SetKey(setPtr, i)) + strlen(Ns_SetValue(setPtr, i));
    }
    FuzzAssert(bytes <= 65536u + 64u * length);
    NsJsonFree(&reader);
    Ns_SetFree(setPtr);
}

static void
CheckQuoting(const char *text)
{
    const NsJsonLimits limits = {0};
    NsJsonReader       reader;
    Ns_DString         quoted;

    Ns_DStringInit(&quoted);
    NsJsonQuote(&quoted, text, strlen(text));
    NsJsonInit(&reader, Ns_DStringValue(&quoted),
               (size_t) Ns_DStringLength(&quoted), &limits);
    FuzzAssert(NsJsonNext(&reader) == NS_JSON_STRING);
    FuzzAssert(NsJsonAtEnd(&reader));
    /* Characters beyond U+FFFF become two. */
    FuzzAssert(strpbrk(text, "\360\361\362\363\364") != NULL
               || strcmp(Ns_DStringValue(&reader.value), text) == 0);
    NsJsonFree(&reader);
    Ns_DStringFree(&quoted);
}
