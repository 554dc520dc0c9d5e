/* SPDX-License-Identifier: MPL-2.0
 * tclcache.h --
 *
 *      The caches of scripts: Ns_Cache objects that a server knows by name,
 *      with strings as values.
 *
 *      A cache, once made, lives as long as the process.
 */

#ifndef NSD_TCL_TCLCACHE_H
#define NSD_TCL_TCLCACHE_H

#include "nscache.h"
#include "process/server.h"

/*
 * The settings of a cache.  Times are relative or absolute, {0, 0} is none.
 */
typedef struct NsTclCacheSettings {
    size_t      maxSize;  /* Bytes of all values; 0: no limit. */
    size_t      maxEntry; /* Bytes of one value; 0: no limit. */
    Ns_Time     timeout;  /* For the wait for another's computation. */
    Ns_Time     expires;
    const char *channel; /* Where flushes are told to other machines; NULL:
                          * nowhere. */
} NsTclCacheSettings;

typedef struct NsTclCache {
    const char        *name;  /* Constant. */
    Ns_Cache          *cache; /* Constant; its lock guards the settings. */
    NsTclCacheSettings settings;
    uint64_t           nFlushes; /* By scripts; under the same lock. */
    uint64_t           nValues;  /* Stored, or begun in place of one. */
} NsTclCache;

typedef struct NsTclCacheValue {
    uint64_t number; /* In a cache: a later value has a higher one. */
    size_t   length;
    char     text[];
} NsTclCacheValue;

/*
 * Make a cache: NULL if the name is taken.  Find one, or NULL.
 */
NsTclCache *NsTclCacheCreate(NsServer *serverPtr, const char *name,
                             const NsTclCacheSettings *settingsPtr);
NsTclCache *NsTclCacheFind(NsServer *serverPtr, const char *name);

/*
 * The same for a command: when there is none, the interpreter has the message.
 */
NsTclCache *NsTclCacheLookup(NsServer *serverPtr, Tcl_Interp *interp,
                             Tcl_Obj *nameObj);

/*
 * The cache of ns_memoize.
 */
NsTclCache *NsTclCacheMemoize(NsServer *serverPtr);

/*
 * Append the names as list elements.
 */
void NsTclCacheNames(NsServer *serverPtr, Ns_DString *dsPtr);

/*
 * A copy of the text, to be freed with ns_free; an object with the text.
 */
NsTclCacheValue *NsTclCacheValueCreate(const char *text, size_t length);
Tcl_Obj         *NsTclCacheValueObj(const NsTclCacheValue *valuePtr);

/*
 * With the cache locked: give the entry a copy of the text, unless that is
 * longer than an entry or the cache may be; then the entry is deleted, and the
 * result is that limit instead of 0.  Once the cache is unlocked, it is to be
 * logged.
 */
size_t NsTclCacheStore(NsTclCache *cachePtr, Ns_Entry *entry, const char *text,
                       size_t length, const Ns_Time *expiresPtr, int cost);
void   NsTclCacheNoteTooLong(const NsTclCache *cachePtr, const char *key,
                             size_t length, size_t limit);

/*
 * A value that this thread computes, in storage of the caller: whoever waited
 * for one of his own would wait for ever.  They end in the opposite order.
 */
typedef struct NsTclCacheWork {
    const struct NsTclCacheWork *outerPtr;
    const NsTclCache            *cachePtr;
    const char                  *key;
} NsTclCacheWork;

void NsTclCacheWorkBegin(NsTclCacheWork *workPtr, const NsTclCache *cachePtr,
                         const char *key);
void NsTclCacheWorkEnd(const NsTclCacheWork *workPtr);
bool NsTclCacheWorkHas(const NsTclCache *cachePtr, const char *key);

/*
 * Once, before the configuration is read; and when it has been.
 */
void NsTclCacheInit(void);
void NsTclCacheConfigure(void);

/*
 * The configuration wants that nothing is kept.
 */
bool NsTclCacheIsOff(void);

#endif
