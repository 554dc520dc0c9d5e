/* SPDX-License-Identifier: MPL-2.0
 * variants.c --
 *
 *      Compressed variants of static files.
 */

#include "request/variants.h"

#include <stdatomic.h>

#include "nsthread.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/filestate.h"
#include "http/negotiate.h"
#include "process/parameters.h"

/*
 * Of all servers.
 */
typedef struct Settings {
    bool usesBrotli;
    bool refreshesBrotli;
    bool usesGzip;
    bool refreshesGzip;
} Settings;

static const NsParameter rows[] = {
    NS_BOOL(
        Settings, usesGzip, "gzip_static", "false",
        "Send F.gz, if it is next to a file F, to clients that accept gzip."),
    NS_BOOL(Settings, refreshesGzip, "gzip_refresh", "false",
            "Remake an F.gz that is older than F, with gzip_cmd."),
    NS_LISTED("gzip_cmd", NS_PARAM_STRING, "",
              "Command that compresses its standard input, as gzip -9 -c."),
    NS_BOOL(Settings, usesBrotli, "brotli_static", "false",
            "Send F.br, if it is next to a file F, to clients that accept br."),
    NS_BOOL(Settings, refreshesBrotli, "brotli_refresh", "false",
            "Remake an F.br that is older than F, with brotli_cmd."),
    NS_LISTED("brotli_cmd", NS_PARAM_STRING, "",
              "Command that compresses its standard input, as brotli -c."),
    NS_LISTED(
        "minify_css_cmd", NS_PARAM_STRING, "",
        "Command through which .css files pass before they are compressed."),
    NS_LISTED(
        "minify_js_cmd", NS_PARAM_STRING, "",
        "Command through which .js files pass before they are compressed."),
    NS_PARAM_END};

#define RETRY_SECONDS 60

/*
 * A coding, the best first.
 */
typedef struct Kind {
    const char *coding;
    const char *suffix;
    const char *command; /* Makes a variant. */
    bool        isUsed;  /* Constant after start, as the next. */
    bool        isRefreshed;
    atomic_long failedSec; /* When one could not be made; any thread. */
} Kind;

static Kind kinds[] = {{"br", ".br", "ns_brotlifile", false, false, 0},
                       {"gzip", ".gz", "ns_gzipfile", false, false, 0}};

bool nsVariantsAreOn;

static NsVariantMakeProc *makeProc; /* Set once at start. */

static bool IsCurrent(NsConn *connPtr, Kind *kindPtr, const char *path,
                      const struct stat *statusPtr, NsVariant *variantPtr);
static bool Make(NsConn *connPtr, Kind *kindPtr, const char *path,
                 const char *variant, const struct stat *statusPtr);
static bool Look(const char *path, const struct stat *statusPtr,
                 struct stat *foundPtr, bool *isOlderPtr);

void
NsVariantsInit(void)
{
    NsParametersRegister("ns/fastpath", rows, sizeof(Settings));
}

void
NsVariantsSetMakeProc(NsVariantMakeProc *proc)
{
    makeProc = proc;
}

void
NsVariantsConfigure(void)
{
    Settings settings;

    NsParametersFill(rows, "ns/fastpath", &settings);
    kinds[0].isUsed = settings.usesBrotli;
    kinds[0].isRefreshed = settings.refreshesBrotli;
    kinds[1].isUsed = settings.usesGzip;
    kinds[1].isRefreshed = settings.refreshesGzip;
    nsVariantsAreOn = settings.usesBrotli || settings.usesGzip;
}

void
NsVariantFind(NsConn *connPtr, const char *path, const struct stat *statusPtr,
              NsVariant *variantPtr)
{
    const NsHttpHead *headPtr = &connPtr->messagePtr->head;
    const char       *accepted = NsHttpKnown(headPtr, NS_FIELD_ACCEPT_ENCODING);

    *variantPtr = (NsVariant){.exists = false};
    Ns_DStringInit(&variantPtr->path);
    for (int i = 0; i < Ns_NrElements(kinds) && variantPtr->coding == NULL;
         i++) {
        if (kinds[i].isUsed
            && IsCurrent(connPtr, &kinds[i], path, statusPtr, variantPtr)) {
            variantPtr->exists = true;
            if (NsAcceptsCoding(accepted, kinds[i].coding)) {
                variantPtr->coding = kinds[i].coding;
            }
        }
    }
    NsAssert(variantPtr->exists || variantPtr->coding == NULL);
}

void
NsVariantFree(NsVariant *variantPtr)
{
    Ns_DStringFree(&variantPtr->path);
}

/*
 * Whether there is one that is as new as the file: its path and its status.
 */
static bool
IsCurrent(NsConn *connPtr, Kind *kindPtr, const char *path,
          const struct stat *statusPtr, NsVariant *variantPtr)
{
    bool        isOlder = false;
    const char *variant;

    Ns_DStringTrunc(&variantPtr->path, 0);
    variant = Ns_DStringVarAppend(&variantPtr->path, path, kindPtr->suffix,
                                  NULL);
    if (!Look(variant, statusPtr, &variantPtr->status, &isOlder)) {
        return false;
    }
    if (isOlder && kindPtr->isRefreshed
        && Make(connPtr, kindPtr, path, variant, statusPtr)) {
        return Look(variant, statusPtr, &variantPtr->status, &isOlder)
            && !isOlder;
    }
    return !isOlder;
}

/*
 * Of a file that was changed a moment ago none is made: the next change might
 * not show.  A command that fails is not run for each request.
 */
static bool
Make(NsConn *connPtr, Kind *kindPtr, const char *path, const char *variant,
     const struct stat *statusPtr)
{
    Ns_Time       accepted = NsClockWall(connPtr->work.acceptStamp);
    long          failedSec = atomic_load_explicit(&kindPtr->failedSec,
                                                   memory_order_relaxed);
    Ns_ReturnCode result;

    if (makeProc == NULL || !NsFileIsSettled(statusPtr, &accepted)
        || (failedSec != 0 && accepted.sec - failedSec < RETRY_SECONDS)) {
        return false;
    }
    result = makeProc(&connPtr->pub, kindPtr->command, path, variant);
    if (result == NS_ERROR) {
        atomic_store_explicit(&kindPtr->failedSec, accepted.sec,
                              memory_order_relaxed);
    }
    return result == NS_OK;
}

static bool
Look(const char *path, const struct stat *statusPtr, struct stat *foundPtr,
     bool *isOlderPtr)
{
    const struct timespec *filePtr = &statusPtr->st_mtim;
    const struct timespec *variantPtr = &foundPtr->st_mtim;

    if (stat(path, foundPtr) != 0 || !S_ISREG(foundPtr->st_mode)) {
        return false;
    }
    *isOlderPtr = variantPtr->tv_sec < filePtr->tv_sec
        || (variantPtr->tv_sec == filePtr->tv_sec
            && variantPtr->tv_nsec < filePtr->tv_nsec);
    return true;
}
