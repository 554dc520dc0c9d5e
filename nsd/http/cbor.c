/* SPDX-License-Identifier: MPL-2.0
 * cbor.c --
 *
 *      CBOR.
 */

#include "http/cbor.h"

#include <inttypes.h>
#include <math.h>

#include "base/assert.h"
#include "http/form.h"
#include "http/url.h"

/*
 * Major types (section 3.1).
 */
enum { UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, OTHER };

#define INDEFINITE 31u   /* A length that only a break ends. */
#define BREAK      0xFFu /* The byte that does. */

/*
 * The first byte of an item, and the number behind it.
 */
typedef struct Head {
    unsigned type;
    unsigned info;
    uint64_t number;
} Head;

typedef struct Level {
    uint64_t nItems; /* That began; of a map, keys and values. */
    uint64_t nMax;   /* UINT64_MAX: until a break. */
    bool     isMap;
} Level;

static NsCborEvent ReadItem(NsCborReader *readerPtr);
static bool        ReadHead(NsCborReader *readerPtr, Head *headPtr);
static NsCborEvent ReadInteger(NsCborReader *readerPtr, const Head *headPtr);
static NsCborEvent ReadString(NsCborReader *readerPtr, const Head *headPtr);
static bool        ReadPiece(NsCborReader *readerPtr, const Head *headPtr);
static NsCborEvent Open(NsCborReader *readerPtr, const Head *headPtr);
static NsCborEvent Close(NsCborReader *readerPtr, bool isBreak);
static NsCborEvent ReadOther(NsCborReader *readerPtr, const Head *headPtr);
static double      RealOf(const Head *headPtr);
static NsCborEvent Fail(NsCborReader *readerPtr, const char *error);
static Level      *Top(const NsCborReader *readerPtr);

void
NsCborInit(NsCborReader *readerPtr, const void *bytes, size_t length)
{
    memset(readerPtr, 0, sizeof(*readerPtr));
    readerPtr->bytes = readerPtr->p = bytes;
    readerPtr->end = readerPtr->bytes + length;
    Ns_DStringInit(&readerPtr->stack);
    Ns_DStringInit(&readerPtr->value);
}

void
NsCborFree(NsCborReader *readerPtr)
{
    Ns_DStringFree(&readerPtr->stack);
    Ns_DStringFree(&readerPtr->value);
}

NsCborEvent
NsCborNext(NsCborReader *readerPtr)
{
    Level *levelPtr = Top(readerPtr);

    if (levelPtr == NULL) {
        if (readerPtr->isStarted) {
            return NS_CBOR_DONE;
        }
        readerPtr->isStarted = true;
        return ReadItem(readerPtr);
    }
    if (levelPtr->nItems == levelPtr->nMax) {
        return Close(readerPtr, false);
    }
    if (levelPtr->nMax == UINT64_MAX && readerPtr->p < readerPtr->end
        && *readerPtr->p == BREAK) {
        return Close(readerPtr, true);
    }
    levelPtr->nItems++;
    return ReadItem(readerPtr);
}

static NsCborEvent
ReadItem(NsCborReader *readerPtr)
{
    Head head;

    Ns_DStringSetLength(&readerPtr->value, 0);
    do {
        if (!ReadHead(readerPtr, &head)) {
            return NS_CBOR_ERROR;
        }
        if (head.info == INDEFINITE && (head.type < BYTES || head.type > MAP)) {
            return Fail(readerPtr, "malformed item");
        }
    } while (head.type == TAG);
    switch (head.type) {
    case UNSIGNED:
    case NEGATIVE:
        return ReadInteger(readerPtr, &head);
    case BYTES:
    case TEXT:
        return ReadString(readerPtr, &head);
    case ARRAY:
    case MAP:
        return Open(readerPtr, &head);
    default:
        return ReadOther(readerPtr, &head);
    }
}

static bool
ReadHead(NsCborReader *readerPtr, Head *headPtr)
{
    const unsigned char *p = readerPtr->p;

    if (p == readerPtr->end) {
        (void) Fail(readerPtr, "unexpected end of input");
        return false;
    }
    *headPtr = (Head){
        .type = *p >> 5u, .info = *p & 0x1Fu, .number = *p & 0x1Fu};
    p++;
    if (headPtr->info >= 24u && headPtr->info <= 27u) {
        size_t nBytes = (size_t) 1u << (headPtr->info - 24u);

        if ((size_t) (readerPtr->end - p) < nBytes) {
            (void) Fail(readerPtr, "unexpected end of input");
            return false;
        }
        for (headPtr->number = 0u; nBytes > 0u; nBytes--) {
            headPtr->number = headPtr->number << 8u | *p++;
        }
    } else if (headPtr->info > 27u && headPtr->info != INDEFINITE) {
        (void) Fail(readerPtr, "malformed item");
        return false;
    }
    readerPtr->p = p;
    return true;
}

/*
 * A negative one is -1 minus the number.
 */
static NsCborEvent
ReadInteger(NsCborReader *readerPtr, const Head *headPtr)
{
    if (headPtr->type == UNSIGNED) {
        Ns_DStringPrintf(&readerPtr->value, "%" PRIu64, headPtr->number);
    } else if (headPtr->number == UINT64_MAX) {
        Ns_DStringAppend(&readerPtr->value, "-18446744073709551616");
    } else {
        Ns_DStringPrintf(&readerPtr->value, "-%" PRIu64, headPtr->number + 1u);
    }
    return NS_CBOR_INTEGER;
}

/*
 * All pieces of one.
 */
static NsCborEvent
ReadString(NsCborReader *readerPtr, const Head *headPtr)
{
    bool isRead = true;

    if (headPtr->info != INDEFINITE) {
        isRead = ReadPiece(readerPtr, headPtr);
    } else {
        while (isRead
               && (readerPtr->p == readerPtr->end || *readerPtr->p != BREAK)) {
            Head head;

            isRead = ReadHead(readerPtr, &head);
            if (isRead
                && (head.type != headPtr->type || head.info == INDEFINITE)) {
                return Fail(readerPtr, "malformed string");
            }
            isRead = isRead && ReadPiece(readerPtr, &head);
        }
        readerPtr->p += isRead;
    }
    return !isRead              ? NS_CBOR_ERROR
        : headPtr->type == TEXT ? NS_CBOR_TEXT
                                : NS_CBOR_BYTES;
}

static bool
ReadPiece(NsCborReader *readerPtr, const Head *headPtr)
{
    const char *bytes = (const char *) readerPtr->p;
    size_t      length;

    if (headPtr->number > (uint64_t) (readerPtr->end - readerPtr->p)) {
        (void) Fail(readerPtr, "unexpected end of input");
        return false;
    }
    length = (size_t) headPtr->number;
    if (headPtr->type == BYTES) {
        Ns_DStringNAppend(&readerPtr->value, bytes, (int) length);
    } else if (NsUtf8ValidBytes(bytes, length) == length) {
        NsFormDecode(&readerPtr->value, bytes, length, NULL);
    } else {
        (void) Fail(readerPtr, "invalid UTF-8 in text");
        return false;
    }
    readerPtr->p += length;
    return true;
}

/*
 * An item takes a byte at least, so a number of them can be too large.
 */
static NsCborEvent
Open(NsCborReader *readerPtr, const Head *headPtr)
{
    Level  level = {.nMax = UINT64_MAX, .isMap = headPtr->type == MAP};
    size_t depth = (size_t) Ns_DStringLength(&readerPtr->stack) / sizeof(Level);

    if (depth >= NS_CBOR_MAX_DEPTH) {
        return Fail(readerPtr, "max depth exceeded");
    }
    if (headPtr->info != INDEFINITE) {
        if (headPtr->number > (uint64_t) (readerPtr->end - readerPtr->p)) {
            return Fail(readerPtr, "unexpected end of input");
        }
        level.nMax = headPtr->number * (level.isMap ? 2u : 1u);
    }
    Ns_DStringNAppend(&readerPtr->stack, (const char *) &level,
                      (int) sizeof(level));
    return level.isMap ? NS_CBOR_MAP : NS_CBOR_ARRAY;
}

static NsCborEvent
Close(NsCborReader *readerPtr, bool isBreak)
{
    const Level *levelPtr = Top(readerPtr);

    if (levelPtr->isMap && levelPtr->nItems % 2u != 0u) {
        return Fail(readerPtr, "key without a value");
    }
    readerPtr->p += isBreak;
    Ns_DStringSetLength(&readerPtr->stack,
                        Ns_DStringLength(&readerPtr->stack)
                            - (int) sizeof(Level));
    return NS_CBOR_END;
}

/*
 * Section 3.3.
 */
static NsCborEvent
ReadOther(NsCborReader *readerPtr, const Head *headPtr)
{
    if (headPtr->info >= 25u) {
        readerPtr->real = RealOf(headPtr);
        return NS_CBOR_REAL;
    }
    switch (headPtr->info == 24u ? 0u : headPtr->info) {
    case 20:
    case 21:
        Ns_DStringAppend(&readerPtr->value,
                         headPtr->info == 21u ? "true" : "false");
        return NS_CBOR_BOOLEAN;
    case 22:
    case 23:
        return NS_CBOR_NULL;
    default:
        return Fail(readerPtr, "unknown simple value");
    }
}

/*
 * Of 16 bits (appendix D), 32, 64.
 */
static double
RealOf(const Head *headPtr)
{
    uint64_t number = headPtr->number;
    uint32_t word = (uint32_t) number;
    int      exponent = (int) (number >> 10u & 0x1Fu);
    double   mantissa = (double) (number & 0x3FFu), real;
    float    shortReal;

    if (headPtr->info == 27u) {
        memcpy(&real, &number, sizeof(real));
        return real;
    }
    if (headPtr->info == 26u) {
        memcpy(&shortReal, &word, sizeof(shortReal));
        return (double) shortReal;
    }
    real = exponent == 0 ? ldexp(mantissa, -24)
        : exponent == 31 ? (mantissa == 0.0 ? INFINITY : NAN)
                         : ldexp(mantissa + 1024.0, exponent - 25);
    return (number & 0x8000u) != 0u ? -real : real;
}

static NsCborEvent
Fail(NsCborReader *readerPtr, const char *error)
{
    readerPtr->error = error;
    return NS_CBOR_ERROR;
}

/*
 * NULL outside all containers.
 */
static Level *
Top(const NsCborReader *readerPtr)
{
    int length = Ns_DStringLength(&readerPtr->stack);

    NsAssert(length % (int) sizeof(Level) == 0);
    return length == 0
        ? NULL
        : (Level *) (void *) (Ns_DStringValue(&readerPtr->stack) + length) - 1;
}
