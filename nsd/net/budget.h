/*
 * budget.h --
 *
 *      One limit for the memory of all request bodies together.
 *
 *      A body that would exceed it goes to a temporary file.
 */

#ifndef NSD_NET_BUDGET_H
#define NSD_NET_BUDGET_H

#include "nstypes.h"

/*
 * Set the limit in bytes.  Before the drivers start.
 */
void NsBudgetSetLimit(int64_t bytes);

/*
 * Take bytes from the budget; false, and nothing is taken, if they are not
 * there.  Any thread.
 */
bool NsBudgetTake(int64_t bytes);
void NsBudgetGive(int64_t bytes);

int64_t NsBudgetUsed(void);

#endif
