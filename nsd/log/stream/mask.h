/* SPDX-License-Identifier: MPL-2.0
 * mask.h --
 *
 *      Personal data that a sink does not get: what its parameter `mask` says.
 *
 *          ipv4 24 ipv6 48 query remove parameters {token} headers {Cookie}
 */

#ifndef NSD_LOG_MASK_H
#define NSD_LOG_MASK_H

#include "log/stream/field.h"

typedef struct NsMask NsMask; /* Used by one thread at a time. */

/*
 * NULL: the text is no mask, and why is appended to errorPtr.
 */
NsMask *NsMaskCreate(const char *text, Ns_DString *errorPtr);
void    NsMaskDestroy(NsMask **maskPtrPtr);

/*
 * The record as the sink gets it; its bytes are valid until the next call.  One
 * that nothing takes apart stays as it is.
 */
Ns_LogRecord NsMaskRecord(NsMask *maskPtr, const NsFieldProcs *procsPtr,
                          const Ns_LogRecord *recordPtr);

#endif
