/* SPDX-License-Identifier: MPL-2.0
 * config_file.h --
 *
 *      The configuration: a Tcl script, or several, evaluated once.
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
 * The files to evaluate, one after the other in one interpreter: a
 * configuration file, or the *.tcl files of a directory in the order of their
 * names.
 */
typedef struct NsConfigText {
    struct NsConfigText *nextPtr;
    char                *file;
    char                *text;
} NsConfigText;

/*
 * The texts at a path, to be freed with NsConfigTextFree.  What cannot be read
 * is fatal.
 */
NsConfigText *NsConfigRead(const char *path);
void          NsConfigTextFree(NsConfigText *textPtr);

/*
 * Evaluate the texts into the store.  NS_ERROR: a Tcl error, logged with its
 * trace.
 */
Ns_ReturnCode NsConfigEval(const NsConfigText *textPtr, int argc,
                           char *const *argv, int firstWord);

#endif
