/* SPDX-License-Identifier: MPL-2.0
 * driver.c --
 *
 *      A user of the library store.
 */

#include "store.h"
#include "engine.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    return server != NULL && StoreAdd(EngineName(module)) > 0
        ? NS_OK
        : NS_ERROR;
}
