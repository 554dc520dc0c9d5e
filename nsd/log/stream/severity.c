/* SPDX-License-Identifier: MPL-2.0
 * severity.c --
 *
 *      The severities of log entries.
 */

#include "log/stream/severity.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/lock.h"

#define NBUILTIN 9

typedef struct Severity {
    const char *name;      /* Constant once nSeverities covers it. */
    atomic_bool isEnabled; /* Any thread; reading it late does no harm. */
    atomic_uint_fast64_t nEntries; /* Any thread; each is counted by itself. */
} Severity;

static const struct {
    const char *name;
    const char *alias;
    bool        isEnabled;
} builtin[NBUILTIN] = {
    {"Notice", "notice", true},    {"Warning", "warning", true},
    {"Error", "error", true},      {"Fatal", "fatal", true},
    {"Bug", "bug", true},          {"Debug", "debug", false},
    {"Dev", "dev", false},         {"Deprecated", "deprecated", true},
    {"Security", "security", true}};

/*
 * Kinds of debug messages, which scripts and modules write and turn on by name.
 */
Ns_LogSeverity Ns_LogTaskDebug, Ns_LogRequestDebug, Ns_LogConnchanDebug;
Ns_LogSeverity Ns_LogUrlspaceDebug, Ns_LogAccessDebug, Ns_LogTimeoutDebug;

static const struct {
    const char     *name;
    Ns_LogSeverity *severityPtr; /* For modules, or NULL. */
} debugKinds[] = {
    {"Debug(ns:driver)", NULL},
    {"Debug(writer)", NULL},
    {"Debug(task)", &Ns_LogTaskDebug},
    {"Debug(request)", &Ns_LogRequestDebug},
    {"Debug(connchan)", &Ns_LogConnchanDebug},
    {"Debug(urlspace)", &Ns_LogUrlspaceDebug},
    {"Debug(access)", &Ns_LogAccessDebug},
    {"Debug(timeout)", &Ns_LogTimeoutDebug}};

static Ns_Mutex   lock; /* Guards growth of the table. */
static Severity   severities[NS_LOG_MAX_SEVERITIES];
static atomic_int nSeverities; /* Released after the name is set. */

static int FindName(const char *name, int n);

void
NsSeverityInit(void)
{
    NsMutexSetup(&lock, NS_RANK_LOG_SEVERITIES, "ns:log", "severities");
    for (int i = 0; i < NBUILTIN; i++) {
        severities[i].name = builtin[i].name;
        atomic_init(&severities[i].isEnabled, builtin[i].isEnabled);
    }
    atomic_store_explicit(&nSeverities, NBUILTIN, memory_order_release);
    for (size_t i = 0; i < Ns_NrElements(debugKinds); i++) {
        int number = NsSeverityCreate(debugKinds[i].name);

        if (debugKinds[i].severityPtr != NULL) {
            *debugKinds[i].severityPtr = (Ns_LogSeverity) number;
        }
    }
}

int
NsSeverityCreate(const char *name)
{
    int n, found;

    Ns_MutexLock(&lock);
    n = NsSeverityCount();
    found = FindName(name, n);
    if (found < 0 && n < NS_LOG_MAX_SEVERITIES) {
        found = n;
        NsAssert(severities[n].name == NULL);
        severities[n].name = ns_strdup(name);
        /* Its number may have been turned on before. */
        atomic_store(&severities[n].isEnabled, false);
        atomic_store_explicit(&nSeverities, n + 1, memory_order_release);
    }
    Ns_MutexUnlock(&lock);
    return found;
}

const char *
Ns_LogSeverityName(Ns_LogSeverity severity)
{
    int n = (int) severity;

    return (n >= 0 && n < NsSeverityCount()) ? severities[n].name : "Unknown";
}

int
Ns_LogSeverityEnabled(Ns_LogSeverity severity)
{
    int n = (int) severity;

    if (unlikely(n < 0 || n >= NS_LOG_MAX_SEVERITIES)) {
        return NS_TRUE;
    }
    return atomic_load_explicit(&severities[n].isEnabled, memory_order_relaxed);
}

int
NsSeverityFind(const char *name)
{
    int found = FindName(name, NsSeverityCount());
    int number;

    for (int i = 0; i < NBUILTIN && found < 0; i++) {
        if (STREQ(name, builtin[i].alias)) {
            found = i;
        }
    }
    if (found < 0 && Tcl_GetInt(NULL, name, &number) == TCL_OK && number >= 0
        && number < NS_LOG_MAX_SEVERITIES) {
        found = number;
    }
    return found;
}

/*
 * Deprecated and Security came after modules knew the number of Dev.
 */
Ns_LogSeverity
NsSeverityListed(int place)
{
    static const Ns_LogSeverity first[NBUILTIN] = {
        Notice, Warning, Error, Fatal, Bug, Debug, Deprecated, Dev, Security};

    return place < NBUILTIN ? first[place] : (Ns_LogSeverity) place;
}

int
NsSeverityCount(void)
{
    return atomic_load_explicit(&nSeverities, memory_order_acquire);
}

bool
NsSeverityEnable(Ns_LogSeverity severity, bool isEnabled)
{
    Severity *severityPtr = &severities[severity];

    NsAssert((int) severity >= 0 && severity < NS_LOG_MAX_SEVERITIES);
    if (severity == Fatal) {
        return true;
    }
    return atomic_exchange(&severityPtr->isEnabled, isEnabled);
}

bool
Ns_LogSeveritySetEnabled(Ns_LogSeverity severity, bool enabled)
{
    return NsSeverityEnable(severity, enabled);
}

int
NsSeveritySyslog(int severity)
{
    switch (severity) {
    case Notice:
    case Deprecated:
        return 5;
    case Warning:
    case Security:
        return 4;
    case Error:
    case Bug:
        return 3;
    case Fatal:
        return 2;
    default:
        return 7;
    }
}

void
NsSeverityCountEntry(Ns_LogSeverity severity)
{
    int n = (int) severity;

    if (likely(n >= 0 && n < NS_LOG_MAX_SEVERITIES)) {
        atomic_fetch_add_explicit(&severities[n].nEntries, 1,
                                  memory_order_relaxed);
    }
}

uint64_t
NsSeverityEntries(Ns_LogSeverity severity)
{
    NsAssert((int) severity >= 0 && severity < NS_LOG_MAX_SEVERITIES);
    return atomic_load_explicit(&severities[severity].nEntries,
                                memory_order_relaxed);
}

static int
FindName(const char *name, int n)
{
    for (int i = 0; i < n; i++) {
        if (STREQ(name, severities[i].name)) {
            return i;
        }
    }
    return -1;
}
