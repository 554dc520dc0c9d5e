/* SPDX-License-Identifier: MPL-2.0
 * assert.c --
 *
 *      The last words of a process in which a contract was broken.
 */

#include "base/assert.h"
#include "base/fatal.h"

void
NsAssertFailed(const char *condition, const char *file, int line)
{
    NsFatal("assertion failed at %s:%d: %s: please report this", file, line,
            condition);
}

void
NsMustFailed(int result, const char *call, const char *file, int line)
{
    /* pthread_... return the error, the others leave it in errno. */
    int error = result > 0 ? result : errno;

    NsFatal("call failed at %s:%d: %s: %s: please report this", file, line,
            call, strerror(error));
}
