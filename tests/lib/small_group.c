/* SPDX-License-Identifier: MPL-2.0
 * small_group.c --
 *
 *      To be preloaded: the process is in a control group of 64 MB.
 *      SMALL_GROUP says of what kind:
 *
 *          (unset)    of version 2
 *          above      of version 2, below the one that has the limit
 *          container  of version 2, in a container that sees the path outside
 *          one        of version 1, beside version 2 without memory
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define V1 "/sys/fs/cgroup/memory"
#define V2 "/sys/fs/cgroup"

static const struct {
    const char *kind;
    const char *group;
    const char *limitFile;
    const char *otherFile; /* Of a group with a higher limit. */
} kinds[] = {
    {"", "0::/small\n", V2 "/small/memory.max", ""},
    {"above", "0::/small/a/b\n", V2 "/small/memory.max",
     V2 "/small/a/memory.max"},
    {"container", "0::/system.slice/docker-1.scope\n", V2 "/memory.max", ""},
    {"one", "9:name=systemd:/\n4:memory:/small\n0::/\n",
     V1 "/small/memory.limit_in_bytes", V1 "/memory.limit_in_bytes"},
};

FILE *
fopen(const char *path, const char *mode)
{
    static char limit[] = "67108864\n", other[] = "9223372036854771712\n";
    FILE *(*proc)(const char *path, const char *mode) = NULL;
    const char *kind = getenv("SMALL_GROUP");
    size_t      i = 0;

    while (strcmp(kinds[i].kind, kind != NULL ? kind : "") != 0) {
        i++;
    }
    if (strcmp(path, "/proc/self/cgroup") == 0) {
        return fmemopen((char *) kinds[i].group, strlen(kinds[i].group), "r");
    }
    if (strcmp(path, kinds[i].limitFile) == 0) {
        return fmemopen(limit, strlen(limit), "r");
    }
    if (strcmp(path, kinds[i].otherFile) == 0) {
        return fmemopen(other, strlen(other), "r");
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
