/* SPDX-License-Identifier: MPL-2.0
 * shared.h --
 *
 *      What module and program have in common.
 */

#include "ns.h"

int SharedAnswer(void);
