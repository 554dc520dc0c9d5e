/* SPDX-License-Identifier: MPL-2.0
 * filemode.c --
 *
 *      Whose the file of a sink is, and who may read it.
 */

#include "log/target/filemode.h"

#include "base/assert.h"
#include "log/sink/sinktarget.h"
#include "nslog.h"

static void Complain(Ns_LogSink sink, const char *what, const char *value,
                     const char *remedy);

/*
 * The default leaves the permissions as they are: those of a new file, with
 * what the umask takes, or what somebody has made of them.
 */
void
NsFileModeApply(Ns_LogSink sink)
{
    const NsSinkSettings *settingsPtr = &sink->settings;
    struct stat           st;
    char                  mode[16];
    int                   fd = sink->target->fd;

    NsAssert(sink->typePtr->filePtr != NULL);
    if (fd < 0 || sink->target->file == NULL || fstat(fd, &st) != 0
        || !S_ISREG(st.st_mode)) {
        return;
    }
    if (settingsPtr->owner != NULL
        && ((settingsPtr->ownerUid != (uid_t) -1
             && settingsPtr->ownerUid != st.st_uid)
            || (settingsPtr->ownerGid != (gid_t) -1
                && settingsPtr->ownerGid != st.st_gid))
        && fchown(fd, settingsPtr->ownerUid, settingsPtr->ownerGid) != 0) {
        Complain(sink, "owner", settingsPtr->owner,
                 "; a server that is not root can choose one of its groups");
    }
    if (settingsPtr->mode != NS_SINK_MODE
        && (st.st_mode & 07777) != (mode_t) settingsPtr->mode
        && fchmod(fd, (mode_t) settingsPtr->mode) != 0) {
        snprintf(mode, sizeof(mode), "%04o", (unsigned) settingsPtr->mode);
        Complain(sink, "mode", mode, "");
    }
}

static void
Complain(Ns_LogSink sink, const char *what, const char *value,
         const char *remedy)
{
    Ns_Log(Warning, "log[%s]: log file '%s' cannot have %s %s: '%s'%s",
           sink->name, sink->target->file, what, value, strerror(errno),
           remedy);
}
