/*
 * negotiate.h --
 *
 *      What a client accepts.
 */

#ifndef NSD_HTTP_NEGOTIATE_H
#define NSD_HTTP_NEGOTIATE_H

#include "nstypes.h"

/*
 * Whether a reply may be gzipped, by the first Accept-Encoding field (NULL if
 * absent) and the version of the request.
 */
bool NsAcceptsGzip(const char *acceptEncoding, double version);

/*
 * Whether a coding is named with a quality above 0.
 */
bool NsAcceptsCoding(const char *acceptEncoding, const char *coding);

#endif
