/*
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

#include "log/init.h"
#include "log/lane.h"
#include "log/sink.h"
#include "log/stream.h"
#include "measure.h"
#include "ns.h"

#define LINE_BYTES 256

typedef struct Result {
    long    nLines;
    int64_t nanos;
} Result;

static const char *directory;
static int64_t     megabytes;
static Result     *resultPtr;       /* Shared with the children. */

static Ns_LogStream Start(Ns_LogSink *sinkPtr);
static Ns_LogFormatProc Format;
static void FillAndDie(void);
static void Recover(void);
static int  InChild(void (*proc) (void));
static long CountLines(void);

int
main(int argc, char **argv)
{
    int status;

    if (argc != 3) {
        fprintf(stderr, "usage: %s DIRECTORY MEGABYTES\n", argv[0]);
        return 2;
    }
    directory = argv[1];
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

static Ns_LogStream
Start(Ns_LogSink *sinkPtr)
{
    char         systemLog[4096], file[4096];
    Ns_LogStream stream;

    snprintf(systemLog, sizeof(systemLog), "%s/nsd.log", directory);
    snprintf(file, sizeof(file), "%s/lines.log", directory);
    NsLogInit();
    NsLogConfigure(&(NsLogSettings){
        .file = systemLog, .notice = true, .sanitize = 2, .isAsync = true,
        .memoryBytes = megabytes << 20, .ringDirectory = directory,
        .home = directory
    });
    stream = Ns_LogStreamCreate("lines", Format, NULL);
    *sinkPtr = Ns_LogSinkOpen(&(Ns_LogSinkSpec){
        .name = "lines", .stream = stream, .file = file, .bufferBytes = 65536
    });
    return stream;
}

static size_t
Format(char *buffer, size_t room, const Ns_LogRecord *recordPtr, void *arg)
{
    if (recordPtr->length <= room) {
        memcpy(buffer, recordPtr->bytes, recordPtr->length);
    }
    return recordPtr->length;
}

/*
 * Until the memory is nearly full: the next record might wait.
 */
static void
FillAndDie(void)
{
    char         line[LINE_BYTES];
    struct iovec piece = {line, sizeof(line)};
    Ns_LogSink   sink;
    Ns_LogStream stream = Start(&sink);

    memset(line, 'x', sizeof(line));
    line[LINE_BYTES - 1] = '\n';
    while (!NsLaneIsFull()) {
        (void) Ns_LogStreamPut(stream, Notice, &piece, 1);
        resultPtr->nLines++;
    }
    kill(getpid(), SIGKILL);
}

static void
Recover(void)
{
    Ns_LogSink sink;
    int64_t    start = BenchNow();

    (void) Start(&sink);
    resultPtr->nanos = BenchNow() - start;
    NsLogStart();
    NsLogStop();
    NsLogFinish();
}

static int
InChild(void (*proc) (void))
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
    char  path[4096];
    FILE *file;
    long  n = 0;
    int   c;

    snprintf(path, sizeof(path), "%s/lines.log", directory);
    file = fopen(path, "r");
    while (file != NULL && (c = getc_unlocked(file)) != EOF) {
        n += c == '\n';
    }
    return n;
}
