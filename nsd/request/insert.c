/* SPDX-License-Identifier: MPL-2.0
 * insert.c --
 *
 *      An element that is put into the head of a page.
 */

#include "request/insert.h"

#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"
#include "http/htmlplace.h"
#include "http/status.h"
#include "net/output.h"
#include "request/conn_int.h"

#define MAX_PAGE ((int64_t) 8 << 20) /* Of what is copied. */

static bool MayHold(const NsConn *connPtr);
static bool Gather(const NsInsertOutput *outputPtr, char *text);
static void Put(NsConn *connPtr, NsInsertOutput *outputPtr, char *text,
                size_t at);
static void Forget(NsConn *connPtr);

/*
 * The client has said what it accepts and what it has: that is forgotten.
 */
void
NsConnInsert(NsConn *connPtr, const char *html)
{
    static const struct {
        NsHttpKnownField field;
        const char      *name;
    } fields[] = {{NS_FIELD_ACCEPT_ENCODING, "Accept-Encoding"},
                  {NS_FIELD_IF_NONE_MATCH, "If-None-Match"},
                  {NS_FIELD_IF_MODIFIED_SINCE, "If-Modified-Since"}};

    NsAssert(connPtr->replyState == NS_REPLY_OPEN);
    for (int i = 0; i < Ns_NrElements(fields); i++) {
        connPtr->messagePtr->head.known[fields[i].field] = -1;
        Ns_SetIDeleteKey(connPtr->pub.headers, fields[i].name);
    }
    connPtr->pub.flags &= ~(NS_CONN_ZIPACCEPTED | NS_CONN_BROTLIACCEPTED);
    connPtr->pub.flags |= NS_CONN_HAS_INSERT;
    NsConnGetRare(connPtr)->insert = NsArenaDup(NsConnArena(connPtr), html,
                                                strlen(html));
}

/*
 * A page that is sent in several outputs may have its head in a later one: then
 * it must be in chunks, or end with the connection.
 */
void
NsConnInsertInto(NsConn *connPtr, NsInsertOutput *outputPtr)
{
    char       *text;
    const char *place;

    NsAssert((connPtr->pub.flags & NS_CONN_HAS_INSERT) != 0);
    if (!MayHold(connPtr) || outputPtr->bytes > MAX_PAGE) {
        Forget(connPtr);
        return;
    }
    if (outputPtr->bytes == 0) {
        return;
    }
    text = NsArenaAlloc(NsConnArena(connPtr),
                        (size_t) outputPtr->bytes
                            + strlen(connPtr->rarePtr->insert));
    if (!Gather(outputPtr, text)) {
        Forget(connPtr);
        return;
    }
    place = NsHtmlHeadPlace((NsSpan){text, (size_t) outputPtr->bytes},
                            outputPtr->isWhole);
    if (place != NULL) {
        Put(connPtr, outputPtr, text, (size_t) (place - text));
        Forget(connPtr);
    }
}

static bool
MayHold(const NsConn *connPtr)
{
    static const char html[] = "text/html";
    const Ns_Conn    *conn = &connPtr->pub;
    const char       *type = Ns_SetIGet(conn->outputheaders, "Content-Type");
    bool              isBegun = (conn->flags & NS_CONN_SENTHDRS) != 0;

    return type != NULL && strncasecmp(type, html, sizeof(html) - 1) == 0
        && (conn->flags & (NS_CONN_SKIPHDRS | NS_CONN_SKIPBODY)) == 0
        && !NsStatusHasNoBody(connPtr->status) && connPtr->status != 206
        && !(isBegun && connPtr->responseLength >= 0)
        && Ns_SetIFind(conn->outputheaders, "Content-Encoding") < 0;
}

/*
 * False: a file cannot be read.  It is sent in the usual way, which knows what
 * to do then.
 */
static bool
Gather(const NsInsertOutput *outputPtr, char *text)
{
    for (int i = 0; i < outputPtr->n; i++) {
        const NsPiece *piecePtr = &outputPtr->pieces[i];

        if (piecePtr->fd < 0) {
            memcpy(text, piecePtr->base, piecePtr->length);
        } else if (pread(piecePtr->fd, text, piecePtr->length, piecePtr->offset)
                   != (ssize_t) piecePtr->length) {
            return false;
        }
        text += piecePtr->length;
    }
    return true;
}

/*
 * The text has room for it.
 */
static void
Put(NsConn *connPtr, NsInsertOutput *outputPtr, char *text, size_t at)
{
    const char *insert = connPtr->rarePtr->insert;
    size_t      length = strlen(insert), bytes = (size_t) outputPtr->bytes;
    Ns_Set     *headers = connPtr->pub.outputheaders;
    NsPiece    *piecePtr;

    NsAssert(at <= bytes);
    memmove(text + at + length, text + at, bytes - at);
    memcpy(text + at, insert, length);
    NsPiecesRelease(outputPtr->pieces, outputPtr->n);
    piecePtr = NsArenaZalloc(NsConnArena(connPtr), sizeof(*piecePtr));
    *piecePtr = (NsPiece){.fd = -1, .base = text, .length = bytes + length};
    outputPtr->pieces = piecePtr;
    outputPtr->n = 1;
    outputPtr->bytes += (int64_t) length;
    if ((connPtr->pub.flags & NS_CONN_SENTHDRS) == 0) {
        if (connPtr->responseLength >= 0) {
            connPtr->responseLength += (int64_t) length;
        }
        Ns_SetIDeleteKey(headers, "ETag");
        Ns_SetIDeleteKey(headers, "Last-Modified");
        Ns_SetIDeleteKey(headers, "Accept-Ranges");
        Ns_ConnSetHeaders(&connPtr->pub, "Cache-Control", "no-store");
    }
}

static void
Forget(NsConn *connPtr)
{
    connPtr->pub.flags &= ~NS_CONN_HAS_INSERT;
}
