/* SPDX-License-Identifier: MPL-2.0
 * units.h --
 *
 *      How numbers, sizes, durations and truth are written in a configuration.
 *      Pure functions.
 */

#ifndef NSD_PROCESS_UNITS_H
#define NSD_PROCESS_UNITS_H

#include "nstypes.h"

/*
 * A boolean: 1 y yes on t true, 0 n no off f false in any case, or an integer.
 */
bool NsUnitsBool(const char *text, bool *valuePtr);

/*
 * An integer, decimal or 0x..., with an optional unit of size or time; blanks
 * around it are allowed.  Sizes give bytes, times give seconds rounded up.
 * False: nothing of the kind, or more than 64 bits; *valuePtr is unchanged.
 */
bool NsUnitsInteger(const char *text, Tcl_WideInt *valuePtr);

/*
 * A size in bytes, fractions allowed with a unit ("1.5MB").
 */
bool NsUnitsSize(const char *text, Tcl_WideInt *valuePtr);

/*
 * Whether the text, after blanks, is such a unit, or none.
 */
bool NsUnitsIsSizeUnit(const char *text);

/*
 * A duration, not negative, to the microsecond ("0.5s", "2m", "1.25",
 * "10:500000" for seconds and microseconds).
 */
bool NsUnitsTime(const char *text, Ns_Time *timePtr);

/*
 * The number of single-character edits (insert, delete, replace, exchange of
 * neighbours) between two names, ignoring case.  Names longer than 63
 * characters count as entirely different.
 */
int NsUnitsDistance(const char *a, const char *b);

#endif
