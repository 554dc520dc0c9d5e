/*
 * budget.c --
 *
 *      The memory of all request bodies; see budget.h.
 */

#include "net/budget.h"

#include <stdatomic.h>

/*
 * Relaxed: only the sum counts, it orders nothing else.
 */
static _Atomic int64_t usedBytes;
static int64_t limitBytes = INT64_C(256) << 20;

void
NsBudgetSetLimit(int64_t bytes)
{
    limitBytes = bytes;
}

bool
NsBudgetTake(int64_t bytes)
{
    int64_t before = atomic_fetch_add_explicit(&usedBytes, bytes,
                                               memory_order_relaxed);

    if (bytes > limitBytes || before > limitBytes - bytes) {
        NsBudgetGive(bytes);
        return false;
    }
    return true;
}

void
NsBudgetGive(int64_t bytes)
{
    atomic_fetch_sub_explicit(&usedBytes, bytes, memory_order_relaxed);
}

int64_t
NsBudgetUsed(void)
{
    return atomic_load_explicit(&usedBytes, memory_order_relaxed);
}
