/* SPDX-License-Identifier: MPL-2.0
 * mimetype.h --
 *
 *      Media types by file extension.
 */

#ifndef NSD_HTTP_MIMETYPE_H
#define NSD_HTTP_MIMETYPE_H

#include "nsstring.h"

/*
 * Add or replace a type (section ns/mimetypes).  The extension, in any case,
 * may have its dot; `default` means unknown ones, `noextension` none.  Both are
 * copied.  Any thread, any time.
 */
void NsMimeTypeAdd(const char *extension, const char *type);

/*
 * Take back what was added for an extension: a type that is built in counts
 * again.  Any thread, any time.
 */
void NsMimeTypeForget(const char *extension);

/*
 * Whether the type of a file is that of its extension, not of all others.
 */
bool NsMimeTypeIsKnown(const char *file);

/*
 * Whether a file is a template, or the source of a script for which nobody has
 * configured a type to be shown with.
 */
bool NsMimeTypeIsSource(const char *file);

/*
 * Append extension and type of all, as list elements.
 */
void NsMimeTypesList(Ns_DString *dsPtr);

#endif
