/* SPDX-License-Identifier: MPL-2.0
 * condition.h --
 *
 *      Which records a sink takes: what its parameter `if` says.
 *
 *      A list of conditions, each of three words, that all have to hold:
 *
 *          {status >= 400} {duration > 0.5} {url !~ /health*}
 *          {peer !in {10.0.0.0/8 ::1}}
 */

#ifndef NSD_LOG_CONDITION_H
#define NSD_LOG_CONDITION_H

#include "log/stream/field.h"

typedef struct NsConditions NsConditions; /* Constant after creation. */

/*
 * NULL: the text is no such list, and why is appended to errorPtr.
 */
NsConditions *NsConditionsCreate(const char *text, Ns_DString *errorPtr);
void          NsConditionsDestroy(NsConditions **conditionsPtrPtr);

/*
 * A record that nothing takes apart meets them all.
 */
bool NsConditionsHold(const NsConditions *conditionsPtr,
                      const NsFieldProcs *procsPtr,
                      const Ns_LogRecord *recordPtr);

#endif
