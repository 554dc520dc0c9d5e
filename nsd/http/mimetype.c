/*
 * mimetype.c --
 *
 *      Media types by file extension.
 */

#include "http/mimetype.h"

#include <pthread.h>

#include "nsthread.h"

#include "http/names.h"

static const struct {
    const char *extension;
    const char *type;
} builtins[] = {
#include "http/mimetype_table.h"
};

static NsNameTable           types;     /* Extension without dot -> type. */
static _Atomic(const char *) defaultType = "*/*";
static _Atomic(const char *) bareType;  /* No extension; NULL: defaultType. */
static pthread_once_t        builtinsOnce = PTHREAD_ONCE_INIT;

static void AddBuiltins(void);
static NsNameProc AppendType;

void
NsMimeTypeAdd(const char *extension, const char *type)
{
    const char *copy = ns_strdup(type);

    if (STRIEQ(extension, "default")) {
        atomic_store_explicit(&defaultType, copy, memory_order_release);
    } else if (STRIEQ(extension, "noextension")) {
        atomic_store_explicit(&bareType, copy, memory_order_release);
    } else {
        pthread_once(&builtinsOnce, AddBuiltins);
        extension += *extension == '.';
        NsNamePut(&types, extension, strlen(extension), copy);
    }
}

/*
 * Never NULL.
 */
char *
Ns_GetMimeType(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(slash == NULL ? file : slash, '.');
    const char *type;

    if (dot == NULL) {
        type = atomic_load_explicit(&bareType, memory_order_acquire);
    } else {
        pthread_once(&builtinsOnce, AddBuiltins);
        type = NsNameGet(&types, dot + 1, strlen(dot + 1));
    }
    if (type == NULL) {
        type = atomic_load_explicit(&defaultType, memory_order_acquire);
    }
    return (char *) (uintptr_t) type;
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
