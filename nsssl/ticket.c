/* SPDX-License-Identifier: MPL-2.0
 * ticket.c --
 *
 *      The keys of session tickets.
 *
 *      Time is divided into periods, counted from 1970, so that all who share a
 *      file change at the same moment.  A process that is a moment ahead makes
 *      tickets that the others cannot read yet, so they have the key of the
 *      next period, too.
 */

#include "ticket.h"
#include "context.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#define NAME_BYTES   16
#define AES_BYTES    32
#define MAC_BYTES    32
#define KEY_BYTES    (NAME_BYTES + AES_BYTES + MAC_BYTES)
#define SECRET_BYTES 64
#define MIN_SECRET   32

/*
 * The keys in use, the newest first: of the next period, this one, and the two
 * before.
 */
enum { NEXT, CURRENT, OLD, OLDER, N_KEYS };

typedef struct Key {
    unsigned char name[NAME_BYTES];
    unsigned char aes[AES_BYTES];
    unsigned char mac[MAC_BYTES];
} Key;

struct SslTicketKeys {
    const char *module;     /* Constant. */
    char       *file;       /* Constant; NULL: random keys. */
    time_t      periodSecs; /* Constant. */
    EVP_CIPHER *cipher;     /* Constant: fetched once. */

    Ns_Mutex      lock; /* Guards: */
    int64_t       period;
    Key           keys[N_KEYS];
    unsigned char secret[SECRET_BYTES]; /* From the file. */
};

static bool ReadSecret(const SslTicketKeys *keysPtr, unsigned char *secret,
                       const char **reasonPtr);
static void FillLocked(SslTicketKeys *keysPtr, int64_t period);
static void AdvanceLocked(SslTicketKeys *keysPtr);
static void MakeKeyLocked(const SslTicketKeys *keysPtr, Key *keyPtr,
                          int64_t period);
static void Derive(const SslTicketKeys *keysPtr, Key *keyPtr, int64_t period);
static int  Handle(SSL *ssl, unsigned char *name, unsigned char *iv,
                   EVP_CIPHER_CTX *cipherPtr, EVP_MAC_CTX *macPtr, int isNew);
static int  FindLocked(const SslTicketKeys *keysPtr, const unsigned char *name);
static bool SetMac(EVP_MAC_CTX *macPtr, Key *keyPtr);

/*
 * Where a context has its keys.
 */
static int ctxIndex = -1;

SslTicketKeys *
SslTicketKeysCreate(const char *module, const char *path)
{
    SslTicketKeys *keysPtr = ns_calloc(1u, sizeof(SslTicketKeys));
    const char    *file = Ns_ConfigGetValue(path, "ticketkeyfile");
    const char    *reason;
    Ns_Time        period;

    if (ctxIndex < 0) {
        ctxIndex = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    }
    Ns_ConfigTimeUnitRange(path, "ticketkeyrotation", "12h", 1, 0,
                           7 * 24 * 3600, 0, &period);
    keysPtr->module = module;
    keysPtr->periodSecs = period.sec;
    keysPtr->file = file == NULL || *file == '\0' ? NULL : SslFindFile(file);
    keysPtr->cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
    Ns_MutexSetName2(&keysPtr->lock, "nsssl:tickets", module);
    if (keysPtr->cipher == NULL) {
        Ns_Log(Error, "%s: cannot encrypt session tickets: %s", module,
               SslErrorReason());
        SslTicketKeysDestroy(&keysPtr);
        return NULL;
    }
    if (keysPtr->file != NULL
        && !ReadSecret(keysPtr, keysPtr->secret, &reason)) {
        Ns_Log(Error, "%s: cannot use ticketkeyfile %s: %s", module,
               keysPtr->file, reason);
        SslTicketKeysDestroy(&keysPtr);
        return NULL;
    }
    Ns_MutexLock(&keysPtr->lock);
    FillLocked(keysPtr, time(NULL) / keysPtr->periodSecs);
    Ns_MutexUnlock(&keysPtr->lock);
    return keysPtr;
}

void
SslTicketKeysDestroy(SslTicketKeys **keysPtrPtr)
{
    SslTicketKeys *keysPtr = *keysPtrPtr;

    if (keysPtr != NULL) {
        EVP_CIPHER_free(keysPtr->cipher);
        ns_free(keysPtr->file);
        Ns_MutexDestroy(&keysPtr->lock);
        OPENSSL_cleanse(keysPtr, sizeof(*keysPtr));
        ns_free(keysPtr);
        *keysPtrPtr = NULL;
    }
}

void
SslTicketKeysUse(SslTicketKeys *keysPtr, SSL_CTX *ctx)
{
    SSL_CTX_set_ex_data(ctx, ctxIndex, keysPtr);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, Handle);
}

void
SslTicketKeysReload(SslTicketKeys *keysPtr)
{
    unsigned char secret[SECRET_BYTES];
    const char   *reason;

    if (keysPtr->file == NULL) {
        return;
    }
    if (!ReadSecret(keysPtr, secret, &reason)) {
        Ns_Log(Warning, "%s: cannot use ticketkeyfile %s, keeping the keys: %s",
               keysPtr->module, keysPtr->file, reason);
        return;
    }
    Ns_MutexLock(&keysPtr->lock);
    if (memcmp(secret, keysPtr->secret, sizeof(secret)) != 0) {
        /* Tickets made so far are still good for a while. */
        Key was = keysPtr->keys[CURRENT];

        memcpy(keysPtr->secret, secret, sizeof(secret));
        FillLocked(keysPtr, keysPtr->period);
        keysPtr->keys[OLD] = was;
    }
    Ns_MutexUnlock(&keysPtr->lock);
    OPENSSL_cleanse(secret, sizeof(secret));
}

/*
 * The first bytes of the file.
 */
static bool
ReadSecret(const SslTicketKeys *keysPtr, unsigned char *secret,
           const char **reasonPtr)
{
    int     fd = open(keysPtr->file, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0) {
        *reasonPtr = strerror(errno);
        return false;
    }
    memset(secret, 0, SECRET_BYTES);
    n = read(fd, secret, SECRET_BYTES);
    *reasonPtr = n < 0 ? strerror(errno) : "it has less than 32 bytes";
    close(fd);
    return n >= MIN_SECRET;
}

static void
FillLocked(SslTicketKeys *keysPtr, int64_t period)
{
    keysPtr->period = period;
    for (int i = 0; i < N_KEYS; i++) {
        MakeKeyLocked(keysPtr, &keysPtr->keys[i], period + CURRENT - i);
    }
}

/*
 * What is the time?  One period at a time, as random keys stay what they are.
 */
static void
AdvanceLocked(SslTicketKeys *keysPtr)
{
    int64_t period = time(NULL) / keysPtr->periodSecs;

    if (period < keysPtr->period || period - keysPtr->period >= N_KEYS) {
        /* The clock was set, or nobody came for long. */
        FillLocked(keysPtr, period);
    }
    while (keysPtr->period < period) {
        memmove(&keysPtr->keys[1], &keysPtr->keys[0],
                (N_KEYS - 1) * sizeof(Key));
        keysPtr->period++;
        MakeKeyLocked(keysPtr, &keysPtr->keys[NEXT], keysPtr->period + 1);
    }
}

static void
MakeKeyLocked(const SslTicketKeys *keysPtr, Key *keyPtr, int64_t period)
{
    if (keysPtr->file != NULL) {
        Derive(keysPtr, keyPtr, period);
    } else if (RAND_bytes((unsigned char *) keyPtr, KEY_BYTES) != 1) {
        Ns_Fatal("%s: no random numbers for the keys of session tickets: %s",
                 keysPtr->module, SslErrorReason());
    }
}

/*
 * HKDF (RFC 5869) of the secret, with the period as its context.
 */
static void
Derive(const SslTicketKeys *keysPtr, Key *keyPtr, int64_t period)
{
    char         info[64];
    EVP_KDF     *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *ctx = kdf == NULL ? NULL : EVP_KDF_CTX_new(kdf);
    int        n = snprintf(info, sizeof(info), "nsd session tickets %" PRId64,
                            period);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *) "SHA256", 0u),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
                                          (void *) keysPtr->secret,
                                          SECRET_BYTES),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info,
                                          (size_t) n),
        OSSL_PARAM_construct_end()};

    if (ctx == NULL
        || EVP_KDF_derive(ctx, (unsigned char *) keyPtr, KEY_BYTES, params)
            != 1) {
        Ns_Fatal("%s: cannot derive the keys of session tickets: %s",
                 keysPtr->module, SslErrorReason());
    }
    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
}

/*
 * Called by the library to make a ticket or to read one.  1: done; 2: and make
 * a new one; 0: not one of ours, or too old; -1: an error.
 *
 * Clients use a ticket of TLS 1.3 only once: without a new one, each second
 * connection would be a full handshake.
 */
static int
Handle(SSL *ssl, unsigned char *name, unsigned char *iv,
       EVP_CIPHER_CTX *cipherPtr, EVP_MAC_CTX *macPtr, int isNew)
{
    SslTicketKeys *keysPtr = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl),
                                                 ctxIndex);
    Key            key;
    int            found = CURRENT;
    bool           isSet;

    Ns_MutexLock(&keysPtr->lock);
    AdvanceLocked(keysPtr);
    if (!isNew) {
        found = FindLocked(keysPtr, name);
    }
    if (found >= 0) {
        key = keysPtr->keys[found];
    }
    Ns_MutexUnlock(&keysPtr->lock);
    if (found < 0) {
        return 0;
    }
    if (isNew) {
        memcpy(name, key.name, NAME_BYTES);
        isSet = RAND_bytes(iv, EVP_CIPHER_get_iv_length(keysPtr->cipher)) == 1
            && EVP_EncryptInit_ex2(cipherPtr, keysPtr->cipher, key.aes, iv,
                                   NULL)
                == 1;
    } else {
        isSet = EVP_DecryptInit_ex2(cipherPtr, keysPtr->cipher, key.aes, iv,
                                    NULL)
            == 1;
    }
    isSet = isSet && SetMac(macPtr, &key);
    OPENSSL_cleanse(&key, sizeof(key));
    return !isSet ? -1
        : found > CURRENT || SSL_version(ssl) == TLS1_3_VERSION
        ? 2
        : 1;
}

static int
FindLocked(const SslTicketKeys *keysPtr, const unsigned char *name)
{
    for (int i = 0; i < N_KEYS; i++) {
        if (memcmp(keysPtr->keys[i].name, name, NAME_BYTES) == 0) {
            return i;
        }
    }
    return -1;
}

static bool
SetMac(EVP_MAC_CTX *macPtr, Key *keyPtr)
{
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, keyPtr->mac,
                                          MAC_BYTES),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
                                         (char *) "SHA256", 0u),
        OSSL_PARAM_construct_end()};

    return EVP_MAC_CTX_set_params(macPtr, params) == 1;
}
