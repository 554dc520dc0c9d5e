/*
 * nslogstream.h --
 *
 *      Log streams and sinks for modules: records go in from any thread, a
 *      log thread formats and writes them.
 */

#ifndef NSLOGSTREAM_H
#define NSLOGSTREAM_H

#include "nstypes.h"

#endif
