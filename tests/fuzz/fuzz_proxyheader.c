/* SPDX-License-Identifier: MPL-2.0
 * fuzz_proxyheader.c --
 *
 *      Headers of the PROXY protocol: pieces are judged as the whole is, and
 *      what follows does not matter.
 */

#include "fuzz.h"

#include "http/proxyheader.h"

static NsProxyStatus Parse(const uint8_t *data, size_t length,
                           NsProxyHeader *headerPtr);
static void CheckPieces(const uint8_t *data, size_t length, NsProxyStatus whole,
                        const NsProxyHeader *headerPtr);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    NsProxyHeader header;
    NsProxyStatus status = Parse(data, length, &header);

    FuzzAssert(status != NS_PROXY_MORE || length < NS_PROXY_MAX_BYTES);
    FuzzAssert((status == NS_PROXY_INVALID) == (header.reason != NULL));
    if (status == NS_PROXY_DONE) {
        FuzzAssert(header.bytes > 0u && header.bytes <= length
                   && header.bytes <= NS_PROXY_MAX_BYTES);
    }
    CheckPieces(data, length, status, &header);
    return 0;
}

static NsProxyStatus
Parse(const uint8_t *data, size_t length, NsProxyHeader *headerPtr)
{
    char         *bytes = FuzzDup(data, length);
    NsProxyStatus status = NsProxyParse(bytes, length, headerPtr);

    free(bytes);
    return status;
}

/*
 * The status of a beginning is that of the whole, or more is needed.
 */
static void
CheckPieces(const uint8_t *data, size_t length, NsProxyStatus whole,
            const NsProxyHeader *headerPtr)
{
    NsProxyStatus status = NS_PROXY_MORE;
    NsProxyHeader header = {0};
    size_t        n;

    for (n = 0u; n <= length && status == NS_PROXY_MORE; n++) {
        status = Parse(data, n, &header);
    }
    FuzzAssert(status == whole && header.family == headerPtr->family);
    if (status == NS_PROXY_DONE) {
        FuzzAssert(header.bytes == headerPtr->bytes && header.bytes == n - 1u);
    }
}
