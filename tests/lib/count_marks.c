/* SPDX-License-Identifier: MPL-2.0
 * count_marks.c --
 *
 *      Preloaded into a server: the file $NSD_MARKS has as many bytes as async
 *      handlers of Tcl were marked.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void
Tcl_AsyncMark(void *handler)
{
    static void (*mark)(void *);
    int fd = open(getenv("NSD_MARKS"), O_WRONLY | O_APPEND | O_CREAT, 0666);

    if (fd < 0 || write(fd, "x", 1) != 1) {
        abort();
    }
    close(fd);
    if (mark == NULL) {
        mark = (void (*)(void *)) dlsym(RTLD_NEXT, "Tcl_AsyncMark");
    }
    mark(handler);
}
