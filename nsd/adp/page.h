/* SPDX-License-Identifier: MPL-2.0
 * page.h --
 *
 *      Parsed pages of a server, shared by its interpreters.
 */

#ifndef NSD_ADP_PAGE_H
#define NSD_ADP_PAGE_H

#include "adp/adp_int.h"
#include "adp/parse.h"
#include "base/filewatch.h"

typedef struct NsAdpPage NsAdpPage;

/*
 * A parsed page in use by an interpreter, with that interpreter's scripts.
 */
typedef struct NsAdpHeld {
    struct NsAdpHeld *newerPtr;
    struct NsAdpHeld *olderPtr;
    NsAdpPage        *pagePtr;
    Tcl_Obj          *fileObj;  /* Name of the file. */
    Tcl_Obj         **scripts;  /* One per block; NULL for text. */
    int               nUses;    /* Frames that run it. */
    bool              isStale;  /* Drop when no longer in use. */
    struct NsRoute   *routePtr; /* Of requests for it; NULL: none so far. */
} NsAdpHeld;

/*
 * The page of a file, parsed with these flags.  NULL with an error in the
 * interpreter.  In use until NsAdpRelease.  The page is that of the file at the
 * time of that look (of the connection), or now.
 */
NsAdpHeld *NsAdpHold(NsAdpInterp *adpPtr, const char *file, int flags,
                     NsLook look);

/*
 * Use a page once more, and true, if it is still that of its file.
 */
bool NsAdpHoldAgain(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr, NsLook look);

/*
 * The file of the page that is run by this lambda (PROC pages only); borrowed.
 * NULL: none that the interpreter holds.
 */
Tcl_Obj *NsAdpFileOfLambda(NsAdpInterp *adpPtr, Tcl_Obj *lambdaObj);

void NsAdpRelease(NsAdpInterp *adpPtr, NsAdpHeld *heldPtr);

const NsAdpCode *NsAdpPageCode(const NsAdpPage *pagePtr);
off_t            NsAdpPageBytes(const NsAdpPage *pagePtr);
time_t           NsAdpPageTime(const NsAdpPage *pagePtr);

/*
 * Kept output of a page: NS_OK and a copy in dsPtr, or NS_ERROR when the caller
 * has to make it and to call NsAdpPutOutput (text NULL: nothing to keep).
 * NS_TIMEOUT: another thread makes it, and mayWait is false.
 */
Ns_ReturnCode NsAdpGetOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr,
                             bool mayWait, Ns_DString *dsPtr);
void          NsAdpPutOutput(NsAdpServer *adpServerPtr, NsAdpPage *pagePtr,
                             const char *text, const Ns_Time *ttlPtr);

void NsAdpPagesFree(NsAdpInterp *adpPtr);

/*
 * Result of ns_adp_stats.
 */
void NsAdpStats(NsAdpServer *adpServerPtr, Ns_DString *dsPtr);

#endif
