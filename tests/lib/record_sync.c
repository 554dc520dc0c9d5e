/* SPDX-License-Identifier: MPL-2.0
 * record_sync.c --
 *
 *      To be preloaded: the path of each file and directory that is synced is
 *      added to the file syncs in the current directory, as a line.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int  Real(const char *name, int fd);
static void Record(int fd);

int
fsync(int fd)
{
    Record(fd);
    return Real("fsync", fd);
}

int
fdatasync(int fd)
{
    Record(fd);
    return Real("fdatasync", fd);
}

static int
Real(const char *name, int fd)
{
    int (*real)(int);

    *(void **) &real = dlsym(RTLD_NEXT, name);
    return real(fd);
}

static void
Record(int fd)
{
    char    link[64], path[4096];
    ssize_t n;
    int list = open("syncs", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    if (n > 0) {
        path[n++] = '\n';
        (void) !write(list, path, (size_t) n);
    }
    close(list);
}
