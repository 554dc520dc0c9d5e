/* SPDX-License-Identifier: MPL-2.0
 * resolve_test.c --
 *
 *      To be preloaded, or part of a test program: a name "A+B.test" has the
 *      addresses A and B, in this order; "3s+A.test" has A, after 3 seconds.
 */

#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int ResolveProc(const char *, const char *, const struct addrinfo *,
                        struct addrinfo **);

int
getaddrinfo(const char *node, const char *service,
            const struct addrinfo *hintsPtr, struct addrinfo **listPtrPtr)
{
    ResolveProc *real = (ResolveProc *) dlsym(RTLD_NEXT, "getaddrinfo");
    char         text[200], *rest = text, *word;
    const char  *end = node == NULL ? NULL : strstr(node, ".test");
    int          result = 0;

    if (end == NULL) {
        return real(node, service, hintsPtr, listPtrPtr);
    }
    snprintf(text, sizeof(text), "%.*s", (int) (end - node), node);
    while (result == 0 && (word = strsep(&rest, "+")) != NULL) {
        if (word[strspn(word, "0123456789")] == 's') {
            sleep((unsigned) atoi(word));
            continue;
        }
        result = real(word, service, hintsPtr, listPtrPtr);
        while (result == 0 && *listPtrPtr != NULL) {
            listPtrPtr = &(*listPtrPtr)->ai_next;
        }
    }
    return result;
}
