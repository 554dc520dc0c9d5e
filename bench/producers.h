/* SPDX-License-Identifier: MPL-2.0
 * producers.h --
 *
 *      Threads that hand records to a log, each call timed by itself.
 *
 *      What reading the clock costs is measured first and subtracted.
 */

#ifndef BENCH_PRODUCERS_H
#define BENCH_PRODUCERS_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#define BENCH_MAX_THREADS 64

/*
 * Hand over one record.
 */
typedef void BenchPutProc(void *arg);

typedef struct BenchRun {
    BenchPutProc *put;
    void         *arg;
    int           nThreads;
    double        rate;   /* Calls per second of all; 0: flat out. */
    int64_t       nCalls; /* Of all threads. */
} BenchRun;

typedef struct BenchProducer {
    const BenchRun *run;
    pthread_t       thread;
    double          ticksPerCall;
    BenchHistogram  histogram;
} BenchProducer;

/*
 * Ticks between two readings with nothing between them: the median.
 */
static inline double
BenchTimerTicks(void)
{
    BenchHistogram h;

    memset(&h, 0, sizeof(h));
    for (int i = 0; i < 100000; i++) {
        uint64_t start = BenchTicks();

        BenchRecord(&h, BenchTicks() - start);
    }
    return BenchPercentile(&h, 50);
}

static inline void *
BenchProduce(void *arg)
{
    BenchProducer  *p = (BenchProducer *) arg;
    const BenchRun *run = p->run;
    uint64_t        start = BenchTicks();

    for (int64_t i = 0; i < run->nCalls / run->nThreads; i++) {
        uint64_t before = BenchTicks(), due;

        due = start + (uint64_t) ((double) i * p->ticksPerCall);
        while (p->ticksPerCall > 0 && before < due) {
            before = BenchTicks();
        }
        run->put(run->arg);
        BenchRecord(&p->histogram, BenchTicks() - before);
    }
    return NULL;
}

/*
 * Run, and print "NAME THREADS RATE p50 ... " in nanoseconds, net of the timer;
 * with showsAll, each bucket as well.
 */
static inline void
BenchProduceAll(FILE *fp, const char *name, const BenchRun *run, int showsAll)
{
    static BenchProducer  producers[BENCH_MAX_THREADS];
    static BenchHistogram sum;
    double nanosPerTick = BenchNanosPerTick(), timer = BenchTimerTicks();

    memset(producers, 0, sizeof(producers));
    memset(&sum, 0, sizeof(sum));
    for (int i = 0; i < run->nThreads; i++) {
        producers[i].run = run;
        if (run->rate > 0) {
            producers[i].ticksPerCall = 1e9 / nanosPerTick * run->nThreads
                / run->rate;
        }
        if (pthread_create(&producers[i].thread, NULL, BenchProduce,
                           &producers[i])
            != 0) {
            perror("thread");
            exit(1);
        }
    }
    for (int i = 0; i < run->nThreads; i++) {
        pthread_join(producers[i].thread, NULL);
        BenchAdd(&sum, &producers[i].histogram);
    }
    fprintf(fp, "%s %d %.0f ", name, run->nThreads, run->rate);
    BenchPrint(fp, &sum, nanosPerTick, timer);
    fprintf(fp, " timer %.1f\n", timer * nanosPerTick);
    for (int i = 0; showsAll && i < BENCH_BUCKETS; i++) {
        if (sum.buckets[i] > 0) {
            double nanos = (BenchValue(i) - timer) * nanosPerTick;

            fprintf(fp, "# %.0f %llu\n", nanos > 0 ? nanos : 0,
                    (unsigned long long) sum.buckets[i]);
        }
    }
    fflush(fp);
}

#endif
