/* SPDX-License-Identifier: MPL-2.0
 * connprofile.c --
 *
 *      Counts the uses of a connection's members.
 *
 *      SIGSEGV on a page of ours: count the member at the faulting address,
 *      open the page, and step over one instruction (trap flag).  SIGTRAP:
 *      close the page again.  While one thread steps, another one's uses of the
 *      same connection may go uncounted; connections are used by one thread at
 *      a time but for displays.
 */

#include "request/connprofile.h"

#ifdef NS_CONN_PROFILE

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "nslog.h"
#include "nsprocess.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/lock.h"

#define PAGE_BYTES  4096
#define MAX_CONNS   1024
#define MAX_KINDS   24
#define MAX_MEMBERS 64
#define TRAP_FLAG   0x100 /* In EFLAGS. */
#define WRITE_ERROR 0x2   /* In the error code of a page fault. */

#define MEMBER(name)                                                \
    {                                                               \
#name, offsetof(NsConn, name), sizeof(((NsConn *) 0)->name) \
    }

static const struct {
    const char *name;
    size_t      offset;
    size_t      bytes;
} members[] = {
    MEMBER(pub.request),
    MEMBER(pub.headers),
    MEMBER(pub.outputheaders),
    MEMBER(pub.auth),
    MEMBER(pub.contentLength),
    MEMBER(pub.flags),
    MEMBER(work.nextPtr),
    MEMBER(work.poolPtr),
    MEMBER(work.id),
    MEMBER(work.fromQueue),
    MEMBER(work.acceptStamp),
    MEMBER(work.queueStamp),
    MEMBER(work.dequeueStamp),
    MEMBER(work.filterStamp),
    MEMBER(work.endStamp),
    MEMBER(work.traceStamp),
    MEMBER(messagePtr),
    MEMBER(sockPtr),
    MEMBER(serverPtr),
    MEMBER(pub.later_request.line),
    MEMBER(pub.later_request.method),
    MEMBER(pub.later_request.protocol),
    MEMBER(pub.later_request.host),
    MEMBER(pub.later_request.port),
    MEMBER(pub.later_request.url),
    MEMBER(pub.later_request.query),
    MEMBER(pub.later_request.urlc),
    MEMBER(pub.later_request.urlv),
    MEMBER(pub.later_request.version),
    MEMBER(firstMethod),
    MEMBER(firstUrl),
    MEMBER(driverPtr),
    MEMBER(settingsPtr),
    MEMBER(bytesSent),
    MEMBER(replyState),
    MEMBER(status),
    MEMBER(keep),
    MEMBER(compressLevel),
    MEMBER(nRedirects),
    MEMBER(documentStatus),
    MEMBER(isBroken),
    MEMBER(responseLength),
    MEMBER(bodyBytes),
    MEMBER(look),
    MEMBER(nRead),
    MEMBER(outputEncoding),
    MEMBER(urlEncoding),
    MEMBER(interp),
    MEMBER(formPtr),
    MEMBER(coderPtr),
    MEMBER(rarePtr)};

#define N_MEMBERS Ns_NrElements(members)

typedef struct Counts {
    _Atomic uint64_t nReads;
    _Atomic uint64_t nWrites;
} Counts;

/*
 * The counts of one kind of request; guarded by lock.
 */
typedef struct Kind {
    char     name[64];
    uint64_t nRequests;
    uint64_t nReads[MAX_MEMBERS];
    uint64_t nWrites[MAX_MEMBERS];
} Kind;

static Ns_Callback Report;
static void        Start(void);
static void        HandleFault(int sig, siginfo_t *infoPtr, void *context);
static void        HandleStep(int sig, siginfo_t *infoPtr, void *context);
static void        Count(size_t slot, size_t offset, bool isWrite);
static Kind       *FindKindLocked(const char *name);
static void        AppendGroups(Ns_DString *dsPtr);
static uint64_t    UseMask(int member);

static pthread_once_t   once = PTHREAD_ONCE_INIT;
static char            *pages; /* MAX_CONNS pages. */
static Counts           counts[MAX_CONNS][MAX_MEMBERS];
static struct sigaction oldFault, oldStep;

static Ns_Mutex lock; /* Guards the rest. */
static int      freeSlots[MAX_CONNS];
static int      nFree;
static Kind     kinds[MAX_KINDS];
static int      nKinds;

/* Set and read by one thread's handlers; never allocated lazily. */
static _Thread_local char *stepPage __attribute__((tls_model("initial-exec")));

NsConn *
NsConnProfileAlloc(void)
{
    NsConn *connPtr;
    int     slot;

    (void) pthread_once(&once, Start);
    Ns_MutexLock(&lock);
    if (nFree == 0) {
        Ns_Fatal("connprofile: more than %d connections", MAX_CONNS);
    }
    slot = freeSlots[--nFree];
    Ns_MutexUnlock(&lock);
    connPtr = (NsConn *) (pages + (size_t) slot * PAGE_BYTES);
    memset(connPtr, 0, sizeof(*connPtr));
    memset(counts[slot], 0, sizeof(counts[slot]));
    return connPtr;
}

/*
 * At the first request: later than the process installs its own handlers.
 */
static void
Start(void)
{
    struct sigaction action;

    pages = mmap(NULL, (size_t) MAX_CONNS * PAGE_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || sizeof(NsConn) > PAGE_BYTES) {
        Ns_Fatal("connprofile: no pages for connections");
    }
    for (int i = 0; i < MAX_CONNS; i++) {
        freeSlots[nFree++] = MAX_CONNS - 1 - i;
    }
    memset(&action, 0, sizeof(action));
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = HandleFault;
    (void) sigaction(SIGSEGV, &action, &oldFault);
    action.sa_sigaction = HandleStep;
    (void) sigaction(SIGTRAP, &action, &oldStep);
    NsMutexSetup(&lock, NS_RANK_CONN_PROFILE, "nsd:connprofile", NULL);
    Ns_RegisterAtExit(Report, NULL);
}

void
NsConnProfileBegin(NsConn *connPtr)
{
    (void) mprotect(connPtr, PAGE_BYTES, PROT_NONE);
}

void
NsConnProfileEnd(NsConn *connPtr)
{
    int          slot = (int) (((char *) connPtr - pages) / PAGE_BYTES), i;
    Ns_OpProc   *proc = NULL;
    Ns_Callback *freeProc;
    void        *arg = NULL;
    int          flags;
    Ns_DString   ds;
    Kind        *kindPtr;
    const char  *method;

    (void) mprotect(connPtr, PAGE_BYTES, PROT_READ | PROT_WRITE);
    Ns_DStringInit(&ds);
    method = NsConnRequest(connPtr)->method;
    if (method != NULL && NsConnRequest(connPtr)->url != NULL) {
        Ns_GetRequest(connPtr->serverPtr->name, method,
                      NsConnRequest(connPtr)->url, &proc, &freeProc, &arg,
                      &flags);
    }
    if (proc != NULL) {
        Ns_GetProcInfo(&ds, (void *) proc, arg);
        Ns_DStringSetLength(&ds, (int) strcspn(Ns_DStringValue(&ds), " "));
    } else {
        Ns_DStringAppend(&ds, "refused");
    }

    Ns_MutexLock(&lock);
    kindPtr = FindKindLocked(Ns_DStringValue(&ds));
    kindPtr->nRequests++;
    for (i = 0; i < N_MEMBERS; i++) {
        kindPtr->nReads[i] += counts[slot][i].nReads;
        kindPtr->nWrites[i] += counts[slot][i].nWrites;
    }
    freeSlots[nFree++] = slot;
    Ns_MutexUnlock(&lock);
    Ns_DStringFree(&ds);
}

/*
 * Kinds beyond the table's size are counted together in its last row.
 */
static Kind *
FindKindLocked(const char *name)
{
    NsAssertLocked(&lock);

    for (int i = 0; i < nKinds; i++) {
        if (STREQ(kinds[i].name, name)) {
            return &kinds[i];
        }
    }
    if (nKinds < MAX_KINDS) {
        snprintf(kinds[nKinds].name, sizeof(kinds[nKinds].name), "%s", name);
        nKinds++;
    }
    return &kinds[nKinds - 1];
}

static void
HandleFault(int sig, siginfo_t *infoPtr, void *context)
{
    ucontext_t *contextPtr = context;
    char       *address = infoPtr->si_addr;
    size_t      offset = (size_t) (address - pages);

    if (address < pages || offset >= (size_t) MAX_CONNS * PAGE_BYTES) {
        /* Not ours: let the former handler have it at the next attempt. */
        (void) sigaction(sig, &oldFault, NULL);
        return;
    }
    Count(offset / PAGE_BYTES, offset % PAGE_BYTES,
          (contextPtr->uc_mcontext.gregs[REG_ERR] & WRITE_ERROR) != 0);
    stepPage = pages + offset / PAGE_BYTES * PAGE_BYTES;
    (void) mprotect(stepPage, PAGE_BYTES, PROT_READ | PROT_WRITE);
    contextPtr->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void
HandleStep(int sig, siginfo_t *infoPtr, void *context)
{
    ucontext_t *contextPtr = context;

    if (stepPage == NULL) {
        (void) sigaction(sig, &oldStep, NULL);
        (void) raise(sig);
        return;
    }
    (void) mprotect(stepPage, PAGE_BYTES, PROT_NONE);
    stepPage = NULL;
    contextPtr->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void
Count(size_t slot, size_t offset, bool isWrite)
{
    for (int i = 0; i < N_MEMBERS; i++) {
        if (offset >= members[i].offset
            && offset < members[i].offset + members[i].bytes) {
            if (isWrite) {
                counts[slot][i].nWrites++;
            } else {
                counts[slot][i].nReads++;
            }
            return;
        }
    }
}

/*
 * A table of reads and writes per request, and the groups of members that the
 * same kinds of requests use.
 */
static void
Report(void *arg)
{
    Ns_DString ds;
    int        k;

    Ns_DStringInit(&ds);
    Ns_MutexLock(&lock);
    Ns_DStringPrintf(&ds, "connprofile: reads/writes per request\n%-20s",
                     "member");
    for (k = 0; k < nKinds; k++) {
        Ns_DStringPrintf(&ds, " %18s", kinds[k].name);
    }
    Ns_DStringPrintf(&ds, "\n%-20s", "(requests)");
    for (k = 0; k < nKinds; k++) {
        Ns_DStringPrintf(&ds, " %18" PRIu64, kinds[k].nRequests);
    }
    for (int i = 0; i < N_MEMBERS; i++) {
        Ns_DStringPrintf(&ds, "\n%-20s", members[i].name);
        for (k = 0; k < nKinds; k++) {
            double n = (double) MAX(kinds[k].nRequests, 1);

            Ns_DStringPrintf(&ds, " %9.1f/%8.1f",
                             (double) kinds[k].nReads[i] / n,
                             (double) kinds[k].nWrites[i] / n);
        }
    }
    AppendGroups(&ds);
    Ns_MutexUnlock(&lock);
    Ns_Log(Notice, "%s", Ns_DStringValue(&ds));
    Ns_DStringFree(&ds);
}

static void
AppendGroups(Ns_DString *dsPtr)
{
    bool isDone[MAX_MEMBERS] = {false};
    int  j, k;

    for (int i = 0; i < N_MEMBERS; i++) {
        uint64_t mask = UseMask(i);

        if (isDone[i]) {
            continue;
        }
        Ns_DStringAppend(dsPtr, "\ngroup used by");
        for (k = 0; k < nKinds; k++) {
            if ((mask & (UINT64_C(1) << k)) != 0) {
                Ns_DStringPrintf(dsPtr, " %s", kinds[k].name);
            }
        }
        Ns_DStringAppend(dsPtr, (mask == 0) ? " none:" : ":");
        for (j = i; j < N_MEMBERS; j++) {
            if (UseMask(j) == mask) {
                Ns_DStringPrintf(dsPtr, " %s", members[j].name);
                isDone[j] = true;
            }
        }
    }
}

/*
 * A bit for each kind of which at least one request in ten uses the member.
 */
static uint64_t
UseMask(int member)
{
    uint64_t mask = 0;
    int      k;

    for (k = 0; k < nKinds; k++) {
        uint64_t uses = kinds[k].nReads[member] + kinds[k].nWrites[member];

        if (uses * 10 >= kinds[k].nRequests && uses > 0) {
            mask |= UINT64_C(1) << k;
        }
    }
    return mask;
}

#endif
