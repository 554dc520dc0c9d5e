/* SPDX-License-Identifier: MPL-2.0
 * openfiles.h --
 *
 *      Which files are logs that somebody writes to, by what they are, not by
 *      their names.
 */

#ifndef NSD_LOG_OPENFILES_H
#define NSD_LOG_OPENFILES_H

#include "nstypes.h"

void NsOpenFilesInit(void);

/*
 * The owner has this file open, in place of any other.  NULL: none.
 */
void NsOpenFilesNote(const void *owner, const struct stat *stPtr);

/*
 * Some owner has it open.
 */
bool NsOpenFilesHave(const struct stat *stPtr);

#endif
