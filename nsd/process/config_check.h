/* SPDX-License-Identifier: MPL-2.0
 * config_check.h --
 *
 *      Compares the configuration with the table of parameters, and with what
 *      it refers to.
 *
 *      Reported are sections and parameters that do not exist, with the nearest
 *      name that does, values that are out of range, and servers, pools, limits
 *      and log sinks that nothing defines; for -T also files and directories
 *      that are missing, modules that cannot be loaded, addresses that cannot
 *      be listened on.  Sections outside ns/ are their owners' business.
 */

#ifndef NSD_PROCESS_CONFIG_CHECK_H
#define NSD_PROCESS_CONFIG_CHECK_H

#include "nsstring.h"
#include "process/config.h"

/*
 * Report on a file, one line each; or values and references as Warnings in the
 * log.  The result is how many things are wrong; to *nErrorsPtr is added how
 * many of them are a start's end.
 */
int NsConfigCheckPrint(FILE *file, int *nErrorsPtr);
int NsConfigCheckLog(void);

/*
 * Find the problems that a start would meet, counted likewise.  Makes home the
 * base of all paths, and loads modules, but leaves nothing behind outside the
 * process.
 */
int NsConfigCheckReferences(FILE *file, int *nErrorsPtr);

/*
 * Find the log files that several logs share, as some sites want; none of them
 * is an error.  With paths as NsConfigCheckReferences has left them.
 */
int NsConfigCheckShared(FILE *file);

/*
 * Print the parameters that the file sets and that have no effect here, and
 * why; they are as good as others, so none is counted.  How many there are.
 */
int NsConfigCheckIgnored(FILE *file);

/*
 * Visit the parameters that the file sets, with what is known of them.  Any
 * thread, once the configuration has been read.
 */
typedef struct NsConfigFacts {
    const NsConfigItem *itemPtr;
    bool                isKnown;   /* The table of parameters has it. */
    bool                isDefault; /* It is what the table would say. */
    const char         *noEffect;  /* Why it has none; NULL: it has. */
} NsConfigFacts;

typedef void NsConfigFactsProc(const NsConfigFacts *factsPtr, void *arg);
void         NsConfigFactsVisit(NsConfigFactsProc *proc, void *arg);

/*
 * Append the name under which the table of parameters knows a section.  False:
 * it is not one of the server's.
 */
bool NsConfigCanonical(const char *section, Ns_DString *dsPtr);

/*
 * Log what is unknown, and what modules, libraries and applications have not
 * read either.  After these are loaded.
 */
void NsConfigCheckUnread(void);

#endif
