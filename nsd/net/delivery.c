/*
 * delivery.c --
 *
 *      Who logs a reply that a writer thread sends; see delivery.h.
 *
 *      ANSWERING   the thread that answers has the records, and output waits
 *      LAST        likewise, and the writer sends what may be the last bytes
 *      SENT        likewise, and the writer has sent all there was
 *      LEAVING     the records change hands
 *      LEFT        the writer has the records
 *      LOGGED      the thread that answers has left and put the records
 *      ENDED       the writer has left; the other puts the records
 */

#include "net/delivery.h"

#include <stdatomic.h>

#include "nsthread.h"
#include "base/assert.h"

typedef enum { ANSWERING, LAST, SENT, LEAVING, LEFT, LOGGED, ENDED } State;

struct NsDelivery {
    atomic_int state;      /* State */
    bool       isFollowed; /* Set before the reply is said to end. */
    NsHeld    *heldPtr;    /* From LEFT on, the writer's. */
    int64_t    missing;    /* From ENDED on, the other's. */
};

/*
 * The states that may follow each state.
 */
#define TO(state) (1u << (state))
static const unsigned legalMoves[] = {
    [ANSWERING] = TO(LAST) | TO(LEAVING) | TO(ENDED),
    [LAST] = TO(ANSWERING) | TO(SENT) | TO(LOGGED) | TO(ENDED),
    [SENT] = TO(ANSWERING) | TO(LOGGED) | TO(ENDED),
    [LEAVING] = TO(LEFT),
    [LEFT] = 0u,
    [LOGGED] = 0u,
    [ENDED] = 0u};

static bool Move(NsDelivery *deliveryPtr, State from, State to);

NsDelivery *
NsDeliveryCreate(void)
{
    return ns_calloc(1u, sizeof(NsDelivery));
}

void
NsDeliveryDestroy(NsDelivery **deliveryPtrPtr)
{
    NsAssert(*deliveryPtrPtr == NULL || (*deliveryPtrPtr)->state != LEAVING);
    ns_free(*deliveryPtrPtr);
    *deliveryPtrPtr = NULL;
}

void
NsDeliveryGive(NsDelivery *deliveryPtr, NsHeld *heldPtr)
{
    NsAssert(heldPtr != NULL && deliveryPtr->state == ANSWERING);
    deliveryPtr->heldPtr = heldPtr;
    atomic_store(&deliveryPtr->state, LEFT);
}

void
NsDeliveryFollow(NsDelivery *deliveryPtr)
{
    deliveryPtr->isFollowed = true;
}

void
NsDeliveryMore(NsDelivery *deliveryPtr)
{
    (void) Move(deliveryPtr, SENT, ANSWERING);
}

/*
 * In the state LAST the client is about to have all, so that the records are
 * put as they are.  (It may still break off within the last portion.)
 */
void
NsDeliveryLeave(NsDelivery *deliveryPtr, NsHeld *heldPtr)
{
    for (;;) {
        switch ((State) atomic_load(&deliveryPtr->state)) {
        case ANSWERING:
            if (Move(deliveryPtr, ANSWERING, LEAVING)) {
                NsHeldForget(heldPtr);
                deliveryPtr->heldPtr = heldPtr;
                if (!Move(deliveryPtr, LEAVING, LEFT)) {
                    NsAssert(!"another thread moved a delivery that leaves");
                }
                return;
            }
            break;
        case LAST:
        case SENT:
            if (Move(deliveryPtr, LAST, LOGGED)
                || Move(deliveryPtr, SENT, LOGGED)) {
                NsHeldPut(heldPtr, 0);
                return;
            }
            break;
        default:
            NsAssert(deliveryPtr->state == ENDED);
            NsHeldPut(heldPtr, deliveryPtr->missing);
            ns_free(deliveryPtr);
            return;
        }
    }
}

bool
NsDeliveryBegin(NsDelivery *deliveryPtr)
{
    for (;;) {
        switch ((State) atomic_load(&deliveryPtr->state)) {
        case ANSWERING:
            if (Move(deliveryPtr, ANSWERING, LAST)) {
                return true;
            }
            break;
        case LEAVING:
            return false;
        case LEFT:
            NsHeldPrepare(deliveryPtr->heldPtr);
            return true;
        default:
            return true;
        }
    }
}

void
NsDeliveryPause(NsDelivery *deliveryPtr)
{
    if (!Move(deliveryPtr, LAST, ANSWERING)
        && atomic_load(&deliveryPtr->state) == LEFT) {
        NsHeldForget(deliveryPtr->heldPtr);
    }
}

void
NsDeliverySent(NsDelivery *deliveryPtr)
{
    (void) Move(deliveryPtr, LAST, SENT);
}

bool
NsDeliveryEnd(NsDelivery *deliveryPtr, int64_t missing)
{
    for (;;) {
        State state = (State) atomic_load(&deliveryPtr->state);

        switch (state) {
        case LEAVING:
            return false;
        case LEFT:
            NsHeldPut(deliveryPtr->heldPtr, missing);
            ns_free(deliveryPtr);
            return true;
        case LOGGED:
            ns_free(deliveryPtr);
            return true;
        default:
            if (!deliveryPtr->isFollowed) {
                ns_free(deliveryPtr);
                return true;
            }
            deliveryPtr->missing = missing;
            if (Move(deliveryPtr, state, ENDED)) {
                return true;
            }
        }
    }
}

static bool
Move(NsDelivery *deliveryPtr, State from, State to)
{
    int expected = (int) from;

    NsAssert((legalMoves[from] & TO(to)) != 0u);
    return atomic_compare_exchange_strong(&deliveryPtr->state, &expected,
                                          (int) to);
}
