/* SPDX-License-Identifier: MPL-2.0
 * command.h --
 *
 *      Commands and subcommands: tables of what they are called, what they take
 *      and what runs.
 */

#ifndef NSD_TCL_COMMAND_H
#define NSD_TCL_COMMAND_H

#include "tcl/interp.h"

/*
 * One command or subcommand.  A call with another number of words leaves the
 * usual message, made of the words that name it and the usage.
 */
typedef struct NsTclCommand {
    const char     *name;
    Tcl_ObjCmdProc *proc;    /* Its client data is the NsInterp. */
    int             minArgs; /* Words behind the name. */
    int             maxArgs; /* Or NS_TCL_ANY. */
    const char     *usage;   /* NULL: no words. */
    unsigned        flags;   /* Of commands: below; those of subcommands
                              * are for their procedure. */
} NsTclCommand;

#define NS_TCL_ANY INT_MAX /* No limit, or proc looks at the words. */
#define NS_TCL_END                \
    {                             \
        NULL, NULL, 0, 0, NULL, 0 \
    }

#define NS_TCL_BASIC 0x01u /* Also in interpreters without a server. */
#define NS_TCL_EXACT 0x02u /* Subcommands cannot be abbreviated. */
#define NS_TCL_CONN  0x04u /* Needs a request: else `no connection`. */

/*
 * A number for the procedure of a command, which can so serve several rows that
 * have a limit of words.
 */
#define NS_TCL_DATA(n) ((unsigned) (n) << 8)

/*
 * A command with subcommands.
 *
 * The table ends with NS_TCL_END.  Rows behind that must be named in full:
 * scripts abbreviate the others as if these were not there.  A second
 * NS_TCL_END ends these.  Messages list all: from them scripts know what the
 * server can do.
 */
typedef struct NsTclEnsemble {
    const char         *name;
    const char         *usage; /* Of a call without a subcommand. */
    const char         *noun;  /* The word for a subcommand in messages. */
    unsigned            flags; /* NS_TCL_BASIC, NS_TCL_EXACT. */
    const NsTclCommand *rows;
} NsTclEnsemble;

/*
 * Add a table that ends with NS_TCL_END, or a command with subcommands, to all
 * interpreters made from now on.  Before the first one is made.
 */
void NsTclAddCommands(const NsTclCommand *commands);
void NsTclAddEnsemble(const NsTclEnsemble *ensemblePtr);

/*
 * Append the names of all, as a list.
 */
void NsTclListCommands(Ns_DString *dsPtr);

/*
 * Give a new interpreter its commands.
 */
void NsTclCreateCommands(NsInterp *itPtr);

/*
 * Whether the command of that name is one of these: it is in C, and neither
 * imported nor an ensemble of Tcl.
 */
bool NsTclIsOwn(Tcl_Interp *interp, const char *name);

/*
 * Run the subcommand that the second word names.  For commands that do
 * something before or after it.
 */
int NsTclRunEnsemble(const NsTclEnsemble *ensemblePtr, NsInterp *itPtr,
                     int objc, Tcl_Obj *const *objv);

/*
 * The row that is being called, of a command with a limit of words or of a
 * subcommand.  A procedure that serves several rows asks at once: the next call
 * replaces it.
 */
static inline const NsTclCommand *
NsTclRow(ClientData clientData)
{
    return ((const NsInterp *) clientData)->rowPtr;
}

static inline int
NsTclData(ClientData clientData)
{
    return (int) (NsTclRow(clientData)->flags >> 8);
}

/*
 * The row of a table that a word names, in full or abbreviated unless isExact.
 * Each row begins with its name, and the table ends as that of an ensemble.
 * NULL: there is none; the message is left, where noun says what the word
 * should have been.
 */
const void *NsTclFindRow(Tcl_Interp *interp, Tcl_Obj *wordObj,
                         const void *table, size_t rowBytes, const char *noun,
                         bool isExact);

/*
 * Whether the words behind the first nNames ones are as many as minArgs to
 * maxArgs; if not, the usage message is left.
 */
bool NsTclCheckArgs(Tcl_Interp *interp, int nNames, int objc,
                    Tcl_Obj *const *objv, int minArgs, int maxArgs,
                    const char *usage);

#endif
