/*
 * config_check.h --
 *
 *      Compares the configuration with the table of parameters.
 *
 *      Reported are sections and parameters that do not exist, with the nearest
 *      name that does, and values that are out of range.  Sections outside ns/
 *      and those of modules from elsewhere are their owners' business.
 */

#ifndef NSD_PROCESS_CONFIG_CHECK_H
#define NSD_PROCESS_CONFIG_CHECK_H

#include "nstypes.h"

/*
 * Report on a file, one line each, or as Warnings in the log.  The result is
 * how many things are wrong.
 */
int NsConfigCheckPrint(FILE *file);
int NsConfigCheckLog(void);

#endif
