/* SPDX-License-Identifier: MPL-2.0
 * sinkmodule.h --
 *
 *      Modules nslogTYPE.so, which provide types of log sinks (nslogsink.h).
 */

#ifndef NSD_PROCESS_SINKMODULE_H
#define NSD_PROCESS_SINKMODULE_H

#include "nslogsink.h"

/*
 * From now on NsSinkTypeFind loads missing types: from home/bin, else from
 * where this server's own modules are.
 */
void NsSinkModuleInit(void);

/*
 * Load all that are installed beside the server.
 */
void NsSinkModuleLoadAll(void);

/*
 * The reason for the last failure of NsSinkTypeFind in this thread, with the
 * name of the file.
 */
const char *NsSinkModuleProblem(void);

/*
 * Read the text as a value of an option.  False: it is not one.  A path is made
 * absolute.  The text is copied, to be given to NsSinkValueFree.
 */
bool NsSinkValueInit(const Ns_LogSinkOption *optionPtr, const char *text,
                     Ns_LogSinkValue *valuePtr);
void NsSinkValueFree(Ns_LogSinkValue *valuePtr);

#endif
