/* SPDX-License-Identifier: MPL-2.0
 * notifier.h --
 *
 *      What Tcl's event loop waits with.
 */

#ifndef NSD_TCL_NOTIFIER_H
#define NSD_TCL_NOTIFIER_H

/*
 * Initialize Tcl with a notifier that takes descriptors of any number.  Before
 * any other call into Tcl, by the main thread; in a program that has begun to
 * use Tcl already, that program's notifier stays.
 */
void NsNotifierInstall(const char *executable);

#endif
