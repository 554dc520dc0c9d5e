/*
 * condvar.c --
 *
 *      How long it takes to wake a sleeping thread by a condition variable.
 *
 *      condvar RATE SECONDS
 *
 *      Prints percentiles in microseconds, from before the lock is taken until
 *      the woken thread has it.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "measure.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  wakeup = PTHREAD_COND_INITIALIZER;
static int64_t         sentAt;          /* 0: nothing to do. */
static bool            isDone;
static BenchHistogram  histogram;       /* Of the sleeper. */


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

int
main(int argc, char **argv)
{
    int       rate = argc > 1 ? atoi(argv[1]) : 200;
    int       seconds = argc > 2 ? atoi(argv[2]) : 5;
    int64_t   next = BenchNow();
    pthread_t thread;

    if (rate < 1 || seconds < 1
            || pthread_create(&thread, NULL, Sleep, NULL) != 0) {
        fprintf(stderr, "usage: condvar RATE SECONDS\n");
        return 1;
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
