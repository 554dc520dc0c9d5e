/*
 * shared.c --
 *
 *      The library.
 */

#include "shared.h"

int
SharedAnswer(void)
{
    return 42;
}
