/* SPDX-License-Identifier: MPL-2.0
 * budget.h --
 *
 *      Limits for the memory of all requests together.
 *
 *      A body that would exceed the limit of bodies goes to a temporary file.
 *      A header cannot: one that needs more than the first buffer, and would
 *      exceed the limit of headers, 64 MB, is refused.  So much memory is for
 *      output, too, that should be on a disk, when that cannot take it.
 */

#ifndef NSD_NET_BUDGET_H
#define NSD_NET_BUDGET_H

#include "nstypes.h"

typedef enum {
    NS_BUDGET_BODIES,
    NS_BUDGET_HEADERS,
    NS_BUDGET_REPLIES,
    NS_BUDGET_COUNT
} NsBudget;

/*
 * Set a limit in bytes.  Before the drivers start.
 */
void NsBudgetSetLimit(NsBudget budget, int64_t bytes);

/*
 * Take bytes from a budget; false, and nothing is taken, if they are not there.
 * Any thread.
 */
bool NsBudgetTake(NsBudget budget, int64_t bytes);
void NsBudgetGive(NsBudget budget, int64_t bytes);

#endif
