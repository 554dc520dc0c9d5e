/* SPDX-License-Identifier: MPL-2.0
 * small_group.c --
 *
 *      To be preloaded: the process is in a control group of 64 MB.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

FILE *
fopen(const char *path, const char *mode)
{
    static char group[] = "0::/small\n", limit[] = "67108864\n";
    FILE *(*proc)(const char *path, const char *mode) = NULL;

    if (strcmp(path, "/proc/self/cgroup") == 0) {
        return fmemopen(group, strlen(group), "r");
    }
    if (strcmp(path, "/sys/fs/cgroup/small/memory.max") == 0) {
        return fmemopen(limit, strlen(limit), "r");
    }
    *(void **) &proc = dlsym(RTLD_NEXT, "fopen");
    return proc(path, mode);
}

FILE *fopen64(const char *path, const char *mode);

FILE *
fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}
