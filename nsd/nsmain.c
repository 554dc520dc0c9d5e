/*
 * nsmain.c --
 *
 *      Starts the rooms from left to right, and stops them from right to left.
 */

#include "nsprocess.h"

int
Ns_Main(int argc, char **argv, Ns_ServerInitProc *initProc)
{
    return 1;
}
