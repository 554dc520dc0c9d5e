/* SPDX-License-Identifier: MPL-2.0
 * fuzz_reply.c --
 *
 *      Heads of replies to requests of ours: they end at the same place however
 *      they come, and no field has a line end.
 */

#include "fuzz.h"

#include "http/reply.h"

static void CheckEnd(const char *text, size_t length, size_t bytes);
static void CheckFields(Ns_Set *fields);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char       *text = FuzzDup(data, length);
    size_t      bytes = NsReplyHeadBytes(text, length, 0u);
    NsReplyHead head;

    FuzzAssert(bytes <= length);
    CheckEnd(text, length, bytes);
    if (bytes > 0u) {
        char   *headText = FuzzDup(data, bytes);
        Ns_Set *fields = Ns_SetCreate(NULL);

        if (NsReplyParse(headText, bytes, (data[0] & 1) != 0, &head, fields)
            == NULL) {
            FuzzAssert(NsReplyMayBegin(text, length));
            FuzzAssert(head.status >= 100 && head.status <= 999);
            FuzzAssert(head.line >= headText
                       && head.line + head.lineBytes <= headText + bytes);
            FuzzAssert(head.phrase >= headText
                       && head.phrase + head.phraseBytes <= headText + bytes);
            FuzzAssert(head.framing != NS_REPLY_TO_CLOSE || !head.isPersistent);
            FuzzAssert(head.length <= INT64_MAX);
            FuzzAssert(Ns_SetSize(fields) <= NS_REPLY_MAX_FIELDS);
            CheckFields(fields);
        }
        Ns_SetFree(fields);
        free(headText);
    }
    free(text);
    return 0;
}

/*
 * With each byte that comes the rest is looked at, and the end seen when it is
 * there.
 */
static void
CheckEnd(const char *text, size_t length, size_t bytes)
{
    size_t scanned = 0u;

    for (size_t n = 1u; n <= length; n++) {
        size_t found = NsReplyHeadBytes(text, n, scanned);

        FuzzAssert(found == (bytes > 0u && n >= bytes ? bytes : 0u));
        if (found > 0u) {
            return;
        }
        scanned = n;
    }
}

static void
CheckFields(Ns_Set *fields)
{
    for (int i = 0; i < (int) Ns_SetSize(fields); i++) {
        const char *name = Ns_SetKey(fields, i);

        FuzzAssert(name[0] != '\0');
        FuzzAssert(strpbrk(name, "\r\n:") == NULL);
        FuzzAssert(strpbrk(Ns_SetValue(fields, i), "\r\n") == NULL);
        for (; *name != '\0'; name++) {
            FuzzAssert(*name < 'A' || *name > 'Z');
        }
    }
}
