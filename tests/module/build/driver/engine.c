/* SPDX-License-Identifier: MPL-2.0
 * engine.c --
 *
 *      It knows nothing of the server.
 */

#include "engine.h"

const char *
EngineName(const char *module)
{
    return module[0] == 'd' ? "engine of driver" : "engine of another";
}
