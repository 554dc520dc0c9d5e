/* SPDX-License-Identifier: MPL-2.0
 * identity.c --
 *
 *      The ids of the request that a thread serves.
 */

#include "log/stream/identity.h"

#include <stddef.h>

_Thread_local const NsLogIdentity *nsLogIdentity;

const NsLogIdentity *
NsLogIdentityGet(void)
{
    static const NsLogIdentity none = {NULL, NULL, NULL};

    return nsLogIdentity == NULL ? &none : nsLogIdentity;
}
