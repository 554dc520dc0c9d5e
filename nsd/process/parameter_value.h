/*
 * parameter_value.h --
 *
 *      Values of parameters.  Default, unit and range are those of their rows in
 *      the table.
 *
 *      A value out of range is clamped, one that cannot be read gives way to the
 *      default, both with a Warning.  To ask for a parameter that has no row is
 *      a bug.
 */

#ifndef NSD_PROCESS_PARAMETER_VALUE_H
#define NSD_PROCESS_PARAMETER_VALUE_H

#include "base/clock.h"

/*
 * Where a parameter stands: in the table, and in the configuration.
 */
typedef struct NsParameters {
    const char *pattern;        /* As "ns/parameters", "module/nssock". */
    const char *section;
} NsParameters;

bool    NsParameterBool(NsParameters from, const char *key);
int     NsParameterInt(NsParameters from, const char *key);
int64_t NsParameterSize(NsParameters from, const char *key);
NsStamp NsParameterSpan(NsParameters from, const char *key);

/*
 * Where the row describes its default in words, that is the caller's.
 */
bool    NsParameterBoolOr(NsParameters from, const char *key, bool value);
int     NsParameterIntOr(NsParameters from, const char *key, int value);
int64_t NsParameterSizeOr(NsParameters from, const char *key, int64_t value);

#endif
