/*
 * identity.c --
 *
 *      As whom, and under which root, the process runs.
 */

#include "process/identity.h"

#include "nsfile.h"
#include "nslog.h"
#include "nsthread.h"

#include <grp.h>
#include <pwd.h>

#define LOOKUP_BYTES 65536

static bool FindUser(const char *user, NsIdentity *identityPtr);
static bool FindGroup(const char *group, gid_t *gidPtr);
static bool ParseNumber(const char *text, unsigned long *numberPtr);


void
NsIdentityCheck(const char *user)
{
    if (geteuid() == 0 && user == NULL) {
        Ns_Fatal("nsmain: will not run without valid user; "
                 "must specify '-u username' parameter");
    }
}

void
NsIdentityFind(NsIdentity *identityPtr, const char *user, const char *group)
{
    memset(identityPtr, 0, sizeof(*identityPtr));
    if (geteuid() != 0) {
        return;
    }
    if (user != NULL) {
        if (!FindUser(user, identityPtr)) {
            Ns_Log(Error, "Ns_SetUser: unknown user '%s'", user);
            Ns_Fatal("nsmain: failed to switch to user %s", user);
        }
        identityPtr->hasUser = true;
    }
    if (group != NULL) {
        if (!FindGroup(group, &identityPtr->gid)) {
            Ns_Log(Error, "Ns_GetGroup: unknown group '%s'", group);
            Ns_Fatal("nsmain: failed to switch to group %s", group);
        }
        identityPtr->hasGroup = true;
    }
}

void
NsIdentityChroot(const char *root)
{
    if (chroot(root) != 0) {
        Ns_Fatal("nsmain: chroot(%s) failed: '%s'", root, strerror(errno));
    }
    if (chdir("/") != 0) {
        Ns_Fatal("nsmain: chdir(/) failed: '%s'", strerror(errno));
    }
}

/*
 * The supplementary groups are the user's; the group of -g replaces only the
 * primary one.
 */
void
NsIdentityTakeGroup(const NsIdentity *identityPtr, const char *group)
{
    if (identityPtr->hasUser
            && setgroups((size_t) identityPtr->nGroups, identityPtr->groups)
               != 0) {
        Ns_Fatal("nsmain: failed to switch to user's groups: '%s'",
                 strerror(errno));
    }
    if ((identityPtr->hasUser || identityPtr->hasGroup)
            && setgid(identityPtr->gid) != 0) {
        Ns_Log(Error, "Ns_SetGroup: setgid(%d) failed: '%s'",
               (int) identityPtr->gid, strerror(errno));
        Ns_Fatal("nsmain: failed to switch to group %s",
                 group == NULL ? "of user" : group);
    }
}

void
NsIdentityTakeUser(const NsIdentity *identityPtr, const char *user)
{
    if (identityPtr->hasUser && setuid(identityPtr->uid) != 0) {
        Ns_Log(Error, "Ns_SetUser: setuid(%d) failed: '%s'",
               (int) identityPtr->uid, strerror(errno));
        Ns_Fatal("nsmain: failed to switch to user %s", user);
    }
}

/*
 * 0, or -1 with an entry in the log.  NULL: no change.
 */
int
Ns_SetUser(const char *user)
{
    NsIdentity identity;

    if (user == NULL) {
        return 0;
    }
    memset(&identity, 0, sizeof(identity));
    if (!FindUser(user, &identity)) {
        Ns_Log(Error, "Ns_SetUser: unknown user '%s'", user);
        return -1;
    }
    if (setgroups((size_t) identity.nGroups, identity.groups) != 0
            && errno != EPERM) {
        Ns_Log(Error, "Ns_SetUser: setgroups(%s) failed: '%s'", user,
               strerror(errno));
        return -1;
    }
    if (setgid(identity.gid) != 0) {
        Ns_Log(Error, "Ns_SetUser: setgid(%d) failed: '%s'", (int) identity.gid,
               strerror(errno));
        return -1;
    }
    if (setuid(identity.uid) != 0) {
        Ns_Log(Error, "Ns_SetUser: setuid(%d) failed: '%s'", (int) identity.uid,
               strerror(errno));
        return -1;
    }
    return 0;
}

int
Ns_SetGroup(const char *group)
{
    gid_t gid;

    if (group == NULL) {
        return 0;
    }
    if (!FindGroup(group, &gid)) {
        Ns_Log(Error, "Ns_GetGroup: unknown group '%s'", group);
        return -1;
    }
    if (setgid(gid) != 0) {
        Ns_Log(Error, "Ns_SetGroup: setgid(%d) failed: '%s'", (int) gid,
               strerror(errno));
        return -1;
    }
    return 0;
}

/*
 * A name, or a number, which need not be in the user database.
 */
static bool
FindUser(const char *user, NsIdentity *identityPtr)
{
    char          *buffer = ns_malloc(LOOKUP_BYTES);
    struct passwd  entry, *foundPtr = NULL;
    unsigned long  number;
    bool           isFound = true;

    (void) getpwnam_r(user, &entry, buffer, LOOKUP_BYTES, &foundPtr);
    if (foundPtr == NULL && ParseNumber(user, &number)) {
        (void) getpwuid_r((uid_t) number, &entry, buffer, LOOKUP_BYTES,
                          &foundPtr);
        if (foundPtr == NULL) {
            identityPtr->uid = (uid_t) number;
            identityPtr->gid = getgid();
        }
    } else if (foundPtr == NULL) {
        isFound = false;
    }
    if (foundPtr != NULL) {
        identityPtr->uid = foundPtr->pw_uid;
        identityPtr->gid = foundPtr->pw_gid;
        snprintf(identityPtr->userName, sizeof(identityPtr->userName), "%s",
                 foundPtr->pw_name);
        identityPtr->nGroups = Ns_NrElements(identityPtr->groups);
        if (getgrouplist(foundPtr->pw_name, foundPtr->pw_gid,
                         identityPtr->groups, &identityPtr->nGroups) < 0) {
            identityPtr->nGroups = Ns_NrElements(identityPtr->groups);
        }
    }
    ns_free(buffer);
    return isFound;
}

static bool
FindGroup(const char *group, gid_t *gidPtr)
{
    char         *buffer = ns_malloc(LOOKUP_BYTES);
    struct group  entry, *foundPtr = NULL;
    unsigned long number;
    bool          isFound = true;

    (void) getgrnam_r(group, &entry, buffer, LOOKUP_BYTES, &foundPtr);
    if (foundPtr != NULL) {
        *gidPtr = foundPtr->gr_gid;
    } else if (ParseNumber(group, &number)) {
        *gidPtr = (gid_t) number;
    } else {
        isFound = false;
    }
    ns_free(buffer);
    return isFound;
}

static bool
ParseNumber(const char *text, unsigned long *numberPtr)
{
    char *end;

    if (!isdigit(UCHAR(*text))) {
        return false;
    }
    errno = 0;
    *numberPtr = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0' && *numberPtr < UINT32_MAX;
}
