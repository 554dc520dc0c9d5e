/* SPDX-License-Identifier: MPL-2.0
 * environ.c --
 *
 *      The process environment, one access at a time.
 */

#include "base/environ.h"
#include "base/lock.h"
#include "nsfile.h"
#include "nsstring.h"

extern char **environ;

static Ns_Mutex lock; /* Guards environ, NS_RANK_LEAF. */

static void Setup(void) __attribute__((constructor));

char **
Ns_GetEnviron(void)
{
    return environ;
}

char **
Ns_CopyEnviron(Ns_DString *dsPtr)
{
    Ns_MutexLock(&lock);
    for (char **envPtr = environ; envPtr != NULL && *envPtr != NULL; envPtr++) {
        Ns_DStringAppendArg(dsPtr, *envPtr);
    }
    Ns_MutexUnlock(&lock);
    return Ns_DStringAppendArgv(dsPtr);
}

bool
NsEnvironGet(Ns_DString *dsPtr, const char *name)
{
    const char *value;

    Ns_MutexLock(&lock);
    value = getenv(name);
    if (value != NULL) {
        Tcl_DStringAppend(dsPtr, value, -1);
    }
    Ns_MutexUnlock(&lock);
    return value != NULL;
}

Ns_ReturnCode
NsEnvironSet(const char *name, const char *value)
{
    Ns_DString assignment;

    if (*name == '\0' || strchr(name, '=') != NULL) {
        return NS_ERROR;
    }
    Ns_DStringInit(&assignment);
    if (value != NULL) {
        Ns_DStringVarAppend(&assignment, name, "=", value, NULL);
    }
    Ns_MutexLock(&lock);
    if (value != NULL) {
        /*
         * A new interpreter reads the whole environment, under a lock that only
         * Tcl knows.  setenv could free the array that it reads.
         */
        (void) Tcl_PutEnv(Ns_DStringValue(&assignment));
    } else {
        (void) unsetenv(name);
    }
    Ns_MutexUnlock(&lock);
    Ns_DStringFree(&assignment);
    return NS_OK;
}

void
NsEnvironNames(Ns_DString *dsPtr)
{
    Ns_DString name;

    Tcl_DStringInit(&name);
    Ns_MutexLock(&lock);
    for (char **envPtr = environ; envPtr != NULL && *envPtr != NULL; envPtr++) {
        size_t length = strcspn(*envPtr, "=");

        Tcl_DStringSetLength(&name, 0);
        Tcl_DStringAppend(&name, *envPtr, (int) length);
        Tcl_DStringAppendElement(dsPtr, Tcl_DStringValue(&name));
    }
    Ns_MutexUnlock(&lock);
    Tcl_DStringFree(&name);
}

static void
Setup(void)
{
    NsMutexSetup(&lock, NS_RANK_LEAF, "ns:env", NULL);
}
