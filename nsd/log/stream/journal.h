/* SPDX-License-Identifier: MPL-2.0
 * journal.h --
 *
 *      Standard output and error of a service, where systemd has connected them
 *      with its journal.
 *
 *      The journal reads lines, stamps each with the time, and takes a number
 *      in angle brackets at its beginning for its priority (sd-daemon(3)).
 */

#ifndef NSD_LOG_JOURNAL_H
#define NSD_LOG_JOURNAL_H

#include "nstypes.h"

/*
 * There is a journal, whatever is connected with it now.  Constant after
 * NsJournalInit.
 */
extern bool nsJournalIsThere;

/*
 * Read JOURNAL_STREAM; while there is one thread.
 */
void NsJournalInit(void);

/*
 * Whether the descriptor leads to the journal.  May be called in a signal
 * handler.
 */
bool NsJournalIs(int fd);

#endif
