/*
 * message_int.h --
 *
 *      Free messages of threads that create many.
 */

#ifndef NSD_NET_MESSAGE_INT_H
#define NSD_NET_MESSAGE_INT_H

/*
 * The calling thread keeps a list of free messages of its own until End.
 */
void NsMessageThreadBegin(void);
void NsMessageThreadEnd(void);

#endif
