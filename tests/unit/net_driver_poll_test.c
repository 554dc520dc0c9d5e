/* SPDX-License-Identifier: MPL-2.0
 * net_driver_poll_test.c --
 *
 *      The tests of net_driver_test.c with the poll back end.
 */

#define ECHO_POLLER "poll"
#include "net_driver_test.c"
