/*
 * logmemory.h --
 *
 *      The log memory, made when it is first needed and looked after from then on.
 */

#ifndef NSD_PROCESS_LOGMEMORY_H
#define NSD_PROCESS_LOGMEMORY_H

/*
 * Have the log memory made, if there is none, and looked after.  NULL, or why
 * there can be none.
 */
const char *NsLogMemorySetup(void);

#endif
