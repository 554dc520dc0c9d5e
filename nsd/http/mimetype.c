/* SPDX-License-Identifier: MPL-2.0
 * mimetype.c --
 *
 *      Media types by file extension.
 */

#include "http/mimetype.h"

#include <pthread.h>

#include "nsthread.h"

#include "http/names.h"

#define ANY "*/*"

static const struct {
    const char *extension;
    const char *type;
} builtins[] = {
#include "http/mimetype_table.h"
};

static NsNameTable types; /* Extension without dot -> type, or NULL:
                           * forgotten. */
static NsNameTable texts = {.isExact = true}; /* Types that were added; they
                                               * stay. */
static _Atomic(const char *) defaultType = ANY;
static _Atomic(const char *) bareType; /* No extension; NULL: defaultType. */
static atomic_bool           isTclShown;
static pthread_once_t        builtinsOnce = PTHREAD_ONCE_INIT;

static const char *Keep(const char *type);
static const char *Extension(const char *file);
static const char *Find(const char *extension);
static void        AddBuiltins(void);
static NsNameProc  AppendType;

void
NsMimeTypeAdd(const char *extension, const char *type)
{
    const char *copy = Keep(type);

    if (STRIEQ(extension, "default")) {
        atomic_store_explicit(&defaultType, copy, memory_order_release);
    } else if (STRIEQ(extension, "noextension")) {
        atomic_store_explicit(&bareType, copy, memory_order_release);
    } else {
        pthread_once(&builtinsOnce, AddBuiltins);
        extension += *extension == '.';
        if (STRIEQ(extension, "tcl")) {
            atomic_store_explicit(&isTclShown, true, memory_order_relaxed);
        }
        NsNamePut(&types, extension, strlen(extension), copy);
    }
}

static const char *
Keep(const char *type)
{
    size_t      length = strlen(type);
    const char *keptPtr = NsNameGet(&texts, type, length);

    if (keptPtr == NULL) {
        keptPtr = ns_strdup(type);
        NsNamePut(&texts, type, length, keptPtr);
    }
    return keptPtr;
}

void
NsMimeTypeForget(const char *extension)
{
    const char *type = NULL;

    if (STRIEQ(extension, "default")) {
        atomic_store_explicit(&defaultType, ANY, memory_order_release);
        return;
    }
    if (STRIEQ(extension, "noextension")) {
        atomic_store_explicit(&bareType, NULL, memory_order_release);
        return;
    }
    pthread_once(&builtinsOnce, AddBuiltins);
    extension += *extension == '.';
    if (STRIEQ(extension, "tcl")) {
        atomic_store_explicit(&isTclShown, false, memory_order_relaxed);
    }
    for (int i = 0; i < Ns_NrElements(builtins) && type == NULL; i++) {
        if (STRIEQ(builtins[i].extension, extension)) {
            type = builtins[i].type;
        }
    }
    NsNamePut(&types, extension, strlen(extension), type);
}

/*
 * Never NULL.
 */
char *
Ns_GetMimeType(const char *file)
{
    const char *extension = Extension(file);
    const char *type = extension == NULL
        ? atomic_load_explicit(&bareType, memory_order_acquire)
        : Find(extension);

    if (type == NULL) {
        type = atomic_load_explicit(&defaultType, memory_order_acquire);
    }
    return (char *) (uintptr_t) type;
}

bool
NsMimeTypeIsKnown(const char *file)
{
    const char *extension = Extension(file);

    return extension != NULL && Find(extension) != NULL;
}

bool
NsMimeTypeIsSource(const char *file)
{
    const char *extension = Extension(file);

    if (extension == NULL) {
        return false;
    }
    /* Its type is that of what a template makes. */
    return STRIEQ(extension, "adp")
        || (STRIEQ(extension, "tcl")
            && !atomic_load_explicit(&isTclShown, memory_order_relaxed));
}

/*
 * Without its dot; NULL without one.
 */
static const char *
Extension(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(slash == NULL ? file : slash, '.');

    return dot == NULL ? NULL : dot + 1;
}

static const char *
Find(const char *extension)
{
    pthread_once(&builtinsOnce, AddBuiltins);
    return NsNameGet(&types, extension, strlen(extension));
}

void
NsMimeTypesList(Ns_DString *dsPtr)
{
    pthread_once(&builtinsOnce, AddBuiltins);
    NsNameEach(&types, AppendType, dsPtr);
}

static void
AppendType(const char *name, const void *value, void *arg)
{
    char extension[64];

    if (value == NULL) {
        return; /* Forgotten. */
    }
    snprintf(extension, sizeof(extension), ".%s", name);
    Ns_DStringAppendElement(arg, extension);
    Ns_DStringAppendElement(arg, value);
}

static void
AddBuiltins(void)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
        NsNamePut(&types, builtins[i].extension, strlen(builtins[i].extension),
                  builtins[i].type);
    }
}
