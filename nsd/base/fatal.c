/*
 * fatal.c --
 *
 *      The end of the process.
 */

#include "base/fatal.h"

#include <stdatomic.h>

static NsFatalProc *_Atomic    fatalProc;
static NsFatalEndProc *_Atomic endProc;

void
NsFatalSetProc(NsFatalProc *proc)
{
    atomic_store(&fatalProc, proc);
}

void
NsFatalSetEndProc(NsFatalEndProc *proc)
{
    atomic_store(&endProc, proc);
}

void
NsFatalEnd(void)
{
    NsFatalEndProc *proc = atomic_load(&endProc);

    if (proc != NULL) {
        proc();
    }
}

void
NsFatal(const char *format, ...)
{
    char         message[512];
    va_list      ap;
    NsFatalProc *proc = atomic_load(&fatalProc);

    va_start(ap, format);
    vsnprintf(message, sizeof(message), format, ap);
    va_end(ap);

    if (proc != NULL) {
        proc(message);
    } else {
        fprintf(stderr, "fatal: %s\n", message);
    }
    NsFatalEnd();
    abort();
}
