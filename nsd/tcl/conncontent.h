/*
 * conncontent.h --
 *
 *      The options of ns_conn about what the client sent.
 */

#ifndef NSD_TCL_CONNCONTENT_H
#define NSD_TCL_CONNCONTENT_H

#include "tcl/connoption.h"

extern NsConnOptionProc NsConnOptionHeaderLength, NsConnOptionContent,
    NsConnOptionCopy, NsConnOptionContentLength, NsConnOptionFiles,
    NsConnOptionFileOffset, NsConnOptionFileLength, NsConnOptionFileHeaders;

#endif
