/* SPDX-License-Identifier: MPL-2.0
 * commands.h --
 *
 *      Commands of the module, by source file.  Each function adds them to a
 *      new interpreter.
 */

#ifndef NSDB_COMMANDS_H
#define NSDB_COMMANDS_H

#include "lib/dbint.h"

void DbAddDbCommand(Tcl_Interp *interp);     /* ns_db */
void DbAddQuoteCommands(Tcl_Interp *interp); /* ns_dbquotevalue, ... */
void DbAddOtherCommands(Tcl_Interp *interp); /* ns_dberrorcode, ... */

#endif
