/* SPDX-License-Identifier: MPL-2.0
 * lines.h --
 *
 *      Numbered lines, and the proof that a file holds each of them once, whole
 *      and in the order of its thread.  For benchmarks in C and in C++.
 */

#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure.h"

#define BENCH_LINE_BYTES  256
#define BENCH_DIGITS      9
#define BENCH_MAX_WRITERS 64

/*
 * What the lines of a thread look like: "... /TT/NNNNNNNNN ...".
 */
typedef struct BenchLine {
    char   text[1024]; /* No null byte at the end. */
    size_t length;
    size_t numberAt; /* Where the digits are. */
} BenchLine;

static inline void
BenchLineInit(BenchLine *linePtr, int writer, const char *head,
              const char *tail)
{
    linePtr->length = (size_t) snprintf(linePtr->text, sizeof(linePtr->text),
                                        "%s/%02d/%0*d%s", head, writer,
                                        BENCH_DIGITS, 0, tail);
    linePtr->numberAt = strlen(head) + 4;
}

/*
 * A line of BENCH_LINE_BYTES, newline included.
 */
static inline void
BenchLineInitPlain(BenchLine *linePtr, int writer)
{
    BenchLineInit(linePtr, writer, "line ", " ");
    memset(linePtr->text + linePtr->length, 'r',
           BENCH_LINE_BYTES - linePtr->length - 1);
    linePtr->text[BENCH_LINE_BYTES - 1] = '\n';
    linePtr->length = BENCH_LINE_BYTES;
}

/*
 * Count the line's number up.
 */
static inline void
BenchLineNext(BenchLine *linePtr)
{
    char *digit = linePtr->text + linePtr->numberAt + BENCH_DIGITS - 1;

    while (*digit == '9') {
        *digit-- = '0';
    }
    ++*digit;
}

/*
 * The file has nLines lines of each thread, as lines[] had them when the
 * threads began, behind skip bytes that differ from line to line.  How many
 * lines there are, and *sumPtr, a checksum of all; -1: a message says what is
 * wrong.
 */
static inline long
BenchVerify(const char *path, BenchLine *lines, int nWriters, long nLines,
            size_t skip, uint64_t *sumPtr)
{
    int         fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    const char *bytes, *p, *end;
    long        n = 0;

    *sumPtr = 0;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) {
        perror(path);
        return -1;
    }
    bytes = (const char *) mmap(NULL, (size_t) st.st_size, PROT_READ,
                                MAP_SHARED, fd, 0);
    close(fd);
    for (p = bytes, end = bytes + st.st_size; p < end; n++) {
        const char *writerAt = p + skip + lines[0].numberAt - 3;
        int         writer = end - p < 64
                    ? -1
                    : (writerAt[0] - '0') * 10 + writerAt[1] - '0';
        BenchLine  *linePtr =
            &lines[writer < 0 || writer >= nWriters ? 0 : writer];

        if (writer < 0 || (size_t) (end - p) < skip + linePtr->length
            || memcmp(p + skip, linePtr->text, linePtr->length) != 0) {
            fprintf(stderr, "%s: line %ld is \"%.*s\",\nnot \"%.*s\"\n", path,
                    n + 1, (int) (end - p < 256 ? end - p : 256), p,
                    (int) linePtr->length, linePtr->text);
            n = -1;
            break;
        }
        for (int i = 0; i < BENCH_DIGITS; i++) {
            *sumPtr = *sumPtr * 31
                + (unsigned char) p[skip + linePtr->numberAt + (size_t) i];
        }
        BenchLineNext(linePtr);
        p += skip + linePtr->length;
    }
    munmap((void *) bytes, (size_t) st.st_size);
    if (n >= 0 && n != nLines * nWriters) {
        fprintf(stderr, "%s: %ld lines of %ld\n", path, n, nLines * nWriters);
        n = -1;
    }
    return n;
}

/*
 * Fill a file and delete it: a virtual machine gets its memory from the host at
 * first use, which takes longer than everything measured here.
 */
static inline void
BenchWarm(const char *path, size_t bytes)
{
    static char buffer[65536];
    int         fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    for (size_t n = 0; n < bytes; n += sizeof(buffer)) {
        if (write(fd, buffer, sizeof(buffer)) < 0) {
            perror(path);
            exit(1);
        }
    }
    close(fd);
    unlink(path);
}

static inline double
BenchCpuSeconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

/*
 * What a run took, printed as "NAME VALUE ..." on one line.
 */
typedef struct BenchEnd {
    const char *name;
    long        nLines;
    uint64_t    sum;
    int64_t     nanos;      /* From the first line until all are synced. */
    double      putSeconds; /* Processor time of those who logged, */
    double      logSeconds; /* and of all others. */
    long        peakKb;     /* Resident memory. */
} BenchEnd;

static inline long
BenchPeakKb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static inline void
BenchPrintEnd(FILE *fp, const BenchEnd *endPtr, int idleSeconds)
{
    struct rusage before, after;
    int64_t       until = BenchNow() + (int64_t) idleSeconds * 1000000000;

    getrusage(RUSAGE_SELF, &before);
    BenchSleepUntil(until);
    getrusage(RUSAGE_SELF, &after);
    fprintf(fp,
            "name %s lines %ld sum %016llx rate %.0f put %.1f log %.1f"
            " peak %.1f wakeups %.2f\n",
            endPtr->name, endPtr->nLines, (unsigned long long) endPtr->sum,
            (double) endPtr->nLines * 1e9 / (double) endPtr->nanos,
            endPtr->putSeconds * 1e9 / (double) endPtr->nLines,
            endPtr->logSeconds * 1e9 / (double) endPtr->nLines,
            (double) endPtr->peakKb / 1024,
            idleSeconds == 0 ? 0
                             : (double) (after.ru_nvcsw - before.ru_nvcsw - 1)
                    / idleSeconds);
    fflush(fp);
}

#endif
