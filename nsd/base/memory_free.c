/* SPDX-License-Identifier: MPL-2.0
 * memory_free.c --
 *
 *      How much memory the process could still get: of the machine, and of its
 *      control group.
 */

#include "base/memory_free.h"

#include "nsstring.h"

#include <stdio.h>

#define GROUPS "/sys/fs/cgroup"

static size_t OfMachine(const char *key);
static size_t FreeOfGroup(void);
static bool   ReadNumber(const char *file, const char *key, size_t *valuePtr);
static bool   FindGroup(char *path, size_t bytes);

size_t
NsMemoryAvailable(void)
{
    return MIN(OfMachine("MemAvailable:"), FreeOfGroup());
}

size_t
NsMemoryLimit(void)
{
    char   path[1024], file[1100];
    size_t limit = SIZE_MAX;

    if (FindGroup(path, sizeof(path))) {
        snprintf(file, sizeof(file), "%s/memory.max", path);
        (void) ReadNumber(file, "", &limit);
    }
    return MIN(OfMachine("MemTotal:"), limit);
}

static size_t
OfMachine(const char *key)
{
    size_t kiloBytes;

    return ReadNumber("/proc/meminfo", key, &kiloBytes)
        ? kiloBytes * 1024
        : SIZE_MAX;
}

/*
 * What the group has in the file cache is given up for memory.
 */
static size_t
FreeOfGroup(void)
{
    char   path[1024], file[1100];
    size_t limit, used, cached = 0;

    if (!FindGroup(path, sizeof(path))) {
        return SIZE_MAX;
    }
    snprintf(file, sizeof(file), "%s/memory.max", path);
    if (!ReadNumber(file, "", &limit)) {
        return SIZE_MAX;
    }
    snprintf(file, sizeof(file), "%s/memory.current", path);
    if (!ReadNumber(file, "", &used)) {
        return limit;
    }
    snprintf(file, sizeof(file), "%s/memory.stat", path);
    (void) ReadNumber(file, "inactive_file ", &cached);
    used -= MIN(used, cached);
    return limit - MIN(limit, used);
}

/*
 * The number behind a key at the start of a line.  A limit of `max` is no
 * number.
 */
static bool
ReadNumber(const char *file, const char *key, size_t *valuePtr)
{
    FILE *filePtr = fopen(file, "re");
    char  line[256];
    bool  isFound = false;

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
 * Of version 2, where each process is in one group.
 */
static bool
FindGroup(char *path, size_t bytes)
{
    FILE *filePtr = fopen("/proc/self/cgroup", "re");
    char  line[900];
    bool  isFound = false;

    if (filePtr == NULL) {
        return false;
    }
    while (!isFound && fgets(line, sizeof(line), filePtr) != NULL) {
        isFound = strncmp(line, "0::", 3) == 0;
    }
    fclose(filePtr);
    if (isFound) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(path, bytes, "%s%s", GROUPS, line + 3);
    }
    return isFound;
}
