/* SPDX-License-Identifier: MPL-2.0
 * where.h --
 *
 *      Which frames of a stack are those of pages.
 */

#ifndef NSD_ADP_WHERE_H
#define NSD_ADP_WHERE_H

/*
 * From now on, frames of pages have their files and lines (tcl/frames.h).
 */
void NsAdpWhereInit(void);

#endif
