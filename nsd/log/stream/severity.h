/* SPDX-License-Identifier: MPL-2.0
 * severity.h --
 *
 *      The severities of log entries.
 *
 *      The table only grows.  State and counters are atomic: reading them takes
 *      no lock.
 */

#ifndef NSD_LOG_SEVERITY_H
#define NSD_LOG_SEVERITY_H

#include "nslog.h"

#define NS_LOG_MAX_SEVERITIES 640

/*
 * Create the built-in ones.
 */
void NsSeverityInit(void);

/*
 * Number by name, alias or decimal number below NS_LOG_MAX_SEVERITIES; -1 if
 * there is none.
 */
int NsSeverityFind(const char *name);

/*
 * The number of the severity of that name, new or not; -1: the table is full.
 */
int NsSeverityCreate(const char *name);

/*
 * How many there are; and which one lists have at a place.
 */
int            NsSeverityCount(void);
Ns_LogSeverity NsSeverityListed(int place);

/*
 * Switch one; Fatal stays on.  The state before.
 */
bool NsSeverityEnable(Ns_LogSeverity severity, bool isEnabled);

/*
 * How grave: 0 for debug messages and severities of one's own, 1 for Notice, up
 * to 4 for Fatal.  The numbers of severities have another order.
 */
static inline int
NsSeverityWeight(int severity)
{
    static const signed char weights[] = {
        [Notice] = 1, [Warning] = 2,    [Error] = 3,   [Bug] = 3,
        [Fatal] = 4,  [Deprecated] = 1, [Security] = 2};

    return (size_t) severity < sizeof(weights) ? weights[severity] : 0;
}

/*
 * The one of syslog that it corresponds to (RFC 5424, section 6.2.1): 0 to 7.
 */
int NsSeveritySyslog(int severity);

/*
 * Count an entry, and how many there were.
 */
void     NsSeverityCountEntry(Ns_LogSeverity severity);
uint64_t NsSeverityEntries(Ns_LogSeverity severity);

#endif
