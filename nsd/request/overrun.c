/* SPDX-License-Identifier: MPL-2.0
 * overrun.c --
 *
 *      What an operator has to know of a pool that is full.
 */

#include "request/overrun.h"

#include "nslog.h"
#include "nsstring.h"
#include "base/assert.h"
#include "dispatch/pool_config.h"
#include "dispatch/pool_stats.h"
#include "process/server.h"

#define URL_INDEX 4 /* In a description: see NsPoolProcs. */

static int  FindBusiest(const char *list, int *nAllPtr, Ns_DString *urlPtr);
static void CountUrl(Tcl_HashTable *tablePtr, const char *description,
                     int *nMostPtr, Ns_DString *urlPtr);

void
NsRequestTellOverrun(NsPool *poolPtr)
{
    const char *name = NsPoolName(poolPtr);
    Ns_DString  list, url;
    int         nAll, nMost;

    Ns_DStringInit(&list);
    Ns_DStringInit(&url);
    NsPoolList(&list, poolPtr, NS_POOL_LIST_RUNNING);
    nMost = FindBusiest(list.string, &nAll, &url);
    if (nMost > 0) {
        NsAssert(nMost <= nAll);
        Ns_Log(
            Notice,
            "pool[%s%s%s]: the queue is full: %d of %d running requests are "
            "for %s; 'nsd ctl requests' shows what they do; raise maxthreads "
            "or maxconnections if there are simply too many of them",
            NsPoolServerOf(poolPtr)->name, *name == '\0' ? "" : "/", name,
            nMost, nAll, url.string);
    }
    Ns_DStringFree(&list);
    Ns_DStringFree(&url);
}

/*
 * How many have the URL that most have.
 */
static int
FindBusiest(const char *list, int *nAllPtr, Ns_DString *urlPtr)
{
    Tcl_HashTable table;
    const char  **descriptions;
    int           nMost = 0;

    Tcl_InitHashTable(&table, TCL_STRING_KEYS);
    (void) Tcl_SplitList(NULL, list, nAllPtr, &descriptions);
    for (int i = 0; i < *nAllPtr; i++) {
        CountUrl(&table, descriptions[i], &nMost, urlPtr);
    }
    Tcl_Free((char *) descriptions);
    Tcl_DeleteHashTable(&table);
    return nMost;
}

static void
CountUrl(Tcl_HashTable *tablePtr, const char *description, int *nMostPtr,
         Ns_DString *urlPtr)
{
    const char **words;
    int          nWords;

    if (Tcl_SplitList(NULL, description, &nWords, &words) != TCL_OK) {
        return;
    }
    if (nWords > URL_INDEX) {
        int            isNew, n;
        Tcl_HashEntry *entryPtr = Tcl_CreateHashEntry(tablePtr,
                                                      words[URL_INDEX], &isNew);

        n = isNew ? 1 : (int) PTR2INT(Tcl_GetHashValue(entryPtr)) + 1;
        Tcl_SetHashValue(entryPtr, INT2PTR(n));
        if (n > *nMostPtr) {
            *nMostPtr = n;
            Ns_DStringTrunc(urlPtr, 0);
            Ns_DStringAppend(urlPtr, words[URL_INDEX]);
        }
    }
    Tcl_Free((char *) words);
}
