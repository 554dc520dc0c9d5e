/* SPDX-License-Identifier: MPL-2.0
 * host.c --
 *
 *      The certificates of one loaded driver, by the names that clients ask
 *      for.
 */

#include "host.h"
#include "certificate.h"

#include <dirent.h>

#include <openssl/err.h>

#define MAX_NAME 256

struct SslHost {
    const char    *module;    /* Constant. */
    const char    *path;      /* Constant: section of the driver. */
    char          *directory; /* Constant: vhostcertificates, or NULL. */
    SslTicketKeys *keysPtr;   /* Constant. */

    SslHandshakes handshakes;

    Ns_Mutex        lock;     /* Guards: */
    SslContext    **contexts; /* The default first; none ever goes. */
    const char    **servers;  /* Whose section it has; or NULL. */
    int             nContexts;
    unsigned        nChanges;      /* Of contexts and what is in them. */
    unsigned        nNamed;        /* Of them, known to the names. */
    struct timespec directoryTime; /* Of its last change when it was read. */
    Tcl_HashTable  *namesPtr;      /* Lower-case name -> SslContext. */
    Tcl_HashTable   files;         /* Of certificates -> nothing. */
};

static SslContext *Load(SslHost *hostPtr, const char *path, const char *file);
static void Add(SslHost *hostPtr, SslContext *contextPtr, const char *server);
static bool LoadServers(SslHost *hostPtr);
static void LoadDirectory(SslHost *hostPtr, bool onlyChanged);
static bool IsDirectoryNew(SslHost *hostPtr);
static bool IsLoaded(SslHost *hostPtr, const char *file);
static void MakeNames(SslHost *hostPtr);
static Tcl_HashTable *CollectNames(SslHost *hostPtr);
static void AddHostMap(const SslHost *hostPtr, Tcl_HashTable *namesPtr,
                       const char *server, SslContext *contextPtr);
static void AddOwnNames(Tcl_HashTable *namesPtr, SslContext *contextPtr);
static void AddFileName(Tcl_HashTable *namesPtr, SslContext *contextPtr);
static void AddName(Tcl_HashTable *namesPtr, const char *name, size_t length,
                    SslContext *contextPtr);
static SslCertificateNameProc AddCertificateName;
static bool                   ToKey(char *key, const char *name, size_t length);
static void                   Reload(SslHost *hostPtr, bool onlyChanged);
static int                    Greet(SSL *ssl, int *alertPtr, void *arg);
static SslContext *FindKeyLocked(const SslHost *hostPtr, const char *key);

SslHost *
SslHostCreate(const char *module, const char *path)
{
    SslHost *hostPtr = ns_calloc(1u, sizeof(SslHost));

    hostPtr->module = module;
    hostPtr->path = path;
    Tcl_InitHashTable(&hostPtr->files, TCL_STRING_KEYS);
    Ns_MutexSetName2(&hostPtr->lock, "nsssl:host", module);
    return hostPtr;
}

SslHandshakes *
SslHostHandshakes(SslHost *hostPtr)
{
    return &hostPtr->handshakes;
}

const char *
SslHostModule(const SslHost *hostPtr)
{
    return hostPtr->module;
}

bool
SslHostLoad(SslHost *hostPtr, const char *server)
{
    const char *directory = Ns_ConfigGetValue(hostPtr->path,
                                              "vhostcertificates");
    SslContext *contextPtr = NULL;

    if (directory != NULL && *directory != '\0') {
        hostPtr->directory = SslFindFile(directory);
    }
    hostPtr->keysPtr = SslTicketKeysCreate(hostPtr->module, hostPtr->path);
    if (hostPtr->keysPtr != NULL) {
        contextPtr = Load(hostPtr, hostPtr->path, NULL);
    }
    if (contextPtr != NULL) {
        Add(hostPtr, contextPtr, NULL);
    }
    if (contextPtr == NULL || (server == NULL && !LoadServers(hostPtr))) {
        /* The start ends. */
        return false;
    }
    LoadDirectory(hostPtr, false);
    MakeNames(hostPtr);
    return true;
}

SSL *
SslHostNewConnection(SslHost *hostPtr)
{
    return SslContextNewConnection(SslHostContext(hostPtr, 0));
}

SslContext *
SslHostContext(SslHost *hostPtr, int i)
{
    SslContext *contextPtr;

    Ns_MutexLock(&hostPtr->lock);
    contextPtr = i < hostPtr->nContexts ? hostPtr->contexts[i] : NULL;
    Ns_MutexUnlock(&hostPtr->lock);
    return contextPtr;
}

SslContext *
SslHostFind(SslHost *hostPtr, const char *name)
{
    SslContext *contextPtr = NULL;
    char        key[MAX_NAME];

    Ns_MutexLock(&hostPtr->lock);
    if (ToKey(key, name, strlen(name))) {
        contextPtr = FindKeyLocked(hostPtr, key);
    }
    if (contextPtr == NULL) {
        contextPtr = hostPtr->contexts[0];
    }
    Ns_MutexUnlock(&hostPtr->lock);
    return contextPtr;
}

void
SslHostReload(SslHost *hostPtr)
{
    Reload(hostPtr, false);
}

void
SslHostReloadChanged(SslHost *hostPtr)
{
    Reload(hostPtr, true);
}

static void
Reload(SslHost *hostPtr, bool onlyChanged)
{
    SslContext *contextPtr;
    bool        isChanged = false;

    for (int i = 0; (contextPtr = SslHostContext(hostPtr, i)) != NULL; i++) {
        if (!onlyChanged || SslContextHasChanged(contextPtr)) {
            isChanged |= SslContextReload(contextPtr);
        }
    }
    SslTicketKeysReload(hostPtr->keysPtr);
    LoadDirectory(hostPtr, onlyChanged);
    Ns_MutexLock(&hostPtr->lock);
    hostPtr->nChanges += isChanged;
    Ns_MutexUnlock(&hostPtr->lock);
    MakeNames(hostPtr);
}

static SslContext *
Load(SslHost *hostPtr, const char *path, const char *file)
{
    return SslContextCreate(&(SslContextSpec){
        .module = hostPtr->module,
        .path = path,
        .driverPath = hostPtr->path,
        .file = file,
        .keysPtr = hostPtr->keysPtr,
        .helloProc = Greet,
        .helloArg = hostPtr});
}

static void
Add(SslHost *hostPtr, SslContext *contextPtr, const char *server)
{
    int n, isNew;

    Ns_MutexLock(&hostPtr->lock);
    n = hostPtr->nContexts++;
    if ((n & (n - 1)) == 0) {
        size_t room = n == 0 ? 1u : (size_t) n * 2u;

        hostPtr->contexts = ns_realloc(hostPtr->contexts,
                                       room * sizeof(SslContext *));
        hostPtr->servers = ns_realloc((void *) hostPtr->servers,
                                      room * sizeof(const char *));
    }
    hostPtr->contexts[n] = contextPtr;
    hostPtr->servers[n] = server;
    (void) Tcl_CreateHashEntry(&hostPtr->files, SslContextFile(contextPtr),
                               &isNew);
    hostPtr->nChanges++;
    Ns_MutexUnlock(&hostPtr->lock);
}

/*
 * Of a driver for all: those of servers that have one of their own.
 */
static bool
LoadServers(SslHost *hostPtr)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection("ns/servers");
    bool          isLoaded = true;

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        const char *server = Ns_SetKey(setPtr, i);
        const char *path = Ns_ConfigGetPath(server, hostPtr->module, NULL);
        SslContext *contextPtr;

        if (path == NULL || Ns_ConfigGetValue(path, "certificate") == NULL) {
            continue;
        }
        contextPtr = Load(hostPtr, path, NULL);
        if (contextPtr != NULL) {
            Add(hostPtr, contextPtr, server);
        } else {
            isLoaded = false;
        }
    }
    return isLoaded;
}

/*
 * Those files that have not been loaded yet.  One that cannot be is told of,
 * and the others are served.  Such a file may have been mended in place, which
 * does not change the directory.
 */
static void
LoadDirectory(SslHost *hostPtr, bool onlyChanged)
{
    DIR                 *dirPtr;
    const struct dirent *entryPtr;

    if (hostPtr->directory == NULL
        || (!IsDirectoryNew(hostPtr) && onlyChanged)) {
        return;
    }
    dirPtr = opendir(hostPtr->directory);
    if (dirPtr == NULL) {
        Ns_Log(Error, "%s: cannot read vhostcertificates %s: %s",
               hostPtr->module, hostPtr->directory, strerror(errno));
        return;
    }
    while ((entryPtr = readdir(dirPtr)) != NULL) {
        size_t      length = strlen(entryPtr->d_name);
        SslContext *contextPtr;
        Ns_DString  file;

        if (length < 5u || !STREQ(entryPtr->d_name + length - 4u, ".pem")) {
            continue;
        }
        Ns_DStringInit(&file);
        Ns_MakePath(&file, hostPtr->directory, entryPtr->d_name, NULL);
        if (!IsLoaded(hostPtr, Ns_DStringValue(&file))) {
            contextPtr = Load(hostPtr, hostPtr->path, Ns_DStringValue(&file));
            if (contextPtr != NULL) {
                Add(hostPtr, contextPtr, NULL);
            }
        }
        Ns_DStringFree(&file);
    }
    closedir(dirPtr);
}

/*
 * Whether files may have come since it was read last.
 */
static bool
IsDirectoryNew(SslHost *hostPtr)
{
    struct stat status;
    bool        isNew;

    if (stat(hostPtr->directory, &status) != 0) {
        /* Reading it tells why. */
        return true;
    }
    Ns_MutexLock(&hostPtr->lock);
    isNew = status.st_mtim.tv_sec != hostPtr->directoryTime.tv_sec
        || status.st_mtim.tv_nsec != hostPtr->directoryTime.tv_nsec;
    hostPtr->directoryTime = status.st_mtim;
    Ns_MutexUnlock(&hostPtr->lock);
    return isNew;
}

static bool
IsLoaded(SslHost *hostPtr, const char *file)
{
    bool isLoaded;

    Ns_MutexLock(&hostPtr->lock);
    isLoaded = Tcl_FindHashEntry(&hostPtr->files, file) != NULL;
    Ns_MutexUnlock(&hostPtr->lock);
    return isLoaded;
}

/*
 * Collect the names without the lock, and once more if something has changed
 * meanwhile.
 */
static void
MakeNames(SslHost *hostPtr)
{
    Tcl_HashTable *oldPtr;
    bool           isDone = false;

    while (!isDone) {
        Tcl_HashTable *newPtr;
        unsigned       nChanges;

        Ns_MutexLock(&hostPtr->lock);
        nChanges = hostPtr->nChanges;
        isDone = hostPtr->namesPtr != NULL && nChanges == hostPtr->nNamed;
        Ns_MutexUnlock(&hostPtr->lock);
        if (isDone) {
            break;
        }
        newPtr = CollectNames(hostPtr);
        Ns_MutexLock(&hostPtr->lock);
        oldPtr = newPtr;
        if (nChanges == hostPtr->nChanges) {
            oldPtr = hostPtr->namesPtr;
            hostPtr->namesPtr = newPtr;
            hostPtr->nNamed = nChanges;
            isDone = true;
        }
        Ns_MutexUnlock(&hostPtr->lock);
        if (oldPtr != NULL) {
            Tcl_DeleteHashTable(oldPtr);
            ns_free(oldPtr);
        }
    }
}

/*
 * What the configuration says comes first, then what is in certificates, then
 * names of files; of equal ones that which was loaded first.
 */
static Tcl_HashTable *
CollectNames(SslHost *hostPtr)
{
    Tcl_HashTable *namesPtr = ns_malloc(sizeof(Tcl_HashTable));
    SslContext    *contextPtr;

    Tcl_InitHashTable(namesPtr, TCL_STRING_KEYS);
    for (int i = 0; (contextPtr = SslHostContext(hostPtr, i)) != NULL; i++) {
        const char *server;

        Ns_MutexLock(&hostPtr->lock);
        server = hostPtr->servers[i];
        Ns_MutexUnlock(&hostPtr->lock);
        if (server != NULL) {
            AddHostMap(hostPtr, namesPtr, server, contextPtr);
        }
    }
    for (int i = 0; (contextPtr = SslHostContext(hostPtr, i)) != NULL; i++) {
        AddOwnNames(namesPtr, contextPtr);
    }
    for (int i = 1; (contextPtr = SslHostContext(hostPtr, i)) != NULL; i++) {
        AddFileName(namesPtr, contextPtr);
    }
    return namesPtr;
}

static void
AddHostMap(const SslHost *hostPtr, Tcl_HashTable *namesPtr, const char *server,
           SslContext *contextPtr)
{
    const Ns_Set *setPtr;
    Ns_DString    path;

    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&path, hostPtr->path, "/servers", NULL);
    setPtr = Ns_ConfigGetSection(Ns_DStringValue(&path));
    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        const char *host = Ns_SetValue(setPtr, i);

        if (STREQ(Ns_SetKey(setPtr, i), server)) {
            AddName(namesPtr, host, strcspn(host, ":"), contextPtr);
        }
    }
    Ns_DStringFree(&path);
}

typedef struct NamesOf {
    Tcl_HashTable *namesPtr;
    SslContext    *contextPtr;
} NamesOf;

static void
AddOwnNames(Tcl_HashTable *namesPtr, SslContext *contextPtr)
{
    SSL_CTX *ctx = SslContextTake(contextPtr);

    SslCertificateNames(SSL_CTX_get0_certificate(ctx), AddCertificateName,
                        &(NamesOf){namesPtr, contextPtr});
    SSL_CTX_free(ctx);
}

static void
AddCertificateName(const char *name, size_t length, void *arg)
{
    const NamesOf *namesOfPtr = arg;

    AddName(namesOfPtr->namesPtr, name, length, namesOfPtr->contextPtr);
}

/*
 * NAME.pem; `_` stands for the `*` of a wildcard.
 */
static void
AddFileName(Tcl_HashTable *namesPtr, SslContext *contextPtr)
{
    const char *file = SslContextFile(contextPtr);
    const char *slash = strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    size_t      length = strlen(name);
    char        copy[MAX_NAME];

    if (length < 5u || length >= MAX_NAME
        || !STREQ(name + length - 4u, ".pem")) {
        return;
    }
    memcpy(copy, name, length);
    if (copy[0] == '_' && copy[1] == '.') {
        copy[0] = '*';
    }
    AddName(namesPtr, copy, length - 4u, contextPtr);
}

static void
AddName(Tcl_HashTable *namesPtr, const char *name, size_t length,
        SslContext *contextPtr)
{
    char           key[MAX_NAME];
    Tcl_HashEntry *hPtr;
    int            isNew;

    if (ToKey(key, name, length)) {
        hPtr = Tcl_CreateHashEntry(namesPtr, key, &isNew);
        if (isNew) {
            Tcl_SetHashValue(hPtr, contextPtr);
        }
    }
}

/*
 * Without case, and without a dot at the end.  False: it cannot be a name.
 */
static bool
ToKey(char *key, const char *name, size_t length)
{
    if (length > 0u && name[length - 1u] == '.') {
        length--;
    }
    if (length == 0u || length >= MAX_NAME
        || memchr(name, '\0', length) != NULL) {
        return false;
    }
    for (size_t i = 0u; i < length; i++) {
        key[i] = (char) (name[i] >= 'A' && name[i] <= 'Z'
                             ? name[i] + ('a' - 'A')
                             : name[i]);
    }
    key[length] = '\0';
    return true;
}

/*
 * At most two look-ups, however many there are: the name itself, and with a
 * wildcard for its first label (RFC 6125, section 6.4.3).
 */
static SslContext *
FindKeyLocked(const SslHost *hostPtr, const char *key)
{
    const Tcl_HashEntry *hPtr = Tcl_FindHashEntry(hostPtr->namesPtr, key);
    const char          *dot = strchr(key, '.');

    if (hPtr == NULL && dot != NULL && dot > key) {
        char wildcard[MAX_NAME + 1];

        snprintf(wildcard, sizeof(wildcard), "*%s", dot);
        hPtr = Tcl_FindHashEntry(hostPtr->namesPtr, wildcard);
    }
    return hPtr == NULL ? NULL : Tcl_GetHashValue(hPtr);
}

/*
 * A client has said hello: go on with the certificate for the name that it
 * asks for.  RFC 6066, section 3: a list with its length, of which the first
 * entry counts: a type, 0 for a host, and a name with its length.
 */
static int
Greet(SSL *ssl, int *alertPtr, void *arg)
{
    SslHost             *hostPtr = arg;
    const unsigned char *bytes;
    size_t               length, nameLength;
    char                 key[MAX_NAME];
    SslContext          *contextPtr = NULL;

    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &length)
            != 1
        || length < 5u || bytes[2] != TLSEXT_NAMETYPE_host_name) {
        return SSL_CLIENT_HELLO_SUCCESS;
    }
    nameLength = (size_t) bytes[3] << 8 | bytes[4];
    if (nameLength > length - 5u
        || !ToKey(key, (const char *) bytes + 5, nameLength)) {
        return SSL_CLIENT_HELLO_SUCCESS;
    }
    Ns_MutexLock(&hostPtr->lock);
    contextPtr = FindKeyLocked(hostPtr, key);
    if (contextPtr == hostPtr->contexts[0]) {
        contextPtr = NULL;
    }
    Ns_MutexUnlock(&hostPtr->lock);
    if (contextPtr != NULL) {
        SslContextSwitch(contextPtr, ssl);
    }
    return SSL_CLIENT_HELLO_SUCCESS;
}
