/* SPDX-License-Identifier: MPL-2.0
 * memory.c --
 *
 *      The allocator: the C library's, which never returns NULL.
 */

#include "base/memory.h"

#include <malloc.h>

#include "base/fatal.h"

/*
 * TCMalloc's: there only when it is the allocator of the process.
 */
extern int MallocExtension_GetNumericProperty(const char *property,
                                              size_t     *valuePtr)
    __attribute__((weak));
extern void MallocExtension_ReleaseFreeMemory(void) __attribute__((weak));
extern const char *tc_version(int *majorPtr, int *minorPtr, const char **patch)
    __attribute__((weak));

static void OutOfMemory(size_t bytes) NS_GNUC_NORETURN;

void *
ns_malloc(size_t bytes)
{
    void *memory = malloc(bytes);

    if (unlikely(memory == NULL)) {
        /* malloc(0) may return NULL, which does not mean a lack of memory. */
        memory = bytes == 0 ? malloc(1) : NULL;
        if (memory == NULL) {
            OutOfMemory(bytes);
        }
    }
    return memory;
}

void *
ns_calloc(size_t count, size_t bytes)
{
    void *memory;

    if (unlikely(count == 0 || bytes == 0)) {
        count = bytes = 1;
    }
    memory = calloc(count, bytes);
    if (unlikely(memory == NULL)) {
        OutOfMemory(count > SIZE_MAX / bytes ? SIZE_MAX : count * bytes);
    }
    return memory;
}

void *
ns_realloc(void *memory, size_t bytes)
{
    /* realloc(p, 0) frees p in some libraries and not in others. */
    void *newMemory = realloc(memory, bytes == 0 ? 1 : bytes);

    if (unlikely(newMemory == NULL)) {
        OutOfMemory(bytes);
    }
    return newMemory;
}

void
ns_free(void *memory)
{
    free(memory);
}

char *
ns_strdup(const char *string)
{
    return ns_strncopy(string, -1);
}

char *
ns_strcopy(const char *string)
{
    return ns_strncopy(string, -1);
}

char *
ns_strncopy(const char *string, ssize_t length)
{
    char  *copy;
    size_t bytes;

    if (string == NULL) {
        return NULL;
    }
    bytes = length > 0 ? (size_t) length : strlen(string);
    copy = ns_malloc(bytes + 1);
    memcpy(copy, string, bytes);
    copy[bytes] = '\0';
    return copy;
}

void
NsMemoryGetStats(NsMemoryStats *statsPtr)
{
    *statsPtr = (NsMemoryStats){.allocator = "libc"};
    if (MallocExtension_GetNumericProperty != NULL) {
        statsPtr->allocator = "tcmalloc";
        (void) MallocExtension_GetNumericProperty(
            "generic.current_allocated_bytes", &statsPtr->allocated);
        (void) MallocExtension_GetNumericProperty("generic.heap_size",
                                                  &statsPtr->heap);
        (void) MallocExtension_GetNumericProperty(
            "tcmalloc.pageheap_unmapped_bytes", &statsPtr->unmapped);
        /* Others change them in the meantime. */
        statsPtr->unmapped = MIN(statsPtr->unmapped, statsPtr->heap);
    } else {
        struct mallinfo2 info = mallinfo2();

        statsPtr->allocated = info.uordblks + info.hblkhd;
        statsPtr->heap = info.arena + info.hblkhd;
    }
}

void
NsMemoryRelease(void)
{
    if (MallocExtension_ReleaseFreeMemory != NULL) {
        MallocExtension_ReleaseFreeMemory();
    } else {
        (void) malloc_trim(0);
    }
}

const char *
NsMemoryVersion(void)
{
    int         major, minor;
    const char *patch;

    return tc_version == NULL ? "unknown" : tc_version(&major, &minor, &patch);
}

static void
OutOfMemory(size_t bytes)
{
    NsFatal("out of memory: cannot allocate %zu bytes", bytes);
}
