/* SPDX-License-Identifier: MPL-2.0
 * shared.c --
 *
 *      The library.
 */

#include "shared.h"

int
SharedAnswer(void)
{
    return 42;
}
