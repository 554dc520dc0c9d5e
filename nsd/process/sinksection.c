/* SPDX-License-Identifier: MPL-2.0
 * sinksection.c --
 *
 *      Where the configuration has the parameters of a log sink.
 */

#include "process/sinksection.h"

#include "base/assert.h"
#include "process/sinkoptions.h"

#define ACCESS "access/"
#define SERVER "ns/server/"
#define MODULE "/module/"

static bool IsAccessLog(const char *sink);

void
NsSinkSectionOf(Ns_DString *dsPtr, const char *sink)
{
    const char *server = sink + strlen(ACCESS), *module;

    if (!IsAccessLog(sink)) {
        Ns_DStringVarAppend(dsPtr, "ns/logsink/", sink, (char *) NULL);
        return;
    }
    module = strrchr(sink, '/');
    NsAssert(module >= server);
    Ns_DStringAppend(dsPtr, SERVER);
    Ns_DStringNAppend(dsPtr, server, (int) (module - server));
    Ns_DStringVarAppend(dsPtr, MODULE, module + 1, (char *) NULL);
}

static bool
IsAccessLog(const char *sink)
{
    return strncmp(sink, ACCESS, strlen(ACCESS)) == 0
        && strchr(sink + strlen(ACCESS), '/') != NULL;
}

bool
NsSinkOfAccessSection(Ns_DString *dsPtr, const char *section)
{
    const char *server = section + strlen(SERVER), *module;

    if (strncmp(section, SERVER, strlen(SERVER)) != 0) {
        return false;
    }
    module = strstr(server, MODULE);
    if (module == NULL) {
        return false;
    }
    Ns_DStringAppend(dsPtr, ACCESS);
    Ns_DStringNAppend(dsPtr, server, (int) (module - server));
    Ns_DStringVarAppend(dsPtr, "/", module + strlen(MODULE), (char *) NULL);
    return true;
}

/*
 * An access log's own hour is that of its daily roll; with rollevery it has
 * none.
 */
bool
NsSinkHasParameter(const char *sink, const Ns_Set *sectionPtr, const char *key)
{
    return !IsAccessLog(sink) || NsSinkOptionIsOfAccessLogs(key)
        || (STRIEQ(key, "rollhour")
            && Ns_SetIFind((Ns_Set *) sectionPtr, "rollevery") >= 0);
}
