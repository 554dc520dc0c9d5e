/* SPDX-License-Identifier: MPL-2.0
 * config_refs.h --
 *
 *      What a configuration refers to.
 */

#ifndef NSD_PROCESS_CONFIG_REFS_H
#define NSD_PROCESS_CONFIG_REFS_H

#include "process/config.h"
#include "process/parameters.h"

/*
 * Lives on the stack of a check; main thread.
 */
typedef struct NsConfigCheck {
    FILE                     *file; /* NULL: the log. */
    int                       nProblems;
    int                       nErrors;    /* Of them, what a start fails for. */
    const NsParameterSection *sectionPtr; /* NULL: not checked. */
    bool                      isRequired; /* It is that of a log sink without
                                           * which no server starts. */
} NsConfigCheck;

/*
 * One thing that is wrong, for which a start does not fail unless isRequired.
 */
void NsConfigReport(NsConfigCheck *checkPtr, NsConfigPlace place,
                    const char *format, ...) NS_GNUC_PRINTF(3, 4);

/*
 * Whether servers, pools, limits and log sinks that a section
 * belongs to are defined.
 */
void NsConfigRefsSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr);

/*
 * Whether a section is that of a log sink that is required.
 */
bool NsConfigRefsIsRequiredSink(const char *section);

/*
 * Whether a section belongs to a module that nothing loads.
 */
bool NsConfigRefsIsOfNoModule(const char *section);

/*
 * The listed module whose name resembles that of such a section; NULL: none.
 */
const char *NsConfigRefsNearestModule(const char *section);

/*
 * Whether home is there; makes it the base of all paths.
 */
bool NsConfigRefsHome(NsConfigCheck *checkPtr);

/*
 * Check what a parameter refers to, in the section of checkPtr; and what each
 * server needs, even if the configuration does not mention it.
 */
void NsConfigRefsValue(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr);
void NsConfigRefsServers(NsConfigCheck *checkPtr);

#endif
