/* SPDX-License-Identifier: MPL-2.0
 * reload.h --
 *
 *      Taking over a changed configuration while the server runs.
 *
 *      The file is evaluated and checked by another process of the same
 *      program, as a start would do it; this one compares the result with what
 *      is in force.
 */

#ifndef NSD_PROCESS_RELOAD_H
#define NSD_PROCESS_RELOAD_H

#include "nsstring.h"

void NsReloadInit(void);

/*
 * What became of a parameter whose value in the file differs from the one in
 * force.
 */
typedef enum {
    NS_RELOAD_APPLIED, /* The file's value is in force. */
    NS_RELOAD_RESTART, /* It will be after a restart. */
    NS_RELOAD_BY_HAND, /* The file has not changed: a script or `nsd ctl set`
                        * has changed the value, which stays. */
    NS_RELOAD_SAME
} NsReloadFate;

/*
 * Texts live as long as the call; "": none, the default.
 */
typedef struct NsReloadItem {
    NsReloadFate fate;
    const char  *section;
    const char  *key;
    const char  *oldText; /* In force before. */
    const char  *newText; /* In the file. */
} NsReloadItem;

typedef void NsReloadProc(const NsReloadItem *itemPtr, void *arg);

/*
 * Reload, or with isTrial only say what a reload would do.  Calls at the same
 * time are carried out one after the other.  NS_ERROR: the reason is appended,
 * and nothing has changed.  Any thread; takes as long as `nsd -T`.
 */
Ns_ReturnCode NsReload(bool isTrial, NsReloadProc *proc, void *arg,
                       Ns_DString *problemPtr);

/*
 * Print the configuration as a list of lists: SECTION FILE LINE where a section
 * begins, SECTION KEY VALUE FILE LINE.  This is how the other process tells.
 */
void NsReloadPrint(FILE *file);

#endif
