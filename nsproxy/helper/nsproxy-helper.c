/* SPDX-License-Identifier: MPL-2.0
 * nsproxy-helper.c --
 *
 *      The worker program of ns_proxy.
 */

#include "../nsproxy.h"

int
main(int argc, char **argv)
{
    return Ns_ProxyMain(argc, argv, NULL);
}
