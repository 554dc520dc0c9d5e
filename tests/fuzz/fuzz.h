/* SPDX-License-Identifier: MPL-2.0
 * fuzz.h --
 *
 *      What the fuzz targets share.
 */

#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Called by libFuzzer with one input after the other.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

#define FuzzAssert(condition) \
    do {                      \
        if (!(condition)) {   \
            abort();          \
        }                     \
    } while (0)

/*
 * A heap copy of exactly this length, so that AddressSanitizer sees each byte
 * beyond it.  The caller frees it.
 */
static inline char *
FuzzDup(const uint8_t *data, size_t length)
{
    char *copy = malloc(length == 0 ? 1 : length);

    if (length > 0) {
        memcpy(copy, data, length);
    }
    return copy;
}

/*
 * A null-terminated copy.
 */
static inline char *
FuzzString(const uint8_t *data, size_t length)
{
    char *copy = malloc(length + 1);

    if (length > 0) {
        memcpy(copy, data, length);
    }
    copy[length] = '\0';
    return copy;
}

#endif
