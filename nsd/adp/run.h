/* SPDX-License-Identifier: MPL-2.0
 * run.h --
 *
 *      Frames: running a page or a string.
 */

#ifndef NSD_ADP_RUN_H
#define NSD_ADP_RUN_H

#include "adp/adp_int.h"

/*
 * The code to run.
 */
typedef struct NsAdpSource {
    const char       *file;      /* A file, or ... */
    Tcl_Obj          *textObj;   /* ... a string. */
    struct NsAdpHeld *heldPtr;   /* Of the file if the caller has it. */
    bool              isTcl;     /* The file is a Tcl script. */
    bool              isTrusted; /* Keep inline scripts in safe mode, too. */
    bool              isGlobal;  /* Run at global level. */
    const Ns_Time    *ttlPtr;    /* Keep the output for this time; NULL: do
                                  * not. */
    int             nArgs;
    Tcl_Obj *const *args;
    bool            isInclude; /* args lack the name of the page. */
    const char     *dir;       /* NULL: that of the file, or as before. */
    Ns_DString     *outputPtr; /* NULL: the current buffer. */
} NsAdpSource;

/*
 * Run a page in the current variable scope.  TCL_ERROR with a message when the
 * file cannot be read, or its last block failed, or any did under stricterror.
 */
int NsAdpRun(NsAdpInterp *adpPtr, const NsAdpSource *sourcePtr);

/*
 * Append the directory that relative names refer to; nothing outside pages.
 */
void NsAdpDir(const NsAdpInterp *adpPtr, Ns_DString *dsPtr);

/*
 * File name relative to the current page, or to the page root.
 */
const char *NsAdpResolve(NsAdpInterp *adpPtr, const char *file,
                         Ns_DString *dsPtr);

#endif
