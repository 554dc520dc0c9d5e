/* SPDX-License-Identifier: MPL-2.0
 * dns.h --
 *
 *      Name lookup, inside the server; modules use nssocket.h.
 */

#ifndef NSD_NET_DNS_H
#define NSD_NET_DNS_H

/*
 * Once, before the configuration is read.
 */
void NsDnsInit(void);

/*
 * Read the dns* parameters.  After the configuration is read, before other
 * threads ask.
 */
void NsDnsConfigure(void);

#endif
