/*
 * dns.h --
 *
 *      Name lookup, inside the server; modules use nssocket.h.
 */

#ifndef NSD_NET_DNS_H
#define NSD_NET_DNS_H

/*
 * Read the dns* parameters.  After the configuration is read, before other
 * threads ask.
 */
void NsDnsConfigure(void);

#endif
