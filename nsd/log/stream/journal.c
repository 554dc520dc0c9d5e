/* SPDX-License-Identifier: MPL-2.0
 * journal.c --
 *
 *      Standard output and error of a service, where systemd has connected them
 *      with its journal.
 */

#include "log/stream/journal.h"

#include <inttypes.h>
#include <sys/stat.h>

bool nsJournalIsThere;

static uintmax_t device, inode; /* Constant after NsJournalInit. */

void
NsJournalInit(void)
{
    const char *text = getenv("JOURNAL_STREAM");

    nsJournalIsThere = text != NULL
        && sscanf(text, "%" SCNuMAX ":%" SCNuMAX, &device, &inode) == 2;
}

/*
 * Who starts us may have redirected it and passed the variable on.
 */
bool
NsJournalIs(int fd)
{
    struct stat st;

    return nsJournalIsThere && fstat(fd, &st) == 0 && st.st_dev == device
        && st.st_ino == inode;
}
