/*
 * negotiate.h --
 *
 *      What a client accepts.
 */

#ifndef NSD_HTTP_NEGOTIATE_H
#define NSD_HTTP_NEGOTIATE_H

#include "nstypes.h"

/*
 * Whether a client asks for gzip, by its first Accept-Encoding field, NULL if
 * absent: probes and programs that do not send one cannot read it.
 */
bool NsAcceptsGzip(const char *acceptEncoding);

/*
 * Whether a coding is named with a quality above 0.
 */
bool NsAcceptsCoding(const char *acceptEncoding, const char *coding);

#endif
