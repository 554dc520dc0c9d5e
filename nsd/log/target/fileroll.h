/* SPDX-License-Identifier: MPL-2.0
 * fileroll.h --
 *
 *      Which file a file sink writes to.
 */

#ifndef NSD_LOG_FILEROLL_H
#define NSD_LOG_FILEROLL_H

#include "log/sink/sink_int.h"

extern const NsSinkFileProcs nsFileProcs;

#endif
