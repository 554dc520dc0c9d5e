/* SPDX-License-Identifier: MPL-2.0
 * cls.h --
 *
 *      Data of modules that lives as long as a request.
 */

#ifndef NSD_REQUEST_CLS_H
#define NSD_REQUEST_CLS_H

#include "request/conn.h"

/*
 * Run the cleanups of the data of a request.
 */
void NsConnFreeLocals(NsConn *connPtr);

#endif
