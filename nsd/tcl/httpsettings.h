/* SPDX-License-Identifier: MPL-2.0
 * httpsettings.h --
 *
 *      What the section httpclient of a server says of its requests to others.
 */

#ifndef NSD_TCL_HTTPSETTINGS_H
#define NSD_TCL_HTTPSETTINGS_H

#include "base/clock.h"
#include "net/tlsclient.h"
#include "process/server.h"

/*
 * Constant once made.
 */
typedef struct NsHttpSettings {
    const char *caFile; /* NULL: that of the system, as capath. */
    const char *caPath;
    bool        isValidated;
    bool        sendsNames;
    int         maxDepth;
    NsStamp     keepAlive;
    NsStamp     timeout;

    struct NsHttpLog *logPtr; /* NULL: requests are not logged. */

    const NsTlsException *exceptions;
    int                   nExceptions;
    const char           *rejectedDir; /* NULL: not kept. */
} NsHttpSettings;

void NsHttpSettingsInit(void);

/*
 * Of a server, the first time when it starts; NULL: of a basic interpreter.
 * Lives as long as the process.
 */
const NsHttpSettings *NsHttpSettingsGet(NsServer *serverPtr);

/*
 * Complete the settings of a connection: authorities where none are given, and
 * whether certificates are verified (0: as configured, -1: no, 1: yes).
 */
void NsHttpSettingsForTls(const NsHttpSettings *settingsPtr, int verify,
                          NsTlsClientSpec *tlsPtr);

#endif
