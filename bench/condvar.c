/* SPDX-License-Identifier: MPL-2.0
 * condvar.c --
 *
 *      How long it takes to wake a sleeping thread by a condition variable.
 *
 *      condvar RATE SECONDS ?WAKER SLEEPER?
 *
 *      Waker and sleeper stay on these cores, if told so.
 *
 *      Prints percentiles in microseconds, from before the lock is taken until
 *      the woken thread has it.
 */

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "measure.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  wakeup = PTHREAD_COND_INITIALIZER;
static int64_t         sentAt; /* 0: nothing to do. */
static bool            isDone;
static BenchHistogram  histogram; /* Of the sleeper. */

static void *
Sleep(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!isDone) {
        if (sentAt != 0) {
            BenchRecord(&histogram, (uint64_t) (BenchNow() - sentAt));
            sentAt = 0;
        }
        pthread_cond_wait(&wakeup, &lock);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void
Send(int64_t stamp, bool isLast)
{
    pthread_mutex_lock(&lock);
    /* One that has not woken since the last time does not sleep. */
    if (sentAt == 0) {
        sentAt = stamp;
    }
    isDone = isLast;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&wakeup);
}

static void
StayOn(pthread_t thread, const char *core)
{
    cpu_set_t cores;

    CPU_ZERO(&cores);
    CPU_SET(atoi(core), &cores);
    if (pthread_setaffinity_np(thread, sizeof(cores), &cores) != 0) {
        fprintf(stderr, "condvar: no core %s\n", core);
        exit(1);
    }
}

int
main(int argc, char **argv)
{
    int       rate = argc > 1 ? atoi(argv[1]) : 200;
    int       seconds = argc > 2 ? atoi(argv[2]) : 5;
    int64_t   next = BenchNow();
    pthread_t thread;

    if (rate < 1 || seconds < 1
        || pthread_create(&thread, NULL, Sleep, NULL) != 0) {
        fprintf(stderr, "usage: condvar RATE SECONDS ?WAKER SLEEPER?\n");
        return 1;
    }
    if (argc > 4) {
        StayOn(pthread_self(), argv[3]);
        StayOn(thread, argv[4]);
    }
    for (int i = 0; i < rate * seconds; i++) {
        next += 1000000000 / rate;
        BenchSleepUntil(next);
        Send(BenchNow(), false);
    }
    BenchSleepUntil(BenchNow() + 10000000);
    Send(0, true);
    pthread_join(thread, NULL);
    BenchPrint(stdout, &histogram, 0.001, 0);
    printf("\n");
    return 0;
}
