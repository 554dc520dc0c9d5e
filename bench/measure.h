/* SPDX-License-Identifier: MPL-2.0
 * measure.h --
 *
 *      Clock, histogram, pacing: for benchmarks in C and in C++.
 */

#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

/*
 * Log-linear: 32 buckets for each power of two, so at most 3 % error.
 */
#define BENCH_SUB     32
#define BENCH_BUCKETS (BENCH_SUB * 60)

typedef struct BenchHistogram {
    uint64_t count;
    uint64_t max;
    uint64_t buckets[BENCH_BUCKETS];
} BenchHistogram;

static inline int64_t
BenchNow(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void
BenchSleepUntil(int64_t nanos)
{
    struct timespec when;

    when.tv_sec = (time_t) (nanos / 1000000000);
    when.tv_nsec = (long) (nanos % 1000000000);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) != 0) {
    }
}

/*
 * The finest clock there is; the fence keeps the calls between two readings.
 */
static inline uint64_t
BenchTicks(void)
{
#if defined(__x86_64__)
    uint64_t ticks;

    __asm__ __volatile__("lfence; rdtsc; shl $32, %%rdx; or %%rdx, %0; lfence"
                         : "=a"(ticks)
                         :
                         : "rdx", "memory");
    return ticks;
#else
    return (uint64_t) BenchNow();
#endif
}

static inline double
BenchNanosPerTick(void)
{
    int64_t  start = BenchNow();
    uint64_t ticks = BenchTicks();

    BenchSleepUntil(start + 50000000);
    ticks = BenchTicks() - ticks;
    return (double) (BenchNow() - start) / (double) ticks;
}

static inline void
BenchRecord(BenchHistogram *h, uint64_t value)
{
    unsigned shift = value < BENCH_SUB
        ? 0
        : (unsigned) (58 - __builtin_clzll(value));

    h->buckets[shift * BENCH_SUB + (value >> shift)]++;
    h->count++;
    if (value > h->max) {
        h->max = value;
    }
}

static inline void
BenchAdd(BenchHistogram *to, const BenchHistogram *from)
{
    for (int i = 0; i < BENCH_BUCKETS; i++) {
        to->buckets[i] += from->buckets[i];
    }
    to->count += from->count;
    if (from->max > to->max) {
        to->max = from->max;
    }
}

/*
 * The middle of a bucket.
 */
static inline double
BenchValue(int bucket)
{
    int      shift = bucket < 2 * BENCH_SUB ? 0 : bucket / BENCH_SUB - 1;
    uint64_t low = (uint64_t) (bucket - shift * BENCH_SUB) << shift;

    return (double) low + (double) (((uint64_t) 1 << shift) - 1) / 2;
}

static inline double
BenchPercentile(const BenchHistogram *h, double percent)
{
    double   wanted = (double) h->count * percent / 100;
    uint64_t sum = 0;

    for (int i = 0; i < BENCH_BUCKETS; i++) {
        sum += h->buckets[i];
        if (sum > 0 && (double) sum >= wanted) {
            double value = BenchValue(i);

            return value < (double) h->max ? value : (double) h->max;
        }
    }
    return 0;
}

/*
 * "p50 A p99 B p999 C max D count N": each value times factor, less base.
 */
static inline void
BenchPrint(FILE *fp, const BenchHistogram *h, double factor, double base)
{
    static const struct {
        const char *name;
        double      percent;
    } points[] = {{"p50", 50}, {"p99", 99}, {"p999", 99.9}};

    for (int i = 0; i < 3; i++) {
        double value = (BenchPercentile(h, points[i].percent) - base) * factor;

        fprintf(fp, "%s %.1f ", points[i].name, value > 0 ? value : 0);
    }
    fprintf(fp, "max %.1f count %llu", ((double) h->max - base) * factor,
            (unsigned long long) h->count);
}

#endif
