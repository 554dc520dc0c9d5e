/* SPDX-License-Identifier: MPL-2.0
 * urlspace_stress.c --
 *
 *      Handlers that are registered, replaced and removed while other threads
 *      look them up, list them, and add filters.
 *
 *      A handler's argument counts its lives: it must be freed exactly once,
 *      and never while a thread that found it still reads it.  Under
 *      ThreadSanitizer, a race is a failure.
 */

#include <stdatomic.h>

#include "nsrequest.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/clock.h"
#include "dispatch/pool_config.h"
#include "process/config.h"
#include "process/info.h"
#include "request/filter.h"
#include "request/init.h"
#include "request/op.h"

#define N_READERS 3
#define N_WRITERS 2
#define N_ROUNDS  60000

static NsServer   *serverPtr;
static atomic_bool isOver;
static atomic_long nMade, nFreed, nFound;

static Ns_OpProc     Handler;
static Ns_FilterProc Filter;

static void Write(void *arg);
static void Read(void *arg);
static void FreeArg(void *arg);

int
main(void)
{
    Ns_Thread writers[N_WRITERS], readers[N_READERS];
    NsStamp   start = NsClockNow();
    Ns_Time   span;
    bool      isRight;

    Tcl_FindExecutable(NULL);
    NsInfoSetHome("/");
    NsConfigInit();
    NsDispatchInit();
    NsRequestInit();
    serverPtr = NsServerCreate("stress");
    NsPoolsInit(serverPtr);
    NsRequestServerInit(serverPtr);

    for (int i = 0; i < N_READERS; i++) {
        Ns_ThreadCreate(Read, NULL, 0, &readers[i]);
    }
    for (int i = 0; i < N_WRITERS; i++) {
        Ns_ThreadCreate(Write, INT2PTR(i), 0, &writers[i]);
    }
    for (int i = 0; i < N_WRITERS; i++) {
        Ns_ThreadJoin(&writers[i], NULL);
    }
    atomic_store(&isOver, true);
    for (int i = 0; i < N_READERS; i++) {
        Ns_ThreadJoin(&readers[i], NULL);
    }
    Ns_UnRegisterRequestEx("stress", "GET", "/s", NS_OP_RECURSE);

    span = NsClockSpan(start, NsClockNow());
    printf("%ld handlers made, %ld freed, %ld found, %ld.%03ld s\n",
           atomic_load(&nMade), atomic_load(&nFreed), atomic_load(&nFound),
           span.sec, span.usec / 1000);
    isRight = atomic_load(&nMade) == atomic_load(&nFreed)
        && atomic_load(&nFound) > 0;
    printf("%d passed, %d failed\n", isRight, !isRight);
    return !isRight;
}

static void
Write(void *arg)
{
    static const char *const urls[] = {
        "/s", "/s/a", "/s/a/*.html", "/s/*.html", "/s/a/x*", "/s/b/c/d"};
    unsigned state = 12345u + (unsigned) PTR2INT(arg);

    for (int i = 0; i < N_ROUNDS; i++) {
        const char *url = urls[(state >> 8) % (unsigned) Ns_NrElements(urls)];
        int         flags = (state & 16) != 0 ? NS_OP_NOINHERIT : 0;

        state = state * 1103515245u + 12345u;
        if ((state >> 20) % 4 == 0) {
            Ns_UnRegisterRequestEx("stress", "GET", url, flags);
        } else {
            atomic_fetch_add(&nMade, 1);
            Ns_RegisterRequest("stress", "GET", url, Handler, FreeArg,
                               ns_strdup("alive"), flags);
        }
        if (i % 1000 == 0) {
            (void) Ns_RegisterFilter("stress", "GET", "/s/*", Filter,
                                     NS_FILTER_PRE_AUTH
                                         | ((state & 1) ? NS_FILTER_FIRST : 0),
                                     NULL);
        }
    }
}

/*
 * The lookup holds a reference only inside; the list is made under the lock, so
 * it sees arguments that cannot be freed meanwhile.
 */
static void
Read(void *arg)
{
    Ns_DString ds;
    long       n = 0;

    Ns_DStringInit(&ds);
    while (!atomic_load(&isOver)) {
        Ns_OpProc   *proc;
        Ns_Callback *freeProc;
        void        *data;
        int          flags;

        Ns_GetRequest("stress", "GET", "/s/a/x.html", &proc, &freeProc, &data,
                      &flags);
        n += proc == Handler;
        (void) NsOpIs(serverPtr, "GET", "/s/b/c", Ns_FastPathProc);
        (void) NsFiltersMatch(serverPtr, "GET", "/s/a");
        if (n % 64 == 0) {
            Ns_DStringTrunc(&ds, 0);
            NsOpList(&ds, serverPtr);
        }
    }
    Ns_DStringFree(&ds);
    atomic_fetch_add(&nFound, n);
}

static int
Handler(void *arg, Ns_Conn *conn)
{
    return NS_OK;
}

static int
Filter(void *arg, Ns_Conn *conn, int why)
{
    return NS_OK;
}

static void
FreeArg(void *arg)
{
    memset(arg, 'x', strlen(arg));
    ns_free(arg);
    atomic_fetch_add(&nFreed, 1);
}
