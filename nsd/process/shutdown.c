/*
 * shutdown.c --
 *
 *      How long a shutdown may take, and who asked for it.
 */

#include "process/shutdown.h"

#include "nsconfig.h"
#include "nslog.h"
#include "nsprocess.h"

#include <stdatomic.h>

static atomic_int replacement;      /* Seconds; 0: none.  Last writer wins. */


int
NsShutdownTimeout(void)
{
    int seconds = atomic_load(&replacement);

    return seconds > 0 ? seconds
        : Ns_ConfigIntRange("ns/parameters", "shutdowntimeout", 20, 0, INT_MAX);
}

int
NsShutdownSetTimeout(int seconds)
{
    if (seconds > 0) {
        atomic_store(&replacement, seconds);
    }
    return NsShutdownTimeout();
}

void
NsShutdownRequest(bool restart)
{
    int number = restart ? SIGINT : SIGTERM;

    if (kill(Ns_InfoPid(), number) != 0) {
        Ns_Log(Error, "shutdown: kill(%d, %d) failed: '%s'", Ns_InfoPid(),
               number, strerror(errno));
    }
}

void
Ns_StopServer(const char *server)
{
    Ns_Log(Warning, "immediate shutdown of server %s requested",
           server == NULL ? "" : server);
    NsShutdownRequest(false);
}
