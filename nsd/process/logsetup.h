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

/*
 * Configure the system log.  A log file that cannot be written does not keep
 * the server from running: entries go to standard error then, with a Warning.
 */
void NsLogSetup(bool stayOnStderr, bool isDetached);

#endif
