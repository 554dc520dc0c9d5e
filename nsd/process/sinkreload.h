/* SPDX-License-Identifier: MPL-2.0
 * sinkreload.h --
 *
 *      Log sinks follow a reload of the configuration: what sections
 *      ns/logsinks and ns/logsink/NAME say is added, changed or removed.
 */

#ifndef NSD_PROCESS_SINKRELOAD_H
#define NSD_PROCESS_SINKRELOAD_H

void NsSinkReloadInit(void);

#endif
