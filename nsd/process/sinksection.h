/* SPDX-License-Identifier: MPL-2.0
 * sinksection.h --
 *
 *      Where the configuration has the parameters of a log sink.
 */

#ifndef NSD_PROCESS_SINKSECTION_H
#define NSD_PROCESS_SINKSECTION_H

#include "nsset.h"
#include "nsstring.h"

/*
 * Of a sink in ns/logsinks, and of the system log: ns/logsink/NAME.  An access
 * log, access/SERVER/MODULE, has the section of its module.
 */
void NsSinkSectionOf(Ns_DString *dsPtr, const char *sink);

/*
 * The other way: the access log of a section.  False: no server's section.
 */
bool NsSinkOfAccessSection(Ns_DString *dsPtr, const char *section);

/*
 * Whether a parameter of the section of that sink is the sink's, and not its
 * module's.
 */
bool NsSinkHasParameter(const char *sink, const Ns_Set *sectionPtr,
                        const char *key);

#endif
