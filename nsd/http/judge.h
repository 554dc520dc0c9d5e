/* SPDX-License-Identifier: MPL-2.0
 * judge.h --
 *
 *      The decisions about a request that its head alone allows.
 */

#ifndef NSD_HTTP_JUDGE_H
#define NSD_HTTP_JUDGE_H

#include "http/head.h"

/*
 * The status that a head is to be answered with, whatever it asks for: 431,
 * 414, 400 or 417; 0 if nothing is wrong with it.
 */
int NsHttpJudge(const NsHttpHead *headPtr);

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
