/* SPDX-License-Identifier: MPL-2.0
 * faulty_mmap.c --
 *
 *      To be preloaded: as long as a file "mmap.fails" is in the current
 *      directory, files of half a megabyte and more cannot be mapped, as where
 *      the memory of a process is limited.
 */

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *MapProc(void *, size_t, int, int, int, off_t);

static void *
Map(const char *name, void *address, size_t length, int protection, int flags,
    int fd, off_t offset)
{
    MapProc *proc = (MapProc *) dlsym(RTLD_NEXT, name);

    if (fd >= 0 && length >= 512 * 1024 && access("mmap.fails", F_OK) == 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return proc(address, length, protection, flags, fd, offset);
}

void *
mmap(void *address, size_t length, int protection, int flags, int fd,
     off_t offset)
{
    return Map("mmap", address, length, protection, flags, fd, offset);
}

void *
mmap64(void *address, size_t length, int protection, int flags, int fd,
       off_t offset)
{
    return Map("mmap64", address, length, protection, flags, fd, offset);
}
