/* SPDX-License-Identifier: MPL-2.0
 * brotli.c --
 *
 *      Bodies as Brotli data.
 */

#include "http/brotli.h"

#include "base/assert.h"
#include "base/config.h"

#ifdef HAVE_BROTLI

#include <brotli/encode.h>

#include "nsthread.h"

/*
 * Windows as powers of 2.  One of twice the body's size finds what there is to
 * find; a larger one costs memory only, some four times its size.
 */
#define MIN_WINDOW    12
#define MAX_WINDOW    20
#define STREAM_WINDOW 18

static void *Allocate(void *arg, size_t size);
static void  Release(void *arg, void *address);
static bool  Step(BrotliEncoderState *statePtr, BrotliEncoderOperation op,
                  const struct iovec *bufPtr, Ns_DString *dsPtr);

bool
NsBrotliIsBuiltIn(void)
{
    return true;
}

NsBrotli *
NsBrotliCreate(int level, size_t bytes)
{
    BrotliEncoderState *statePtr = BrotliEncoderCreateInstance(Allocate,
                                                               Release, NULL);
    uint32_t            window = bytes > 0 ? MIN_WINDOW : STREAM_WINDOW;

    NsAssert(statePtr != NULL);
    while (window < MAX_WINDOW && bytes > (size_t) 1 << (window - 1)) {
        window++;
    }
    BrotliEncoderSetParameter(statePtr, BROTLI_PARAM_QUALITY,
                              (uint32_t) MAX(1, MIN(level, 9)));
    BrotliEncoderSetParameter(statePtr, BROTLI_PARAM_LGWIN, window);
    BrotliEncoderSetParameter(statePtr, BROTLI_PARAM_MODE, BROTLI_MODE_TEXT);
    BrotliEncoderSetParameter(statePtr, BROTLI_PARAM_SIZE_HINT,
                              (uint32_t) MIN(bytes, (size_t) UINT32_MAX));
    return (NsBrotli *) statePtr;
}

void
NsBrotliDestroy(NsBrotli **brotliPtrPtr)
{
    BrotliEncoderDestroyInstance((BrotliEncoderState *) *brotliPtrPtr);
    *brotliPtrPtr = NULL;
}

Ns_ReturnCode
NsBrotliAppend(NsBrotli *brotliPtr, const struct iovec *bufs, int nBufs,
               Ns_DString *dsPtr, bool isLast)
{
    static const struct iovec nothing = {NULL, 0};
    BrotliEncoderOperation    last = isLast
           ? BROTLI_OPERATION_FINISH
           : BROTLI_OPERATION_FLUSH;

    NsAssert(nBufs >= 0);
    /* A body in one piece is ended in the call that has its bytes: the encoder
     * then prepares less memory for a short one. */
    for (int i = 0; i < nBufs - 1; i++) {
        if (!Step((BrotliEncoderState *) brotliPtr, BROTLI_OPERATION_PROCESS,
                  &bufs[i], dsPtr)) {
            return NS_ERROR;
        }
    }
    return Step((BrotliEncoderState *) brotliPtr, last,
                nBufs > 0 ? &bufs[nBufs - 1] : &nothing, dsPtr)
        ? NS_OK
        : NS_ERROR;
}

static void *
Allocate(void *arg, size_t size)
{
    return ns_malloc(size);
}

static void
Release(void *arg, void *address)
{
    ns_free(address);
}

/*
 * Until all input is taken and a call has no more output.  That no output waits
 * after a call is not enough: the encoder takes input while output waits, and
 * has not looked at it then.
 */
static bool
Step(BrotliEncoderState *statePtr, BrotliEncoderOperation op,
     const struct iovec *bufPtr, Ns_DString *dsPtr)
{
    size_t         inBytes = bufPtr->iov_len, outBytes, noRoom = 0;
    const uint8_t *in = bufPtr->iov_base;

    do {
        const uint8_t *out;

        outBytes = 0;
        if (!BrotliEncoderCompressStream(statePtr, op, &inBytes, &in, &noRoom,
                                         NULL, NULL)) {
            return false;
        }
        out = BrotliEncoderTakeOutput(statePtr, &outBytes);
        if (outBytes > (size_t) (INT_MAX / 2 - Ns_DStringLength(dsPtr))) {
            return false; /* The string is full. */
        }
        Ns_DStringNAppend(dsPtr, (const char *) out, (int) outBytes);
    } while (inBytes > 0 || outBytes > 0);
    return true;
}

#else

bool
NsBrotliIsBuiltIn(void)
{
    return false;
}

NsBrotli *
NsBrotliCreate(int level, size_t bytes)
{
    return NULL;
}

void
NsBrotliDestroy(NsBrotli **brotliPtrPtr)
{
    NsAssert(*brotliPtrPtr == NULL);
}

Ns_ReturnCode
NsBrotliAppend(NsBrotli *brotliPtr, const struct iovec *bufs, int nBufs,
               Ns_DString *dsPtr, bool isLast)
{
    NsAssert(brotliPtr == NULL);
    return NS_ERROR;
}

#endif
