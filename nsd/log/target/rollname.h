/* SPDX-License-Identifier: MPL-2.0
 * rollname.h --
 *
 *      The names that rolled files get by a format of strftime.
 */

#ifndef NSD_LOG_ROLLNAME_H
#define NSD_LOG_ROLLNAME_H

#include <regex.h>

#include "nstypes.h"

/*
 * The suffix of a time; 0 if it does not fit.
 */
size_t NsRollSuffix(char *buffer, size_t room, const char *format,
                    const struct tm *tmPtr);

/*
 * A pattern for suffixes that the format makes at some time, with the number
 * that another file of the same name gets, compressed or not; and for nothing
 * else.  Format NULL: for numbers.  For regexec, and regfree by the caller.
 * False: there can be no such pattern.
 */
bool NsRollPattern(regex_t *patternPtr, const char *format);

#endif
