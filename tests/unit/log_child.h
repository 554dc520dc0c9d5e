/* SPDX-License-Identifier: MPL-2.0
 * log_child.h --
 *
 *      A log in a child, since it lives as long as its process: its directory,
 *      and a gate at which its format procedures may be held.
 */

#ifndef TESTS_UNIT_LOG_CHILD_H
#define TESTS_UNIT_LOG_CHILD_H

#include "child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/stream/stream.h"
#include "ns.h"

/*
 * Ends the child with a status when a condition does not hold.
 */
#define MUST(condition, status) \
    do {                        \
        if (!(condition)) {     \
            _exit(status);      \
        }                       \
    } while (0)

static char directory[64];

static Ns_Mutex gateLock;
static Ns_Cond  gateOpened;
static bool     isGateClosed; /* Guarded by gateLock. */

/*
 * Run proc in a child, which ends with status 0, in a directory of its own.
 */
static void
RunInChild(void (*proc)(void))
{
    char command[128];
    int  status;

    strcpy(directory, "/tmp/log_child.XXXXXX");
    assert_non_null(mkdtemp(directory));
    status = InChild(proc);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(status, 0);
}

static inline void
SetGate(bool isClosed)
{
    Ns_MutexLock(&gateLock);
    isGateClosed = isClosed;
    Ns_CondBroadcast(&gateOpened);
    Ns_MutexUnlock(&gateLock);
}

static inline void
PassGate(void)
{
    Ns_MutexLock(&gateLock);
    while (isGateClosed) {
        Ns_CondWait(&gateOpened, &gateLock);
    }
    Ns_MutexUnlock(&gateLock);
}

/*
 * The bytes of a record.
 */
static size_t
CopyRecord(char *buffer, size_t room, const Ns_LogRecord *recordPtr)
{
    if (recordPtr->length <= room) {
        memcpy(buffer, recordPtr->bytes, recordPtr->length);
    }
    return recordPtr->length;
}

#endif
