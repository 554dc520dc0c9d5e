/* SPDX-License-Identifier: MPL-2.0
 * users.c --
 *
 *      The users of a control port and their passwords.
 */

#include "nscp.h"

/* crypt of "x", as in examples on the web. */
#define SAMPLE_HASH "t2GqvvaiIUbF2"
/* Takes as long as a real hash. */
#define NO_HASH "$6$nscp$"

static void AddUser(Ns_Set *users, const char *server, const char *entry);
static bool IsSame(const char *a, const char *b);

Ns_Set *
NscpUsersRead(const char *server, const char *section)
{
    Ns_Set *users = Ns_SetCreate("nscp"), *entries;

    entries = Ns_ConfigGetSection(section);
    for (int i = 0; entries != NULL && i < Ns_SetSize(entries); i++) {
        if (STRIEQ(Ns_SetKey(entries, i), "user")) {
            AddUser(users, server, Ns_SetValue(entries, i));
        }
    }
    return users;
}

/*
 * NAME:HASH, maybe with more fields, as in /etc/passwd.
 */
static void
AddUser(Ns_Set *users, const char *server, const char *entry)
{
    const char *colon = strchr(entry, ':');
    char       *name, *hash;

    if (colon == NULL) {
        Ns_Log(Warning, "nscp[%s]: user entry '%s' contains no colon; ignored.",
               server, entry);
        return;
    }
    name = ns_strdup(entry);
    name[colon - entry] = '\0';
    hash = ns_strdup(colon + 1);
    hash[strcspn(hash, ":")] = '\0';

    if (Ns_SetFind(users, name) >= 0) {
        Ns_Log(Warning, "nscp[%s]: duplicate user: \"%s\"", server, name);
        Ns_SetDeleteKey(users, name);
    }
    if (*hash == '\0') {
        Ns_Log(Warning,
               "nscp[%s]: user \"%s\" has no password and cannot log in: use "
               "ns_crypt to make one",
               server, name);
    } else if (STREQ(hash, SAMPLE_HASH)) {
        Ns_Log(Warning,
               "nscp[%s]: user \"%s\" has a publicly known password and cannot "
               "log in: use ns_crypt to make another one",
               server, name);
    } else {
        Ns_SetPut(users, name, hash);
        Ns_Log(Notice, "nscp[%s]: added user: \"%s\"", server, name);
    }
    ns_free(name);
    ns_free(hash);
}

bool
NscpUsersAllow(const Port *portPtr, const char *user, const char *password)
{
    const char *hash = Ns_SetGet(portPtr->users, user);
    char        buffer[NS_ENCRYPT_BUFSIZE];
    bool        isAllowed;

    if (hash != NULL) {
        isAllowed = IsSame(Ns_Encrypt(password, hash, buffer), hash);
    } else {
        (void) Ns_Encrypt(password, NO_HASH, buffer);
        isAllowed = false;
    }
    if (!isAllowed && portPtr->isAuthAsked
        && !(STREQ(user, "nsadmin") && STREQ(password, "x"))) {
        isAllowed = Ns_AuthorizeUser(user, password) == NS_OK;
    }
    return isAllowed;
}

/*
 * Compare in a time that does not reveal where the strings differ.
 */
static bool
IsSame(const char *a, const char *b)
{
    size_t        length = strlen(b);
    unsigned char difference = strlen(a) == length ? 0 : 1;

    if (difference == 0) {
        for (size_t i = 0; i < length; i++) {
            difference |= (unsigned char) (a[i] ^ b[i]);
        }
    }
    return difference == 0;
}
