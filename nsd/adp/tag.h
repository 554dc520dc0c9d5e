/* SPDX-License-Identifier: MPL-2.0
 * tag.h --
 *
 *      Registered tags.
 */

#ifndef NSD_ADP_TAG_H
#define NSD_ADP_TAG_H

#include "adp/adp_int.h"
#include "adp/parse.h"

void NsAdpRegisterTag(NsAdpServer *adpServerPtr, NsAdpTagKind kind,
                      const char *name, const char *endName,
                      const char *content);

/*
 * Parse with the tags of the server, flags being NS_ADP_PARSE_FLAGS.
 */
void NsAdpParseFor(NsAdpServer *adpServerPtr, NsAdpCode *codePtr,
                   const char *text, int flags);

#endif
