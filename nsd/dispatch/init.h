/*
 * init.h --
 *
 *      Start of the dispatch room.
 */

#ifndef NSD_DISPATCH_INIT_H
#define NSD_DISPATCH_INIT_H

/*
 * Once per process, before the configuration is read.
 */
void NsDispatchInit(void);

#endif
