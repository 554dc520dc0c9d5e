/* SPDX-License-Identifier: MPL-2.0
 * newsite.c --
 *
 *      The first files of a site.
 */

#include "process/newsite.h"

#include "nsstring.h"
#include "process/paths.h"

#include <dirent.h>
#include <sys/stat.h>

static const char page[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head><meta charset=\"utf-8\"><title>It works</title></head>\n"
    "<body>\n"
    "<h1>It works</h1>\n"
    "<p>This page is pages/index.adp. It was asked for at"
    " <%= [clock format [clock seconds]] %>.</p>\n"
    "</body>\n"
    "</html>\n";

static bool IsEmpty(const char *directory);
static bool MakeFiles(const char *directory, const char *config, size_t bytes);
static bool WriteFile(const char *directory, const char *name,
                      const char *content, size_t bytes);
static bool ReadFile(const char *path, Ns_DString *dsPtr);

int
NsNewSite(const char *program, const char *directory)
{
    Ns_DString source, config;
    bool       isDone = false;

    Ns_DStringInit(&source);
    Ns_DStringInit(&config);
    if (!NsPathsInstalled(&source, "conf/minimal.tcl")
        || !ReadFile(source.string, &config)) {
        fprintf(stderr,
                "%s: conf/minimal.tcl is missing in the installation: %s\n",
                program, strerror(errno));
    } else if ((mkdir(directory, 0755) != 0 && errno != EEXIST)
               || !IsEmpty(directory)
               || !MakeFiles(directory, config.string,
                             (size_t) Ns_DStringLength(&config))) {
        fprintf(stderr, "%s: no site in %s: %s\n", program, directory,
                strerror(errno));
    } else {
        printf("A site is in %s. To start it: %s -f%s -t %s/conf/nsd.tcl\n",
               directory, program, geteuid() == 0 ? " -u USER" : "", directory);
        isDone = true;
    }
    Ns_DStringFree(&source);
    Ns_DStringFree(&config);
    return isDone ? 0 : 1;
}

/*
 * False: errno says why not.
 */
static bool
IsEmpty(const char *directory)
{
    DIR           *dirPtr = opendir(directory);
    struct dirent *entryPtr;
    int            n = 0;

    if (dirPtr == NULL) {
        return false;
    }
    while ((entryPtr = readdir(dirPtr)) != NULL) {
        n += !STREQ(entryPtr->d_name, ".") && !STREQ(entryPtr->d_name, "..");
    }
    closedir(dirPtr);
    errno = n > 0 ? ENOTEMPTY : 0;
    return n == 0;
}

/*
 * False: errno says why not.
 */
static bool
MakeFiles(const char *directory, const char *config, size_t bytes)
{
    static const char *const directories[] = {"conf", "pages", "logs"};
    Ns_DString               path;
    bool                     isMade = true;

    Ns_DStringInit(&path);
    for (int i = 0; isMade && i < Ns_NrElements(directories); i++) {
        Ns_DStringTrunc(&path, 0);
        Ns_DStringVarAppend(&path, directory, "/", directories[i], NULL);
        isMade = mkdir(path.string, 0755) == 0;
    }
    Ns_DStringFree(&path);
    return isMade && WriteFile(directory, "conf/nsd.tcl", config, bytes)
        && WriteFile(directory, "pages/index.adp", page, sizeof(page) - 1);
}

static bool
WriteFile(const char *directory, const char *name, const char *content,
          size_t bytes)
{
    Ns_DString path;
    FILE      *file;
    bool       isWritten = false;

    Ns_DStringInit(&path);
    Ns_DStringVarAppend(&path, directory, "/", name, NULL);
    file = fopen(path.string, "wxe");
    if (file != NULL) {
        isWritten = fwrite(content, 1, bytes, file) == bytes;
        isWritten = fclose(file) == 0 && isWritten;
    }
    Ns_DStringFree(&path);
    return isWritten;
}

static bool
ReadFile(const char *path, Ns_DString *dsPtr)
{
    FILE  *file = fopen(path, "re");
    char   buffer[4096];
    size_t n;
    bool   isRead;

    if (file == NULL) {
        return false;
    }
    while ((n = fread(buffer, 1, sizeof(buffer), file)) > 0) {
        Ns_DStringNAppend(dsPtr, buffer, (int) n);
    }
    isRead = ferror(file) == 0;
    fclose(file);
    return isRead;
}
