/* SPDX-License-Identifier: MPL-2.0
 * dbtime.c --
 *
 *      Durations.
 */

#include "dbint.h"

int64_t
DbNow(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void
DbAppendMicros(Ns_DString *dsPtr, int64_t micros)
{
    Ns_DStringPrintf(dsPtr, "%" PRId64 ".%06" PRId64, micros / 1000000,
                     micros % 1000000);
}
