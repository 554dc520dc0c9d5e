/* SPDX-License-Identifier: MPL-2.0
 * parameter_print.h --
 *
 *      The table of parameters as text.
 */

#ifndef NSD_PROCESS_PARAMETER_PRINT_H
#define NSD_PROCESS_PARAMETER_PRINT_H

#include <stdio.h>

/*
 * The whole table as Markdown.
 */
void NsParametersPrint(FILE *file);

#endif
