/*
 * directory.c --
 *
 *      Directories, as places of files.
 */

#include "base/directory.h"

bool
NsDirectorySync(const char *file)
{
    const char *slash = strrchr(file, '/');
    char        path[PATH_MAX];
    int         fd, reason;
    bool        isSynced;

    snprintf(path, sizeof(path), "%.*s",
             slash == NULL ? 1 : (int) MAX(slash - file, 1),
             slash == NULL ? "." : file);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    isSynced = fsync(fd) == 0;
    reason = errno;
    close(fd);
    errno = reason;
    return isSynced;
}
