/* SPDX-License-Identifier: MPL-2.0
 * reqserver.c --
 *
 *      What the request room keeps for each virtual server.
 */

#include "request/reqserver.h"

#include "nslog.h"

static atomic_uint generation;

NsRequestServer *
NsRequestServerFind(const char *server, const char *caller)
{
    NsServer *serverPtr = server == NULL ? NULL : NsServerFind(server);

    if (serverPtr == NULL || serverPtr->requestPtr == NULL) {
        Ns_Log(Error, "server: %s: no such server: %s", caller,
               server == NULL ? "" : server);
        return NULL;
    }
    return serverPtr->requestPtr;
}

/*
 * Relaxed order would do for the answers themselves, which are only kept from
 * changing afterwards; acquire and release make a change visible to whoever
 * sees its number.
 */
unsigned
NsRequestGeneration(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}

void
NsRequestChanged(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}
