/*
 * table.h --
 *
 *      Users, groups and permissions of a server.
 *
 *      A table has no lock: who changes it has it alone, who reads it shares it
 *      with other readers.  Users do not change, and may outlive their table.
 */

#ifndef NSPERM_TABLE_H
#define NSPERM_TABLE_H

#include "ns.h"

#include <stdatomic.h>

/*
 * From where a user may come: an address with a mask, a host name, or the end
 * of names, which begins with a dot.
 */
typedef struct HostRule {
    char           *text; /* As it was given. */
    bool            isAddress;
    struct in6_addr address; /* IPv4 as mapped into IPv6; masked. */
    struct in6_addr mask;
} HostRule;

typedef struct User {
    atomic_int nRefs;
    /* Constant after creation. */
    char     *name;
    char     *password; /* A hash; with isClear the password itself. */
    bool      isClear;
    bool      isAllowing; /* Only from these hosts; else, not from them. */
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
    char          *directory; /* Without slash at its end; "" is the root. */
    char          *filter;    /* NULL: none. */
    bool           isInherited;
    bool           isImplicitAllow; /* A deny rule was added once. */
    bool           isKept;          /* Goes into the table that comes next. */
    Tcl_HashTable  lists[N_LISTS];  /* Names. */
} Record;

typedef struct Table {
    Tcl_HashTable users;   /* User * by name. */
    Tcl_HashTable groups;  /* Tables of names by name. */
    Tcl_HashTable records; /* The first Record * by method and directory. */
} Table;

/*
 * What a table says about a user and a request, apart from the password and the
 * host.
 */
typedef struct Verdict {
    bool  isProtected; /* There is a record. */
    bool  isDenied;
    bool  isAllowed;
    User *userPtr; /* NULL: unknown; else to be given back. */
} Verdict;

Table *TableCreate(void);
void   TableFree(Table *tablePtr);

/*
 * The user belongs to the table.  False: there is one of that name.
 */
bool TableAddUser(Table *tablePtr, User *userPtr);

/*
 * Another reference; NULL if there is no such user.
 */
User *TableGetUser(const Table *tablePtr, const char *name);

/*
 * Replace a user, who is in the table; remove one, also from groups.
 */
void TableReplaceUser(Table *tablePtr, User *userPtr);
void TableDeleteUser(Table *tablePtr, const char *name);

/*
 * Add a group with these users; nothing is changed, and a message is left in
 * interp, if there is one of that name, or a user is unknown or named twice.
 */
int  TableAddGroup(Table *tablePtr, Tcl_Interp *interp, const char *name,
                   int nUsers, Tcl_Obj *const *users);
void TableDeleteGroup(Table *tablePtr, const char *name);

/*
 * The record of exactly this pattern, made if there is none.
 */
Record *TableRecord(Table *tablePtr, const char *method, const char *url,
                    bool isInherited);
void    RecordAdd(Record *recordPtr, ListKind kind, const char *name);
void    RecordClear(Record *recordPtr);

/*
 * Add the records to be kept.
 */
void TableKeep(Table *tablePtr, const Table *olderPtr);

/*
 * Delete the record of exactly this pattern, or all at and below it.
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
 * A user with one reference and without rules; one like another, but for the
 * password.
 */
User *UserCreate(const char *name, const char *password, bool isClear);
User *UserDup(const User *userPtr, const char *hash);
void  UserUnref(User *userPtr);

/*
 * Whether this is the user's password; hashes alone take time.
 */
bool UserHasPassword(const User *userPtr, const char *password);

/*
 * Add a rule; TCL_ERROR and a message if it is none, or there already.
 */
int UserAddRule(User *userPtr, Tcl_Interp *interp, const char *text);

/*
 * Whether the user may come from an address (NULL: unknown, which is not
 * checked).  May ask for the name of the host.
 */
bool UserMayComeFrom(const User *userPtr, const char *peer);

#endif
