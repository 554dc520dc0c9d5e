/* SPDX-License-Identifier: MPL-2.0
 * release.c --
 *
 *      Which release this is, from what source, and with which libraries.
 *
 *      The Makefile says both when it compiles this file, and compiles it again
 *      when one of them changes.
 */

#include "process/release.h"

#include "base/config.h"
#include "nsstring.h"

#include <dlfcn.h>
#include <openssl/crypto.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_BROTLI
#include <brotli/encode.h>
#endif

#ifndef NSD_RELEASE
#define NSD_RELEASE "unknown"
#endif
#ifndef NSD_REVISION
#define NSD_REVISION "unknown"
#endif

/*
 * Libraries that modules use: their versions are asked of the library that a
 * module would get.
 */
typedef const char *(TextProc) (void);
typedef int(NumberProc)(void);

static void  AppendBrotli(Ns_DString *dsPtr);
static void  AppendZstd(Ns_DString *dsPtr);
static void  AppendSqlite(Ns_DString *dsPtr);
static void  AppendLibpq(Ns_DString *dsPtr);
static void *Find(const char *library, const char *name);

const char *
NsReleaseVersion(void)
{
    return NSD_RELEASE;
}

const char *
NsReleaseRevision(void)
{
    return NSD_REVISION;
}

void
NsReleaseLibraries(Ns_DString *dsPtr)
{
    Ns_DStringPrintf(dsPtr, "OpenSSL %s, zlib %s",
                     OpenSSL_version(OPENSSL_VERSION_STRING), zlibVersion());
    AppendBrotli(dsPtr);
    AppendZstd(dsPtr);
    AppendSqlite(dsPtr);
    AppendLibpq(dsPtr);
}

static void
AppendBrotli(Ns_DString *dsPtr)
{
#ifdef HAVE_BROTLI
    uint32_t version = BrotliEncoderVersion();

    Ns_DStringPrintf(dsPtr, ", brotli %u.%u.%u", version >> 24,
                     (version >> 12) & 0xFFFU, version & 0xFFFU);
#endif
}

static void
AppendZstd(Ns_DString *dsPtr)
{
#ifdef HAVE_ZSTD
    Ns_DStringPrintf(dsPtr, ", zstd %s", ZSTD_versionString());
#endif
}

static void
AppendSqlite(Ns_DString *dsPtr)
{
    TextProc *proc;

    *(void **) &proc = Find("libsqlite3.so.0", "sqlite3_libversion");
    if (proc != NULL) {
        Ns_DStringPrintf(dsPtr, ", SQLite %s", proc());
    }
}

static void
AppendLibpq(Ns_DString *dsPtr)
{
    NumberProc *proc;

    *(void **) &proc = Find("libpq.so.5", "PQlibVersion");
    if (proc != NULL) {
        int version = proc();

        Ns_DStringPrintf(dsPtr, ", libpq %d.%d", version / 10000,
                         version % 10000);
    }
}

/*
 * NULL: there is no such library here.  It stays open.
 */
static void *
Find(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

    return handle == NULL ? NULL : dlsym(handle, name);
}
