/* SPDX-License-Identifier: MPL-2.0
 * no_fork.c --
 *
 *      Preloaded into a server: while there is a file NO_FORK, no process can
 * be made.  Each attempt adds a byte to it.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

pid_t
fork(void)
{
    const char *path = getenv("NO_FORK");
    int         fd = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND);
    pid_t (*next)(void);

    if (fd >= 0) {
        (void) !write(fd, ".", 1);
        close(fd);
        errno = EAGAIN;
        return -1;
    }
    *(void **) &next = dlsym(RTLD_NEXT, "fork");
    return next();
}
