/*
 * accessline.h --
 *
 *      Streams of access records; see nsaccessline.h.
 */

#ifndef NSD_LOG_ACCESSLINE_H
#define NSD_LOG_ACCESSLINE_H

#include "nsaccessline.h"

/*
 * The stream that can format records of that name, which an earlier process has
 * left; NULL: a module would have to make it.
 */
Ns_LogStream NsAccessStreamOfLeftover(const char *name);

#endif
