/* SPDX-License-Identifier: MPL-2.0
 * config_refs.c --
 *
 *      What a configuration refers to: servers, pools, modules, files,
 *      addresses.  Nothing is made or changed.
 */

#include "process/config_refs.h"

#include "nsparam.h"
#include "nsfile.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "base/ipaddress.h"
#include "http/status.h"
#include "process/info.h"
#include "process/module.h"
#include "process/moduleadvice.h"
#include "process/paths.h"
#include "log/stream/template.h"
#include "process/sinkdraft.h"
#include "process/sinkoptions.h"
#include "process/units.h"

#include <netdb.h>

/*
 * A section's name, taken apart at its slashes.
 */
#define MAX_PARTS 5

typedef struct Parts {
    int  n;
    char at[MAX_PARTS][128];
} Parts;

typedef void ValueProc(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr);

static ValueProc CheckDirectory, CheckShipped, CheckModule, CheckPoolMap,
    CheckRedirect;
static ValueProc CheckLimit, CheckHost, CheckServer, CheckAddress, CheckSink;
static ValueProc CheckServerKey, CheckDriver, CheckFormat, CheckSystemSink;
static ValueProc CheckAccessLog, CheckSinkValue, CheckFilePlace, CheckNetworks;

/*
 * key "*": each one.
 */
static const struct {
    const char *pattern;
    const char *key;
    ValueProc  *proc;
} values[] = {
    {"ns/parameters", "tcllibrary", CheckShipped},
    {"ns/parameters", "logringdir", CheckDirectory},
    {"ns/parameters", "workingdir", CheckDirectory},
    {"ns/parameters", "serverlog", CheckFilePlace},
    {"ns/parameters", "pidfile", CheckFilePlace},
    {"ns/parameters", "trustedproxies", CheckNetworks},
    {"ns/reverseproxymode", "trustedservers", CheckNetworks},
    {"ns/server/*/tcl", "library", CheckDirectory},
    {"ns/modules", "*", CheckModule},
    {"ns/server/*/modules", "*", CheckModule},
    {"ns/db/drivers", "*", CheckDriver},
    {"ns/server/*/pool/*", "map", CheckPoolMap},
    {"ns/server/*/pool/*", "map-noinherit", CheckPoolMap},
    {"ns/server/*/redirects", "*", CheckRedirect},
    {"ns/server/*/limits", "*", CheckLimit},
    {"ns/logsinks", "*", CheckSink},
    {"ns/logformats", "*", CheckFormat},
    {"logsink/*", "*", CheckSystemSink},
    {"module/nslog", "*", CheckAccessLog},
    {"module/nslog", "file", CheckFilePlace},
    {"module/*", "address", CheckAddress},
    {"module/*", "hostname", CheckHost},
    {"module/*", "uploadpath", CheckDirectory},
    {"module/*", "defaultserver", CheckServer},
    {"module/*/servers", "*", CheckServerKey}};

static void Report(NsConfigCheck *checkPtr, NsConfigPlace place,
                   const char *kind, const char *format, va_list ap)
    NS_GNUC_PRINTF(4, 0);
static void        ReportError(NsConfigCheck *checkPtr, NsConfigPlace place,
                               const char *format, ...) NS_GNUC_PRINTF(3, 4);
static void        Split(const char *section, Parts *partsPtr);
static bool        IsServer(const char *name);
static bool        HasKey(const char *section, const char *key);
static const char *NearestKey(const char *section, const char *name);
static void ReportUnlisted(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                           const char *what, const char *name,
                           const char *list);
static void CheckOneServer(NsConfigCheck *checkPtr, const char *server,
                           NsConfigPlace place);
static void AppendPath(Ns_DString *dsPtr, const char *base, const char *path);
static bool IsDirectory(const char *path);
static void ReportDirectory(NsConfigCheck      *checkPtr,
                            const NsConfigItem *itemPtr, const char *directory);
static void CheckOwnName(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr);
static bool HasTclModule(const char *section, const char *module);
static void CheckOneAddress(NsConfigCheck      *checkPtr,
                            const NsConfigItem *itemPtr, const char *address);
static bool IsLoopback(const struct sockaddr *saPtr);
static void CheckStreamNames(NsConfigCheck      *checkPtr,
                             const NsConfigItem *itemPtr, const char *section);
static bool IsTold(const char *section, const char *key, const char *value);
static int  CountWords(const char *list);

void
NsConfigRefsSection(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    Parts      parts;
    Ns_DString ds;

    Split(itemPtr->section, &parts);
    if (parts.n < 3) {
        return;
    }
    Ns_DStringInit(&ds);
    if (STREQ(parts.at[1], "server") && !IsServer(parts.at[2])) {
        ReportUnlisted(checkPtr, itemPtr, "server", parts.at[2], "ns/servers");
    } else if (STREQ(parts.at[1], "server") && parts.n >= 5
               && STREQ(parts.at[3], "pool")) {
        Ns_DStringVarAppend(&ds, "ns/server/", parts.at[2], "/pools", NULL);
        if (!HasKey(ds.string, parts.at[4])) {
            ReportUnlisted(checkPtr, itemPtr, "pool", parts.at[4], ds.string);
        }
    } else if (STREQ(parts.at[1], "limit")
               && !HasKey("ns/limits", parts.at[2])) {
        ReportUnlisted(checkPtr, itemPtr, "limit", parts.at[2], "ns/limits");
    } else if (STREQ(parts.at[1], "logsink") && !STREQ(parts.at[2], "system")
               && !HasKey("ns/logsinks", parts.at[2])) {
        ReportUnlisted(checkPtr, itemPtr, "log sink", parts.at[2],
                       "ns/logsinks");
    } else if (STREQ(parts.at[1], "db") && parts.n >= 4
               && STREQ(parts.at[2], "pool")
               && !HasKey("ns/db/pools", parts.at[3])) {
        ReportUnlisted(checkPtr, itemPtr, "database pool", parts.at[3],
                       "ns/db/pools");
    }
    Ns_DStringFree(&ds);
}

bool
NsConfigRefsIsOfNoModule(const char *section)
{
    Parts      parts;
    Ns_DString ds;
    bool       isOfNone = false;

    Split(section, &parts);
    if (parts.n >= 3 && STREQ(parts.at[1], "module")) {
        const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");

        /* A page by this name reads it, with or without the module. */
        isOfNone = !STREQ(parts.at[2], "nsstats")
            && !HasKey("ns/modules", parts.at[2]);
        for (int i = 0; servers != NULL && i < (int) Ns_SetSize(servers); i++) {
            Ns_DStringInit(&ds);
            Ns_DStringVarAppend(&ds, "ns/server/", Ns_SetKey(servers, i),
                                "/modules", NULL);
            isOfNone = isOfNone && !HasKey(ds.string, parts.at[2]);
            Ns_DStringFree(&ds);
        }
    } else if (parts.n >= 5 && STREQ(parts.at[1], "server")
               && STREQ(parts.at[3], "module")) {
        Ns_DStringInit(&ds);
        Ns_DStringVarAppend(&ds, "ns/server/", parts.at[2], "/modules", NULL);
        isOfNone = !HasKey(ds.string, parts.at[4])
            && !HasKey("ns/modules", parts.at[4]);
        Ns_DStringFree(&ds);
    }
    return isOfNone;
}

bool
NsConfigRefsIsRequiredSink(const char *section)
{
    const char *required = NsConfigPeek(section, "required");
    int         isRequired = 0;

    return strncmp(section, "ns/logsink/", 11u) == 0 && required != NULL
        && Tcl_GetBoolean(NULL, required, &isRequired) == TCL_OK
        && isRequired != 0;
}

/*
 * In the lists where NsConfigRefsIsOfNoModule has looked.
 */
const char *
NsConfigRefsNearestModule(const char *section)
{
    const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");
    const char   *nearest;
    Parts         parts;
    bool          isGlobal;
    Ns_DString    ds;

    Split(section, &parts);
    isGlobal = STREQ(parts.at[1], "module");
    nearest = NearestKey("ns/modules", parts.at[isGlobal ? 2 : 4]);
    for (int i = 0;
         nearest == NULL && servers != NULL && i < (int) Ns_SetSize(servers);
         i++) {
        if (isGlobal || STRIEQ(Ns_SetKey(servers, i), parts.at[2])) {
            Ns_DStringInit(&ds);
            Ns_DStringVarAppend(&ds, "ns/server/", Ns_SetKey(servers, i),
                                "/modules", NULL);
            nearest = NearestKey(ds.string, parts.at[isGlobal ? 2 : 4]);
            Ns_DStringFree(&ds);
        }
    }
    return nearest;
}

void
NsConfigReport(NsConfigCheck *checkPtr, NsConfigPlace place, const char *format,
               ...)
{
    va_list ap;

    if (checkPtr->isRequired) {
        checkPtr->nErrors++;
    }
    va_start(ap, format);
    Report(checkPtr, place, checkPtr->isRequired ? "error" : "warning", format,
           ap);
    va_end(ap);
}

/*
 * One thing for which a start fails.
 */
static void
ReportError(NsConfigCheck *checkPtr, NsConfigPlace place, const char *format,
            ...)
{
    va_list ap;

    checkPtr->nErrors++;
    va_start(ap, format);
    Report(checkPtr, place, "error", format, ap);
    va_end(ap);
}

static void
Report(NsConfigCheck *checkPtr, NsConfigPlace place, const char *kind,
       const char *format, va_list ap)
{
    char text[1024], line[16] = "";

    vsnprintf(text, sizeof(text), format, ap);
    checkPtr->nProblems++;
    if (place.line > 0) {
        snprintf(line, sizeof(line), ":%d", place.line);
    }
    if (checkPtr->file != NULL) {
        fprintf(checkPtr->file, "%s%s: %s: %s\n", place.file, line, kind, text);
    } else {
        Ns_Log(Warning, "config: %s%s: %s", place.file, line, text);
    }
}

bool
NsConfigRefsHome(NsConfigCheck *checkPtr)
{
    const char   *home = NsPathsHomeSetting();
    NsConfigPlace place = {Ns_InfoConfigFile(), 0};
    char          path[PATH_MAX];

    if (!IsDirectory(home) || realpath(home, path) == NULL) {
        ReportError(checkPtr, place, "home: %s: %s", home, strerror(errno));
        return false;
    }
    NsInfoSetHome(path);
    NsPathsConfigure();
    return true;
}

void
NsConfigRefsValue(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    for (int i = 0; i < Ns_NrElements(values); i++) {
        if (NsParameterMatches(values[i].pattern, checkPtr->sectionPtr->pattern)
            && (STREQ(values[i].key, "*")
                || STRIEQ(values[i].key, itemPtr->key))) {
            values[i].proc(checkPtr, itemPtr);
        }
    }
}

void
NsConfigRefsServers(NsConfigCheck *checkPtr)
{
    const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");
    NsConfigPlace place = {Ns_InfoConfigFile(), 0};

    if (servers == NULL || Ns_SetSize(servers) == 0) {
        CheckOneServer(checkPtr, "default", place);
        return;
    }
    for (int i = 0; i < (int) Ns_SetSize(servers); i++) {
        CheckOneServer(checkPtr, Ns_SetKey(servers, i), place);
    }
}

/*
 * Text that is longer than a part may be is not a name.
 */
static void
Split(const char *section, Parts *partsPtr)
{
    partsPtr->n = 0;
    while (partsPtr->n < MAX_PARTS && *section != '\0') {
        size_t length = strcspn(section, "/");

        snprintf(partsPtr->at[partsPtr->n++], sizeof(partsPtr->at[0]), "%.*s",
                 (int) MIN(length, INT_MAX), section);
        section += length + (section[length] == '/');
    }
}

static bool
IsServer(const char *name)
{
    const Ns_Set *servers = Ns_ConfigGetSection("ns/servers");

    return servers == NULL || Ns_SetSize(servers) == 0
        ? STRIEQ(name, "default")
        : HasKey("ns/servers", name);
}

/*
 * Names of sections ignore case, so names in them do.
 */
static bool
HasKey(const char *section, const char *key)
{
    Ns_Set *setPtr = Ns_ConfigGetSection(section);

    return setPtr != NULL && Ns_SetIFind(setPtr, key) >= 0;
}

static const char *
NearestKey(const char *section, const char *name)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);
    const char   *nearest = NULL;
    int           least = INT_MAX;

    for (int i = 0; setPtr != NULL && i < (int) Ns_SetSize(setPtr); i++) {
        int distance = NsUnitsDistance(Ns_SetKey(setPtr, i), name);

        if (distance < least) {
            least = distance;
            nearest = Ns_SetKey(setPtr, i);
        }
    }
    return least <= 1 + (int) strlen(name) / 4 ? nearest : NULL;
}

static void
ReportUnlisted(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
               const char *what, const char *name, const char *list)
{
    const char *nearest = NearestKey(list, name);

    NsConfigReport(checkPtr, itemPtr->place,
                   "section \"%s\": there is no %s "
                   "\"%s\" in section %s%s%s%s",
                   itemPtr->section, what, name, list,
                   nearest == NULL ? "" : "; the nearest one is \"",
                   nearest == NULL ? "" : nearest, nearest == NULL ? "" : "\"");
}

static void
CheckOneServer(NsConfigCheck *checkPtr, const char *server, NsConfigPlace place)
{
    Ns_DString  path, section, file, base;
    const char *directory;
    bool        isVhost = false;

    Ns_DStringInit(&path);
    Ns_DStringInit(&section);
    Ns_DStringInit(&file);
    Ns_DStringInit(&base);
    Ns_DStringVarAppend(&path, "ns/server/", server, NULL);

    Ns_DStringVarAppend(&section, path.string, "/tcl", NULL);
    NsPathsShipped(&file, NsParameterText(section.string, "initfile"));
    if (access(file.string, R_OK) != 0) {
        ReportError(checkPtr, place,
                    "parameter \"initfile\" in section "
                    "\"%s\": %s: %s",
                    section.string, file.string, strerror(errno));
    }

    Ns_DStringTrunc(&section, 0);
    Ns_DStringVarAppend(&section, path.string, "/vhost", NULL);
    if (!NsUnitsBool(NsParameterText(section.string, "enabled"), &isVhost)
        || !isVhost) {
        Ns_DStringTrunc(&section, 0);
        Ns_DStringVarAppend(&section, path.string, "/fastpath", NULL);
        directory = NsParameterText(path.string, "serverdir");
        if (*directory == '\0') {
            directory = NsParameterText(section.string, "serverdir");
        }
        AppendPath(&base, Ns_InfoHomePath(), directory);
        Ns_DStringTrunc(&file, 0);
        AppendPath(&file, base.string,
                   NsParameterText(section.string, "pagedir"));
        if (!IsDirectory(file.string)) {
            NsConfigReport(checkPtr, place,
                           "parameter \"pagedir\" in section "
                           "\"%s\": %s: %s",
                           section.string, file.string, strerror(errno));
        }
    }
    Ns_DStringFree(&path);
    Ns_DStringFree(&section);
    Ns_DStringFree(&file);
    Ns_DStringFree(&base);
}

static void
AppendPath(Ns_DString *dsPtr, const char *base, const char *path)
{
    if (Ns_PathIsAbsolute(path)) {
        Ns_DStringAppend(dsPtr, path);
    } else if (*path == '\0') {
        Ns_DStringAppend(dsPtr, base);
    } else {
        Ns_DStringVarAppend(dsPtr, base, "/", path, NULL);
    }
}

/*
 * False: errno says why not.
 */
static bool
IsDirectory(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    return access(path, X_OK) == 0;
}

static void
CheckDirectory(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    AppendPath(&ds, Ns_InfoHomePath(), itemPtr->value);
    ReportDirectory(checkPtr, itemPtr, ds.string);
    Ns_DStringFree(&ds);
}

static void
CheckShipped(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    NsPathsShipped(&ds, itemPtr->value);
    ReportDirectory(checkPtr, itemPtr, ds.string);
    Ns_DStringFree(&ds);
}

static void
ReportDirectory(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                const char *directory)
{
    if (!IsDirectory(directory)) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "parameter \"%s\" in section "
                       "\"%s\": %s: %s",
                       itemPtr->key, itemPtr->section, directory,
                       strerror(errno));
    }
}

static void
CheckDriver(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char *advice = NULL;
    char        path[PATH_MAX], reason[512];

    if (!NsModuleFind(itemPtr->value, path)) {
        snprintf(reason, sizeof(reason), "%.400s: %s", path, strerror(errno));
        advice = NsModuleAdvice(itemPtr->value);
    } else if (NsModuleSymbol(path, "Ns_DbDriverInit", reason, sizeof(reason))
               != NULL) {
        return;
    }
    NsConfigReport(checkPtr, itemPtr->place,
                   "database driver \"%s\" in section \"%s\": %s%s%s",
                   itemPtr->key, itemPtr->section, reason,
                   advice != NULL ? "; " : "", advice != NULL ? advice : "");
}

static void
CheckModule(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    char  reason[512];
    Parts parts;

    if (STRIEQ(itemPtr->value, "tcl")) {
        if (STREQ(itemPtr->section, "ns/modules")) {
            NsConfigReport(checkPtr, itemPtr->place,
                           "module \"%s\" in section \"ns/modules\" has no "
                           "effect: name Tcl modules in ns/server/SERVER/"
                           "modules",
                           itemPtr->key);
        } else if (!HasTclModule(itemPtr->section, itemPtr->key)) {
            NsConfigReport(checkPtr, itemPtr->place,
                           "module \"%s\" in section "
                           "\"%s\": no Tcl library has a directory of that "
                           "name",
                           itemPtr->key, itemPtr->section);
        }
        return;
    }
    CheckOwnName(checkPtr, itemPtr);
    Split(itemPtr->section, &parts);
    if (NsModuleIsBad(STREQ(parts.at[1], "server") ? parts.at[2] : NULL,
                      itemPtr->key, itemPtr->value, reason, sizeof(reason))) {
        ReportError(checkPtr, itemPtr->place,
                    "module \"%s\" in section "
                    "\"%s\": %s",
                    itemPtr->key, itemPtr->section, reason);
    }
}

/*
 * A driver that is given neither an address nor a name takes the machine's.
 */
static void
CheckOwnName(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char  *slash = strrchr(itemPtr->value, '/');
    const char  *kind = slash == NULL ? itemPtr->value : slash + 1;
    NsConfigItem ownName = *itemPtr;
    Ns_DString   section;

    if (strncmp(kind, "nssock", 6) != 0 && strncmp(kind, "nsssl", 5) != 0) {
        return;
    }
    Ns_DStringInit(&section);
    Ns_DStringNAppend(&section, itemPtr->section,
                      (int) (strrchr(itemPtr->section, '/')
                             - itemPtr->section));
    Ns_DStringVarAppend(&section, "/module/", itemPtr->key, NULL);
    ownName.section = section.string;
    ownName.key = "hostname";
    ownName.value = Ns_InfoHostname();
    if (Ns_ConfigGetValue(section.string, "hostname") == NULL) {
        CheckHost(checkPtr, &ownName);
    }
    Ns_DStringFree(&section);
}

/*
 * In the library of all servers, or in that of the server.
 */
static bool
HasTclModule(const char *section, const char *module)
{
    Ns_DString ds, own;
    bool       isThere;

    Ns_DStringInit(&ds);
    Ns_DStringInit(&own);
    NsPathsShipped(&ds, NsParameterText("ns/parameters", "tcllibrary"));
    Ns_DStringVarAppend(&ds, "/", module, NULL);
    isThere = IsDirectory(ds.string);
    Ns_DStringTrunc(&ds, 0);
    Ns_DStringNAppend(&own, section, (int) (strrchr(section, '/') - section));
    Ns_DStringVarAppend(&own, "/tcl", NULL);
    AppendPath(&ds, Ns_InfoHomePath(), NsParameterText(own.string, "library"));
    Ns_DStringVarAppend(&ds, "/", module, NULL);
    isThere = isThere || IsDirectory(ds.string);
    Ns_DStringFree(&ds);
    Ns_DStringFree(&own);
    return isThere;
}

/*
 * A file that the server makes; relative ones are in directories that it makes
 * as well, and those in /run in one that systemd makes for each start.
 */
static void
CheckFilePlace(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char *slash = strrchr(itemPtr->value, '/');
    Ns_DString  ds;

    if (*itemPtr->value == '/' && slash != itemPtr->value
        && strncmp(itemPtr->value, "/run/", 5u) != 0
        && strncmp(itemPtr->value, "/var/run/", 9u) != 0) {
        Ns_DStringInit(&ds);
        Ns_DStringNAppend(&ds, itemPtr->value, (int) (slash - itemPtr->value));
        ReportDirectory(checkPtr, itemPtr, ds.string);
        Ns_DStringFree(&ds);
    }
}

static void
CheckNetworks(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char **words;
    int          n;

    if (Tcl_SplitList(NULL, itemPtr->value, &n, &words) != TCL_OK) {
        return; /* Its type says so. */
    }
    for (int i = 0; i < n; i++) {
        NsIpRange range;

        if (!NsIpRangeParse(words[i], &range)) {
            NsConfigReport(checkPtr, itemPtr->place,
                           "parameter \"%s\" in section \"%s\": %s is neither"
                           " an address nor a network (ADDRESS/BITS)",
                           itemPtr->key, itemPtr->section, words[i]);
        }
    }
    Tcl_Free((char *) words);
}

static void
CheckPoolMap(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    int n = CountWords(itemPtr->value);

    if (n != 2 && n != 3) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "parameter \"%s\" in section "
                       "\"%s\": \"%s\" should be METHOD URLPATTERN ?{HEADER "
                       "PATTERN}?",
                       itemPtr->key, itemPtr->section, itemPtr->value);
    }
}

static void
CheckRedirect(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    int status;

    if (!NsStatusKeyParse(itemPtr->key, &status) || *itemPtr->value == '\0') {
        NsConfigReport(checkPtr, itemPtr->place,
                       "\"%s\" in section \"%s\" is "
                       "not a status, or has no URL",
                       itemPtr->key, itemPtr->section);
    }
}

static void
CheckLimit(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    if (!HasKey("ns/limits", itemPtr->key) && !STREQ(itemPtr->key, "default")) {
        ReportUnlisted(checkPtr, itemPtr, "limit", itemPtr->key, "ns/limits");
    } else if (CountWords(itemPtr->value) != 2) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "\"%s\" in section \"%s\": "
                       "\"%s\" should be METHOD URL",
                       itemPtr->key, itemPtr->section, itemPtr->value);
    }
}

static void
CheckServer(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    if (!IsServer(itemPtr->value)) {
        ReportUnlisted(checkPtr, itemPtr, "server", itemPtr->value,
                       "ns/servers");
    }
}

static void
CheckServerKey(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    if (!IsServer(itemPtr->key)) {
        ReportUnlisted(checkPtr, itemPtr, "server", itemPtr->key, "ns/servers");
    }
}

static void
CheckAddress(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char **words;
    int          n;

    if (Tcl_SplitList(NULL, itemPtr->value, &n, &words) != TCL_OK) {
        ReportError(checkPtr, itemPtr->place,
                    "parameter \"address\" in "
                    "section \"%s\": not a list",
                    itemPtr->section);
        return;
    }
    for (int i = 0; i < n; i++) {
        CheckOneAddress(checkPtr, itemPtr, words[i]);
    }
    Tcl_Free((char *) words);
}

/*
 * Without an address, that of the host name is needed.
 */
static void
CheckHost(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const char *address = Ns_ConfigGetValue(itemPtr->section, "address");

    if (address == NULL || *address == '\0') {
        CheckOneAddress(checkPtr, itemPtr, itemPtr->value);
    }
}

/*
 * Can it be listened on, at some port?
 */
static void
CheckOneAddress(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                const char *address)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE},
                    *listPtr = NULL;
    int         result = getaddrinfo(address, NULL, &hints, &listPtr);
    const char *reason = result == 0 ? NULL : gai_strerror(result);

    if (result == 0 && STRIEQ(itemPtr->key, "address")) {
        int sock = socket(listPtr->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (sock < 0
            || bind(sock, listPtr->ai_addr, listPtr->ai_addrlen) != 0) {
            reason = strerror(errno);
        }
        if (sock >= 0) {
            close(sock);
        }
    }
    if (result == 0 && !IsLoopback(listPtr->ai_addr)
        && Ns_ConfigBool("ns/parameters", "development", NS_FALSE)) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "parameter \"%s\" in section \"%s\": %s: others can"
                       " reach a server with development on; listen on"
                       " 127.0.0.1, or turn it off",
                       itemPtr->key, itemPtr->section, address);
    }
    if (listPtr != NULL) {
        freeaddrinfo(listPtr);
    }
    if (reason != NULL) {
        ReportError(checkPtr, itemPtr->place,
                    "parameter \"%s\" in section "
                    "\"%s\": %s: %s",
                    itemPtr->key, itemPtr->section, address, reason);
    }
}

static bool
IsLoopback(const struct sockaddr *saPtr)
{
    return saPtr->sa_family == AF_INET6
        ? IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *) saPtr)
                                    ->sin6_addr)
        : ntohl(((const struct sockaddr_in *) saPtr)->sin_addr.s_addr) >> 24
            == 127;
}

/*
 * Modules and scripts may make others, which only a start knows; a name that
 * resembles one of the server's is most likely meant to be it.
 */
static void
CheckStreamNames(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr,
                 const char *section)
{
    static const char *const own[] = {"system", "access", "audit", "operation"};
    const char              *streams = NsConfigPeek(section, "streams");
    const char             **words;
    int                      n = 0;

    if (streams == NULL || Tcl_SplitList(NULL, streams, &n, &words) != TCL_OK) {
        return;
    }
    for (int i = 0; i < n; i++) {
        const char *nearest = NULL;
        bool        isOwn = strpbrk(words[i], "*?[/") != NULL;

        for (int j = 0; j < Ns_NrElements(own); j++) {
            isOwn |= STREQ(words[i], own[j]);
            if (NsUnitsDistance(own[j], words[i]) <= 2) {
                nearest = own[j];
            }
        }
        if (!isOwn && nearest != NULL) {
            NsConfigReport(checkPtr, itemPtr->place,
                           "section \"%s\": stream \"%s\": the nearest one is"
                           " \"%s\"",
                           section, words[i], nearest);
        }
    }
    Tcl_Free((char *) words);
}

/*
 * As a start would make it, up to opening its file.
 */
static void
CheckSink(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    Ns_DString    section, error;
    const Ns_Set *setPtr;
    NsSinkDraft   draft;
    bool          isUsable = true;

    Ns_DStringInit(&section);
    Ns_DStringInit(&error);
    Ns_DStringVarAppend(&section, "ns/logsink/", itemPtr->key, NULL);
    setPtr = Ns_ConfigGetSection(section.string);
    NsSinkDraftInit(&draft, NsConfigPeek(section.string, "type"));
    for (int i = 0; setPtr != NULL && isUsable && i < (int) Ns_SetSize(setPtr);
         i++) {
        isUsable = NsSinkOptionSet(&draft, Ns_SetKey(setPtr, i),
                                   Ns_SetValue(setPtr, i), &error)
            == NS_OK;
        if (!isUsable
            && IsTold(section.string, Ns_SetKey(setPtr, i),
                      Ns_SetValue(setPtr, i))) {
            Ns_DStringSetLength(&error, 0);
        }
    }
    if (isUsable) {
        (void) NsSinkDraftIsComplete(&draft, itemPtr->key, &error);
        CheckStreamNames(checkPtr, itemPtr, section.string);
    }
    if (Ns_DStringLength(&error) > 0) {
        checkPtr->isRequired = NsConfigRefsIsRequiredSink(section.string);
        NsConfigReport(checkPtr, itemPtr->place, "section \"%s\": %s",
                       section.string, error.string);
        checkPtr->isRequired = false;
    }
    NsSinkDraftFree(&draft);
    Ns_DStringFree(&section);
    Ns_DStringFree(&error);
}

/*
 * Whether a sink uses it or not.
 */
static void
CheckFormat(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    Ns_DString  error;
    NsTemplate *templatePtr;

    Ns_DStringInit(&error);
    templatePtr = NsTemplateCreate(itemPtr->value, &error);
    if (templatePtr == NULL || NsStreamFormatByName(itemPtr->key) >= 0) {
        NsConfigReport(checkPtr, itemPtr->place,
                       "section \"ns/logformats\": format \"%s\": %s",
                       itemPtr->key,
                       templatePtr == NULL ? error.string
                                           : "the name is the server's own");
    }
    NsTemplateDestroy(&templatePtr);
    Ns_DStringFree(&error);
}

/*
 * Of the system log, which ns/logsinks need not list.
 */
static void
CheckSystemSink(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    if (STREQ(itemPtr->section, "ns/logsink/system")
        && !HasKey("ns/logsinks", "system")) {
        CheckSinkValue(checkPtr, itemPtr);
    }
}

static void
CheckAccessLog(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    if (NsSinkOptionIsOfAccessLogs(itemPtr->key)) {
        CheckSinkValue(checkPtr, itemPtr);
    }
}

static void
CheckSinkValue(NsConfigCheck *checkPtr, const NsConfigItem *itemPtr)
{
    const NsParameter *rowPtr =
        NsParameterFind(NsParameterSectionFind("ns/logsink/*"), itemPtr->key);
    NsSinkDraft draft;
    Ns_DString  error;
    char        problem[256];

    Ns_DStringInit(&error);
    NsSinkDraftInit(&draft, NULL);
    if (NsSinkOptionSet(&draft, itemPtr->key, itemPtr->value, &error) != NS_OK
        && rowPtr != NULL
        && !NsParameterIsBad(rowPtr, itemPtr->section, itemPtr->value, problem,
                             sizeof(problem))) {
        NsConfigReport(checkPtr, itemPtr->place, "section \"%s\": %s",
                       itemPtr->section, error.string);
    }
    NsSinkDraftFree(&draft);
    Ns_DStringFree(&error);
}

/*
 * The check of names and values has reported a sink's parameter already.
 */
static bool
IsTold(const char *section, const char *key, const char *value)
{
    const NsParameter *rowPtr =
        NsParameterFind(NsParameterSectionFind(NsSinkOptionsSection(section)),
                        key);
    char problem[256];

    return rowPtr == NULL
        || NsParameterIsBad(rowPtr, section, value, problem, sizeof(problem));
}

/*
 * -1: no list.
 */
static int
CountWords(const char *list)
{
    const char **words;
    int          n;

    if (Tcl_SplitList(NULL, list, &n, &words) != TCL_OK) {
        return -1;
    }
    Tcl_Free((char *) words);
    return n;
}
