/* SPDX-License-Identifier: MPL-2.0
 * config_logs.h --
 *
 *      What is doubtful about logs: streams that nobody has registered, and
 *      files that more than one log writes to, where lines mix, and each log
 *      rolls the file for itself.
 *
 *      Files are the same by what they are, whatever their names.  What is not
 *      a regular file, such as a named pipe or a device, may have many writers.
 */

#ifndef NSD_PROCESS_CONFIG_LOGS_H
#define NSD_PROCESS_CONFIG_LOGS_H

#include "log/sink/sink.h"
#include "process/config_refs.h"

/*
 * Report each log whose file another log has: of those that the configuration
 * asks for, or of those that there are now.  Main thread.
 */
void NsConfigLogsCheck(NsConfigCheck *checkPtr);
void NsConfigLogsCheckMade(NsConfigCheck *checkPtr);

/*
 * The same of a sink that was made while the server runs, as Warnings; and of
 * any sink, the streams that are not there (yet).  Any thread, between
 * NsSinkEnter and NsSinkLeave.
 */
void NsConfigLogsWarn(Ns_LogSink sink);
void NsConfigLogsWarnStreams(Ns_LogSink sink);

#endif
