/* SPDX-License-Identifier: MPL-2.0
 * random.h --
 *
 *      Bytes that cannot be guessed.
 */

#ifndef NSD_BASE_RANDOM_H
#define NSD_BASE_RANDOM_H

#include <stddef.h>

/*
 * From the operating system; without them the process ends.
 */
void NsRandomBytes(void *buffer, size_t bytes);

#endif
