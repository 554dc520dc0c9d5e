/* SPDX-License-Identifier: MPL-2.0
 * url2file.h --
 *
 *      From a URL to the name of a file.
 */

#ifndef NSD_REQUEST_URL2FILE_H
#define NSD_REQUEST_URL2FILE_H

#include "nsrequest.h"
#include "process/server.h"

void NsUrl2FileInit(void);

/*
 * Map the URLs below `url` to files below `basePath`, with the matched prefix
 * cut off; NULL: the default mapping.
 */
void NsRegisterFastUrl2File(const char *server, const char *url,
                            const char *basePath, int flags);

/*
 * Whether url is mapped by the default mapping, which no script takes part in:
 * it leads to the same file as long as NsRequestGeneration is the same.
 */
bool NsUrl2FileIsDefault(NsServer *serverPtr, const char *url);

/*
 * Ns_UrlToFile for those who want to know that as well.
 */
int NsUrlToFile(Ns_DString *dsPtr, NsServer *serverPtr, const char *url,
                bool *isDefaultPtr);

/*
 * Result of `ns_server url2file`, appended.
 */
void NsUrl2FileList(Ns_DString *dsPtr, NsServer *serverPtr);

#endif
