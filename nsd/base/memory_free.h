/* SPDX-License-Identifier: MPL-2.0
 * memory_free.h --
 *
 *      How much memory the process may have, and could still get.
 */

#ifndef NSD_BASE_MEMORY_FREE_H
#define NSD_BASE_MEMORY_FREE_H

#include <stddef.h>

/*
 * Bytes that the process could still get without the system ending one: an
 * estimate, from a few files of /proc.
 */
size_t NsMemoryAvailable(void);

/*
 * Bytes that it may have at most: of the machine, or of its control group.
 */
size_t NsMemoryLimit(void);

#endif
