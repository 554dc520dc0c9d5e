/* SPDX-License-Identifier: MPL-2.0
 * random.c --
 *
 *      Random numbers that cannot be guessed, and password hashes.
 */

#include "base/random.h"

#include "base/fatal.h"
#include "nsstring.h"
#include "nsthread.h"

#include <crypt.h>
#include <sys/random.h>

static uint64_t RandomWord(void);

void
NsRandomBytes(void *buffer, size_t bytes)
{
    char *next = buffer;

    while (bytes > 0) {
        ssize_t n = getrandom(next, bytes, 0);

        if (n < 0 && errno != EINTR) {
            NsFatal("cannot get random numbers: %s", strerror(errno));
        }
        if (n > 0) {
            next += n;
            bytes -= (size_t) n;
        }
    }
}

double
Ns_DRand(void)
{
    return (double) (RandomWord() >> 11) * 0x1p-53;
}

void
Ns_GenSeeds(unsigned long *seeds, int nSeeds)
{
    if (nSeeds > 0) {
        NsRandomBytes(seeds, (size_t) nSeeds * sizeof(*seeds));
    }
}

/*
 * The system's failure tokens never equal the salt they were made from, so a
 * comparison with a stored hash fails as it should.
 */
char *
Ns_Encrypt(const char *key, const char *salt, char *result)
{
    struct crypt_data *dataPtr;
    const char        *hash;

    *result = '\0';
    if (*salt != '\0') {
        dataPtr = ns_calloc(1, sizeof(*dataPtr));
        hash = crypt_r(key, salt, dataPtr);
        if (hash == NULL || strlen(hash) >= NS_ENCRYPT_BUFSIZE) {
            hash = STREQ(salt, "*0") ? "*1" : "*0";
        }
        strcpy(result, hash);
        explicit_bzero(dataPtr, sizeof(*dataPtr));
        ns_free(dataPtr);
    }
    return result;
}

/*
 * From a supply of the thread's own: one system call for many numbers.
 */
static uint64_t
RandomWord(void)
{
    static _Thread_local uint64_t supply[32];
    static _Thread_local int      nLeft;
    static _Thread_local pid_t    owner;

    if (nLeft == 0 || owner != getpid()) {
        NsRandomBytes(supply, sizeof(supply));
        nLeft = Ns_NrElements(supply);
        owner = getpid();
    }
    return supply[--nLeft];
}
