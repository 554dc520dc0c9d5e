/* SPDX-License-Identifier: MPL-2.0
 * own.c --
 *
 *      The module.
 */

#include "ns.h"

NS_EXPORT int               Ns_ModuleVersion = 1;
NS_EXPORT Ns_ModuleInitProc Ns_ModuleInit;

NS_EXPORT int
Ns_ModuleInit(const char *server, const char *module)
{
    return server != NULL && module != NULL ? NS_OK : NS_ERROR;
}
