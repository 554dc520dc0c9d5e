/* SPDX-License-Identifier: MPL-2.0
 * tempfile.c --
 *
 *      Temporary files.
 */

#include "base/tempfile.h"
#include "nsstring.h"
#include "nsthread.h"

static const char *defaultDirectory = P_tmpdir; /* Constant once started. */
static char       *ownDirectory; /* The same, when it is to be freed. */

static void        Setup(void) __attribute__((constructor));
static const char *Directory(const char *directory);

/*
 * Read once: a script may change the environment while other threads ask.
 */
static void
Setup(void)
{
    const char *directory = getenv("TMPDIR");

    if (directory != NULL && *directory != '\0') {
        NsTempSetDirectory(directory);
    }
}

const char *
NsTempDirectory(void)
{
    return defaultDirectory;
}

void
NsTempSetDirectory(const char *directory)
{
    char *oldDirectory = ownDirectory;

    ownDirectory = ns_strdup(directory);
    defaultDirectory = ownDirectory;
    ns_free(oldDirectory);
}

int
NsTempFileOpen(const char *directory)
{
    int fd = -1;

    directory = Directory(directory);
#ifdef O_TMPFILE
    fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) {
        Ns_DString ds;

        /* Some file systems know no files without a name. */
        Ns_DStringInit(&ds);
        fd = NsTempFileOpenNamed(directory, &ds);
        if (fd >= 0) {
            unlink(Ns_DStringValue(&ds));
        }
        Ns_DStringFree(&ds);
    }
    return fd;
}

int
NsTempFileOpenNamed(const char *directory, Ns_DString *dsPtr)
{
    Ns_DString path;
    int        fd;

    Ns_DStringInit(&path);
    Ns_DStringAppend(&path, Directory(directory));
    Ns_DStringAppend(&path, "/nsd-XXXXXX");
    fd = mkostemp(Ns_DStringValue(&path), O_CLOEXEC);
    if (fd >= 0) {
        Ns_DStringAppend(dsPtr, Ns_DStringValue(&path));
    }
    Ns_DStringFree(&path);
    return fd;
}

static const char *
Directory(const char *directory)
{
    return directory == NULL || *directory == '\0'
        ? NsTempDirectory()
        : directory;
}
