/* SPDX-License-Identifier: MPL-2.0
 * hostmap.c --
 *
 *      Which server answers to which Host field, for drivers that all share,
 *      and under which names the server of a driver of its own is known.
 *
 *      Names are compared without case, and without a dot at their end.  A name
 *      is known with each port of the driver, with that of its protocol, and
 *      without one, whichever of them the configuration has; what it has itself
 *      comes first.
 */

#include "net/hostmap.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsset.h"
#include "base/assert.h"

struct NsHostMap {
    Tcl_HashTable      entries;    /* Lower-case Host field -> NsHostEntry. */
    const NsHostEntry *defaultPtr; /* NULL: of a server's own driver. */
};

#define MAX_HOST 256

static const Ns_Set      *Section(const NsDriver *drvPtr);
static NsHostMap         *Create(NsDriver *drvPtr, const Ns_Set *setPtr,
                                 const char *defaultServer);
static const NsHostEntry *Find(const NsHostMap *mapPtr, const char *host);
static void AddEntry(NsHostMap *mapPtr, NsDriver *drvPtr, const char *server,
                     const char *host);
static void AddVariants(NsHostMap *mapPtr, const NsDriver *drvPtr,
                        const char *host);
static void AddVariant(NsHostMap *mapPtr, const NsDriver *drvPtr,
                       const NsHostEntry *entryPtr, const char *name, int port);
static NsHostEntry *CreateEntry(const NsDriver *drvPtr, NsServer *serverPtr,
                                const char *host);
static bool         IsOfDriver(const NsDriver *drvPtr, const char *port);
static size_t       NameLength(const char *host);
static bool         Normalize(char *key, const char *host);

NsHostMap *
NsHostMapCreate(NsDriver *drvPtr, const char *defaultServer)
{
    NsHostMap *mapPtr;

    if (defaultServer == NULL) {
        Ns_Fatal("%s: virtual servers configured, but %s has no defaultserver"
                 " defined",
                 drvPtr->pub.module, drvPtr->path);
    }
    mapPtr = Create(drvPtr, Section(drvPtr), defaultServer);
    if (mapPtr->defaultPtr == NULL) {
        Ns_Fatal("%s: default server %s not defined in %s/servers",
                 drvPtr->pub.module, defaultServer, drvPtr->path);
    }
    return mapPtr;
}

NsHostMap *
NsHostMapCreateOwn(NsDriver *drvPtr)
{
    const Ns_Set *setPtr = Section(drvPtr);

    NsAssert(drvPtr->serverPtr != NULL);
    return setPtr == NULL ? NULL : Create(drvPtr, setPtr, NULL);
}

/*
 * NULL: it is not there.
 */
static const Ns_Set *
Section(const NsDriver *drvPtr)
{
    Ns_DString path;
    Ns_Set    *setPtr;

    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&path, drvPtr->path, "/servers", NULL);
    setPtr = Ns_ConfigGetSection(Ns_DStringValue(&path));
    Ns_DStringFree(&path);
    return setPtr;
}

static NsHostMap *
Create(NsDriver *drvPtr, const Ns_Set *setPtr, const char *defaultServer)
{
    NsHostMap  *mapPtr = ns_calloc(1u, sizeof(NsHostMap));
    const char *module = drvPtr->pub.module;

    Tcl_InitHashTable(&mapPtr->entries, TCL_STRING_KEYS);
    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        const char *server = Ns_SetKey(setPtr, i);

        if (NsServerFind(server) == NULL) {
            Ns_Log(Error, "%s: no such server: %s", module, server);
            continue;
        }
        if (drvPtr->serverPtr != NULL
            && NsServerFind(server) != drvPtr->serverPtr) {
            Ns_Log(
                Error,
                "%s: the driver belongs to server %s only, not to %s; load it "
                "in ns/modules to serve several",
                module, drvPtr->serverPtr->name, server);
            continue;
        }
        AddEntry(mapPtr, drvPtr, server, Ns_SetValue(setPtr, i));
        if (mapPtr->defaultPtr == NULL && defaultServer != NULL
            && STREQ(server, defaultServer)) {
            char           key[MAX_HOST];
            Tcl_HashEntry *hPtr;

            (void) Normalize(key, Ns_SetValue(setPtr, i));
            hPtr = Tcl_FindHashEntry(&mapPtr->entries, key);
            mapPtr->defaultPtr = hPtr == NULL ? NULL : Tcl_GetHashValue(hPtr);
        }
    }
    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        AddVariants(mapPtr, drvPtr, Ns_SetValue(setPtr, i));
    }
    return mapPtr;
}

void
NsHostMapChoose(const NsDriver *drvPtr, NsMessage *messagePtr)
{
    const NsHostMap   *mapPtr = drvPtr->settings.hostMapPtr;
    const NsHostEntry *entryPtr = NULL;

    if (mapPtr != NULL) {
        entryPtr = Find(mapPtr,
                        messagePtr->isRaw
                            ? NULL
                            : NsHttpKnown(&messagePtr->head, NS_FIELD_HOST));
        entryPtr = entryPtr == NULL ? mapPtr->defaultPtr : entryPtr;
    }
    if (entryPtr != NULL) {
        messagePtr->serverPtr = entryPtr->serverPtr;
        messagePtr->location = entryPtr->location;
    } else {
        messagePtr->serverPtr = drvPtr->serverPtr;
        messagePtr->location = drvPtr->pub.location;
    }
}

bool
NsHostMapKnows(const NsHostMap *mapPtr, const char *host)
{
    return Find(mapPtr, host) != NULL;
}

static const NsHostEntry *
Find(const NsHostMap *mapPtr, const char *host)
{
    char           key[MAX_HOST];
    Tcl_HashEntry *hPtr;

    if (host == NULL || !Normalize(key, host)) {
        return NULL;
    }
    hPtr = Tcl_FindHashEntry((Tcl_HashTable *) &mapPtr->entries, key);
    return hPtr == NULL ? NULL : Tcl_GetHashValue(hPtr);
}

void
NsHostMapAppend(Ns_Set *hostsPtr, const NsHostMap *mapPtr,
                const NsServer *serverPtr)
{
    Tcl_HashSearch search;
    Tcl_HashEntry *hPtr;

    for (hPtr = Tcl_FirstHashEntry((Tcl_HashTable *) &mapPtr->entries, &search);
         hPtr != NULL; hPtr = Tcl_NextHashEntry(&search)) {
        const NsHostEntry *entryPtr = Tcl_GetHashValue(hPtr);

        if (entryPtr->serverPtr == serverPtr) {
            Ns_SetUpdate(hostsPtr, Tcl_GetHashKey(&mapPtr->entries, hPtr),
                         NULL);
        }
    }
}

static void
AddEntry(NsHostMap *mapPtr, NsDriver *drvPtr, const char *server,
         const char *host)
{
    char           key[MAX_HOST];
    Tcl_HashEntry *hPtr;
    int            isNew;

    if (!Normalize(key, host)) {
        Ns_Log(Error, "%s: invalid host map: %s", drvPtr->pub.module, host);
        return;
    }
    hPtr = Tcl_CreateHashEntry(&mapPtr->entries, key, &isNew);
    if (!isNew) {
        Ns_Log(Error, "%s: duplicate host map: %s", drvPtr->pub.module, host);
        return;
    }
    Tcl_SetHashValue(hPtr, CreateEntry(drvPtr, NsServerFind(server), host));
}

/*
 * The same name with and without a port.
 */
static void
AddVariants(NsHostMap *mapPtr, const NsDriver *drvPtr, const char *host)
{
    char               key[MAX_HOST], name[MAX_HOST];
    const NsHostEntry *entryPtr;
    Tcl_HashEntry     *hPtr;
    size_t             length = NameLength(host);

    if (!Normalize(key, host)
        || (hPtr = Tcl_FindHashEntry(&mapPtr->entries, key)) == NULL) {
        return;
    }
    entryPtr = Tcl_GetHashValue(hPtr);
    snprintf(name, sizeof(name), "%.*s", (int) length, host);
    if (host[length] == '\0') {
        AddVariant(mapPtr, drvPtr, entryPtr, name, drvPtr->defaultPort);
        for (int i = 0; i < drvPtr->nPorts; i++) {
            AddVariant(mapPtr, drvPtr, entryPtr, name, drvPtr->ports[i]);
        }
    } else if (IsOfDriver(drvPtr, host + length + 1)) {
        AddVariant(mapPtr, drvPtr, entryPtr, name, 0);
    }
}

/*
 * The location has the port that the client used; 0: none.
 */
static void
AddVariant(NsHostMap *mapPtr, const NsDriver *drvPtr,
           const NsHostEntry *entryPtr, const char *name, int port)
{
    char           host[MAX_HOST + 8], key[MAX_HOST];
    Tcl_HashEntry *hPtr;
    int            isNew;

    if (port == 0) {
        snprintf(host, sizeof(host), "%s", name);
    } else {
        snprintf(host, sizeof(host), "%s:%d", name, port);
    }
    if (Normalize(key, host)) {
        hPtr = Tcl_CreateHashEntry(&mapPtr->entries, key, &isNew);
        if (isNew) {
            Tcl_SetHashValue(hPtr,
                             CreateEntry(drvPtr, entryPtr->serverPtr, host));
        }
    }
}

static NsHostEntry *
CreateEntry(const NsDriver *drvPtr, NsServer *serverPtr, const char *host)
{
    NsHostEntry *entryPtr = ns_calloc(1u, sizeof(NsHostEntry));
    Ns_DString   ds;

    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, drvPtr->pub.protocol, "://", host, NULL);
    entryPtr->serverPtr = serverPtr;
    entryPtr->location = Ns_DStringExport(&ds);
    return entryPtr;
}

static bool
IsOfDriver(const NsDriver *drvPtr, const char *port)
{
    int number;

    if (Ns_StrToInt(port, &number) != NS_OK) {
        return false;
    }
    for (int i = 0; i < drvPtr->nPorts; i++) {
        if (drvPtr->ports[i] == number) {
            return true;
        }
    }
    return number == drvPtr->defaultPort;
}

/*
 * Without the port and its colon; an IPv6 address is in brackets.
 */
static size_t
NameLength(const char *host)
{
    size_t bracket = *host == '[' ? strcspn(host, "]") : 0u;

    return bracket + strcspn(host + bracket, ":");
}

/*
 * The form in which hosts are compared; false if it is too long to be one.
 */
static bool
Normalize(char *key, const char *host)
{
    size_t length = strlen(host);
    size_t nameLength;

    if (length >= MAX_HOST) {
        return false;
    }
    for (size_t i = 0u; i < length; i++) {
        key[i] = (char) (host[i] >= 'A' && host[i] <= 'Z'
                             ? host[i] + ('a' - 'A')
                             : host[i]);
    }
    key[length] = '\0';
    nameLength = NameLength(key);
    if (nameLength > 1u && key[nameLength - 1u] == '.') {
        memmove(key + nameLength - 1u, key + nameLength,
                length - nameLength + 1u);
    }
    return true;
}
