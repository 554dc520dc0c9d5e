/* SPDX-License-Identifier: MPL-2.0
 * fuzz_wsdeflate.c --
 *
 *      Compressed messages of WebSocket: never more than allowed comes out, and
 *      what was compressed is read as the same.
 */

#include "fuzz.h"

#include "http/wsdeflate.h"

#define MAX_BYTES 5000u

static void Unpack(NsWsInflater *inflaterPtr, const char *bytes, size_t length);
static void CheckAgain(const char *bytes, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char         *bytes = FuzzDup(data, length);
    NsWsInflater *inflaterPtr = NsWsInflaterCreate(length % 2u == 0u);

    Unpack(inflaterPtr, bytes, length / 2u);
    Unpack(inflaterPtr, bytes + length / 2u, length - length / 2u);
    NsWsInflaterDestroy(&inflaterPtr);
    CheckAgain(bytes, length);
    free(bytes);
    return 0;
}

static void
Unpack(NsWsInflater *inflaterPtr, const char *bytes, size_t length)
{
    Ns_DString ds;
    NsWsStatus status;

    Ns_DStringInit(&ds);
    status = NsWsInflate(inflaterPtr, bytes, length, MAX_BYTES, &ds);
    FuzzAssert(status == NS_WS_COMPLETE || status == NS_WS_TOO_LONG
               || status == NS_WS_BAD_DATA);
    FuzzAssert(Ns_DStringLength(&ds) <= (int) MAX_BYTES);
    Ns_DStringFree(&ds);
}

static void
CheckAgain(const char *bytes, size_t length)
{
    NsWsInflater *inflaterPtr = NsWsInflaterCreate(false);
    Ns_DString    packed, ds;

    Ns_DStringInit(&packed);
    Ns_DStringInit(&ds);
    if (NsWsDeflate(bytes, length, NS_WS_MIN_BITS + (int) (length % 7u),
                    &packed)) {
        FuzzAssert((size_t) Ns_DStringLength(&packed) < length);
        FuzzAssert(NsWsInflate(inflaterPtr, Ns_DStringValue(&packed),
                               (size_t) Ns_DStringLength(&packed), length, &ds)
                   == NS_WS_COMPLETE);
        FuzzAssert((size_t) Ns_DStringLength(&ds) == length
                   && memcmp(Ns_DStringValue(&ds), bytes, length) == 0);
    }
    Ns_DStringFree(&ds);
    Ns_DStringFree(&packed);
    NsWsInflaterDestroy(&inflaterPtr);
}
