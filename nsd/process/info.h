/* SPDX-License-Identifier: MPL-2.0
 * info.h --
 *
 *      Facts about the process: what it is, where it lives, how far it got.
 */

#ifndef NSD_PROCESS_INFO_H
#define NSD_PROCESS_INFO_H

#include "nsprocess.h"

#define NS_PRODUCT_NAME "NaviServer"

/*
 * Note the start time, the pid, the host and the executable.  argv is kept.
 */
void NsInfoInit(int argc, char *const *argv);

/*
 * argv as given; argv[0] as called.
 */
int          NsInfoArgc(void);
char *const *NsInfoArgv(void);

/*
 * Paths are kept as given.  Main thread, before others are made.
 */
void NsInfoSetConfigFile(const char *file);
void NsInfoSetHome(const char *home);
void NsInfoSetErrorLog(const char *file);

/*
 * The directory above bin/ of the executable, else the executable's directory.
 */
const char *NsInfoPrefix(void);

/*
 * The life of the process: only ever forward.
 */
typedef enum {
    NS_LIFE_STARTING,
    NS_LIFE_RUNNING, /* `ns_info started` */
    NS_LIFE_STOPPING /* `ns_info shutdownpending` */
} NsLife;

void   NsInfoInitLife(void);
void   NsInfoSetLife(NsLife life);
NsLife NsInfoLife(void);

/*
 * Whether new requests are welcome, as load balancers ask: the process runs,
 * nobody has asked it to drain, and each log sink that is required can write.
 * What it does, in words: starting, ready, draining, stopping, or why it is not
 * ready.
 */
void        NsInfoSetDraining(bool isDraining);
bool        NsInfoIsDraining(void);
bool        NsInfoIsReady(void);
const char *NsInfoReadiness(void);

/*
 * After fork: the process id has changed.
 */
void NsInfoForked(void);

#endif
