/* SPDX-License-Identifier: MPL-2.0
 * sls.c --
 *
 *      Values that live as long as a client's connection.
 *
 *      Owned by the thread that owns the socket; the cleanup procedures run in
 *      the driver thread when the connection closes.
 */

#include "net/sls.h"
#include "nsconn.h"
#include "nsset.h"
#include "nsstring.h"
#include "base/assert.h"

#define MAX_SLOTS 100

/*
 * Slots are allocated while the server starts, before any socket exists.
 */
static Ns_Callback *cleanups[MAX_SLOTS];
static int          nSlots;

static Ns_Sls keyedSlot;

static void    FreeKeyed(void *arg);
static Ns_Set *GetKeyed(Ns_Sock *sock);

void
Ns_SlsAlloc(Ns_Sls *slsPtr, Ns_Callback *cleanup)
{
    NsAssert(nSlots < MAX_SLOTS);
    cleanups[nSlots++] = cleanup;
    *slsPtr = INT2PTR(nSlots);
}

void
Ns_SlsSet(Ns_Sls *slsPtr, Ns_Sock *sock, void *value)
{
    NsSock *sockPtr = (NsSock *) sock;

    if (sockPtr->sls == NULL) {
        sockPtr->sls = ns_calloc(MAX_SLOTS, sizeof(void *));
    }
    sockPtr->sls[PTR2INT(*slsPtr) - 1] = value;
}

void *
Ns_SlsGet(Ns_Sls *slsPtr, Ns_Sock *sock)
{
    NsSock *sockPtr = (NsSock *) sock;

    return sockPtr->sls == NULL ? NULL : sockPtr->sls[PTR2INT(*slsPtr) - 1];
}

void
NsSlsInit(void)
{
    Ns_SlsAlloc(&keyedSlot, FreeKeyed);
}

void
NsSlsFree(NsSock *sockPtr)
{
    if (sockPtr->sls == NULL) {
        return;
    }
    for (int i = nSlots - 1; i >= 0; i--) {
        if (sockPtr->sls[i] != NULL && cleanups[i] != NULL) {
            cleanups[i](sockPtr->sls[i]);
        }
    }
    ns_free(sockPtr->sls);
    sockPtr->sls = NULL;
}

void
Ns_SlsSetKeyed(Ns_Sock *sock, const char *key, const char *value)
{
    Ns_Set *setPtr = GetKeyed(sock);

    if (setPtr == NULL) {
        setPtr = Ns_SetCreate("sls");
        Ns_SlsSet(&keyedSlot, sock, setPtr);
    }
    Ns_SetUpdate(setPtr, key, value);
}

char *
Ns_SlsGetKeyed(Ns_Sock *sock, const char *key)
{
    Ns_Set *setPtr = GetKeyed(sock);

    return setPtr == NULL ? NULL : Ns_SetGet(setPtr, key);
}

char *
Ns_SlsAppendKeyed(Ns_DString *dest, Ns_Sock *sock)
{
    Ns_Set *setPtr = GetKeyed(sock);

    if (setPtr == NULL) {
        return NULL;
    }
    for (int i = 0; i < (int) Ns_SetSize(setPtr); i++) {
        Tcl_DStringAppendElement(dest, Ns_SetKey(setPtr, i));
        Tcl_DStringAppendElement(dest, Ns_SetValue(setPtr, i));
    }
    return Ns_DStringValue(dest);
}

void
Ns_SlsUnsetKeyed(Ns_Sock *sock, const char *key)
{
    Ns_Set *setPtr = GetKeyed(sock);

    if (setPtr != NULL) {
        Ns_SetDeleteKey(setPtr, key);
    }
}

static Ns_Set *
GetKeyed(Ns_Sock *sock)
{
    return Ns_SlsGet(&keyedSlot, sock);
}

static void
FreeKeyed(void *arg)
{
    Ns_SetFree(arg);
}
