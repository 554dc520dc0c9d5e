/* SPDX-License-Identifier: MPL-2.0
 * constraints.h --
 *
 *      What a request must be like for an entry to count: pairs of a header
 *      field and a glob for its value; or of x-ns-ip and an address or a
 *      network (ADDRESS/BITS) of the client.  All pairs must hold.
 */

#ifndef NSD_REQUEST_CONSTRAINTS_H
#define NSD_REQUEST_CONSTRAINTS_H

#include "nsset.h"
#include "nsstring.h"
#include "net/message.h"

typedef struct NsConstraints NsConstraints; /* Constant after creation. */

/*
 * What constraints are asked of.  Of nothing, none hold.
 */
typedef struct NsContext {
    const NsMessage *messagePtr; /* A request, or NULL. */
    Ns_Set          *setPtr;     /* Fields, and x-ns-ip, or NULL. */
    bool             isAny;      /* All constraints hold. */
} NsContext;

/*
 * From a Tcl list of keys and values; *constraintsPtr is NULL for an empty one,
 * which always holds.  NS_ERROR: it is not such a list.
 */
Ns_ReturnCode NsConstraintsParse(const char     *list,
                                 NsConstraints **constraintsPtr);
void          NsConstraintsFree(NsConstraints **constraintsPtr);

bool NsConstraintsHold(const NsConstraints *constraintsPtr,
                       const NsContext     *contextPtr);

/*
 * Whether the one is to be asked before the other, as it says more: it has more
 * pairs, or its values are narrower.
 */
bool NsConstraintsPrecede(const NsConstraints *constraintsPtr,
                          const NsConstraints *otherPtr);

/*
 * Whether both say the same.  The list, with keys in lower case.
 */
bool        NsConstraintsAreSame(const NsConstraints *constraintsPtr,
                                 const NsConstraints *otherPtr);
const char *NsConstraintsText(const NsConstraints *constraintsPtr);

#endif
