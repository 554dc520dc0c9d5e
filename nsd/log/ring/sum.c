/* SPDX-License-Identifier: MPL-2.0
 * sum.c --
 *
 *      Sums of bytes.
 */

#include "log/ring/sum.h"

static inline uint64_t Rotate(uint64_t sum);
static inline uint64_t Word(const unsigned char *bytes);

/*
 * Four sums side by side, so that the processor need not wait for one.  Each
 * step can be undone, so any change of a single word shows; multiplications
 * only mix the sums at the end.
 */
uint64_t
NsRingSum(uint64_t seed, const void *bytes, size_t length)
{
    const uint64_t       prime = UINT64_C(0x9e3779b185ebca87);
    const unsigned char *p = bytes;
    uint64_t a = seed ^ length * prime, b = prime, c = ~prime, d = a >> 7;
    uint64_t last = 0;

    for (; length >= 32; length -= 32, p += 32) {
        a = Rotate(a) + Word(p);
        b = Rotate(b) + Word(p + 8);
        c = Rotate(c) + Word(p + 16);
        d = Rotate(d) + Word(p + 24);
    }
    for (; length >= 8; length -= 8, p += 8) {
        a = Rotate(a) + Word(p);
    }
    for (; length > 0; length--) {
        last = last << 8 | *p++;
    }
    b = Rotate(b) + last;
    a = (a ^ a >> 32) * prime + (b ^ b >> 29);
    c = (c ^ c >> 31) * prime + (d ^ d >> 33);
    a = (a ^ a >> 30) * prime + c;
    return (a ^ a >> 32) * prime;
}

static inline uint64_t
Rotate(uint64_t sum)
{
    return sum << 23 | sum >> 41;
}

static inline uint64_t
Word(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

uint64_t
NsRingSumOfEnds(const void *first, const void *last, size_t length)
{
    return length <= 2 * NS_RING_END
        ? NsRingSum(0, first, length)
        : NsRingSum(NsRingSum(length, first, NS_RING_END), last, NS_RING_END);
}
