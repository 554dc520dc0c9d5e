/* SPDX-License-Identifier: MPL-2.0
 * httpoptions.h --
 *
 *      The options of ns_http run and queue.
 */

#ifndef NSD_TCL_HTTPOPTIONS_H
#define NSD_TCL_HTTPOPTIONS_H

#include "net/httpclient.h"
#include "tcl/interp.h"

#define NS_HTTP_TRACE_BYTES 640 /* What a tracestate may be, and more. */

/*
 * Borrowed from the words, but for bodyObj, and bodyFd of the specification.
 */
typedef struct NsHttpOptions {
    NsHttpClientSpec spec;
    Ns_Set          *headers;
    Tcl_Obj         *bodyObj; /* Has a reference of ours; or NULL. */
    int              isBinary;
    int              takesPartial;
    char            *bodyChannel; /* Names of channels, or NULL. */
    char            *outputChannel;
    char            *headScript;
    char            *dataScript;
    char            *doneScript;
    char             trace[NS_HTTP_TRACE_BYTES]; /* For lines of spec. */
} NsHttpOptions;

/*
 * TCL_ERROR, with a message; then there is nothing to release.
 */
int NsHttpOptionsParse(NsInterp *itPtr, bool isQueued, int objc,
                       Tcl_Obj *const *objv, NsHttpOptions *optionsPtr);

#endif
