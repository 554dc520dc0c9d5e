/* SPDX-License-Identifier: MPL-2.0
 * writer_check.h --
 *
 *      What must hold of the job of a writer thread.
 */

#ifndef NSD_NET_WRITER_CHECK_H
#define NSD_NET_WRITER_CHECK_H

#include "net/writer_int.h"

/*
 * For the writer thread, that holds the writer's lock.
 */
void NsWriterCheckJobLocked(const NsWriterJob *jobPtr);

/*
 * Something was sent, or not: for what is left, the thread comes back.
 */
void NsWriterCheckServed(const NsWriterJob *jobPtr);

#endif
