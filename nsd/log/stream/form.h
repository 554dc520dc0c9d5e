/* SPDX-License-Identifier: MPL-2.0
 * form.h --
 *
 *      How a sink writes records: its format, what it hides, and what it adds.
 */

#ifndef NSD_LOG_FORM_H
#define NSD_LOG_FORM_H

#include "log/stream/stream.h"

typedef struct NsForm NsForm; /* Used by one thread at a time. */

/*
 * Texts may be NULL.
 */
typedef struct NsFormSpec {
    int format; /* See stream.h. */
    const char *template;
    const char *mask;
    const char *fields; /* A list of names and values. */
} NsFormSpec;

/*
 * NULL: a text is not valid, and why is appended to errorPtr.
 */
NsForm *NsFormCreate(const NsFormSpec *specPtr, Ns_DString *errorPtr);
void    NsFormDestroy(NsForm **formPtrPtr);

/*
 * As NsStreamFormat.  A note is a line about the log itself: a template, which
 * may have no place for its text, does not apply.
 */
size_t NsFormLine(NsForm *formPtr, Ns_LogStream stream,
                  const Ns_LogRecord *recordPtr, bool isNote, char *buffer,
                  size_t room);

/*
 * The record without what the mask hides; its bytes are valid until the next
 * call for this form.
 */
Ns_LogRecord NsFormRecord(NsForm *formPtr, Ns_LogStream stream,
                          const Ns_LogRecord *recordPtr);

/*
 * Equal numbers mean equal forms; below NS_LOG_NFORMATS it is the format alone.
 */
int32_t NsFormNumber(const NsForm *formPtr);

/*
 * False: the stream's records have no variables that a template could use.
 */
bool NsFormFits(int format, Ns_LogStream stream);

#endif
