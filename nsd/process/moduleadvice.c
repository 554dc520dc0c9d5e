/* SPDX-License-Identifier: MPL-2.0
 * moduleadvice.c --
 *
 *      What to do about modules of NaviServer and AOLserver that are not here.
 */

#include "process/moduleadvice.h"

#include "nstypes.h"

#define DRIVER \
    "compile its driver for NaviServer against this server, or use Tcl's tdbc"

static const struct {
    const char *name;
    const char *advice;
} modules[] = {
    {"nsauthpam", "compile its source against this server"},
    {"nsdbi", "use nsdb with nsdbpg or nsdbsqlite"},
    {"nsdbilite", "use nsdb with nsdbsqlite"},
    {"nsdbipg", "use nsdb with nsdbpg"},
    {"nsdbmysql", DRIVER},
    {"nsldap", "use the package ldap of tcllib"},
    {"nsmd5", "not needed: ns_md5 is built in"},
    {"nsmemcache", "use nsredis, or ns_cache"},
    {"nsmysql", DRIVER},
    {"nsodbc", DRIVER},
    {"nsopenssl", "use nsssl"},
    {"nsoracle", DRIVER},
    {"nsphp", "use nscgi with php-cgi"},
    {"nspostgres", "use nsdbpg"},
    {"nsrewrite", "use a filter with ns_internalredirect"},
    {"nssha1", "not needed: ns_sha1 is built in"},
    {"nszlib", "not needed: ns_zlib is in the Tcl module aolserver-openacs"}};

const char *
NsModuleAdvice(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    size_t      length = strlen(name);

    if (length > 3 && STREQ(name + length - 3, ".so")) {
        length -= 3;
    }
    for (int i = 0; i < Ns_NrElements(modules); i++) {
        if (strlen(modules[i].name) == length
            && strncmp(modules[i].name, name, length) == 0) {
            return modules[i].advice;
        }
    }
    return NULL;
}
