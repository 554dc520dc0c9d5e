/* SPDX-License-Identifier: MPL-2.0
 * budget.c --
 *
 *      What all requests together may take; see budget.h.
 */

#include "net/budget.h"

#include <stdatomic.h>

/*
 * Relaxed: only the sum counts, it orders nothing else.
 */
static _Atomic int64_t usedBytes[NS_BUDGET_COUNT];

static _Atomic int64_t limitBytes[NS_BUDGET_COUNT] = {
    [NS_BUDGET_BODIES] = INT64_C(256) << 20,
    [NS_BUDGET_HEADERS] = INT64_C(64) << 20,
    [NS_BUDGET_REPLIES] = INT64_C(64) << 20};

void
NsBudgetSetLimit(NsBudget budget, int64_t bytes)
{
    atomic_store_explicit(&limitBytes[budget], bytes, memory_order_relaxed);
}

bool
NsBudgetTake(NsBudget budget, int64_t bytes)
{
    int64_t limit = atomic_load_explicit(&limitBytes[budget],
                                         memory_order_relaxed);
    int64_t before = atomic_fetch_add_explicit(&usedBytes[budget], bytes,
                                               memory_order_relaxed);

    if (bytes > limit || before > limit - bytes) {
        NsBudgetGive(budget, bytes);
        return false;
    }
    return true;
}

void
NsBudgetGive(NsBudget budget, int64_t bytes)
{
    atomic_fetch_sub_explicit(&usedBytes[budget], bytes, memory_order_relaxed);
}
