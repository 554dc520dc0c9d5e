/* SPDX-License-Identifier: MPL-2.0
 * variants.h --
 *
 *      Compressed variants of static files: F.br and F.gz beside F.
 *
 *      A variant that is older than its file is not sent.  It is made anew
 *      where the configuration says so.
 */

#ifndef NSD_REQUEST_VARIANTS_H
#define NSD_REQUEST_VARIANTS_H

#include <sys/stat.h>

#include "nsstring.h"
#include "request/conn.h"

/*
 * Make target of source with this command of scripts.  NS_TIMEOUT: somebody
 * does already.
 */
typedef Ns_ReturnCode NsVariantMakeProc(Ns_Conn *conn, const char *command,
                                        const char *source, const char *target);

void NsVariantsInit(void);
void NsVariantsSetMakeProc(NsVariantMakeProc *proc);

/*
 * Read section ns/fastpath, when the configuration has been read; later calls
 * do nothing.
 */
void NsVariantsConfigure(void);

/*
 * Whether variants are looked for at all; constant after start.
 */
extern bool nsVariantsAreOn;

typedef struct NsVariant {
    bool exists; /* One that some client gets: the reply varies. */
    const char
              *coding; /* The request's is to be sent; NULL: the file itself. */
    Ns_DString path;   /* Of the one to be sent. */
    struct stat status; /* Likewise. */
} NsVariant;

/*
 * What to send for a file, to be freed.
 */
void NsVariantFind(NsConn *connPtr, const char *path,
                   const struct stat *statusPtr, NsVariant *variantPtr);
void NsVariantFree(NsVariant *variantPtr);

#endif
