/* SPDX-License-Identifier: MPL-2.0
 * few_watches.c --
 *
 *      Preloaded into a server: the kernel watches as many files as FEW_WATCHES
 *      says, and none afterwards.
 */

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/inotify.h>

int
inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    const char *limit = getenv("FEW_WATCHES");
    int (*next)(int, const char *, uint32_t);
    int id;

    *(void **) &next = dlsym(RTLD_NEXT, "inotify_add_watch");
    id = next(fd, path, mask);
    if (limit != NULL && id > atoi(limit)) {
        inotify_rm_watch(fd, id);
        errno = ENOSPC;
        return -1;
    }
    return id;
}
