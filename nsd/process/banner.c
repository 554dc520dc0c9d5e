/* SPDX-License-Identifier: MPL-2.0
 * banner.c --
 *
 *      What the server says about itself at the start.
 */

#include "process/banner.h"

#include "nslog.h"
#include "process/release.h"
#include "base/memory.h"

#include <sys/resource.h>

#define LIMIT_BYTES 24

static void        LogFileLimit(void);
static const char *FormatLimit(char *buffer, rlim_t limit);

void
NsBannerPrint(void)
{
    Ns_DString    libraries;
    NsMemoryStats memory;

    Ns_DStringInit(&libraries);
    NsMemoryGetStats(&memory);
    NsReleaseLibraries(&libraries);
    printf("%s\n", NS_BANNER_NAME);
    printf("   Tag:             %s\n", Ns_InfoTag());
    printf("   Built:           %s\n", Ns_InfoBuildDate());
    printf("   Tcl version:     %s\n", TCL_PATCH_LEVEL);
    printf("   Platform:        %s\n", Ns_InfoPlatform());
    printf("   Release:         nsd %s\n", NsReleaseVersion());
    printf("   Revision:        %s\n", NsReleaseRevision());
    printf("   Compatible with: %s\n", NS_BANNER_NAME);
    printf("   Libraries:       %s\n", Ns_DStringValue(&libraries));
    printf("   Allocator:       %s\n", memory.allocator);
    Ns_DStringFree(&libraries);
}

void
NsBannerLog(void)
{
    int major, minor, patch, type;

    Tcl_GetVersion(&major, &minor, &patch, &type);
    Ns_Log(Notice, "nsmain: %s starting", NS_BANNER_NAME);
    NsBannerLogSecurity();
    Ns_Log(Notice, "nsmain: Tcl version: %d.%d.%d", major, minor, patch);
    LogFileLimit();
}

void
NsBannerLogSecurity(void)
{
    Ns_Log(Notice, "nsmain: security info: uid=%d, euid=%d, gid=%d, egid=%d",
           (int) getuid(), (int) geteuid(), (int) getgid(), (int) getegid());
}

static void
LogFileLimit(void)
{
    struct rlimit limit;
    char          current[LIMIT_BYTES], maximum[LIMIT_BYTES];

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        Ns_Log(Warning, "nsmain: getrlimit(RLIMIT_NOFILE) failed: '%s'",
               strerror(errno));
        return;
    }
    Ns_Log(Notice, "nsmain: max files: rl_cur = %s, rl_max = %s",
           FormatLimit(current, limit.rlim_cur),
           FormatLimit(maximum, limit.rlim_max));
}

static const char *
FormatLimit(char *buffer, rlim_t limit)
{
    if (limit == RLIM_INFINITY) {
        return "infinity";
    }
    snprintf(buffer, LIMIT_BYTES, "%" PRIu64, (uint64_t) limit);
    return buffer;
}
