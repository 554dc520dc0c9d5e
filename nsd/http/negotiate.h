/* SPDX-License-Identifier: MPL-2.0
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

/*
 * Whether a client asks for Brotli, by name, and whether it takes that as
 * gladly as gzip.
 */
bool NsAcceptsBrotli(const char *acceptEncoding);
bool NsPrefersBrotli(const char *acceptEncoding);

/*
 * Whether a client would rather have JSON than HTML, by its Accept field, NULL
 * if absent: it names JSON, and HTML not or with a lower quality.
 */
bool NsPrefersJson(const char *accept);

/*
 * Whether a list has an element of that name, in any case.
 */
bool NsListHas(const char *list, const char *name);

#endif
