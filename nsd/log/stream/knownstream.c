/* SPDX-License-Identifier: MPL-2.0
 * knownstream.c --
 *
 *      Streams whose records the server can format without their makers.
 */

#include "log/stream/knownstream.h"

#include "log/stream/stream.h"
#include "nsaccessline.h"

#define ACCESS_PREFIX "access/"
#define SCRIPT_PREFIX "script/"

static Ns_LogStream     MakeScriptStream(const char *name);
static Ns_LogFormatProc CopyBytes;

Ns_LogStream
NsScriptStream(int n)
{
    char name[32];

    snprintf(name, sizeof(name), SCRIPT_PREFIX "%d", n);
    return MakeScriptStream(name);
}

static Ns_LogStream
MakeScriptStream(const char *name)
{
    return Ns_LogStreamCreate(name, CopyBytes, NULL);
}

static size_t
CopyBytes(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    if (recordPtr->length <= room) {
        memcpy(buffer, recordPtr->bytes, recordPtr->length);
    }
    return recordPtr->length;
}

Ns_LogStream
NsStreamOfLeftover(const char *name)
{
    static const struct {
        const char *prefix;
        Ns_LogStream (*makeProc)(const char *name);
    } known[] = {{ACCESS_PREFIX, Ns_LogAccessStream},
                 {SCRIPT_PREFIX, MakeScriptStream}};
    Ns_LogStream stream = NsStreamFind(name);

    if (stream != NULL && NsStreamHasFormat(stream)) {
        return stream;
    }
    /* The table is for those in use, and what is left may be damaged. */
    for (size_t i = 0; i < Ns_NrElements(known); i++) {
        if (strncmp(name, known[i].prefix, strlen(known[i].prefix)) == 0
            && (stream != NULL || NsStreamsHaveRoom())) {
            return known[i].makeProc(name);
        }
    }
    return NULL;
}
