/* SPDX-License-Identifier: MPL-2.0
 * accessparams.h --
 *
 *      The parameters of access logs; modules use nsaccessline.h.
 */

#ifndef NSD_PROCESS_ACCESSPARAMS_H
#define NSD_PROCESS_ACCESSPARAMS_H

/*
 * Once, before the configuration is read.
 */
void NsAccessParamsInit(void);

#endif
