/* SPDX-License-Identifier: MPL-2.0
 * h2news.c --
 *
 *      What other threads leave for a session.
 */

#include "net/h2news.h"
#include "base/assert.h"
#include "base/lock.h"

bool
NsH2NewsPutLocked(NsH2Stream *streamPtr, bool mustHear)
{
    NsH2Session *sessionPtr = streamPtr->sessionPtr;

    NsAssertLocked(&streamPtr->sock.homePtr->streamLock);
    if (!streamPtr->isNews) {
        streamPtr->isNews = true;
        streamPtr->nextNewsPtr = NULL;
        if (sessionPtr->lastNewsPtr != NULL) {
            sessionPtr->lastNewsPtr->nextNewsPtr = streamPtr;
        } else {
            sessionPtr->firstNewsPtr = streamPtr;
        }
        sessionPtr->lastNewsPtr = streamPtr;
    }
    return (mustHear || sessionPtr->mustHear)
        && !atomic_exchange(&sessionPtr->isPosted, true);
}
