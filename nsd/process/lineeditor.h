/* SPDX-License-Identifier: MPL-2.0
 * lineeditor.h --
 *
 *      Lines that are typed at a terminal, with history and completion where
 *      libedit is installed.
 *
 *      Of a program that has one thread and one terminal.
 */

#ifndef NSD_PROCESS_LINEEDITOR_H
#define NSD_PROCESS_LINEEDITOR_H

#include "nsstring.h"

/*
 * Append, as list elements, the words that may stand for one that has begun.
 */
typedef void NsLineWordsProc(const char *begun, Ns_DString *dsPtr, void *arg);

/*
 * The history is that of the file, which NsLineEditorEnd writes and nobody else
 * may read; NULL: there is none.
 */
void NsLineEditorStart(const char *historyFile, NsLineWordsProc *proc,
                       void *arg);
void NsLineEditorEnd(void);

/*
 * A line with its end, appended.  False: there are no more.
 */
bool NsLineEditorRead(const char *prompt, Ns_DString *dsPtr);

#endif
