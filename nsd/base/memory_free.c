/* SPDX-License-Identifier: MPL-2.0
 * memory_free.c --
 *
 *      How much memory the process could still get: of the machine, and of its
 *      control groups, whichever version has the memory.
 */

#include "base/memory_free.h"

#include "nsstring.h"

#include <stdio.h>

/*
 * What a version of control groups calls the line of a process, the directory
 * of its groups, and their files.
 */
typedef struct Version {
    const char *line; /* In /proc/self/cgroup, behind a number. */
    const char *groups;
    const char *limit;
    const char *used;
    const char *cached; /* Of memory.stat, with the groups below. */
} Version;

static const Version versions[] = {
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
     "memory.usage_in_bytes", "total_inactive_file "},
    {"::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "}};

typedef size_t(OfGroupProc)(const Version *versionPtr, const char *path);

static size_t OfMachine(const char *key);
static size_t LeastOfGroups(OfGroupProc *proc);
static size_t LimitOf(const Version *versionPtr, const char *path);
static size_t FreeOf(const Version *versionPtr, const char *path);
static bool   ReadNumber(const char *path, const char *name, const char *key,
                         size_t *valuePtr);
static bool   FindGroup(const Version *versionPtr, char *path, size_t bytes);

size_t
NsMemoryAvailable(void)
{
    return MIN(OfMachine("MemAvailable:"), LeastOfGroups(FreeOf));
}

size_t
NsMemoryLimit(void)
{
    return MIN(OfMachine("MemTotal:"), LeastOfGroups(LimitOf));
}

static size_t
OfMachine(const char *key)
{
    size_t kiloBytes;

    return ReadNumber("/proc", "meminfo", key, &kiloBytes)
        ? kiloBytes * 1024
        : SIZE_MAX;
}

/*
 * A group has no more than those above it.  In a container its path may be one
 * outside, and what is mounted is the group itself.
 */
static size_t
LeastOfGroups(OfGroupProc *proc)
{
    size_t least = SIZE_MAX;

    for (int i = 0; i < Ns_NrElements(versions); i++) {
        const Version *versionPtr = &versions[i];
        char           path[1024];

        if (!FindGroup(versionPtr, path, sizeof(path))) {
            continue;
        }
        while (strlen(path) >= strlen(versionPtr->groups)) {
            size_t bytes = proc(versionPtr, path);

            least = MIN(least, bytes);
            *strrchr(path, '/') = '\0';
        }
    }
    return least;
}

static size_t
LimitOf(const Version *versionPtr, const char *path)
{
    size_t limit;

    return ReadNumber(path, versionPtr->limit, "", &limit) ? limit : SIZE_MAX;
}

/*
 * What the group has in the file cache is given up for memory.
 */
static size_t
FreeOf(const Version *versionPtr, const char *path)
{
    size_t limit = LimitOf(versionPtr, path), used, cached = 0;

    if (limit == SIZE_MAX || !ReadNumber(path, versionPtr->used, "", &used)) {
        return limit;
    }
    (void) ReadNumber(path, "memory.stat", versionPtr->cached, &cached);
    used -= MIN(used, cached);
    return limit - MIN(limit, used);
}

/*
 * The number behind a key at the start of a line.  A limit of `max` is no
 * number.
 */
static bool
ReadNumber(const char *path, const char *name, const char *key,
           size_t *valuePtr)
{
    char  file[1100], line[256];
    FILE *filePtr;
    bool  isFound = false;

    snprintf(file, sizeof(file), "%s/%s", path, name);
    filePtr = fopen(file, "re");
    if (filePtr == NULL) {
        return false;
    }
    while (!isFound && fgets(line, sizeof(line), filePtr) != NULL) {
        isFound = strncmp(line, key, strlen(key)) == 0
            && sscanf(line + strlen(key), "%zu", valuePtr) == 1;
    }
    fclose(filePtr);
    return isFound;
}

/*
 * The directory of the group that the process is in.
 */
static bool
FindGroup(const Version *versionPtr, char *path, size_t bytes)
{
    FILE *filePtr = fopen("/proc/self/cgroup", "re");
    char  line[900];
    bool  isFound = false;

    if (filePtr == NULL) {
        return false;
    }
    while (!isFound && fgets(line, sizeof(line), filePtr) != NULL) {
        const char *rest = line + strspn(line, "0123456789");
        size_t      n = strlen(versionPtr->line);

        isFound = strncmp(rest, versionPtr->line, n) == 0 && rest[n] == '/';
        if (isFound) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(path, bytes, "%s%s", versionPtr->groups, rest + n);
        }
    }
    fclose(filePtr);
    return isFound;
}
