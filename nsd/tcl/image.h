/* SPDX-License-Identifier: MPL-2.0
 * image.h --
 *
 *      Kind and size of a picture, from the bytes of its file.  Pure functions.
 */

#ifndef NSD_TCL_IMAGE_H
#define NSD_TCL_IMAGE_H

#include "nstypes.h"

typedef enum {
    NS_IMAGE_UNKNOWN,
    NS_IMAGE_GIF,
    NS_IMAGE_JPEG,
    NS_IMAGE_PNG
} NsImageKind;

/*
 * A file in memory.
 */
typedef struct NsImageBytes {
    const unsigned char *bytes;
    size_t               length;
} NsImageBytes;

NsImageKind NsImageDetect(NsImageBytes image);

/*
 * Width and height.  False: the bytes are not a picture of that kind, or end
 * too early.
 */
bool NsImageSize(NsImageBytes image, NsImageKind kind, int *widthPtr,
                 int *heightPtr);

#endif
