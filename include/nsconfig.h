/* SPDX-License-Identifier: MPL-2.0
 * nsconfig.h --
 *
 *      What older modules include if HAVE_CONFIG_H is set: facts of the
 *      platform.  Parameters of the configuration are in nsparam.h.
 */

#ifndef NSCONFIG_H
#define NSCONFIG_H

#include "nstypes.h"

#define HAVE_CMMSG           1
#define HAVE_DLFCN_H         1
#define HAVE_DRAND48         1
#define HAVE_GETADDRINFO     1
#define HAVE_GETHOSTBYNAME_R 1
#define HAVE_GETNAMEINFO     1
#define HAVE_GETTID          1
#define HAVE_GMTIME_R        1
#define HAVE_INTTYPES_H      1
#define HAVE_LOCALTIME_R     1
#define HAVE_MKSTEMP         1
#define HAVE_NETINET_TCP_H   1
#define HAVE_OPENSSL_EVP_H   1
#define HAVE_POLL            1
#define HAVE_PTHREAD         1
#define HAVE_STDINT_H        1
#define HAVE_STRTOLL         1
#define HAVE_STRUCT_DIR64    1
#define HAVE_STRUCT_STAT64   1
#define HAVE_SYS_UIO_H       1
#define HAVE_TIMEGM          1
#define HAVE_UNISTD_H        1
#define HAVE_ZLIB_H          1

#endif
