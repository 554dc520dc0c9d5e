/* SPDX-License-Identifier: MPL-2.0
 * config_logs.h --
 *
 *      Log files that more than one log writes to: their lines mix, and each
 *      rolls the file for itself.
 *
 *      Files are the same by what they are, whatever their names.  What is not
 *      a regular file, such as a named pipe or a device, may have many writers.
 */

#ifndef NSD_PROCESS_CONFIG_LOGS_H
#define NSD_PROCESS_CONFIG_LOGS_H

#include "process/config_refs.h"

/*
 * Report each log whose file another log has: of those that the configuration
 * asks for, or of those that there are now.  Main thread.
 */
void NsConfigLogsCheck(NsConfigCheck *checkPtr);
void NsConfigLogsCheckMade(NsConfigCheck *checkPtr);

#endif
