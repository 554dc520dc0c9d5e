/* SPDX-License-Identifier: MPL-2.0
 * noticepage.h --
 *
 *      Error pages and notices by a template of the site's (procedure
 *      _ns_noticepage).
 */

#ifndef NSD_TCL_NOTICEPAGE_H
#define NSD_TCL_NOTICEPAGE_H

/*
 * Once, by the main thread.
 */
void NsNoticePageInit(void);

#endif
