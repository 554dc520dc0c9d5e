/* SPDX-License-Identifier: MPL-2.0
 * store.h --
 *
 *      Counts names.  There is one count in a process.
 */

#ifndef STORE_H
#define STORE_H

#include "ns.h"

NS_EXTERN int StoreAdd(const char *name);

#endif
