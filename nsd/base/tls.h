/* SPDX-License-Identifier: MPL-2.0
 * tls.h --
 *
 *      The end of the thread-local values of a thread.
 */

#ifndef NSD_BASE_TLS_H
#define NSD_BASE_TLS_H

/*
 * Call the cleanup functions of the slots that are set.
 */
void NsTlsCleanup(void **slots);

#endif
