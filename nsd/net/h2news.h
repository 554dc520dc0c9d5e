/* SPDX-License-Identifier: MPL-2.0
 * h2news.h --
 *
 *      What other threads leave for a session: streams with something new.
 */

#ifndef NSD_NET_H2NEWS_H
#define NSD_NET_H2NEWS_H

#include "net/h2_int.h"

/*
 * Put the stream into its session's list, with the thread's streamLock.  True:
 * the caller has to put the connection into the thread's inbox, once it has
 * given the lock back.  mustHear: the session may not wait with these news.
 */
bool NsH2NewsPutLocked(NsH2Stream *streamPtr, bool mustHear);

#endif
