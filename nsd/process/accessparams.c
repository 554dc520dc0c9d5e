/* SPDX-License-Identifier: MPL-2.0
 * accessparams.c --
 *
 *      The parameters of access logs: nsd -T and the manual know them without
 *      the module that writes such logs.
 */

#include "process/accessparams.h"

#include "log/stream/template.h"
#include "nsaccessline.h"
#include "nsstring.h"
#include "process/config.h"
#include "process/parameters.h"

static NsParameterAdjustProc AdjustMaxBackup;

static const NsParameter rows[] = {
    NS_PATH(Ns_AccessParams, file, "file", "access.log",
            "Access log; relative to home/logs if that exists."),
    NS_FLAG(Ns_AccessParams, flags, NS_ACCESS_FMTTIME, "formattedtime", "true",
            "Time in common log format."),
    NS_FLAG(Ns_AccessParams, flags, NS_ACCESS_COMBINED, "logcombined", "true",
            "Add referer and user agent."),
    NS_FLAG(Ns_AccessParams, flags, NS_ACCESS_REQTIME, "logreqtime", "false",
            "Add the elapsed time."),
    NS_FLAG(Ns_AccessParams, flags, NS_ACCESS_PARTIALTIMES, "logpartialtimes",
            "false", "Add the start time and its parts."),
    NS_FLAG(Ns_AccessParams, flags, NS_ACCESS_SUPPRESSQUERY, "suppressquery",
            "false", "Log the path only."),
    NS_FLAG(Ns_AccessParams, flags, NS_ACCESS_CHECKFORPROXY, "checkforproxy",
            "false", "Log the client that proxies report; see trustedproxies."),
    NS_BOOL(Ns_AccessParams, masksPeer, "masklogaddr", "false",
            "Log only a part of the client's address."),
    NS_TEXT(Ns_AccessParams, maskIpv4, "maskipv4", "255.255.255.0",
            "That part of an IPv4 address."),
    NS_TEXT(Ns_AccessParams, maskIpv6, "maskipv6",
            "ff:ff:ff:ff::", "That part of an IPv6 address."),
    NS_FLAG(Ns_AccessParams, flags, NS_ACCESS_THREADNAME, "logthreadname",
            "false", "Name of the thread in place of the first hyphen."),
    NS_TEXT(Ns_AccessParams, driver, "driver", "",
            "Only requests of drivers whose module matches; empty: all."),
    NS_IGNORED("enablehostnamelookup", "Addresses are logged."),
    NS_IGNORED("rollday", "Logs are rolled each day."),
    NS_IGNORED("debug", "See ns_logctl."),
    NS_IGNORED("dev", "See ns_logctl."),
    NS_LISTED("extendedheaders", NS_PARAM_LIST, "",
              "Header fields to add: NAME or request:NAME, response:NAME."),
    NS_INT(Ns_AccessParams, maxBuffer, "maxbuffer", "0", 0, NS_PARAM_NO_LIMIT,
           "Lines collected before a write."),
    NS_TEXT(Ns_AccessParams, rollFormat, "rollfmt", "",
            "Suffix (strftime) of rolled logs; empty: numbers."),
    NS_INT(Ns_AccessParams, maxBackup, "maxbackup", "100", 1, NS_PARAM_NO_LIMIT,
           "Rolled logs that are kept; by number at most 999.",
           .adjustProc = AdjustMaxBackup),
    NS_BOOL(Ns_AccessParams, rollsDaily, "rolllog", "true", "Roll once a day."),
    NS_INT(Ns_AccessParams, rollHour, "rollhour", "0", 0, 23, "At this hour."),
    NS_BOOL(Ns_AccessParams, rollsOnSignal, "rollonsignal", "false",
            "Roll on SIGHUP, too."),
    NS_PARAM_END};

void
NsAccessParamsInit(void)
{
    NsParametersRegister("module/nslog", rows, sizeof(Ns_AccessParams));
}

void
Ns_AccessParamsRead(const char *section, Ns_AccessParams *paramsPtr)
{
    const char *period = NsConfigPeek(section, "rollevery");

    paramsPtr->flags = 0;
    NsParametersFill(rows, section, paramsPtr);
    if (period != NULL && *period != '\0') {
        paramsPtr->rollsDaily = false; /* The sink does it. */
    }
}

void
Ns_AccessParamsHeaders(const char *section, Ns_DString *dsPtr)
{
    const char *format = NsConfigPeek(section, "format");
    const char *named = format == NULL
        ? NULL
        : NsConfigPeek("ns/logformats", format);
    NsTemplate *templatePtr;
    Ns_DString  error;

    Ns_DStringInit(&error);
    templatePtr = format == NULL
        ? NULL
        : NsTemplateCreate(named != NULL ? named : format, &error);
    if (templatePtr != NULL) {
        NsTemplateHeaders(templatePtr, dsPtr);
    }
    NsTemplateDestroy(&templatePtr);
    Ns_DStringFree(&error);
}

static void
AdjustMaxBackup(const void *valuesPtr, NsParameterLimits *limitsPtr)
{
    const Ns_AccessParams *paramsPtr = valuesPtr;

    if (paramsPtr->rollFormat == NULL || *paramsPtr->rollFormat == '\0') {
        limitsPtr->max = NS_ACCESS_MAX_BACKUP;
    }
}
