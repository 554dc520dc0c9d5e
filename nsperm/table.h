/* SPDX-License-Identifier: MPL-2.0
 * table.h --
 *
 *      Users, groups and permissions of a server.
 *
 *      A table has no lock of its own: a thread that changes it must have
 *      exclusive access; readers may share it.  Users do not change, and may
 *      outlive their table.
 */

#ifndef NSPERM_TABLE_H
#define NSPERM_TABLE_H

#include "ns.h"

#include <stdatomic.h>

/*
 * A rule about hosts: an address with a mask, a host name, or a domain, which
 * begins with a dot.
 */
typedef struct HostRule {
    char           *text; /* As given. */
    bool            isAddress;
    struct in6_addr address; /* IPv4 is mapped into IPv6; masked. */
    struct in6_addr mask;
} HostRule;

#define PROOF_BYTES 32

typedef struct User {
    atomic_int nRefs;
    /* A digest of the first password that was found to be right, so that the
     * hash is not computed for each request; NULL: none yet.  It belongs to
     * this password: another one makes another user. */
    _Atomic(unsigned char *) proof;
    /* Constant after creation. */
    char *name;
    char *password; /* A hash, or, with isClear, plain text. */
    bool  isClear;
    bool  isAllowing; /* True: only from these hosts; false: not from
                       * them. */
    int       nRules;
    HostRule *rules;
} User;

typedef enum {
    ALLOW_USER,
    DENY_USER,
    ALLOW_GROUP,
    DENY_GROUP,
    N_LISTS
} ListKind;

/*
 * What is permitted for a method and a URL pattern.
 */
typedef struct Record {
    struct Record *nextPtr; /* Same method and directory. */
    char          *method;
    char          *directory; /* Without a trailing slash; "": the root. */
    char          *filter;    /* NULL: none. */
    bool           isInherited;
    bool           isImplicitAllow; /* A deny rule was once added. */
    bool           isKept;          /* Survives when the next table takes
                                     * over. */
    Tcl_HashTable lists[N_LISTS];   /* Names. */
} Record;

typedef struct Table {
    Tcl_HashTable users;   /* By name: User *. */
    Tcl_HashTable groups;  /* By name: tables of names. */
    Tcl_HashTable records; /* By method and directory: first Record *. */
} Table;

/*
 * What a table says about a user and a request, without checking password and
 * host.
 */
typedef struct Verdict {
    bool  isProtected; /* There is a record. */
    bool  isDenied;
    bool  isAllowed;
    User *userPtr; /* NULL: unknown; release with UserUnref. */
} Verdict;

Table *TableCreate(void);
void   TableFree(Table *tablePtr);

/*
 * Add a user, which the table then owns.  False: the name is taken.
 */
bool TableAddUser(Table *tablePtr, User *userPtr);

/*
 * Returns a new reference; NULL: there is no such user.
 */
User *TableGetUser(const Table *tablePtr, const char *name);

/*
 * Replace a user of the table; delete one, also from groups.
 */
void TableReplaceUser(Table *tablePtr, User *userPtr);
void TableDeleteUser(Table *tablePtr, const char *name);

/*
 * Add a group with these users.  If the name is taken, or a user is unknown or
 * named twice, nothing changes and a message is in interp.
 */
int  TableAddGroup(Table *tablePtr, Tcl_Interp *interp, const char *name,
                   int nUsers, Tcl_Obj *const *users);
void TableDeleteGroup(Table *tablePtr, const char *name);

/*
 * The record with exactly this pattern; made if there is none.
 */
Record *TableRecord(Table *tablePtr, const char *method, const char *url,
                    bool isInherited);
void    RecordAdd(Record *recordPtr, ListKind kind, const char *name);
void    RecordClear(Record *recordPtr);

/*
 * Copy the records of the older table that are to be kept.
 */
void TableKeep(Table *tablePtr, const Table *olderPtr);

/*
 * Record: delete the record with exactly this pattern.  Below: delete all
 * records at and below it.
 */
void TableDeleteRecord(Table *tablePtr, const char *method, const char *url,
                       bool isInherited);
void TableDeleteBelow(Table *tablePtr, const char *method, const char *url);

void TableJudge(const Table *tablePtr, const char *method, const char *url,
                const char *user, Verdict *verdictPtr);

/*
 * Lists for Tcl.
 */
Tcl_Obj *TableListUsers(const Table *tablePtr);
Tcl_Obj *TableListGroups(const Table *tablePtr);
Tcl_Obj *TableListRecords(const Table *tablePtr);

/*
 * Create: a user with one reference and no rules.  Dup: a copy with another
 * password.
 */
User *UserCreate(const char *name, const char *password, bool isClear);
User *UserDup(const User *userPtr, const char *hash);
void  UserUnref(User *userPtr);

/*
 * Whether this is the user's password.  Hashing takes time.
 */
bool UserHasPassword(const User *userPtr, const char *password);

/*
 * Add a rule.  TCL_ERROR, with a message: it is not valid, or exists already.
 */
int UserAddRule(User *userPtr, Tcl_Interp *interp, const char *text);

/*
 * Whether the user may come from an address (NULL: unknown, not checked).  May
 * look up the name of the host.
 */
bool UserMayComeFrom(const User *userPtr, const char *peer);

#endif
