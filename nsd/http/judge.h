/* SPDX-License-Identifier: MPL-2.0
 * judge.h --
 *
 *      The decisions about a request that its head alone allows.
 */

#ifndef NSD_HTTP_JUDGE_H
#define NSD_HTTP_JUDGE_H

#include "base/arena.h"
#include "http/head.h"

/*
 * The status that a head whose lines are well formed is refused with, 400, 417
 * or 501, and in the head the reason; 0 if nothing is wrong with it.  Then the
 * length of the body is set, and the Host field is the authority of the URL if
 * that has one.
 */
int NsHttpJudge(NsHttpHead *headPtr, NsArena *arenaPtr);

/*
 * Whether the client keeps the connection after the reply, by its version and
 * the Connection field (RFC 9112 9.3).
 */
bool NsHttpAsksKeep(const NsHttpHead *headPtr);

/*
 * Whether the client waits for a 100 before it sends the body (RFC 9110
 * 10.1.1).
 */
bool NsHttpAsksContinue(const NsHttpHead *headPtr);

/*
 * Whether a method is one that this server has heard of.
 */
bool NsHttpKnowsMethod(const char *method);

#endif
