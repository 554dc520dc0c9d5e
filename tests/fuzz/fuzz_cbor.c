/* SPDX-License-Identifier: MPL-2.0
 * fuzz_cbor.c --
 *
 *      CBOR: a reader ends, containers are closed in their order, maps have a
 *      value for each key, and texts are text.
 */

#include "fuzz.h"

#include "http/cbor.h"
#include "http/url.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char        *bytes = FuzzDup(data, length);
    NsCborReader reader;
    NsCborEvent  event;
    size_t       depth = 0u, nEvents = 0u;

    NsCborInit(&reader, bytes, length);
    while ((event = NsCborNext(&reader)) != NS_CBOR_DONE
           && event != NS_CBOR_ERROR) {
        depth += event == NS_CBOR_ARRAY || event == NS_CBOR_MAP;
        FuzzAssert(depth <= NS_CBOR_MAX_DEPTH);
        if (event == NS_CBOR_END) {
            FuzzAssert(depth > 0u);
            depth--;
        }
        /* An item takes a byte, its end another or none. */
        FuzzAssert(++nEvents <= 2u * length);
    }
    FuzzAssert(event == NS_CBOR_ERROR || depth == 0u);
    FuzzAssert((event == NS_CBOR_ERROR) == (reader.error != NULL));
    FuzzAssert(reader.p >= reader.bytes && reader.p <= reader.end);
    NsCborFree(&reader);
    free(bytes);
    return 0;
}
