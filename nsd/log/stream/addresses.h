/* SPDX-License-Identifier: MPL-2.0
 * addresses.h --
 *
 *      Numeric addresses in the text of messages.
 */

#ifndef NSD_LOG_ADDRESSES_H
#define NSD_LOG_ADDRESSES_H

#include "nsstring.h"

/*
 * Append the text, of each address in it only the network: 24 bits of IPv4, 64
 * of IPv6, as masklogaddr of an access log does by default.  What merely looks
 * like an address, such as a version of four numbers, is one.
 */
void NsAddressesHide(Ns_DString *dsPtr, const char *text, size_t length);

#endif
