/* SPDX-License-Identifier: MPL-2.0
 * nshttp.h --
 *
 *      HTTP as text: messages, and hosts in them.
 *
 *      Pure functions; any thread.
 */

#ifndef NSHTTP_H
#define NSHTTP_H

#include "nstypes.h"

/*
 * A message of `size` bytes: a first line, header fields, an empty line, and
 * what follows, where *payloadPtr is set to, in the message.
 * *firstLineBytesPtr: the length of the first line without its end.  The fields
 * are appended to the set, names in lower case, folded lines joined.  The
 * message is not changed.
 *
 * NS_ERROR: there is no empty line, or a line is not a field; the set may have
 * some of the fields then.
 */
NS_EXTERN Ns_ReturnCode Ns_HttpMessageParse(char *message, size_t size,
                                            size_t *firstLineBytesPtr,
                                            Ns_Set *fields, char **payloadPtr);

/*
 * The same for a reply, whose first line has version and status.  NS_ERROR also
 * for a header that contradicts itself.
 */
NS_EXTERN Ns_ReturnCode
Ns_HttpResponseMessageParse(char *message, size_t size, Ns_Set *fields,
                            int *majorPtr, int *minorPtr, int *statusPtr,
                            char **payloadPtr);

/*
 * Split `host`, `host:port`, `[address]` or `[address]:port` in place.
 * *hostPtr: the host without brackets, now null terminated; *portPtr: the port,
 * or NULL; *endPtr: the end of the text.
 *
 * False, and nothing changed: the text is something else, or its port is above
 * 65535.  A name has letters, digits, `-`, `_` and single dots; if not strict,
 * anything but white space and what delimits the parts of a URL.
 */
NS_EXTERN bool Ns_HttpParseHost2(char *text, bool isStrict,
                                 const char **hostPtr, const char **portPtr,
                                 char **endPtr);

#endif
