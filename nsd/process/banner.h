/* SPDX-License-Identifier: MPL-2.0
 * banner.h --
 *
 *      What the server says about itself at the start.
 */

#ifndef NSD_PROCESS_BANNER_H
#define NSD_PROCESS_BANNER_H

#include "process/info.h"

#define NS_BANNER_NAME NS_PRODUCT_NAME "/" NS_PATCH_LEVEL

/*
 * The report of -V, on standard output.
 */
void NsBannerPrint(void);

/*
 * Version, identity, and limits, in the log; identity alone.
 */
void NsBannerLog(void);
void NsBannerLogSecurity(void);

#endif
