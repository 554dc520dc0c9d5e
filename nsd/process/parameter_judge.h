/* SPDX-License-Identifier: MPL-2.0
 * parameter_judge.h --
 *
 *      What a text means as the value of a parameter.  Pure functions.
 */

#ifndef NSD_PROCESS_PARAMETER_JUDGE_H
#define NSD_PROCESS_PARAMETER_JUDGE_H

#include "process/parameters.h"

typedef enum {
    NS_VALUE_OK,
    NS_VALUE_UNREADABLE,
    NS_VALUE_TOO_SMALL,
    NS_VALUE_TOO_LARGE
} NsParameterVerdict;

/*
 * The largest value; without a limit of its own, what the type can hold.
 */
int64_t NsParameterMax(const NsParameter *parameterPtr);

/*
 * The limits of a row, after its adjustProc; valuesPtr may be NULL if it has
 * none.
 */
void NsParameterLimitsOf(const NsParameter *parameterPtr, const void *valuesPtr,
                         NsParameterLimits *limitsPtr);

/*
 * The number that a text denotes: clamped if it is out of range, unchanged if
 * it cannot be read.  Times are spans (NsStamp), booleans 0 or 1, choices the
 * index of the word.  Texts and lists have none.
 */
NsParameterVerdict NsParameterJudge(const NsParameter       *parameterPtr,
                                    const NsParameterLimits *limitsPtr,
                                    const char *text, int64_t *numberPtr);

/*
 * Put a text into the member of a struct, clamped, or the default where it is
 * NULL or cannot be read.
 */
NsParameterVerdict NsParameterStore(const NsParameter       *parameterPtr,
                                    const NsParameterLimits *limitsPtr,
                                    const char *text, void *structPtr);

/*
 * Append a text, or the default if it is NULL, or what a member holds: numbers
 * in one form, whatever their unit was.
 */
void NsParameterAppendText(Ns_DString *dsPtr, const NsParameter *parameterPtr,
                           const NsParameterLimits *limitsPtr,
                           const char              *text);
void NsParameterAppendMember(Ns_DString *dsPtr, const NsParameter *parameterPtr,
                             const void *structPtr);

/*
 * Copy a member between two structs of its kind, other threads reading it.
 */
void NsParameterCopyMember(const NsParameter *parameterPtr, const void *fromPtr,
                           void *toPtr);

/*
 * The range as people read it; "": there is none.
 */
void NsParameterRange(const NsParameter       *parameterPtr,
                      const NsParameterLimits *limitsPtr, char *buffer,
                      size_t bytes);

/*
 * The noun for what a text should be: "number".
 */
const char *NsParameterTypeName(NsParameterType type);

/*
 * Set the default of a row that its adjustProc knows better.
 */
void NsParameterDefault(NsParameterLimits *limitsPtr, int64_t number);

#endif
