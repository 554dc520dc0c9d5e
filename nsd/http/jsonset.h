/* SPDX-License-Identifier: MPL-2.0
 * jsonset.h --
 *
 *      JSON as a set: a field for each value, whose key is its path.
 */

#ifndef NSD_HTTP_JSONSET_H
#define NSD_HTTP_JSONSET_H

#include "http/json.h"
#include "nsset.h"

/*
 * Read one value from a new reader.  PATH.type comes before PATH; the names in
 * a path are encoded (NsJsonKeyEncode), with slashes between, elements of
 * arrays counted from 0.  Of containers only empty ones have fields.  null has
 * the given value.
 *
 * False: the reader has the error.  It is one as well when paths are so long
 * that the set would be many times as large as the text.
 */
bool NsJsonReadSet(NsJsonReader *readerPtr, const char *nullValue,
                   Ns_Set *setPtr);

#endif
