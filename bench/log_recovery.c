/* SPDX-License-Identifier: MPL-2.0
 * log_recovery.c --
 *
 *      How long a start takes to write what a killed process left behind.
 *
 *      log_recovery DIRECTORY MEGABYTES
 *
 *      A child fills a log memory of so many megabytes with lines of 256 bytes
 *      and kills itself; no log thread ran.  Another one starts in its place.
 *      Prints a list of names and values: the lines that were left, those that
 *      the file has, and the seconds from the start until the sink goes on.
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"
#include "log/ring/lane.h"
#include "measure.h"

#define LINE_BYTES 256

typedef struct Result {
    long    nLines;
    int64_t nanos;
} Result;

static const char *directory;
static char        path[4096];
static int64_t     megabytes;
static Result     *resultPtr; /* Shared with the children. */

static BenchLog Open(void);
static void     FillAndDie(void);
static void     Recover(void);
static int      InChild(void (*proc)(void));
static long     CountLines(void);

int
main(int argc, char **argv)
{
    int status;

    if (argc != 3) {
        fprintf(stderr, "usage: %s DIRECTORY MEGABYTES\n", argv[0]);
        return 2;
    }
    directory = argv[1];
    snprintf(path, sizeof(path), "%s/lines.log", directory);
    megabytes = atoll(argv[2]);
    resultPtr = mmap(NULL, sizeof(*resultPtr), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    status = InChild(FillAndDie);
    if (!WIFSIGNALED(status) || InChild(Recover) != 0) {
        fprintf(stderr, "log_recovery: a child failed\n");
        return 1;
    }
    printf("left %ld written %ld seconds %.3f\n", resultPtr->nLines,
           CountLines(), (double) resultPtr->nanos / 1e9);
    return 0;
}

static BenchLog
Open(void)
{
    return BenchOpenLog(directory, path, BenchCopy, megabytes << 20);
}

/*
 * Until the memory is nearly full: the next record might wait.
 */
static void
FillAndDie(void)
{
    char         line[LINE_BYTES];
    struct iovec piece = {line, sizeof(line)};
    BenchLog     log = Open();

    memset(line, 'x', sizeof(line));
    line[LINE_BYTES - 1] = '\n';
    while (!NsLaneIsFull()) {
        (void) Ns_LogStreamPut(log.stream, Notice, &piece, 1);
        resultPtr->nLines++;
    }
    kill(getpid(), SIGKILL);
}

static void
Recover(void)
{
    int64_t start = BenchNow();

    (void) Open();
    resultPtr->nanos = BenchNow() - start;
    NsLogStart();
    NsLogStop();
    NsLogFinish();
}

static int
InChild(void (*proc)(void))
{
    int   status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        proc();
        _exit(0);
    }
    (void) waitpid(pid, &status, 0);
    return status;
}

static long
CountLines(void)
{
    FILE *file = fopen(path, "r");
    long  n = 0;
    int   c;

    while (file != NULL && (c = getc_unlocked(file)) != EOF) {
        n += c == '\n';
    }
    return n;
}
