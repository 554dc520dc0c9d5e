/* SPDX-License-Identifier: MPL-2.0
 * nsversion.h --
 *
 *      The release of NaviServer whose interfaces this server has.  Modules
 *      test these.
 */

#ifndef NSVERSION_H
#define NSVERSION_H

#define NS_ALPHA_RELEASE 1
#define NS_BETA_RELEASE  2
#define NS_FINAL_RELEASE 3

#define NS_MAJOR_VERSION  4
#define NS_MINOR_VERSION  99
#define NS_RELEASE_SERIAL 5
#define NS_RELEASE_LEVEL  NS_FINAL_RELEASE

#define NS_VERSION     "4.99"
#define NS_PATCH_LEVEL "4.99.5"
#define NS_VERSION_NUM \
    (NS_MAJOR_VERSION * 10000 + NS_MINOR_VERSION * 100 + NS_RELEASE_SERIAL)
#endif
