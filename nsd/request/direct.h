/* SPDX-License-Identifier: MPL-2.0
 * direct.h --
 *
 *      Answers given by the driver thread itself.
 *
 *      A GET or HEAD of a file in the static-file cache (or of one too large
 *      for it), when no filter, authorization, trace or script takes part.
 */

#ifndef NSD_REQUEST_DIRECT_H
#define NSD_REQUEST_DIRECT_H

#include "net/message.h"

void NsDirectInit(void);

/*
 * True: answered, counted and logged; the message is gone.  False: nothing has
 * happened.
 */
bool NsDirectAnswer(NsMessage *messagePtr);

#endif
