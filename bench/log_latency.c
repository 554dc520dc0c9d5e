/* SPDX-License-Identifier: MPL-2.0
 * log_latency.c --
 *
 *      How long after an event its line can be read in the file.
 *
 *      log_latency DIRECTORY RATE SECONDS
 *
 *      Each record carries the time of its event; a reader looks for new ones
 *      in the file every 0.2 ms.  Prints percentiles in milliseconds, and how
 *      many records were written.
 */

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "engine.h"
#include "measure.h"

#define RECORD_BYTES 64
#define POLL_NANOS   200000
#define MAX_WAIT     INT64_C(10000000000)

typedef struct Reader {
    int            fd;
    long           nExpected;
    BenchHistogram histogram; /* Of microseconds. */
} Reader;

static void *ReadRecords(void *arg);

int
main(int argc, char **argv)
{
    static Reader reader;
    FILE         *report = fdopen(dup(STDOUT_FILENO), "w");
    char          file[512];
    BenchLog      log;
    pthread_t     thread;
    int64_t       start;
    double        rate;

    if (argc != 4) {
        fprintf(stderr, "usage: log_latency DIRECTORY RATE SECONDS\n");
        return 1;
    }
    rate = atof(argv[2]);
    reader.nExpected = (long) (rate * atof(argv[3]));
    snprintf(file, sizeof(file), "%s/records", argv[1]);
    log = BenchOpenLog(argv[1], file, BenchCopy, 0);
    reader.fd = open(file, O_RDONLY | O_CLOEXEC);
    if (reader.fd < 0
        || pthread_create(&thread, NULL, ReadRecords, &reader) != 0) {
        perror(file);
        return 1;
    }
    NsLogStart();
    start = BenchNow();
    for (long i = 0; i < reader.nExpected; i++) {
        int64_t due = start + (int64_t) ((double) i * 1e9 / rate);
        char    text[RECORD_BYTES + 1];

        if (BenchNow() < due) {
            BenchSleepUntil(due);
        }
        snprintf(text, sizeof(text), "%-63lld\n", (long long) BenchNow());
        Ns_LogStreamPut(log.stream, Notice, &(struct iovec){text, RECORD_BYTES},
                        1);
    }
    pthread_join(thread, NULL);
    BenchPrint(report, &reader.histogram, 0.001, 0);
    fprintf(report, " written %ld\n", reader.nExpected);
    fclose(report);
    NsLogStop();
    NsLogFinish();
    return 0;
}

static void *
ReadRecords(void *arg)
{
    Reader *r = arg;
    char    buffer[1024 * RECORD_BYTES];
    off_t   offset = 0;
    int64_t last = BenchNow();

    while ((long) r->histogram.count < r->nExpected
           && BenchNow() - last < MAX_WAIT) {
        ssize_t n = pread(r->fd, buffer, sizeof(buffer), offset);
        int64_t now = BenchNow();

        if (n < RECORD_BYTES) {
            BenchSleepUntil(now + POLL_NANOS);
            continue;
        }
        last = now;
        for (ssize_t i = 0; i + RECORD_BYTES <= n; i += RECORD_BYTES) {
            BenchRecord(&r->histogram,
                        (uint64_t) (now - atoll(buffer + i)) / 1000);
            offset += RECORD_BYTES;
        }
    }
    return NULL;
}
