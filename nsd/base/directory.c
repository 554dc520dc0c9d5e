/* SPDX-License-Identifier: MPL-2.0
 * directory.c --
 *
 *      Directories, as places of files.
 */

#include "base/directory.h"
#include "nsfile.h"

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

/*
 * Of several threads that make the same directory, one is first.
 */
Ns_ReturnCode
Ns_RequireDirectory(const char *path)
{
    char        partial[PATH_MAX];
    struct stat status;
    size_t      length = strlen(path);

    if (length == 0 || length >= sizeof(partial)) {
        errno = length == 0 ? ENOENT : ENAMETOOLONG;
        return NS_ERROR;
    }
    memcpy(partial, path, length + 1);
    for (char *p = partial + 1; p <= partial + length; p++) {
        if (*p == '/' || *p == '\0') {
            char end = *p;

            *p = '\0';
            if (mkdir(partial, 0755) != 0 && errno != EEXIST
                && stat(partial, &status) != 0) {
                return NS_ERROR;
            }
            *p = end;
        }
    }
    if (stat(path, &status) != 0) {
        return NS_ERROR;
    }
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return NS_ERROR;
    }
    return NS_OK;
}
