/* SPDX-License-Identifier: MPL-2.0
 * net_tlskept_test.c --
 *
 *      Settings of TLS clients that are kept.
 */

#include "unit.h"
#include "net/tlskept.h"

static char file[] = "/tmp/nsd-tlskept_XXXXXX";

static SSL_CTX *
Find(const NsTlsClientSpec *specPtr)
{
    NsTlsSetting setting;
    SSL_CTX     *ctx;

    NsTlsSettingInit(&setting, specPtr);
    ctx = NsTlsKeptFind(&setting);
    NsTlsSettingFree(&setting);
    SSL_CTX_free(ctx); /* What is kept has a reference. */
    return ctx;
}

/*
 * A new context, the only reference to which is that of what is kept.
 */
static SSL_CTX *
Add(const NsTlsClientSpec *specPtr)
{
    SSL_CTX     *ctx = SSL_CTX_new(TLS_client_method());
    NsTlsSetting setting;

    NsTlsSettingInit(&setting, specPtr);
    NsTlsKeptAdd(&setting, ctx);
    NsTlsSettingFree(&setting);
    SSL_CTX_free(ctx);
    return ctx;
}

static void
Write(const char *text)
{
    FILE *filePtr = fopen(file, "w");

    assert_non_null(filePtr);
    fputs(text, filePtr);
    fclose(filePtr);
}

/*
 * Wait until a change of the file would show.
 */
static SSL_CTX *
AddSettled(const NsTlsClientSpec *specPtr)
{
    while (Find(specPtr) == NULL) {
        (void) Add(specPtr);
        (void) poll(NULL, 0, 10);
    }
    return Find(specPtr);
}

static void
EachSettingHasItsOwn(void **state)
{
    const NsTlsClientSpec specs[] = {
        {.caFile = file},
        {.caPath = file},
        {.caFile = file, .isInsecure = true},
        {.caFile = file, .maxDepth = 3},
        {.caFile = file, .nExceptions = 1},
        {.caFile = file, .certificate = file},
        {.caFile = file, .certificate = file, .key = file},
        {.host = "any"}};
    SSL_CTX *found[Ns_NrElements(specs)];

    Write("some");
    for (int i = 0; i < Ns_NrElements(specs); i++) {
        assert_null(Find(&specs[i]));
        found[i] = AddSettled(&specs[i]);
    }
    for (int i = 0; i < Ns_NrElements(specs); i++) {
        assert_ptr_equal(Find(&specs[i]), found[i]);
        for (int j = 0; j < i; j++) {
            assert_ptr_not_equal(found[i], found[j]);
        }
    }
}

static void
AFileThatHasChangedIsReadAgain(void **state)
{
    const NsTlsClientSpec spec = {.caFile = file};

    Write("one");
    (void) AddSettled(&spec);
    Write("two");
    assert_null(Find(&spec));
    (void) AddSettled(&spec);
    unlink(file);
    assert_null(Find(&spec));
}

static void
TheLeastRecentlyUsedOneGoes(void **state)
{
    NsTlsClientSpec spec = {.caFile = "/nix"};

    for (int i = 1; i <= NS_TLS_KEPT_MAX + 1; i++) {
        spec.maxDepth = i;
        (void) Add(&spec);
        spec.maxDepth = 1;
        assert_non_null(Find(&spec));
    }
    spec.maxDepth = 2;
    assert_null(Find(&spec));
    spec.maxDepth = 3;
    assert_non_null(Find(&spec));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EachSettingHasItsOwn),
        cmocka_unit_test(AFileThatHasChangedIsReadAgain),
        cmocka_unit_test(TheLeastRecentlyUsedOneGoes),
    };
    int fd = mkstemp(file);

    if (fd < 0) {
        return 1;
    }
    close(fd);
    NsTlsKeptInit();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
