/* SPDX-License-Identifier: MPL-2.0
 * parameter_table.h --
 *
 *      The parameters that no room reads for itself.
 */

#ifndef NSD_PROCESS_PARAMETER_TABLE_H
#define NSD_PROCESS_PARAMETER_TABLE_H

/*
 * Register what has no other owner.
 */
void NsParameterTableInit(void);

#endif
