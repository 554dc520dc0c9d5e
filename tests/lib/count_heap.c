/* SPDX-License-Identifier: MPL-2.0
 * count_heap.c --
 *
 *      Preloaded into a server: counts what each thread takes from the heap.
 *
 *      The counts are in a file that HEAP_COUNTS names, a line "TID COUNT" of
 *      fixed width for each thread, so that a test can read them at any time.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_THREADS 256
#define LINE_BYTES  32
#define FILE_BYTES  (MAX_THREADS * LINE_BYTES)

static char      *lines; /* The file; NULL before Setup. */
static atomic_int nThreads;
static char       early[65536]; /* For dlsym itself. */
static size_t     earlyUsed;

static void *(*nextMalloc)(size_t);
static void *(*nextCalloc)(size_t, size_t);
static void *(*nextRealloc)(void *, size_t);
static void *(*nextAligned)(size_t, size_t);
static void (*nextFree)(void *);

static __thread char *ownLine;
static __thread long  nTaken;

__attribute__((constructor)) static void
Setup(void)
{
    const char *name = getenv("HEAP_COUNTS");
    int         fd = name == NULL ? -1 : open(name, O_RDWR | O_CREAT, 0600);

    if (fd >= 0 && ftruncate(fd, FILE_BYTES) == 0) {
        void *map = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                         fd, 0);

        if (map != MAP_FAILED) {
            lines = map;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void
FindNext(void)
{
    if (nextMalloc == NULL) {
        nextCalloc = (void *(*) (size_t, size_t)) dlsym(RTLD_NEXT, "calloc");
        nextRealloc = (void *(*) (void *, size_t)) dlsym(RTLD_NEXT, "realloc");
        nextAligned = (void *(*) (size_t, size_t)) dlsym(RTLD_NEXT, "memalign");
        nextFree = (void (*)(void *)) dlsym(RTLD_NEXT, "free");
        nextMalloc = (void *(*) (size_t)) dlsym(RTLD_NEXT, "malloc");
    }
}

static void
Count(void)
{
    long left = ++nTaken;
    int  i;

    if (lines == NULL) {
        return;
    }
    if (ownLine == NULL) {
        i = atomic_fetch_add(&nThreads, 1);
        if (i >= MAX_THREADS) {
            abort();
        }
        ownLine = lines + i * LINE_BYTES;
        memset(ownLine, ' ', LINE_BYTES - 1);
        ownLine[LINE_BYTES - 1] = '\n';
        for (int pid = gettid(), at = 9; pid > 0; pid /= 10, at--) {
            ownLine[at] = (char) ('0' + pid % 10);
        }
    }
    for (i = LINE_BYTES - 2; left > 0; i--) {
        ownLine[i] = (char) ('0' + left % 10);
        left /= 10;
    }
}

static int
IsEarly(const void *memory)
{
    return (const char *) memory >= early
        && (const char *) memory < early + sizeof(early);
}

void *
malloc(size_t bytes)
{
    FindNext();
    Count();
    return nextMalloc(bytes);
}

void *
calloc(size_t count, size_t bytes)
{
    static __thread int isFinding;

    if (nextCalloc == NULL) {
        if (isFinding) {
            earlyUsed = (earlyUsed + 15) & ~(size_t) 15;
            earlyUsed += count * bytes;
            if (earlyUsed > sizeof(early)) {
                abort();
            }
            return early + earlyUsed - count * bytes;
        }
        isFinding = 1;
        FindNext();
        isFinding = 0;
    }
    Count();
    return nextCalloc(count, bytes);
}

void *
realloc(void *memory, size_t bytes)
{
    FindNext();
    Count();
    return nextRealloc(memory, bytes);
}

void *
memalign(size_t alignment, size_t bytes)
{
    FindNext();
    Count();
    return nextAligned(alignment, bytes);
}

void *
aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int
posix_memalign(void **memoryPtr, size_t alignment, size_t bytes)
{
    *memoryPtr = memalign(alignment, bytes);
    return *memoryPtr == NULL ? ENOMEM : 0;
}

void
free(void *memory)
{
    FindNext();
    if (!IsEarly(memory)) {
        nextFree(memory);
    }
}
