/* SPDX-License-Identifier: MPL-2.0
 * statetext.h --
 *
 *      The scripts that servers make their interpreters with.
 *
 *      Hundreds of servers may have the same libraries, and so the same script.
 *      They share one copy of it.
 */

#ifndef NSD_TCL_STATETEXT_H
#define NSD_TCL_STATETEXT_H

#include "nstcl.h"

/*
 * Constant, and shared by threads.
 */
typedef struct NsStateText NsStateText;

/*
 * The text of which these are the bytes and the circumstances, with a
 * reference; NULL: nobody has it.
 */
NsStateText *NsStateTextFind(const char *script, size_t length,
                             const char *circumstances);

/*
 * A new one, with a reference.  Circumstances: what decides, besides the
 * script, whether it succeeds in a new interpreter; NULL: not known, and nobody
 * finds it.
 */
NsStateText *NsStateTextCreate(const char *script, size_t length,
                               const char *circumstances);

/*
 * What the first bytes of the script were made from: a sum, as NsStateSum tells
 * it.  An earlier note stays.
 */
void NsStateTextNote(NsStateText *textPtr, const char *sum, size_t nBytes);

/*
 * The bytes that were noted with the sum, as a new object; NULL: no text that
 * somebody has was noted with it.
 */
Tcl_Obj *NsStateTextBySum(const char *sum);

/*
 * One more reference; one less, the last of which frees the text.
 */
NsStateText *NsStateTextRef(NsStateText *textPtr);
void         NsStateTextUnref(NsStateText *textPtr);

/*
 * The script, as a new object.
 */
Tcl_Obj *NsStateTextObj(const NsStateText *textPtr);

/*
 * Once, before the first server starts.
 */
void NsStateTextInit(void);

#endif
