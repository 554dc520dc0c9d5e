/* SPDX-License-Identifier: MPL-2.0
 * fatal.c --
 *
 *      The end of the process.
 */

#include "base/fatal.h"

#include <stdatomic.h>

static NsFatalProc *_Atomic    fatalProc;
static NsFatalEndProc *_Atomic endProc;
static NsFatalEndProc *_Atomic startProc;
static atomic_bool             isStarting;

/*
 * The last words may themselves run into what was broken.
 */
static _Thread_local bool isDying, isEnding;

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
NsFatalSetStartProc(NsFatalEndProc *proc)
{
    atomic_store(&startProc, proc);
    atomic_store(&isStarting, proc != NULL);
}

/*
 * The procedure that clears up may fail in the same way: it is called once.
 */
void
NsFatalAbort(void)
{
    NsFatalEndProc *proc = atomic_exchange(&startProc, NULL);

    if (proc != NULL) {
        proc();
    }
    NsFatalEnd();
    if (atomic_load(&isStarting)) {
        _exit(1);
    }
    abort();
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

    if (proc != NULL && !isDying) {
        isDying = true;
        proc(message);
    } else {
        fprintf(stderr, "fatal: %s\n", message);
    }
    if (isEnding) {
        abort();
    }
    isEnding = true;
    NsFatalAbort();
}
