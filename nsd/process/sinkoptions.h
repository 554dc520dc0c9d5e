/* SPDX-License-Identifier: MPL-2.0
 * sinkoptions.h --
 *
 *      The parameters of log sinks as text: in the configuration, and in
 *      ns_logsink.
 *
 *      A draft takes values one by one, in any order.  An error names the
 *      parameter, the value and what is allowed.
 */

#ifndef NSD_PROCESS_SINKOPTIONS_H
#define NSD_PROCESS_SINKOPTIONS_H

#include "process/sinkdraft.h"

/*
 * Set one; the case of its name does not matter.  NS_ERROR: the reason is
 * appended to errorPtr.
 */
Ns_ReturnCode NsSinkOptionSet(NsSinkDraft *draftPtr, const char *name,
                              const char *value, Ns_DString *errorPtr);

/*
 * Set one to the default that sinks of files have.
 */
void NsSinkOptionReset(NsSinkDraft *draftPtr, const char *name);

/*
 * Names of parameters by index, NULL behind the last, and the value in a draft.
 */
const char *NsSinkOptionName(const NsSinkDraft *draftPtr, int index);
void        NsSinkOptionAppend(Ns_DString *dsPtr, const NsSinkDraft *draftPtr,
                               int index);

/*
 * A parameter of that name exists, and belongs to what a sink is.
 */
bool NsSinkOptionIsFixed(const NsSinkDraft *draftPtr, const char *name);

/*
 * The parameters that an access log has in its own section, too.
 */
bool NsSinkOptionIsOfAccessLogs(const char *name);

/*
 * Register the parameters of all sinks with the others (parameters.h).
 */
void NsSinkOptionsInit(void);

/*
 * Likewise, in a section of their own, those of the type that a section of the
 * configuration names; the pattern of that section, or of one for types that
 * are not there, where all is allowed.  Main thread, as long as there are no
 * others.
 */
const char *NsSinkOptionsSection(const char *section);

/*
 * Of all types, also those whose modules are installed and not loaded yet.
 */
void NsSinkOptionsRegisterAll(void);

#endif
