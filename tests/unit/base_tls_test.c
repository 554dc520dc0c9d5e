/* SPDX-License-Identifier: MPL-2.0
 * base_tls_test.c --
 *
 *      OpenSSL in our process.
 */

#include "unit.h"
#include "child.h"

#include <openssl/ssl.h>

#include "base/tlscontext.h"

static void
EndByUse(void)
{
    _exit(OPENSSL_init_crypto(0, NULL) == 1 ? 0 : 1);
}

static void
UseAndExit(void)
{
    Ns_DString ds;

    if (atexit(EndByUse) != 0) {
        _exit(2);
    }
    Ns_DStringInit(&ds);
    SSL_CTX_free(NsTlsContextCreate(&(NsTlsContextSpec){.isInsecure = true},
                                    &ds));
    exit(3);
}

static void
ThreadsCanUseItUntilTheProcessHasEnded(void **state)
{
    assert_int_equal(InChild(UseAndExit), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ThreadsCanUseItUntilTheProcessHasEnded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
