/*
 * hostmap.c --
 *
 *      Which server answers to which Host field, for drivers that all share.
 *
 *      Names are compared without case, and without a dot at their end.
 */

#include "net/driver_int.h"
#include "nsparam.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsset.h"

struct NsHostMap {
    Tcl_HashTable      entries;     /* Lower-case Host field -> NsHostEntry. */
    const NsHostEntry *defaultPtr;
};

#define MAX_HOST 256

static const NsHostEntry *Find(const NsHostMap *mapPtr, const char *host);
static void AddEntry(NsHostMap *mapPtr, NsDriver *drvPtr, const char *server,
                     const char *host);
static bool Normalize(char *key, const char *host);

NsHostMap *
NsHostMapCreate(NsDriver *drvPtr, const char *defaultServer)
{
    NsHostMap  *mapPtr = ns_calloc(1u, sizeof(NsHostMap));
    const char *module = drvPtr->pub.module;
    Ns_DString  path;
    Ns_Set     *setPtr;

    Tcl_InitHashTable(&mapPtr->entries, TCL_STRING_KEYS);
    if (defaultServer == NULL) {
        Ns_Fatal("%s: virtual servers configured, but %s has no defaultserver"
                 " defined", module, drvPtr->path);
    }
    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&path, drvPtr->path, "/servers", NULL);
    setPtr = Ns_ConfigGetSection(Ns_DStringValue(&path));
    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        const char *server = Ns_SetKey(setPtr, i);

        if (NsServerFind(server) == NULL) {
            Ns_Log(Error, "%s: no such server: %s", module, server);
            continue;
        }
        AddEntry(mapPtr, drvPtr, server, Ns_SetValue(setPtr, i));
        if (mapPtr->defaultPtr == NULL && STREQ(server, defaultServer)) {
            char           key[MAX_HOST];
            Tcl_HashEntry *hPtr;

            (void) Normalize(key, Ns_SetValue(setPtr, i));
            hPtr = Tcl_FindHashEntry(&mapPtr->entries, key);
            mapPtr->defaultPtr = hPtr == NULL ? NULL : Tcl_GetHashValue(hPtr);
        }
    }
    if (mapPtr->defaultPtr == NULL) {
        Ns_Fatal("%s: default server %s not defined in %s", module,
                 defaultServer, Ns_DStringValue(&path));
    }
    Ns_DStringFree(&path);
    return mapPtr;
}

const NsHostEntry *
NsHostMapFind(const NsHostMap *mapPtr, const char *host)
{
    const NsHostEntry *entryPtr = Find(mapPtr, host);

    return entryPtr == NULL ? mapPtr->defaultPtr : entryPtr;
}

bool
NsSockIsHostKnown(const NsSockSettings *settingsPtr, const char *host)
{
    return settingsPtr->hostMapPtr == NULL
        || Find(settingsPtr->hostMapPtr, host) != NULL;
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
    NsHostEntry   *entryPtr;
    Ns_DString     ds;
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
    Ns_DStringInit(&ds);
    Ns_DStringVarAppend(&ds, drvPtr->pub.protocol, "://", host, NULL);
    entryPtr = ns_calloc(1u, sizeof(NsHostEntry));
    entryPtr->serverPtr = NsServerFind(server);
    entryPtr->location = Ns_DStringExport(&ds);
    Tcl_SetHashValue(hPtr, entryPtr);
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
                         ? host[i] + ('a' - 'A') : host[i]);
    }
    key[length] = '\0';
    nameLength = strcspn(key, ":");
    if (nameLength > 1u && key[nameLength - 1u] == '.') {
        memmove(key + nameLength - 1u, key + nameLength,
                length - nameLength + 1u);
    }
    return true;
}
