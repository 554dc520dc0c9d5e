/* SPDX-License-Identifier: MPL-2.0
 * memory_free.h --
 *
 *      How much memory the process could still get.
 */

#ifndef NSD_BASE_MEMORY_FREE_H
#define NSD_BASE_MEMORY_FREE_H

#include <stddef.h>

/*
 * Bytes that the process could still get without the system ending one: an
 * estimate, from a few files of /proc.
 */
size_t NsMemoryAvailable(void);

#endif
