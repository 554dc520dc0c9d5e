/* SPDX-License-Identifier: MPL-2.0
 * token.c --
 *
 *      Bytes of tokens and of field values (RFC 9110, section 5).
 */

#include "http/token.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static bool IsControl(char c);
static bool MayHaveControl(uint64_t word);

#define SAME(c) [c] = c
#define TEN(first, lower)                                                      \
    [first] = lower, [first + 1] = lower + 1, [first + 2] = lower + 2,         \
    [first + 3] = lower + 3, [first + 4] = lower + 4, [first + 5] = lower + 5, \
    [first + 6] = lower + 6, [first + 7] = lower + 7, [first + 8] = lower + 8, \
    [first + 9] = lower + 9
#define LETTERS(first)                                              \
    TEN(first, 'a'), TEN(first + 10, 'k'),                          \
        [first + 20] = 'u', [first + 21] = 'v', [first + 22] = 'w', \
                 [first + 23] = 'x', [first + 24] = 'y', [first + 25] = 'z'

const char nsTokenChars[256] = {
    TEN('0', '0'), LETTERS('A'), LETTERS('a'), SAME('!'), SAME('#'), SAME('$'),
    SAME('%'),     SAME('&'),    SAME('\''),   SAME('*'), SAME('+'), SAME('-'),
    SAME('.'),     SAME('^'),    SAME('_'),    SAME('`'), SAME('|'), SAME('~')};

/*
 * Eight bytes at a time: most values have no control byte.
 */
const char *
NsFindControl(const char *text, const char *end)
{
    while (end - text >= 8) {
        uint64_t word;

        memcpy(&word, text, sizeof(word));
        if (unlikely(MayHaveControl(word))) {
            for (int i = 0; i < 8; i++) {
                if (IsControl(text[i])) {
                    return text + i;
                }
            }
        }
        text += 8;
    }
    for (; text < end; text++) {
        if (IsControl(*text)) {
            return text;
        }
    }
    return NULL;
}

static bool
IsControl(char c)
{
    return ((unsigned char) c < ' ' && c != '\t') || c == '\x7f';
}

/*
 * Whether a byte of the word is below the blank, or DEL.  A byte next to such a
 * one may seem to be one as well.
 */
static bool
MayHaveControl(uint64_t word)
{
    uint64_t isLow = (word - ONES * ' ') & ~word;
    uint64_t other = word ^ (ONES * 0x7f);
    uint64_t isDel = (other - ONES) & ~other;

    return ((isLow | isDel) & HIGHS) != 0u;
}
