/* SPDX-License-Identifier: MPL-2.0
 * connprofile.h --
 *
 *      Which members of a connection each kind of request uses, and how often.
 *
 *      Only in builds with --enable-conn-profile (Linux on x86-64).
 *      Connections then live on pages without access rights: each use of a
 *      member faults, is counted, and done by a single step of the processor.
 *      No code needs to be changed for it, and no use is missed; requests take
 *      about 100 times as long.
 */

#ifndef NSD_REQUEST_CONNPROFILE_H
#define NSD_REQUEST_CONNPROFILE_H

#include "base/config.h"
#include "request/conn.h"

#ifdef NS_CONN_PROFILE

/*
 * A connection full of zeroes, not yet counted; counted from Begin to End,
 * which frees it.  The result is logged when the process ends.
 */
NsConn *NsConnProfileAlloc(void);
void    NsConnProfileBegin(NsConn *connPtr);
void    NsConnProfileEnd(NsConn *connPtr);

#endif
#endif
