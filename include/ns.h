/* SPDX-License-Identifier: MPL-2.0
 * ns.h --
 *
 *      All that a module may use.  Each topic has a header of its own.
 */

#ifndef NS_H
#define NS_H

#include "nstypes.h"
#include "nsthread.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsindex.h"
#include "nscache.h"
#include "nsparam.h"
#include "nslog.h"
#include "nslogstream.h"
#include "nsprocess.h"
#include "nsfile.h"
#include "nssockaddr.h"
#include "nssocket.h"
#include "nstls.h"
#include "nsdriver.h"
#include "nshttp.h"
#include "nsconn.h"
#include "nsreturn.h"
#include "nsrequest.h"
#include "nsaccess.h"
#include "nstcl.h"

#endif
