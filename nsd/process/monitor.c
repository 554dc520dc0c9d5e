/* SPDX-License-Identifier: MPL-2.0
 * monitor.c --
 *
 *      The listener of the monitor.
 */

#include "process/monitor.h"

#include "nsparam.h"
#include "nsset.h"
#include "nsstring.h"
#include "process/config.h"

#define MONITOR  "ns/module/nsstats"
#define LISTENER "nsmonitor"

static bool        AddListener(const char *server);
static const char *DriverFile(const Ns_Set *modules);
static const char *Setting(const char *key, const char *defaultText);

void
NsMonitorConfigure(const char *only)
{
    const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");
    bool          isDone = false;
    int           port;

    /* What is no port is named by the check of the configuration. */
    if (Ns_StrToInt(Setting("port", "0"), &port) != NS_OK || port <= 0
        || port > 65535) {
        return;
    }
    for (int i = 0; servers != NULL && i < (int) Ns_SetSize(servers) && !isDone;
         i++) {
        const char *server = Ns_SetKey(servers, i);

        isDone = (only == NULL || STREQ(only, server)) && AddListener(server);
    }
}

/*
 * False: the server does not have the monitor.  The new parameters stand where
 * the port does, for those who are told about them.
 */
static bool
AddListener(const char *server)
{
    const char   *path = Ns_ConfigGetPath(server, NULL, "modules", NULL);
    const char   *kind = NsConfigPeek(path, "nsstats"), *file;
    NsConfigPlace place = NsConfigPlaceOf(MONITOR, "port");
    NsSection    *sectionPtr;
    Ns_DString    section, paths;

    if (kind == NULL || !STRIEQ(kind, "tcl")) {
        return false;
    }
    file = DriverFile(Ns_ConfigGetSection(path));
    NsConfigReplace(NsConfigOpen(path, place), LISTENER, file, place);

    Ns_DStringInit(&section);
    Ns_DStringInit(&paths);
    Ns_DStringPrintf(&section, "ns/server/%s/module/" LISTENER, server);
    Ns_DStringAppendElement(&paths, Setting("url", "/nsstats.tcl"));
    Ns_DStringAppendElement(&paths, "/metrics");
    sectionPtr = NsConfigOpen(section.string, place);
    NsConfigReplace(sectionPtr, "address", Setting("address", "127.0.0.1"),
                    place);
    NsConfigReplace(sectionPtr, "port", Setting("port", "0"), place);
    NsConfigReplace(sectionPtr, "hostname", "localhost", place);
    NsConfigReplace(sectionPtr, "onlypaths", paths.string, place);
    Ns_DStringFree(&section);
    Ns_DStringFree(&paths);
    return true;
}

/*
 * The one that the server has for its own port, where that is one for plain
 * HTTP: it may be at a place of its own.
 */
static const char *
DriverFile(const Ns_Set *modules)
{
    for (int i = 0; i < (int) Ns_SetSize(modules); i++) {
        const char *file = Ns_SetValue(modules, i);
        const char *slash = strrchr(file, '/');

        if (strncmp(slash == NULL ? file : slash + 1, "nssock", 6u) == 0) {
            return file;
        }
    }
    return "nssock.so";
}

static const char *
Setting(const char *key, const char *defaultText)
{
    const char *value = NsConfigPeek(MONITOR, key);

    return value == NULL || *value == '\0' ? defaultText : value;
}
