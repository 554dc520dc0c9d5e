/* SPDX-License-Identifier: MPL-2.0
 * path.c --
 *
 *      Names of files, as text: nothing here looks at the file system.
 */

#include "nsfile.h"
#include "nsstring.h"

typedef bool IsSeparatorProc(char c);

static bool        IsSlash(char c);
static bool        IsAnySlash(char c);
static const char *NextSegment(const char *path, IsSeparatorProc *isSeparator,
                               int *lengthPtr);
static void        DropSegment(Ns_DString *dsPtr, int start);

int
Ns_PathIsAbsolute(const char *path)
{
    return *path == '/';
}

char *
Ns_NormalizePath(Ns_DString *dsPtr, const char *path)
{
    int start = Tcl_DStringLength(dsPtr), length;

    while ((path = NextSegment(path, IsAnySlash, &length)) != NULL) {
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            DropSegment(dsPtr, start);
        } else if (length != 1 || path[0] != '.') {
            Tcl_DStringAppend(dsPtr, "/", 1);
            Tcl_DStringAppend(dsPtr, path, length);
        }
        path += length;
    }
    if (Tcl_DStringLength(dsPtr) == start) {
        Tcl_DStringAppend(dsPtr, "/", 1);
    }
    return Tcl_DStringValue(dsPtr);
}

char *
Ns_MakePath(Ns_DString *dsPtr, ...)
{
    const char *element;
    va_list     elements;

    va_start(elements, dsPtr);
    while ((element = va_arg(elements, const char *)) != NULL) {
        int length;

        while ((element = NextSegment(element, IsSlash, &length)) != NULL) {
            Tcl_DStringAppend(dsPtr, "/", 1);
            Tcl_DStringAppend(dsPtr, element, length);
            element += length;
        }
    }
    va_end(elements);
    return Tcl_DStringValue(dsPtr);
}

char *
Ns_HashPath(Ns_DString *dsPtr, const char *string, int levels)
{
    for (int i = 0; i < levels; i++) {
        Tcl_DStringAppend(dsPtr, "/", 1);
        string += strspn(string, "./\\");
        if (*string == '\0') {
            Tcl_DStringAppend(dsPtr, "_", 1);
        } else {
            const char *next = Tcl_UtfNext(string);

            Tcl_DStringAppend(dsPtr, string, (int) (next - string));
            string = next;
        }
    }
    return Tcl_DStringValue(dsPtr);
}

static bool
IsSlash(char c)
{
    return c == '/';
}

static bool
IsAnySlash(char c)
{
    return c == '/' || c == '\\';
}

/*
 * The first segment that is not empty, NULL if there is none.
 */
static const char *
NextSegment(const char *path, IsSeparatorProc *isSeparator, int *lengthPtr)
{
    int length = 0;

    while (isSeparator(*path)) {
        path++;
    }
    while (path[length] != '\0' && !isSeparator(path[length])) {
        length++;
    }
    *lengthPtr = length;
    return length > 0 ? path : NULL;
}

/*
 * Take back the last "/segment" behind start.
 */
static void
DropSegment(Ns_DString *dsPtr, int start)
{
    int length = Tcl_DStringLength(dsPtr);

    while (length > start) {
        length--;
        if (dsPtr->string[length] == '/') {
            break;
        }
    }
    Tcl_DStringSetLength(dsPtr, length);
}
