/* SPDX-License-Identifier: MPL-2.0
 * moduleadvice.h --
 *
 *      What to do about modules of NaviServer and AOLserver that are not here.
 */

#ifndef NSD_PROCESS_MODULEADVICE_H
#define NSD_PROCESS_MODULEADVICE_H

/*
 * Half a sentence about the module of that file, with or without directories
 * and ".so"; NULL: nothing is known of it.
 */
const char *NsModuleAdvice(const char *file);

#endif
