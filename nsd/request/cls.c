/* SPDX-License-Identifier: MPL-2.0
 * cls.c --
 *
 *      Data of modules that lives as long as a request.
 */

#include "request/cls.h"

#include "nsthread.h"
#include "nslog.h"
#include "request/conn_int.h"

static _Atomic(Ns_Callback *) cleanupProcs[NS_CONN_MAXCLS];
static atomic_int             nSlots;

static int SlotOf(const Ns_Cls *clsPtr);

/*
 * The handle is the slot's number plus one, so that a zeroed variable is none.
 */
void
Ns_ClsAlloc(Ns_Cls *clsPtr, Ns_Callback *cleanupProc)
{
    int slot = atomic_fetch_add(&nSlots, 1);

    if (slot >= NS_CONN_MAXCLS) {
        Ns_Fatal("conn: Ns_ClsAlloc: more than %d slots", NS_CONN_MAXCLS);
    }
    atomic_store(&cleanupProcs[slot], cleanupProc);
    *clsPtr = INT2PTR(slot + 1);
}

void
Ns_ClsSet(Ns_Cls *clsPtr, Ns_Conn *conn, void *data)
{
    NsConnGetRare(NsConnOf(conn))->locals[SlotOf(clsPtr)] = data;
}

void *
Ns_ClsGet(Ns_Cls *clsPtr, Ns_Conn *conn)
{
    NsConn *connPtr = NsConnOf(conn);

    return connPtr->rarePtr == NULL
        ? NULL
        : connPtr->rarePtr->locals[SlotOf(clsPtr)];
}

/*
 * A cleanup may set data again, of its own or another slot: repeat until all
 * are empty, but not without limit.
 */
void
NsConnFreeLocals(NsConn *connPtr)
{
    bool isAgain = connPtr->rarePtr != NULL;
    int  round, slot;

    for (round = 0; isAgain && round < 5; round++) {
        isAgain = false;
        for (slot = NS_CONN_MAXCLS - 1; slot >= 0; slot--) {
            void        *data = connPtr->rarePtr->locals[slot];
            Ns_Callback *proc = atomic_load(&cleanupProcs[slot]);

            connPtr->rarePtr->locals[slot] = NULL;
            if (data != NULL && proc != NULL) {
                proc(data);
                isAgain = true;
            }
        }
    }
}

static int
SlotOf(const Ns_Cls *clsPtr)
{
    int slot = PTR2INT(*clsPtr) - 1;

    if (slot < 0 || slot >= NS_CONN_MAXCLS) {
        Ns_Fatal("conn: Ns_Cls: the handle was not made by Ns_ClsAlloc");
    }
    return slot;
}
