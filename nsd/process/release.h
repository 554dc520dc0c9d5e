/* SPDX-License-Identifier: MPL-2.0
 * release.h --
 *
 *      Which release of this server runs.  The release of NaviServer whose
 *      interfaces it has is another matter: see nsversion.h.
 */

#ifndef NSD_PROCESS_RELEASE_H
#define NSD_PROCESS_RELEASE_H

#include "nsstring.h"

/*
 * That of the file VERSION, MAJOR.MINOR.PATCH, and the commit, with -dirty
 * behind it if the sources differ.  "unknown" where there is none to ask for.
 */
const char *NsReleaseVersion(void);
const char *NsReleaseRevision(void);

/*
 * NAME VERSION, ... of the libraries that the server and its modules use, as
 * they are installed here.  For a process that ends soon: it opens those that
 * are not loaded.
 */
void NsReleaseLibraries(Ns_DString *dsPtr);

#endif
