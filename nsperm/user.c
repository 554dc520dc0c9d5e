/* SPDX-License-Identifier: MPL-2.0
 * user.c --
 *
 *      Users: their passwords, and the hosts they may come from.
 */

#include "table.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>

/* Takes as long as a real hash. */
#define NO_HASH "$6$nsperm$"

static pthread_once_t keyOnce = PTHREAD_ONCE_INIT;
static unsigned char  key[32]; /* Constant once made. */
static bool           hasKey;  /* Likewise. */

static bool HasHash(const char *password, const char *hash);
static bool IsSame(const char *given, const char *right);
static bool Prove(const char *password, unsigned char *proof);
static void MakeKey(void);
static bool IsProven(const User *userPtr, const unsigned char *proof);
static void Keep(User *userPtr, const unsigned char *proof);
static bool ParseRule(HostRule *rulePtr, const char *text);
static bool ParseAddress(const char *text, struct in6_addr *addressPtr,
                         bool *isIpv4Ptr);
static bool ParseMask(const char *text, bool isIpv4, struct in6_addr *maskPtr);
static bool IsHostName(const char *text);
static bool MatchesAddress(const User *userPtr, const struct in6_addr *peerPtr);
static bool HasNames(const User *userPtr);
static bool MatchesName(const User *userPtr, const char *name);
static bool FindName(const struct in6_addr *peerPtr, char *name, size_t bytes);

User *
UserCreate(const char *name, const char *password, bool isClear)
{
    User *userPtr = ns_calloc(1u, sizeof(*userPtr));

    atomic_init(&userPtr->nRefs, 1);
    userPtr->name = ns_strdup(name);
    userPtr->password = ns_strdup(password);
    userPtr->isClear = isClear;
    return userPtr;
}

User *
UserDup(const User *userPtr, const char *hash)
{
    User *copyPtr = UserCreate(userPtr->name, hash, false);

    copyPtr->isAllowing = userPtr->isAllowing;
    copyPtr->nRules = userPtr->nRules;
    copyPtr->rules = ns_calloc((size_t) userPtr->nRules + 1,
                               sizeof(*copyPtr->rules));
    for (int i = 0; i < userPtr->nRules; i++) {
        copyPtr->rules[i] = userPtr->rules[i];
        copyPtr->rules[i].text = ns_strdup(userPtr->rules[i].text);
    }
    return copyPtr;
}

void
UserUnref(User *userPtr)
{
    if (userPtr == NULL || atomic_fetch_sub(&userPtr->nRefs, 1) > 1) {
        return;
    }
    for (int i = 0; i < userPtr->nRules; i++) {
        ns_free(userPtr->rules[i].text);
    }
    ns_free(userPtr->rules);
    ns_free(userPtr->name);
    ns_free(userPtr->password);
    ns_free(atomic_load(&userPtr->proof));
    ns_free(userPtr);
}

bool
UserHasPassword(const User *userPtr, const char *password)
{
    const char   *right = userPtr != NULL ? userPtr->password : NO_HASH;
    unsigned char proof[PROOF_BYTES];
    bool          isRight;

    if (*right == '\0') {
        /* Only the anonymous user has no password. */
        return *userPtr->name == '\0';
    }
    if (userPtr != NULL && userPtr->isClear) {
        return IsSame(password, right);
    }
    if (userPtr == NULL || !Prove(password, proof)) {
        return HasHash(password, right) && userPtr != NULL;
    }
    isRight = IsProven(userPtr, proof) || HasHash(password, right);
    if (isRight) {
        Keep((User *) userPtr, proof);
    }
    OPENSSL_cleanse(proof, sizeof(proof));
    return isRight;
}

static bool
HasHash(const char *password, const char *hash)
{
    char buffer[NS_ENCRYPT_BUFSIZE];

    return IsSame(Ns_Encrypt(password, hash, buffer), hash);
}

/*
 * Compare in a time that does not reveal where they differ.
 */
static bool
IsSame(const char *given, const char *right)
{
    size_t length = strlen(right);

    return length > 0 && strlen(given) == length
        && CRYPTO_memcmp(given, right, length) == 0;
}

/*
 * The digest is made with a key of this process, which nobody else knows.
 */
static bool
Prove(const char *password, unsigned char *proof)
{
    unsigned length = 0;

    (void) pthread_once(&keyOnce, MakeKey);
    return hasKey
        && HMAC(EVP_sha256(), key, sizeof(key),
                (const unsigned char *) password, strlen(password), proof,
                &length)
        != NULL
        && length == PROOF_BYTES;
}

static void
MakeKey(void)
{
    hasKey = RAND_bytes(key, sizeof(key)) == 1;
}

static bool
IsProven(const User *userPtr, const unsigned char *proof)
{
    const unsigned char *kept = atomic_load_explicit(&userPtr->proof,
                                                     memory_order_acquire);

    return kept != NULL && CRYPTO_memcmp(kept, proof, PROOF_BYTES) == 0;
}

/*
 * The first one stays as long as the user does, so readers need no lock.
 */
static void
Keep(User *userPtr, const unsigned char *proof)
{
    unsigned char *copy, *none = NULL;

    if (atomic_load_explicit(&userPtr->proof, memory_order_relaxed) != NULL) {
        return;
    }
    copy = ns_malloc(PROOF_BYTES);
    memcpy(copy, proof, PROOF_BYTES);
    if (!atomic_compare_exchange_strong(&userPtr->proof, &none, copy)) {
        ns_free(copy);
    }
}

int
UserAddRule(User *userPtr, Tcl_Interp *interp, const char *text)
{
    HostRule rule = {0};

    if (!ParseRule(&rule, text)) {
        Ns_TclPrintfResult(interp,
                           "invalid address or hostname \"%s\". Should be "
                           "ipaddr/netmask or hostname",
                           text);
        return TCL_ERROR;
    }
    for (int i = 0; i < userPtr->nRules; i++) {
        const HostRule *otherPtr = &userPtr->rules[i];

        if (rule.isAddress && otherPtr->isAddress
                ? memcmp(&rule.address, &otherPtr->address,
                         sizeof(rule.address))
                        == 0
                    && memcmp(&rule.mask, &otherPtr->mask, sizeof(rule.mask))
                        == 0
                : STRIEQ(text, otherPtr->text)) {
            Ns_TclPrintfResult(interp, "duplicate entry: %s", text);
            return TCL_ERROR;
        }
    }
    rule.text = ns_strdup(text);
    userPtr->rules = ns_realloc(userPtr->rules,
                                ((size_t) userPtr->nRules + 1)
                                    * sizeof(*userPtr->rules));
    userPtr->rules[userPtr->nRules++] = rule;
    return TCL_OK;
}

/*
 * ADDRESS, ADDRESS/MASK, ADDRESS/BITS, NAME, .DOMAIN
 */
static bool
ParseRule(HostRule *rulePtr, const char *text)
{
    const char *slash = strchr(text, '/');
    char        address[INET6_ADDRSTRLEN];
    size_t      length = slash != NULL ? (size_t) (slash - text) : strlen(text);
    bool        isIpv4;

    if (length >= sizeof(address)) {
        return slash == NULL && IsHostName(text);
    }
    memcpy(address, text, length);
    address[length] = '\0';
    if (!ParseAddress(address, &rulePtr->address, &isIpv4)) {
        return slash == NULL && IsHostName(text);
    }
    if (slash == NULL) {
        memset(&rulePtr->mask, 0xff, sizeof(rulePtr->mask));
    } else if (!ParseMask(slash + 1, isIpv4, &rulePtr->mask)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(rulePtr->mask); i++) {
        rulePtr->address.s6_addr[i] &= rulePtr->mask.s6_addr[i];
    }
    rulePtr->isAddress = true;
    return true;
}

/*
 * IPv4 addresses are mapped into IPv6.
 */
static bool
ParseAddress(const char *text, struct in6_addr *addressPtr, bool *isIpv4Ptr)
{
    struct in_addr ipv4;

    *isIpv4Ptr = inet_pton(AF_INET, text, &ipv4) == 1;
    if (!*isIpv4Ptr) {
        return inet_pton(AF_INET6, text, addressPtr) == 1;
    }
    memset(addressPtr, 0, sizeof(*addressPtr));
    addressPtr->s6_addr[10] = addressPtr->s6_addr[11] = 0xff;
    memcpy(&addressPtr->s6_addr[12], &ipv4, sizeof(ipv4));
    return true;
}

static bool
ParseMask(const char *text, bool isIpv4, struct in6_addr *maskPtr)
{
    int  bits, most = isIpv4 ? 32 : 128;
    bool isMaskIpv4;

    if (*text != '\0' && text[strspn(text, "0123456789")] == '\0') {
        if (Ns_StrToInt(text, &bits) != NS_OK || bits > most) {
            return false;
        }
        bits += 128 - most;
        memset(maskPtr, 0, sizeof(*maskPtr));
        for (int i = 0; i < bits; i++) {
            maskPtr->s6_addr[i / 8] |= (unsigned char) (0x80 >> i % 8);
        }
        return true;
    }
    if (!ParseAddress(text, maskPtr, &isMaskIpv4) || isMaskIpv4 != isIpv4) {
        return false;
    }
    if (isIpv4) {
        memset(maskPtr, 0xff, 12);
    }
    return true;
}

static bool
IsHostName(const char *text)
{
    const char *last = strrchr(text, '.');
    size_t      length = strlen(text);

    last = last == NULL ? text : last + 1;
    return length > 0 && length <= 255 && *last != '\0'
        && strspn(text,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                  "0123456789.-_")
        == length
        && strstr(text, "..") == NULL
        /* A malformed address. */
        && last[strspn(last, "0123456789")] != '\0';
}

bool
UserMayComeFrom(const User *userPtr, const char *peer)
{
    struct in6_addr address;
    char            name[NI_MAXHOST];
    bool            isIpv4;

    if (peer == NULL || *peer == '\0') {
        return true;
    }
    if (!ParseAddress(peer, &address, &isIpv4)) {
        return false;
    }
    if (MatchesAddress(userPtr, &address)) {
        return userPtr->isAllowing;
    }
    if (!HasNames(userPtr)) {
        return !userPtr->isAllowing;
    }
    /*
     * A host without a known name matches no rule that allows it, but may match
     * one that denies it.
     */
    if (!FindName(&address, name, sizeof(name))) {
        return false;
    }
    return MatchesName(userPtr, name) == userPtr->isAllowing;
}

static bool
MatchesAddress(const User *userPtr, const struct in6_addr *peerPtr)
{
    for (int i = 0; i < userPtr->nRules; i++) {
        const HostRule *rulePtr = &userPtr->rules[i];
        unsigned char   difference = 0;

        if (!rulePtr->isAddress) {
            continue;
        }
        for (size_t k = 0; k < sizeof(*peerPtr); k++) {
            difference |= (unsigned char) ((peerPtr->s6_addr[k]
                                            & rulePtr->mask.s6_addr[k])
                                           ^ rulePtr->address.s6_addr[k]);
        }
        if (difference == 0) {
            return true;
        }
    }
    return false;
}

static bool
HasNames(const User *userPtr)
{
    for (int i = 0; i < userPtr->nRules; i++) {
        if (!userPtr->rules[i].isAddress) {
            return true;
        }
    }
    return false;
}

/*
 * Try the name and each of its domains.
 */
static bool
MatchesName(const User *userPtr, const char *name)
{
    for (const char *rest = name; rest != NULL; rest = strchr(rest + 1, '.')) {
        for (int i = 0; i < userPtr->nRules; i++) {
            if (!userPtr->rules[i].isAddress
                && STRIEQ(rest, userPtr->rules[i].text)) {
                return true;
            }
        }
    }
    return false;
}

/*
 * The name of the address, if that name also resolves to the address.
 */
static bool
FindName(const struct in6_addr *peerPtr, char *name, size_t bytes)
{
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_addr = *peerPtr};
    struct sockaddr_in  ipv4 = {.sin_family = AF_INET};
    struct addrinfo    *addresses,
        hints = {.ai_family = AF_INET6,
                 .ai_flags = AI_V4MAPPED | AI_ALL,
                 .ai_socktype = SOCK_STREAM};
    bool isMapped = IN6_IS_ADDR_V4MAPPED(peerPtr);
    bool isConfirmed = false;

    memcpy(&ipv4.sin_addr, &peerPtr->s6_addr[12], sizeof(ipv4.sin_addr));
    if (getnameinfo(isMapped ? (struct sockaddr *) &ipv4
                             : (struct sockaddr *) &ipv6,
                    isMapped ? sizeof(ipv4) : sizeof(ipv6), name,
                    (socklen_t) bytes, NULL, 0, NI_NAMEREQD)
            != 0
        || getaddrinfo(name, NULL, &hints, &addresses) != 0) {
        return false;
    }
    for (struct addrinfo *p = addresses; p != NULL; p = p->ai_next) {
        isConfirmed = isConfirmed
            || memcmp(&((struct sockaddr_in6 *) p->ai_addr)->sin6_addr, peerPtr,
                      sizeof(*peerPtr))
                == 0;
    }
    freeaddrinfo(addresses);
    return isConfirmed;
}
