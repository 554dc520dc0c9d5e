/* SPDX-License-Identifier: MPL-2.0
 * config_variables.h --
 *
 *      ns_configure_variables: settings of a configuration file that the
 *      environment, or a second file, can change.
 */

#ifndef NSD_PROCESS_CONFIG_VARIABLES_H
#define NSD_PROCESS_CONFIG_VARIABLES_H

#include "nsthread.h"

/*
 * ns_configure_variables ?-configRoot directory? ?-silent bool? ?--? prefix
 *     defaults
 *
 * The client data is the name of the configuration file.
 */
Tcl_ObjCmdProc NsConfigVariablesCmd;

#endif
