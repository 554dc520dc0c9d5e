/* SPDX-License-Identifier: MPL-2.0
 * maplist.c --
 *
 *      Lists the mappings of a directory, of live and dead servers.
 *
 *      Nothing is changed, and nothing is locked: what a live server writes or
 *      frees meanwhile makes its figures approximate.
 */

#include "log/maplist.h"

#include <pwd.h>

#include "log/sink/leftover.h"
#include "log/stream/line.h"
#include "nsthread.h"

#define PREFIX      "nsd-"
#define LINE_FORMAT "%-10s %8s %-10s %10s  "

static void        ListFile(const char *path);
static uint64_t    CountAll(NsRing *firstPtr, int *pidPtr);
static void        ListSinks(NsRing *ringPtr);
static void        PrintName(const char *name, size_t room);
static const char *OwnerOf(const char *path, char *text, size_t size);
static int         IsMapping(const struct dirent *entPtr);

int
NsLogListMappings(const char *directory)
{
    struct dirent **entries;
    Ns_DString      path;
    int             n = scandir(directory, &entries, IsMapping, alphasort);

    if (n < 0) {
        fprintf(stderr, "nsd: cannot read '%s': %s\n", directory,
                strerror(errno));
        return 1;
    }
    if (n == 0) {
        printf("no log memory in '%s'\n", directory);
    } else {
        printf(LINE_FORMAT "%s\n", "USER", "PROCESS", "STATE", "RECORDS",
               "FILE, OR SINK");
    }
    Ns_DStringInit(&path);
    for (int i = 0; i < n; i++) {
        Ns_DStringSetLength(&path, 0);
        Ns_DStringVarAppend(&path, directory, "/", entries[i]->d_name,
                            (char *) NULL);
        ListFile(Ns_DStringValue(&path));
        free(entries[i]);
    }
    free(entries);
    Ns_DStringFree(&path);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int
IsMapping(const struct dirent *entPtr)
{
    return strncmp(entPtr->d_name, PREFIX, sizeof(PREFIX) - 1) == 0;
}

static void
ListFile(const char *path)
{
    const char *reason;
    char        owner[32], process[16] = "-", records[24] = "-";
    pid_t       holder = NsRingHolder(path);
    NsRing     *ringPtr = NsRingOpen(path, true, &reason);
    bool        isReadable = ringPtr != NULL;

    if (isReadable) {
        int      pid;
        uint64_t n = CountAll(ringPtr, &pid);

        snprintf(process, sizeof(process), "%d", holder > 0 ? holder : pid);
        snprintf(records, sizeof(records), "%" PRIu64, n);
    } else if (holder > 0) {
        snprintf(process, sizeof(process), "%d", holder);
    }
    printf(LINE_FORMAT, OwnerOf(path, owner, sizeof(owner)), process,
           holder > 0       ? "in use"
               : isReadable ? "left"
                            : "unreadable",
           records);
    PrintName(path, strlen(path));
    if (!isReadable) {
        printf(": %s", reason);
    }
    putchar('\n');
    while (ringPtr != NULL) {
        NsRing *nextPtr = ringPtr->siblingPtr;

        ListSinks(ringPtr);
        NsRingClose(&ringPtr, false);
        ringPtr = nextPtr;
    }
}

/*
 * A record that waits for two sinks counts twice.
 */
static uint64_t
CountAll(NsRing *firstPtr, int *pidPtr)
{
    uint64_t n = 0;

    *pidPtr = (int) firstPtr->headerPtr->pid;
    for (NsRing *ringPtr = firstPtr; ringPtr != NULL;
         ringPtr = ringPtr->siblingPtr) {
        for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
            const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);

            if (NsRingSinkIsUsed(slotPtr)) {
                n += NsLeftoverMeasure(ringPtr, slotPtr).nRecords;
            }
        }
    }
    return n;
}

static void
ListSinks(NsRing *ringPtr)
{
    for (int i = 0; i < (int) ringPtr->headerPtr->maxSinks; i++) {
        const NsRingSink *slotPtr = NsRingSinkAt(ringPtr, i);
        char              records[24];
        uint64_t          n;

        if (!NsRingSinkIsUsed(slotPtr)) {
            continue;
        }
        n = NsLeftoverMeasure(ringPtr, slotPtr).nRecords;
        if (n > 0) {
            snprintf(records, sizeof(records), "%" PRIu64, n);
            printf(LINE_FORMAT "  ", "", "", "", records);
            PrintName(slotPtr->name, sizeof(slotPtr->name));
            putchar('\n');
        }
    }
}

/*
 * Whoever made the file chose the name.
 */
static void
PrintName(const char *name, size_t room)
{
    char     text[4 * NS_RING_PATH];
    NsLogOut out = {text, sizeof(text), 0};

    NsLogSanitize(&out, name, strnlen(name, MIN(room, NS_RING_PATH)), 1);
    printf("%.*s", (int) out.length, text);
}

static const char *
OwnerOf(const char *path, char *text, size_t size)
{
    struct stat    st;
    struct passwd *userPtr;

    if (lstat(path, &st) != 0) {
        return "-";
    }
    userPtr = getpwuid(st.st_uid);
    if (userPtr == NULL) {
        snprintf(text, size, "%ld", (long) st.st_uid);
    } else {
        snprintf(text, size, "%s", userPtr->pw_name);
    }
    return text;
}
