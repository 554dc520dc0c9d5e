/* SPDX-License-Identifier: MPL-2.0
 * template.h --
 *
 *      Formats of one's own: text with variables.
 *
 *          $peer ${user}x $header(Host) $$
 *
 *      A template may begin with `escape=text` (the default), json, csv or
 *      logfmt: how the values are written.  No value can end the line or its
 *      field.
 */

#ifndef NSD_LOG_TEMPLATE_H
#define NSD_LOG_TEMPLATE_H

#include "log/stream/field.h"

typedef struct NsTemplate NsTemplate; /* Constant after creation. */

/*
 * NULL: the text is no template, and why is appended to errorPtr.
 */
NsTemplate *NsTemplateCreate(const char *text, Ns_DString *errorPtr);
void        NsTemplateDestroy(NsTemplate **templatePtrPtr);

/*
 * As a format procedure.
 */
size_t NsTemplateLine(const NsTemplate   *templatePtr,
                      const NsFieldProcs *procsPtr,
                      const Ns_LogRecord *recordPtr, char *buffer, size_t room);

bool NsTemplateIsJson(const NsTemplate *templatePtr);

/*
 * The names in $header() and $reply(), as a list of words that nslog's
 * extendedheaders understands.
 */
void NsTemplateHeaders(const NsTemplate *templatePtr, Ns_DString *dsPtr);

#endif
