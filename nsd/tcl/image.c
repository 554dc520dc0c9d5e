/* SPDX-License-Identifier: MPL-2.0
 * image.c --
 *
 *      Kind and size of a picture: GIF87a and GIF89a, JPEG (ITU-T T.81, annex
 *      B), PNG (W3C PNG, 11.2.2).
 */

#include "tcl/image.h"

static bool     GifSize(NsImageBytes image, int *widthPtr, int *heightPtr);
static bool     JpegSize(NsImageBytes image, int *widthPtr, int *heightPtr);
static bool     PngSize(NsImageBytes image, int *widthPtr, int *heightPtr);
static unsigned Big16(const unsigned char *bytes);
static unsigned Little16(const unsigned char *bytes);

static const unsigned char pngSignature[8] = {
    0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

NsImageKind
NsImageDetect(NsImageBytes image)
{
    const unsigned char *bytes = image.bytes;
    size_t               n = image.length;

    if (n < 8) {
        return NS_IMAGE_UNKNOWN;
    }
    if (memcmp(bytes, "GIF87a", 6) == 0 || memcmp(bytes, "GIF89a", 6) == 0) {
        return NS_IMAGE_GIF;
    }
    if (memcmp(bytes, pngSignature, sizeof(pngSignature)) == 0) {
        return NS_IMAGE_PNG;
    }
    if (bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[n - 2] == 0xFF
        && bytes[n - 1] == 0xD9) {
        return NS_IMAGE_JPEG;
    }
    return NS_IMAGE_UNKNOWN;
}

bool
NsImageSize(NsImageBytes image, NsImageKind kind, int *widthPtr, int *heightPtr)
{
    if (NsImageDetect(image) != kind) {
        return false;
    }
    switch (kind) {
    case NS_IMAGE_GIF:
        return GifSize(image, widthPtr, heightPtr);
    case NS_IMAGE_JPEG:
        return JpegSize(image, widthPtr, heightPtr);
    case NS_IMAGE_PNG:
        return PngSize(image, widthPtr, heightPtr);
    default:
        return false;
    }
}

/*
 * The first image's own size; colour table and extensions come before it.
 */
static bool
GifSize(NsImageBytes image, int *widthPtr, int *heightPtr)
{
    const unsigned char *bytes = image.bytes;
    size_t               at = 13;

    if (image.length < at) {
        return false;
    }
    if ((bytes[10] & 0x80) != 0) {
        at += (size_t) 3 << ((bytes[10] & 7) + 1);
    }
    while (at < image.length && bytes[at] == 0x21) {
        at += 2;
        while (at < image.length && bytes[at] != 0) {
            at += (size_t) bytes[at] + 1;
        }
        at++;
    }
    if (at + 9 > image.length || bytes[at] != 0x2C) {
        return false;
    }
    *widthPtr = (int) Little16(bytes + at + 5);
    *heightPtr = (int) Little16(bytes + at + 7);
    return true;
}

/*
 * The first of the frame headers SOF0 to SOF3.
 */
static bool
JpegSize(NsImageBytes image, int *widthPtr, int *heightPtr)
{
    const unsigned char *bytes = image.bytes;
    size_t               at = 2;

    while (at + 9 <= image.length && bytes[at] == 0xFF) {
        unsigned marker = bytes[at + 1];

        if (marker == 0xFF) { /* Fill. */
            at++;
            continue;
        }
        if (marker >= 0xC0 && marker <= 0xC3) {
            *heightPtr = (int) Big16(bytes + at + 5);
            *widthPtr = (int) Big16(bytes + at + 7);
            return true;
        }
        if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {
            at += 2; /* Stands alone. */
            continue;
        }
        if (Big16(bytes + at + 2) < 2) {
            return false;
        }
        at += 2 + Big16(bytes + at + 2);
    }
    return false;
}

static bool
PngSize(NsImageBytes image, int *widthPtr, int *heightPtr)
{
    const unsigned char *bytes = image.bytes;
    unsigned             width, height;

    if (image.length < 24 || memcmp(bytes + 12, "IHDR", 4) != 0) {
        return false;
    }
    width = Big16(bytes + 16) << 16 | Big16(bytes + 18);
    height = Big16(bytes + 20) << 16 | Big16(bytes + 22);
    if (width > INT_MAX || height > INT_MAX) {
        return false;
    }
    *widthPtr = (int) width;
    *heightPtr = (int) height;
    return true;
}

static unsigned
Big16(const unsigned char *bytes)
{
    return (unsigned) bytes[0] << 8 | bytes[1];
}

static unsigned
Little16(const unsigned char *bytes)
{
    return (unsigned) bytes[1] << 8 | bytes[0];
}
