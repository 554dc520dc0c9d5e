/* SPDX-License-Identifier: MPL-2.0
 * publicfile.h --
 *
 *      Which files a URL may lead to: parameters servedotfiles, denyfiles and
 *      followsymlinks.
 *
 *      What is decided holds until the file changes, or a directory or link on
 *      its way: so a cache that watches these need not ask again.
 */

#ifndef NSD_REQUEST_PUBLICFILE_H
#define NSD_REQUEST_PUBLICFILE_H

#include "process/server.h"

/*
 * Append the path of the file that the URL leads to, as NsUrlToFile.  NS_ERROR
 * with errno ENOENT: it leads to none, or to one that is not for clients.
 */
Ns_ReturnCode NsPublicFile(Ns_DString *dsPtr, NsServer *serverPtr,
                           const char *url, bool *isDefaultPtr);

/*
 * Whether the last name of a path may be followed, if it is a link: of what a
 * URL does not name itself, such as a compressed file beside another.
 */
bool NsPublicLink(const NsServer *serverPtr, const char *path);

#endif
