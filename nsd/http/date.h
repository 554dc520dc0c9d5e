/* SPDX-License-Identifier: MPL-2.0
 * date.h --
 *
 *      Dates as HTTP writes them; RFC 9110, section 5.6.7.
 */

#ifndef NSD_HTTP_DATE_H
#define NSD_HTTP_DATE_H

#include "nstypes.h"

#define NS_HTTP_DATE_LENGTH 29 /* Sun, 06 Nov 1994 08:49:37 GMT */

/*
 * Write the date and a null byte to a buffer of NS_HTTP_DATE_LENGTH + 1 bytes.
 * Years beyond 9999 are written as 9999, before 0 as 0.
 */
void NsHttpDate(char *buffer, time_t seconds);

/*
 * The text for the present second.  It belongs to the calling thread and is
 * good until its next call.
 */
const char *NsHttpDateNow(void);

/*
 * Read a date in one of the three forms, year 1970 or later.  False if text is
 * anything else.
 */
bool NsHttpDateParse(const char *text, time_t *secondsPtr);

#endif
