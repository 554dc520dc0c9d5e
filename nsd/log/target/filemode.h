/* SPDX-License-Identifier: MPL-2.0
 * filemode.h --
 *
 *      Whose the file of a sink is, and who may read it.
 */

#ifndef NSD_LOG_FILEMODE_H
#define NSD_LOG_FILEMODE_H

#include "log/sink/sink_int.h"

/*
 * Give the file that the sink, locked or new, has open the owner and the
 * permissions of its settings.  What cannot be done is a Warning.
 */
void NsFileModeApply(Ns_LogSink sink);

#endif
