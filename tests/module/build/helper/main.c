/* SPDX-License-Identifier: MPL-2.0
 * main.c --
 *
 *      The program: it uses the server's library, and runs no server.
 */

#include "shared.h"

/*
 * The paths below no home.
 */
static void
ShowPaths(void)
{
    Ns_DString ds[4];

    for (int i = 0; i < 4; i++) {
        Ns_DStringInit(&ds[i]);
    }
    printf("%s %s %s %s %d\n", Ns_HomePath(&ds[0], "a", "b", NULL),
           Ns_BinPath(&ds[1], "c", NULL), Ns_LibPath(&ds[2], NULL),
           Ns_ModulePath(&ds[3], "s", "m", "d", NULL),
           Ns_HomePathExists("dev", "null", NULL));
    for (int i = 0; i < 4; i++) {
        Ns_DStringFree(&ds[i]);
    }
}

int
main(void)
{
    Ns_DString ds;

    Nsd_LibInit();
    Ns_DStringInit(&ds);
    (void) Ns_DStringPrintf(&ds, "answer %d", SharedAnswer());
    puts(ds.string);
    Ns_DStringFree(&ds);
    ShowPaths();
    printf("%d %d\n", Ns_SetUser(NULL), Ns_SetGroup(NULL));
    return 0;
}
