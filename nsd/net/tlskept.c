/* SPDX-License-Identifier: MPL-2.0
 * tlskept.c --
 *
 *      Settings of TLS clients that are kept.
 */

#include "net/tlskept.h"

#include "base/assert.h"
#include "base/environ.h"
#include "base/filestate.h"
#include "base/lock.h"
#include "nsstring.h"
#include "nsthread.h"

#include <openssl/x509.h>

/*
 * Constant but for its place in the list.
 */
typedef struct Kept {
    struct Kept *nextPtr;
    char        *key;
    bool         exists[NS_TLS_FILES];
    NsFileState  states[NS_TLS_FILES];
    SSL_CTX     *ctx;
} Kept;

static Ns_Mutex lock;     /* Guards what follows. */
static Kept    *firstPtr; /* Used last. */
static int      nKept;

static void  AppendDefault(Ns_DString *dsPtr, const char *variable,
                           const char *path);
static void  LinkLocked(Kept *keptPtr);
static bool  IsSettled(const NsTlsSetting *settingPtr);
static bool  IsSame(const Kept *keptPtr, const NsTlsSetting *settingPtr);
static Kept *UnlinkLocked(const char *key);
static Kept *TrimLocked(void);
static void  Free(Kept *keptPtr);

void
NsTlsKeptInit(void)
{
    NsMutexSetup(&lock, NS_RANK_HTTP_KEPT, "nsd:tlskept", NULL);
}

void
NsTlsSettingInit(NsTlsSetting *settingPtr, const NsTlsClientSpec *specPtr)
{
    const char *const texts[NS_TLS_FILES] = {
        [NS_TLS_CA_FILE] = specPtr->caFile,
        [NS_TLS_CA_PATH] = specPtr->caPath,
        [NS_TLS_CERTIFICATE] = specPtr->certificate,
        [NS_TLS_KEY] = specPtr->key};
    bool isSystems = specPtr->caFile == NULL && specPtr->caPath == NULL;

    Ns_DStringInit(&settingPtr->key);
    Ns_GetTime(&settingPtr->now);
    for (int i = 0; i < NS_TLS_FILES; i++) {
        Ns_DString path;

        Ns_DStringInit(&path);
        if (texts[i] != NULL) {
            Ns_DStringAppend(&path, texts[i]);
        } else if (i == NS_TLS_CA_FILE && isSystems) {
            AppendDefault(&path, X509_get_default_cert_file_env(),
                          X509_get_default_cert_file());
        } else if (i == NS_TLS_CA_PATH && isSystems) {
            AppendDefault(&path, X509_get_default_cert_dir_env(),
                          X509_get_default_cert_dir());
        }
        settingPtr->exists[i] = Ns_DStringLength(&path) > 0
            && stat(Ns_DStringValue(&path), &settingPtr->status[i]) == 0;
        Ns_DStringAppendElement(&settingPtr->key, Ns_DStringValue(&path));
        Ns_DStringFree(&path);
    }
    Ns_DStringPrintf(&settingPtr->key, " %d %d %d %d", isSystems,
                     specPtr->isInsecure, specPtr->maxDepth,
                     NsTlsSettingJudges(specPtr));
}

bool
NsTlsSettingJudges(const NsTlsClientSpec *specPtr)
{
    return specPtr->nExceptions > 0 || specPtr->rejectedDir != NULL;
}

void
NsTlsSettingFree(NsTlsSetting *settingPtr)
{
    Ns_DStringFree(&settingPtr->key);
}

/*
 * What the library takes when it is told nothing.
 */
static void
AppendDefault(Ns_DString *dsPtr, const char *variable, const char *path)
{
    if (!NsEnvironGet(dsPtr, variable)) {
        Ns_DStringAppend(dsPtr, path);
    }
}

SSL_CTX *
NsTlsKeptFind(const NsTlsSetting *settingPtr)
{
    Kept    *keptPtr;
    SSL_CTX *ctx = NULL;

    Ns_MutexLock(&lock);
    keptPtr = UnlinkLocked(Ns_DStringValue(&settingPtr->key));
    if (keptPtr != NULL && IsSame(keptPtr, settingPtr)) {
        ctx = keptPtr->ctx;
        SSL_CTX_up_ref(ctx);
        LinkLocked(keptPtr);
        keptPtr = NULL;
    }
    Ns_MutexUnlock(&lock);
    Free(keptPtr);
    return ctx;
}

void
NsTlsKeptAdd(const NsTlsSetting *settingPtr, SSL_CTX *ctx)
{
    Kept *keptPtr, *oldPtr, *lastPtr;

    if (!IsSettled(settingPtr)) {
        return;
    }
    keptPtr = ns_calloc(1u, sizeof(*keptPtr));
    keptPtr->key = ns_strdup(Ns_DStringValue(&settingPtr->key));
    keptPtr->ctx = ctx;
    SSL_CTX_up_ref(ctx);
    for (int i = 0; i < NS_TLS_FILES; i++) {
        keptPtr->exists[i] = settingPtr->exists[i];
        if (settingPtr->exists[i]) {
            NsFileStateSet(&keptPtr->states[i], &settingPtr->status[i]);
        }
    }
    Ns_MutexLock(&lock);
    oldPtr = UnlinkLocked(keptPtr->key);
    LinkLocked(keptPtr);
    lastPtr = TrimLocked();
    Ns_MutexUnlock(&lock);
    Free(oldPtr);
    Free(lastPtr);
}

static bool
IsSettled(const NsTlsSetting *settingPtr)
{
    bool isSettled = true;

    for (int i = 0; i < NS_TLS_FILES; i++) {
        isSettled = isSettled
            && (!settingPtr->exists[i]
                || NsFileIsSettled(&settingPtr->status[i], &settingPtr->now));
    }
    return isSettled;
}

static bool
IsSame(const Kept *keptPtr, const NsTlsSetting *settingPtr)
{
    bool isSame = true;

    for (int i = 0; i < NS_TLS_FILES; i++) {
        isSame = isSame && keptPtr->exists[i] == settingPtr->exists[i]
            && (!settingPtr->exists[i]
                || NsFileStateIs(&keptPtr->states[i], &settingPtr->status[i]));
    }
    return isSame;
}

static void
LinkLocked(Kept *keptPtr)
{
    NsAssertLocked(&lock);
    keptPtr->nextPtr = firstPtr;
    firstPtr = keptPtr;
    nKept++;
}

static Kept *
UnlinkLocked(const char *key)
{
    Kept **linkPtr = &firstPtr;
    Kept  *keptPtr;

    NsAssertLocked(&lock);
    while (*linkPtr != NULL && !STREQ((*linkPtr)->key, key)) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    keptPtr = *linkPtr;
    if (keptPtr != NULL) {
        *linkPtr = keptPtr->nextPtr;
        nKept--;
    }
    NsAssert(nKept >= 0 && (nKept == 0) == (firstPtr == NULL));
    return keptPtr;
}

/*
 * The last one, if there are too many.
 */
static Kept *
TrimLocked(void)
{
    Kept **linkPtr = &firstPtr;
    Kept  *keptPtr;

    NsAssertLocked(&lock);
    NsAssert(nKept > 0 && nKept <= NS_TLS_KEPT_MAX + 1);
    if (nKept <= NS_TLS_KEPT_MAX) {
        return NULL;
    }
    while ((*linkPtr)->nextPtr != NULL) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    keptPtr = *linkPtr;
    *linkPtr = NULL;
    nKept--;
    return keptPtr;
}

static void
Free(Kept *keptPtr)
{
    if (keptPtr != NULL) {
        SSL_CTX_free(keptPtr->ctx);
        ns_free(keptPtr->key);
        ns_free(keptPtr);
    }
}
