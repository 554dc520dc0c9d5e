/* SPDX-License-Identifier: MPL-2.0
 * logsetup.h --
 *
 *      Passes the configuration to the log engine: log is to the left and
 *      cannot read it.
 */

#ifndef NSD_PROCESS_LOGSETUP_H
#define NSD_PROCESS_LOGSETUP_H

#include "nstypes.h"

/*
 * Once, before the configuration is read.
 */
void NsLogSetupInit(void);

typedef enum {
    NS_LOG_TO_FILE,      /* Which is standard output and error, too. */
    NS_LOG_DETACHED,     /* Likewise; nobody reads these as they are now. */
    NS_LOG_TO_FILE_ONLY, /* Standard output and error stay what they are. */
    NS_LOG_TO_STDERR
} NsLogPlace;

/*
 * Configure the system log.  A log file that cannot be written does not keep
 * the server from running: entries go to standard error then, with a Warning.
 * Without a configuration file Notices are off.
 */
void NsLogSetup(NsLogPlace place);

#endif
