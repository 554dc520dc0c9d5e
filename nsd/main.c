/* SPDX-License-Identifier: MPL-2.0
 * main.c --
 *
 *      The program: Ns_Main with nothing added.
 */

#include "nsprocess.h"

int
main(int argc, char **argv)
{
    return Ns_Main(argc, argv, NULL);
}
