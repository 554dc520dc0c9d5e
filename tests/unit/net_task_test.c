/* SPDX-License-Identifier: MPL-2.0
 * net_task_test.c --
 *
 *      1. socket callbacks    2. tasks    3. event queues    4. vectors
 *      5. waits
 */

#include "unit.h"
#include "port.h"
#include "log/init.h"
#include "net/init.h"
#include "net/sockcallback.h"
#include "process/callbacks.h"
#include "process/init.h"
#include "nsdriver.h"
#include "nssocket.h"
#include "nsthread.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/*
 * Stands for that of the C library: the wall clock is as many seconds ahead.
 */
static atomic_int secondsAhead;

int
clock_gettime(clockid_t clock, struct timespec *timePtr)
{
    int result = (int) syscall(SYS_clock_gettime, clock, timePtr);

    if (clock == CLOCK_REALTIME) {
        timePtr->tv_sec += atomic_load(&secondsAhead);
    }
    return result;
}

/*
 * Descriptors that the kernel was told of in waits, or told of.
 */
static atomic_long nLookedAt;

int
poll(struct pollfd *fds, nfds_t n, int ms)
{
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};

    atomic_fetch_add(&nLookedAt, (long) n);
    return (int) syscall(SYS_ppoll, fds, n, ms < 0 ? NULL : &wait, NULL,
                         (size_t) 0);
}

int
epoll_wait(int fd, struct epoll_event *events, int maxEvents, int ms)
{
    int n = (int) syscall(SYS_epoll_pwait, fd, events, maxEvents, ms, NULL,
                          (size_t) 0);

    atomic_fetch_add(&nLookedAt, n);
    return n;
}

/*
 * The kernel takes no descriptor into an epoll instance, for want of room.
 */
static atomic_bool isRoomGone;

/*
 * Removals of descriptors that were not there, or not any longer.
 */
static atomic_int nRemovedLate;

int
epoll_ctl(int epollFd, int operation, int fd, struct epoll_event *eventPtr)
{
    int result;

    if (atomic_load(&isRoomGone) && operation == EPOLL_CTL_ADD) {
        errno = ENOSPC;
        return -1;
    }
    result = (int) syscall(SYS_epoll_ctl, epollFd, operation, fd, eventPtr);
    if (result != 0 && operation == EPOLL_CTL_DEL) {
        atomic_fetch_add(&nRemovedLate, 1);
    }
    return result;
}

/*
 * What procedures were called with, in order: one letter each.
 */
static Ns_Mutex lock;
static char     calls[256];

static void
Note(int why)
{
    char letter = why == NS_SOCK_READ ? 'r'
        : why == NS_SOCK_WRITE        ? 'w'
        : why == NS_SOCK_TIMEOUT      ? 't'
        : why == NS_SOCK_CANCEL       ? 'c'
        : why == NS_SOCK_INIT         ? 'i'
        : why == NS_SOCK_DONE         ? 'd'
        : why == NS_SOCK_EXIT         ? 'x'
                                      : '?';

    Ns_MutexLock(&lock);
    calls[strlen(calls)] = letter;
    Ns_MutexUnlock(&lock);
}

static void
WaitFor(const char *expected)
{
    for (int i = 0; i < 12000; i++) {
        bool isThere;

        Ns_MutexLock(&lock);
        isThere = strcmp(calls, expected) == 0;
        Ns_MutexUnlock(&lock);
        if (isThere) {
            return;
        }
        usleep(10000);
    }
    assert_string_equal(calls, expected);
}

static int
Reset(void **state)
{
    Ns_MutexLock(&lock);
    memset(calls, 0, sizeof(calls));
    Ns_MutexUnlock(&lock);
    return 0;
}

/*
 * Reads a byte; goes on unless it is a 'q'.
 */
static int
ReadProc(NS_SOCKET sock, void *arg, int why)
{
    char byte = 'q';

    if (why == NS_SOCK_READ) {
        assert_int_equal(read(sock, &byte, 1), 1);
    }
    Note(why);
    return byte != 'q';
}

/*
 * The thread does one thing after the other: then it has nothing more to do
 * with a socket whose callback has returned false.
 */
static void
WaitForCancel(NS_SOCKET sock, const char *expected)
{
    assert_int_equal(Ns_SockCancelCallbackEx(sock, ReadProc, NULL), NS_OK);
    WaitFor(expected);
}

static void
a_callback_runs_until_it_returns_false(void **state)
{
    NS_SOCKET socks[2];

    assert_int_equal(ns_sockpair(socks), 0);
    assert_int_equal(Ns_SockCallback(socks[0], ReadProc, NULL, NS_SOCK_READ),
                     NS_OK);
    assert_int_equal(write(socks[1], "aaq", 3), 3);
    WaitFor("rrr");
    assert_int_equal(write(socks[1], "a", 1), 1);
    WaitForCancel(socks[0], "rrrc");
    close(socks[0]);
    close(socks[1]);
}

static void
a_silent_socket_times_out(void **state)
{
    NS_SOCKET socks[2];

    assert_int_equal(ns_sockpair(socks), 0);
    assert_int_equal(Ns_SockCallbackEx(socks[0], ReadProc, NULL, NS_SOCK_READ,
                                       1),
                     NS_OK);
    WaitFor("t");
    WaitForCancel(socks[0], "tc");
    close(socks[0]);
    close(socks[1]);
}

static void
a_cancelled_callback_is_told_and_not_called_again(void **state)
{
    NS_SOCKET socks[2];

    assert_int_equal(ns_sockpair(socks), 0);
    assert_int_equal(Ns_SockCallback(socks[0], ReadProc, NULL, NS_SOCK_READ),
                     NS_OK);
    WaitForCancel(socks[0], "c");
    assert_int_equal(write(socks[1], "a", 1), 1);
    WaitForCancel(socks[0], "cc");
    close(socks[0]);
    close(socks[1]);
}

static int
GreetProc(NS_SOCKET sock, void *arg, int why)
{
    if (why == NS_SOCK_READ) {
        assert_int_equal(write(sock, "hi", 2), 2);
        close(sock);
    }
    Note(why);
    return NS_TRUE;
}

static void
a_listen_callback_gets_each_connection(void **state)
{
    char text[3] = "";
    int  port = FreePort();

    assert_int_equal(Ns_SockListenCallback("127.0.0.1", port, GreetProc, NULL),
                     NS_OK);
    assert_int_equal(Ns_SockListenCallback("127.0.0.1", port, GreetProc, NULL),
                     NS_ERROR);
    assert_true(Ns_SockPortBound(port));
    for (int i = 0; i < 2; i++) {
        NS_SOCKET sock = Ns_SockConnect("127.0.0.1", port);

        assert_true(sock >= 0);
        assert_int_equal(recv(sock, text, 2, MSG_WAITALL), 2);
        assert_string_equal(text, "hi");
        close(sock);
    }
    WaitFor("rr");
}

/*
 * Writes when it may, then reads an answer, for which it waits *arg.
 */
static void
PingProc(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    Ns_Time *waitPtr = arg;
    char     byte;

    Note(why);
    switch (why) {
    case NS_SOCK_INIT:
        Ns_TaskCallback(task, NS_SOCK_WRITE, NULL);
        break;
    case NS_SOCK_WRITE:
        assert_int_equal(write(sock, "p", 1), 1);
        Ns_TaskCallback(task, NS_SOCK_READ, waitPtr);
        break;
    case NS_SOCK_READ:
        assert_int_equal(read(sock, &byte, 1), 1);
        Ns_TaskDone(task);
        break;
    case NS_SOCK_TIMEOUT:
        Ns_TaskDone(task);
        break;
    default:
        break;
    }
}

static void
a_task_runs_in_a_queue_until_it_is_done(void **state)
{
    Ns_TaskQueue *queue = Ns_CreateTaskQueue("test");
    NS_SOCKET     socks[2];
    Ns_Task      *task;
    Ns_Time       patience = {120, 0};
    char          byte;

    assert_int_equal(ns_sockpair(socks), 0);
    task = Ns_TaskCreate(socks[0], PingProc, &patience);
    assert_int_equal(Ns_TaskEnqueue(task, queue), NS_OK);
    assert_int_equal(read(socks[1], &byte, 1), 1);
    assert_int_equal(write(socks[1], "a", 1), 1);
    assert_int_equal(Ns_TaskWait(task, NULL), NS_OK);
    assert_true(Ns_TaskCompleted(task));
    WaitFor("iwrd");
    assert_int_equal(Ns_TaskFree(task), socks[0]);
    Ns_DestroyTaskQueue(queue);
    close(socks[0]);
    close(socks[1]);
}

static void
a_task_that_gets_no_answer_times_out(void **state)
{
    NS_SOCKET socks[2];
    Ns_Task  *task;
    Ns_Time   soon = {0, 200000};

    assert_int_equal(ns_sockpair(socks), 0);
    task = Ns_TaskCreate(socks[0], PingProc, &soon);
    Ns_TaskRun(task);
    WaitFor("iwtd");
    Ns_TaskFree(task);
    close(socks[0]);
    close(socks[1]);
}

static void
WaitProc(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    Note(why);
    if (why == NS_SOCK_INIT) {
        Ns_TaskCallback(task, NS_SOCK_READ, NULL);
    }
}

static void
tasks_are_cancelled_singly_and_with_their_queue(void **state)
{
    Ns_TaskQueue *queue = Ns_CreateTaskQueue("test");
    NS_SOCKET     socks[2];
    Ns_Task      *tasks[2];
    Ns_Time       shortly = {0, 20000};

    assert_int_equal(ns_sockpair(socks), 0);
    for (int i = 0; i < 2; i++) {
        tasks[i] = Ns_TaskCreate(socks[i], WaitProc, NULL);
        assert_int_equal(Ns_TaskEnqueue(tasks[i], queue), NS_OK);
    }
    WaitFor("ii");
    assert_int_equal(Ns_TaskWait(tasks[0], &shortly), NS_TIMEOUT);
    assert_int_equal(Ns_TaskCancel(tasks[0]), NS_OK);
    assert_int_equal(Ns_TaskWait(tasks[0], NULL), NS_OK);
    WaitFor("iicd");
    Ns_DestroyTaskQueue(queue);
    WaitFor("iicdcd");
    assert_true(Ns_TaskCompleted(tasks[1]));
    for (int i = 0; i < 2; i++) {
        close(Ns_TaskFree(tasks[i]));
    }
}

/*
 * Answers each byte, until there are no more.
 */
static void
EchoProc(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    char byte;

    if (why == NS_SOCK_INIT) {
        Ns_TaskCallback(task, NS_SOCK_READ, NULL);
    } else if (why == NS_SOCK_READ && read(sock, &byte, 1) == 1) {
        assert_int_equal(write(sock, &byte, 1), 1);
    } else if (why == NS_SOCK_READ) {
        Ns_TaskDone(task);
    }
}

static void
tasks_that_wait_cost_nothing_while_one_works(void **state)
{
    enum { N_TASKS = 300, N_ROUNDS = 100 };
    Ns_TaskQueue *queue = Ns_CreateTaskQueue("test");
    NS_SOCKET     socks[2], idle[N_TASKS];
    Ns_Task      *task, *tasks[N_TASKS];
    char          byte = 'e';

    assert_int_equal(ns_sockpair(socks), 0);
    for (int i = 0; i < N_TASKS; i += 2) {
        assert_int_equal(ns_sockpair(&idle[i]), 0);
        for (int k = i; k < i + 2; k++) {
            tasks[k] = Ns_TaskCreate(idle[k], EchoProc, NULL);
            assert_int_equal(Ns_TaskEnqueue(tasks[k], queue), NS_OK);
        }
    }
    task = Ns_TaskCreate(socks[0], EchoProc, NULL);
    assert_int_equal(Ns_TaskEnqueue(task, queue), NS_OK);
    for (int i = 0; i < N_ROUNDS; i++) {
        /* The first round ends when all tasks wait. */
        if (i == 1) {
            atomic_store(&nLookedAt, 0);
        }
        assert_int_equal(write(socks[1], &byte, 1), 1);
        assert_int_equal(read(socks[1], &byte, 1), 1);
    }
    assert_in_range(atomic_load(&nLookedAt), 1, 2 * N_ROUNDS);
    Ns_DestroyTaskQueue(queue);
    for (int i = 0; i < N_TASKS; i++) {
        close(Ns_TaskFree(tasks[i]));
    }
    close(Ns_TaskFree(task));
    close(socks[1]);
}

static void
two_tasks_may_wait_for_one_socket(void **state)
{
    Ns_TaskQueue *queue = Ns_CreateTaskQueue("test");
    NS_SOCKET     socks[2];
    Ns_Task      *reader, *writer;
    Ns_Time       soon = {0, 1000};
    char          byte;

    assert_int_equal(ns_sockpair(socks), 0);
    reader = Ns_TaskCreate(socks[0], EchoProc, NULL);
    writer = Ns_TaskCreate(socks[0], PingProc, &soon);
    assert_int_equal(Ns_TaskEnqueue(reader, queue), NS_OK);
    assert_int_equal(Ns_TaskEnqueue(writer, queue), NS_OK);
    assert_int_equal(read(socks[1], &byte, 1), 1);
    assert_int_equal(byte, 'p');
    assert_int_equal(Ns_TaskWait(writer, NULL), NS_OK);
    assert_int_equal(write(socks[1], "a", 1), 1);
    assert_int_equal(read(socks[1], &byte, 1), 1);
    assert_int_equal(byte, 'a');
    close(socks[1]);
    assert_int_equal(Ns_TaskWait(reader, NULL), NS_OK);
    Ns_TaskFree(writer);
    close(Ns_TaskFree(reader));
    Ns_DestroyTaskQueue(queue);
}

/*
 * Reads a byte per call, to the end of the file.
 */
static void
CountProc(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    int *countPtr = arg;
    char byte;

    if (why == NS_SOCK_INIT) {
        Ns_TaskCallback(task, NS_SOCK_READ, NULL);
    } else if (why == NS_SOCK_READ && read(sock, &byte, 1) == 1) {
        (*countPtr)++;
    } else if (why == NS_SOCK_READ) {
        Ns_TaskDone(task);
    }
}

/*
 * If the thread came back to a file only now and then, the end would be reached
 * after minutes.
 */
static void
a_task_reads_a_plain_file_without_pauses(void **state)
{
    enum { N_BYTES = 6000 };
    static char   bytes[N_BYTES];
    Ns_TaskQueue *queue = Ns_CreateTaskQueue("test");
    Ns_Time       patience = {120, 0};
    FILE         *fp = tmpfile();
    int           count = 0;
    Ns_Task      *task;

    assert_non_null(fp);
    assert_int_equal(pwrite(fileno(fp), bytes, N_BYTES, 0), N_BYTES);
    task = Ns_TaskCreate(fileno(fp), CountProc, &count);
    assert_int_equal(Ns_TaskEnqueue(task, queue), NS_OK);
    assert_int_equal(Ns_TaskWait(task, &patience), NS_OK);
    assert_int_equal(count, N_BYTES);
    Ns_TaskFree(task);
    Ns_DestroyTaskQueue(queue);
    fclose(fp);
}

static void
a_socket_that_cannot_be_watched_is_reported_only_when_it_is_ready(void **state)
{
    Ns_TaskQueue *queue = Ns_CreateTaskQueue("test");
    Ns_Time       patience = {120, 0}, soon = {0, 300000};
    NS_SOCKET     socks[2];
    Ns_Task      *task;

    assert_int_equal(ns_sockpair(socks), 0);
    assert_int_equal(Ns_SockSetNonBlocking(socks[0]), NS_OK);
    atomic_store(&isRoomGone, true);
    task = Ns_TaskCreate(socks[0], PingProc, &patience);
    assert_int_equal(Ns_TaskEnqueue(task, queue), NS_OK);
    WaitFor("iw");
    /* Silence: a call would find nothing to read. */
    assert_int_equal(Ns_TaskWait(task, &soon), NS_TIMEOUT);
    WaitFor("iw");
    assert_int_equal(write(socks[1], "a", 1), 1);
    assert_int_equal(Ns_TaskWait(task, &patience), NS_OK);
    WaitFor("iwrd");
    atomic_store(&isRoomGone, false);
    Ns_DestroyTaskQueue(queue);
    close(Ns_TaskFree(task));
    close(socks[1]);
}

/*
 * Cancels itself in its last call.
 */
static void
LateProc(Ns_Task *task, NS_SOCKET sock, void *arg, int why)
{
    Note(why);
    if (why == NS_SOCK_INIT) {
        Ns_TaskDone(task);
    } else if (why == NS_SOCK_DONE) {
        *(int *) arg = Ns_TaskCancel(task);
    }
}

static void
a_task_in_its_last_call_cannot_be_cancelled(void **state)
{
    Ns_TaskQueue *queue = Ns_CreateTaskQueue("test");
    int           result = NS_OK;
    NS_SOCKET     socks[2];
    Ns_Task      *task;

    assert_int_equal(ns_sockpair(socks), 0);
    task = Ns_TaskCreate(socks[0], LateProc, &result);
    assert_int_equal(Ns_TaskEnqueue(task, queue), NS_OK);
    assert_int_equal(Ns_TaskWait(task, NULL), NS_OK);
    assert_int_equal(result, NS_ERROR);
    Ns_TaskFree(task);
    /* The thread has not kept it. */
    Ns_DestroyTaskQueue(queue);
    WaitFor("id");
    close(socks[0]);
    close(socks[1]);
}

static void
EventProc(Ns_Event *event, NS_SOCKET sock, void *arg, Ns_Time *now, int why)
{
    Ns_Time soon = {0, 30000};
    char    byte;

    Note(why);
    if (why == NS_SOCK_INIT) {
        Ns_EventCallback(event, NS_SOCK_READ, &soon);
    } else if (why == NS_SOCK_READ && read(sock, &byte, 1) == 1
               && byte != 'q') {
        Ns_EventCallback(event, NS_SOCK_READ, NULL);
    }
}

static void
an_event_queue_runs_until_no_event_remains(void **state)
{
    Ns_EventQueue *queue = Ns_CreateEventQueue(2);
    NS_SOCKET      socks[2];

    assert_int_equal(ns_sockpair(socks), 0);
    assert_int_equal(Ns_EventEnqueue(queue, socks[0], EventProc, NULL), NS_OK);
    assert_int_equal(Ns_EventEnqueue(queue, socks[1], EventProc, NULL), NS_OK);
    assert_int_equal(Ns_EventEnqueue(queue, socks[1], EventProc, NULL),
                     NS_ERROR);
    assert_int_equal(write(socks[1], "aq", 2), 2);
    while (Ns_RunEventQueue(queue)) {
        continue;
    }
    assert_int_equal(strlen(calls), 5);
    assert_non_null(strchr(calls, 't'));
    Ns_ExitEventQueue(queue);
    close(socks[0]);
    close(socks[1]);
}

/*
 * Waits for so many ms, during which the clock is set.
 */
static void
StepProc(Ns_Event *event, NS_SOCKET sock, void *arg, Ns_Time *now, int why)
{
    Ns_Time timeout = {0, 1000 * *(const int *) arg};

    Note(why);
    if (why == NS_SOCK_INIT) {
        Ns_AdjTime(&timeout);
        Ns_EventCallback(event, NS_SOCK_READ, &timeout);
    }
}

static void
an_event_that_waits_bears_a_clock_that_jumps(void **state)
{
    Ns_EventQueue *queue = Ns_CreateEventQueue(1);
    NS_SOCKET      socks[2];
    int            shortMs = 30, longMs = 600000;
    Ns_Time        start, now, span;

    assert_int_equal(ns_sockpair(socks), 0);

    Ns_EventEnqueue(queue, socks[0], StepProc, &shortMs);
    Ns_TriggerEventQueue(queue);
    assert_true(Ns_RunEventQueue(queue));
    assert_string_equal(calls, "i");
    atomic_store(&secondsAhead, -3600);
    Ns_GetTime(&start);
    do {
        Ns_GetTime(&now);
        (void) Ns_DiffTime(&now, &start, &span);
    } while (Ns_RunEventQueue(queue) && span.sec < 60);
    assert_string_equal(calls, "it");

    Ns_EventEnqueue(queue, socks[0], StepProc, &longMs);
    Ns_TriggerEventQueue(queue);
    assert_true(Ns_RunEventQueue(queue));
    atomic_store(&secondsAhead, 3600);
    Ns_TriggerEventQueue(queue);
    assert_true(Ns_RunEventQueue(queue));
    assert_string_equal(calls, "iti");

    Ns_ExitEventQueue(queue);
    atomic_store(&secondsAhead, 0);
    close(socks[0]);
    close(socks[1]);
}

static void
an_event_whose_descriptor_is_closed_is_called(void **state)
{
    Ns_EventQueue *queue = Ns_CreateEventQueue(1);
    int            longMs = 600000;
    NS_SOCKET      socks[2];

    assert_int_equal(ns_sockpair(socks), 0);
    close(socks[1]);
    assert_int_equal(dup2(socks[0], 900), 900);
    Ns_EventEnqueue(queue, 900, StepProc, &longMs);
    close(900);
    assert_false(Ns_RunEventQueue(queue));
    assert_string_equal(calls, "ir");
    Ns_ExitEventQueue(queue);
    close(socks[0]);
}

/*
 * Closes its descriptor in the last call.
 */
static int
CloseProc(NS_SOCKET sock, void *arg, int why)
{
    close(sock);
    Note(why);
    return NS_FALSE;
}

static void
CloseEventProc(Ns_Event *event, NS_SOCKET sock, void *arg, Ns_Time *now,
               int why)
{
    Note(why);
    if (why == NS_SOCK_INIT) {
        Ns_EventCallback(event, NS_SOCK_READ, NULL);
    } else {
        close(sock);
    }
}

/*
 * Another thread may have the number by then.
 */
static void
a_descriptor_that_its_procedure_closes_is_not_used_afterwards(void **state)
{
    Ns_EventQueue *queue = Ns_CreateEventQueue(1);
    NS_SOCKET      socks[2];

    assert_int_equal(ns_sockpair(socks), 0);
    assert_int_equal(write(socks[1], "a", 1), 1);
    atomic_store(&nRemovedLate, 0);

    assert_int_equal(Ns_SockCallback(dup(socks[0]), CloseProc, NULL,
                                     NS_SOCK_READ),
                     NS_OK);
    WaitFor("r");
    WaitForCancel(socks[1], "rc");

    assert_int_equal(Ns_EventEnqueue(queue, dup(socks[0]), CloseEventProc,
                                     NULL),
                     NS_OK);
    assert_false(Ns_RunEventQueue(queue));
    assert_int_equal(Ns_EventEnqueue(queue, dup(socks[1]), CloseEventProc,
                                     NULL),
                     NS_OK);
    Ns_ExitEventQueue(queue);
    WaitFor("rcirix");

    assert_int_equal(atomic_load(&nRemovedLate), 0);
    close(socks[0]);
    close(socks[1]);
}

static void
vectors_are_consumed_from_the_start(void **state)
{
    struct iovec vecs[3];
    Ns_FileVec   files[2];

    Ns_SetVec(vecs, 0, "abc", 3);
    Ns_SetVec(vecs, 1, "", 0);
    Ns_SetVec(vecs, 2, "defg", 4);
    assert_int_equal(Ns_SumVec(vecs, 3), 7);
    assert_int_equal(Ns_ResetVec(vecs, 3, 0), 0);
    assert_int_equal(Ns_ResetVec(vecs, 3, 4), 2);
    assert_int_equal(Ns_SumVec(vecs, 3), 3);
    assert_memory_equal(vecs[2].iov_base, "efg", 3);
    assert_int_equal(Ns_ResetVec(vecs, 3, 3), 3);

    Ns_SetFileVec(files, 0, -1, "abc", 1, 2);
    Ns_SetFileVec(files, 1, 7, NULL, 100, 50);
    assert_memory_equal(INT2PTR(files[0].offset), "bc", 2);
    assert_int_equal(Ns_ResetFileVec(files, 2, 12), 1);
    assert_int_equal(files[1].offset, 110);
    assert_int_equal(files[1].length, 40);
}

static void
a_wait_for_what_is_no_open_descriptor_is_an_error(void **state)
{
    Ns_Time limit = {0, 0};
    int     fds[2];

    assert_int_equal(Ns_SockWait(-1, NS_SOCK_READ, 60), NS_ERROR);
    assert_int_equal(errno, EBADF);
    assert_int_equal(ns_pipe(fds), 0);
    assert_int_equal(Ns_SockTimedWait(fds[1], NS_SOCK_WRITE, &limit), NS_OK);
    assert_int_equal(Ns_SockTimedWait(fds[0], NS_SOCK_READ, &limit),
                     NS_TIMEOUT);
    close(fds[0]);
    close(fds[1]);
    assert_int_equal(Ns_SockTimedWait(fds[0], NS_SOCK_READ, &limit), NS_ERROR);
    assert_int_equal(errno, EBADF);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_callback_runs_until_it_returns_false, Reset),
        cmocka_unit_test_setup(a_silent_socket_times_out, Reset),
        cmocka_unit_test_setup(
            a_cancelled_callback_is_told_and_not_called_again, Reset),
        cmocka_unit_test_setup(a_listen_callback_gets_each_connection, Reset),
        cmocka_unit_test_setup(a_task_runs_in_a_queue_until_it_is_done, Reset),
        cmocka_unit_test_setup(a_task_that_gets_no_answer_times_out, Reset),
        cmocka_unit_test_setup(tasks_are_cancelled_singly_and_with_their_queue,
                               Reset),
        cmocka_unit_test_setup(tasks_that_wait_cost_nothing_while_one_works,
                               Reset),
        cmocka_unit_test_setup(two_tasks_may_wait_for_one_socket, Reset),
        cmocka_unit_test_setup(a_task_reads_a_plain_file_without_pauses, Reset),
        cmocka_unit_test_setup(
            a_socket_that_cannot_be_watched_is_reported_only_when_it_is_ready,
            Reset),
        cmocka_unit_test_setup(a_task_in_its_last_call_cannot_be_cancelled,
                               Reset),
        cmocka_unit_test_setup(an_event_queue_runs_until_no_event_remains,
                               Reset),
        cmocka_unit_test_setup(an_event_that_waits_bears_a_clock_that_jumps,
                               Reset),
        cmocka_unit_test_setup(an_event_whose_descriptor_is_closed_is_called,
                               Reset),
        cmocka_unit_test_setup(
            a_descriptor_that_its_procedure_closes_is_not_used_afterwards,
            Reset),
        cmocka_unit_test_setup(vectors_are_consumed_from_the_start, Reset),
        cmocka_unit_test_setup(
            a_wait_for_what_is_no_open_descriptor_is_an_error, Reset),
    };

    NsLogInit();
    NsProcessInit();
    NsNetInit();
    NsCallbacksRun(NS_AT_READY);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
