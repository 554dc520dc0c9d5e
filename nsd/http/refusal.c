/* SPDX-License-Identifier: MPL-2.0
 * refusal.c --
 *
 *      What is wrong with a request: a status, and a reason for the operator.
 */

#include "http/refusal.h"

#include "base/assert.h"

#define MAX_SHOWN 60

void
NsHttpRefuse(NsHttpHead *headPtr, int status, const char *format, ...)
{
    va_list args;

    NsAssert(status >= 400 && status <= 599);
    headPtr->status = status;
    va_start(args, format);
    vsnprintf(headPtr->reason, sizeof(headPtr->reason), format, args);
    va_end(args);
}

void
NsHttpRefuseByte(NsHttpHead *headPtr, const char *what, const char *start,
                 const char *at, const char *end)
{
    NsAssert(start <= at && at <= end);
    if (at == end || start == end) {
        NsHttpRefuse(headPtr, 400, "%s: empty", what);
    } else {
        NsHttpRefuse(headPtr, 400, "%s: byte 0x%02x in \"%.*s\"", what,
                     (unsigned char) *at, (int) MIN(end - start, MAX_SHOWN),
                     start);
    }
}
