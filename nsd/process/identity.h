/* SPDX-License-Identifier: MPL-2.0
 * identity.h --
 *
 *      As whom, and under which root, the process runs; modules use Ns_SetUser
 *      and Ns_SetGroup of nsfile.h.
 */

#ifndef NSD_PROCESS_IDENTITY_H
#define NSD_PROCESS_IDENTITY_H

#include "nstypes.h"

/*
 * Check, before anything else happens, that root has named the user to run as.
 * Fatal otherwise.
 */
void NsIdentityCheck(const char *user);

/*
 * Look up user and group while the user database can be read: a new root may
 * have none.  Both may be NULL.  Unknown names are fatal.  Does nothing unless
 * the process is root's.
 */
typedef struct NsIdentity {
    bool  hasUser;
    bool  hasGroup; /* -g was given. */
    uid_t uid;
    gid_t gid;           /* Of -g, else the user's own. */
    char  userName[256]; /* Empty for a bare number. */
    int   nGroups;       /* Supplementary groups. */
    gid_t groups[256];
} NsIdentity;

void NsIdentityFind(NsIdentity *identityPtr, const char *user,
                    const char *group);

/*
 * Change the root directory.  Fatal when that fails.
 */
void NsIdentityChroot(const char *root);

/*
 * Take on the group, and then the user.  Fatal when that fails.
 */
void NsIdentityTakeGroup(const NsIdentity *identityPtr, const char *group);
void NsIdentityTakeUser(const NsIdentity *identityPtr, const char *user);

#endif
