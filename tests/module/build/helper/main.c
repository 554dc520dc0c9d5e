/*
 * main.c --
 *
 *      The program: it uses the server's library, and runs no server.
 */

#include "shared.h"

int
main(void)
{
    Ns_DString ds;

    Nsd_LibInit();
    Ns_DStringInit(&ds);
    (void) Ns_DStringPrintf(&ds, "answer %d", SharedAnswer());
    puts(ds.string);
    Ns_DStringFree(&ds);
    return 0;
}
