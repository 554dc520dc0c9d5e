/* SPDX-License-Identifier: MPL-2.0
 * identity.c --
 *
 *      As whom, and under which root, the process runs.
 */

#include "process/identity.h"

#include "nsfile.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/restart.h"

#include <grp.h>

static bool HasIdentity(const NsIdentity *identityPtr);
static bool FindUser(const char *user, NsIdentity *identityPtr);
static void TakeUserGroups(NsIdentity *identityPtr, const char *name);
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
 * A process that has executed itself has given up root's rights already.
 */
static bool
HasIdentity(const NsIdentity *identityPtr)
{
    return NsRestartIsOne() && geteuid() != 0 && identityPtr->hasUser
        && identityPtr->uid == geteuid();
}

/*
 * The supplementary groups are the user's; the group of -g replaces only the
 * primary one.
 */
void
NsIdentityTakeGroup(const NsIdentity *identityPtr, const char *group)
{
    if (HasIdentity(identityPtr)) {
        return;
    }
    if (identityPtr->hasUser
        && setgroups((size_t) identityPtr->nGroups, identityPtr->groups) != 0) {
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
    unsigned long number;
    uid_t         uid = (uid_t) Ns_GetUid(user);
    Ns_DString    name;

    Ns_DStringInit(&name);
    if (uid != (uid_t) -1) {
        Ns_DStringAppend(&name, user);
    } else if (ParseNumber(user, &number)) {
        uid = (uid_t) number;
        (void) Ns_GetNameForUid(&name, (int) uid);
    }
    identityPtr->uid = uid;
    identityPtr->gid = getgid();
    if (Ns_DStringLength(&name) > 0) {
        TakeUserGroups(identityPtr, Ns_DStringValue(&name));
    }
    Ns_DStringFree(&name);
    return uid != (uid_t) -1;
}

static void
TakeUserGroups(NsIdentity *identityPtr, const char *name)
{
    identityPtr->gid = (gid_t) Ns_GetUserGid(name);
    snprintf(identityPtr->userName, sizeof(identityPtr->userName), "%s", name);
    identityPtr->nGroups = Ns_NrElements(identityPtr->groups);
    if (getgrouplist(name, identityPtr->gid, identityPtr->groups,
                     &identityPtr->nGroups)
        < 0) {
        identityPtr->nGroups = Ns_NrElements(identityPtr->groups);
    }
}

static bool
FindGroup(const char *group, gid_t *gidPtr)
{
    unsigned long number;

    *gidPtr = (gid_t) Ns_GetGid(group);
    if (*gidPtr == (gid_t) -1 && ParseNumber(group, &number)) {
        *gidPtr = (gid_t) number;
    }
    return *gidPtr != (gid_t) -1;
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
