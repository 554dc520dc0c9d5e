/* SPDX-License-Identifier: MPL-2.0
 * error.h --
 *
 *      Reports of errors in pages.
 */

#ifndef NSD_ADP_ERROR_H
#define NSD_ADP_ERROR_H

#include "adp/adp_int.h"

/*
 * Report the error in the interpreter, raised in that line of the current
 * frame: log, page, error page.  An error that an inner frame has reported is
 * not reported again.
 */
void NsAdpLogError(NsAdpInterp *adpPtr, int line);

#endif
