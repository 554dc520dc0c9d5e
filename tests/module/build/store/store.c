/* SPDX-License-Identifier: MPL-2.0
 * store.c --
 *
 *      The library.
 */

#include "store.h"
#include "db.h"

int
StoreAdd(const char *name)
{
    static int n = 0;

    assert(n < STORE_LIMIT);
    Ns_Log(Notice, "store: %d: %s", ++n, name);
    return n;
}
