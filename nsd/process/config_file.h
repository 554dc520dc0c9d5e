/*
 * config_file.h --
 *
 *      The configuration file: a Tcl script, evaluated once.
 */

#ifndef NSD_PROCESS_CONFIG_FILE_H
#define NSD_PROCESS_CONFIG_FILE_H

#include "process/config.h"

/*
 * The procedures that make and delete the interpreter: tcl registers one with
 * the basic commands.  By default it is a plain one.
 */
typedef Tcl_Interp *NsConfigInterpProc(void);
typedef void        NsConfigDeleteProc(Tcl_Interp *interp);

void NsConfigSetInterpProcs(NsConfigInterpProc *createProc,
                            NsConfigDeleteProc *deleteProc);

/*
 * The text of the file, to be freed with ns_free.  A file that cannot be read
 * is fatal.
 */
char *NsConfigReadFile(const char *file);

/*
 * Evaluate the text into the store.  NS_ERROR: a Tcl error, logged with its
 * trace.
 */
Ns_ReturnCode NsConfigEval(const char *text, const char *file, int argc,
                           char *const *argv, int firstWord);

#endif
