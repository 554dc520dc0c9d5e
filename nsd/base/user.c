/* SPDX-License-Identifier: MPL-2.0
 * user.c --
 *
 *      The system's users and groups.
 */

#include "nsfile.h"
#include "nsstring.h"
#include "nsthread.h"

#include <grp.h>
#include <pwd.h>

/*
 * An entry of either database, with room for its strings.
 */
typedef struct Entry {
    struct passwd user;
    struct group  group;
    char         *buffer;
    size_t        bytes;
} Entry;

typedef int LookupProc(Entry *entryPtr, const void *key, bool *isFoundPtr);

static bool Find(Entry *entryPtr, LookupProc *lookup, const void *key);
static int  LookupUser(Entry *entryPtr, const void *key, bool *isFoundPtr);
static int  LookupUid(Entry *entryPtr, const void *key, bool *isFoundPtr);
static int  LookupGroup(Entry *entryPtr, const void *key, bool *isFoundPtr);
static int  LookupGid(Entry *entryPtr, const void *key, bool *isFoundPtr);

int
Ns_GetUid(const char *user)
{
    Entry entry;
    int   uid = Find(&entry, LookupUser, user) ? (int) entry.user.pw_uid : -1;

    ns_free(entry.buffer);
    return uid;
}

int
Ns_GetGid(const char *group)
{
    Entry entry;
    int gid = Find(&entry, LookupGroup, group) ? (int) entry.group.gr_gid : -1;

    ns_free(entry.buffer);
    return gid;
}

int
Ns_GetUserGid(const char *user)
{
    Entry entry;
    int   gid = Find(&entry, LookupUser, user) ? (int) entry.user.pw_gid : -1;

    ns_free(entry.buffer);
    return gid;
}

int
Ns_GetUserHome(Ns_DString *dsPtr, const char *user)
{
    Entry entry;
    bool  isFound = Find(&entry, LookupUser, user);

    if (isFound) {
        Ns_DStringAppend(dsPtr, entry.user.pw_dir);
    }
    ns_free(entry.buffer);
    return isFound;
}

int
Ns_GetNameForUid(Ns_DString *dsPtr, int uid)
{
    Entry entry;
    bool  isFound = Find(&entry, LookupUid, &uid);

    if (isFound) {
        Ns_DStringAppend(dsPtr, entry.user.pw_name);
    }
    ns_free(entry.buffer);
    return isFound;
}

int
Ns_GetNameForGid(Ns_DString *dsPtr, int gid)
{
    Entry entry;
    bool  isFound = Find(&entry, LookupGid, &gid);

    if (isFound) {
        Ns_DStringAppend(dsPtr, entry.group.gr_name);
    }
    ns_free(entry.buffer);
    return isFound;
}

/*
 * Look up with as much room as the entry needs.  The caller frees the buffer.
 */
static bool
Find(Entry *entryPtr, LookupProc *lookup, const void *key)
{
    bool isFound = false;

    entryPtr->buffer = NULL;
    entryPtr->bytes = 1024;
    do {
        entryPtr->bytes *= 2;
        entryPtr->buffer = ns_realloc(entryPtr->buffer, entryPtr->bytes);
    } while (lookup(entryPtr, key, &isFound) == ERANGE);
    return isFound;
}

static int
LookupUser(Entry *entryPtr, const void *key, bool *isFoundPtr)
{
    struct passwd *resultPtr = NULL;
    int            error = getpwnam_r(key, &entryPtr->user, entryPtr->buffer,
                                      entryPtr->bytes, &resultPtr);

    *isFoundPtr = resultPtr != NULL;
    return error;
}

static int
LookupUid(Entry *entryPtr, const void *key, bool *isFoundPtr)
{
    struct passwd *resultPtr = NULL;
    int error = getpwuid_r((uid_t) * (const int *) key, &entryPtr->user,
                           entryPtr->buffer, entryPtr->bytes, &resultPtr);

    *isFoundPtr = resultPtr != NULL;
    return error;
}

static int
LookupGroup(Entry *entryPtr, const void *key, bool *isFoundPtr)
{
    struct group *resultPtr = NULL;
    int           error = getgrnam_r(key, &entryPtr->group, entryPtr->buffer,
                                     entryPtr->bytes, &resultPtr);

    *isFoundPtr = resultPtr != NULL;
    return error;
}

static int
LookupGid(Entry *entryPtr, const void *key, bool *isFoundPtr)
{
    struct group *resultPtr = NULL;
    int error = getgrgid_r((gid_t) * (const int *) key, &entryPtr->group,
                           entryPtr->buffer, entryPtr->bytes, &resultPtr);

    *isFoundPtr = resultPtr != NULL;
    return error;
}
