/* SPDX-License-Identifier: MPL-2.0
 * process_modulenote_test.c --
 *
 *      Files that say what they were built with, and files that are broken.
 */

#include "unit.h"

#include "ns.h"
#include "process/modulenote.h"

#include <elf.h>
#include <link.h>

/*
 * An object with one segment of notes.
 */
typedef struct Object {
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    Ns_ModuleNote notes[3];
} Object;

static char path[PATH_MAX];
static char problem[NS_NOTE_PROBLEM];

static Object
Good(void)
{
    Object object = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                             sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32},
                 .e_phoff = offsetof(Object, segment),
                 .e_phentsize = sizeof(ElfW(Phdr)),
                 .e_phnum = 1},
        .segment = {.p_type = PT_NOTE,
                    .p_offset = offsetof(Object, notes),
                    .p_filesz = sizeof(object.notes),
                    .p_align = 4}};

    for (uint32_t i = 0; i < 3u; i++) {
        object.notes[i] = (Ns_ModuleNote){NS_NOTE_NAME_BYTES, 4u, NS_NOTE_CONN,
                                          NS_NOTE_NAME, sizeof(Ns_Conn)};
    }
    return object;
}

static NsNoteFit
Fit(const Object *objectPtr, size_t bytes)
{
    FILE     *file = fopen(path, "w");
    NsNoteFit fit;

    assert_non_null(file);
    assert_int_equal(fwrite(objectPtr, 1, bytes, file), bytes);
    fclose(file);
    *problem = '\0';
    fit = NsModuleNoteRead(path, problem, sizeof(problem));
    assert_int_equal(*problem != '\0', fit == NS_NOTE_DIFFERS);
    return fit;
}

static NsNoteFit
FitWhole(const Object *objectPtr)
{
    return Fit(objectPtr, sizeof(*objectPtr));
}

static void
NotesThatFit(void **state)
{
    Object object = Good();

    assert_int_equal(FitWhole(&object), NS_NOTE_FITS);
    object.notes[1].type = 1000u;
    assert_int_equal(FitWhole(&object), NS_NOTE_FITS);
    memcpy(object.notes[0].name, "GNU", 4);
    object.notes[0].value++;
    assert_int_equal(FitWhole(&object), NS_NOTE_FITS);
}

static void
OneThatDiffers(void **state)
{
    for (int i = 0; i < 3; i++) {
        Object object = Good();

        object.notes[i].value += 8u;
        assert_int_equal(FitWhole(&object), NS_NOTE_DIFFERS);
        assert_non_null(strstr(problem, "its Ns_Conn has size "));
        assert_int_equal(NsModuleNoteRead(path, NULL, 0u), NS_NOTE_DIFFERS);
    }
}

static void
AnInterface(void **state)
{
    Object object = Good();

    object.notes[2].type = NS_NOTE_INTERFACE;
    object.notes[2].value = NS_MODULE_INTERFACE;
    assert_int_equal(FitWhole(&object), NS_NOTE_FITS);
    object.notes[2].value++;
    assert_int_equal(FitWhole(&object), NS_NOTE_DIFFERS);
    assert_non_null(strstr(problem, "its interface has version "));
}

static void
NoNotes(void **state)
{
    Object object = Good();

    object.segment.p_type = PT_LOAD;
    assert_int_equal(FitWhole(&object), NS_NOTE_MISSING);
    object = Good();
    object.head.e_ident[0]++;
    assert_int_equal(FitWhole(&object), NS_NOTE_MISSING);
    object = Good();
    object.head.e_ident[EI_CLASS] ^= 3;
    assert_int_equal(FitWhole(&object), NS_NOTE_MISSING);
    unlink(path);
    assert_int_equal(NsModuleNoteRead(path, NULL, 0u), NS_NOTE_MISSING);
}

/*
 * Wherever a file ends, and whatever its lengths and offsets are.
 */
static void
BrokenFiles(void **state)
{
    static const uint32_t odd[] = {
        0u, 1u, 3u, 5u, 1000u, UINT32_MAX - 3u, UINT32_MAX};
    Object object = Good();

    for (size_t bytes = 0;
         bytes < offsetof(Object, notes) + sizeof(object.notes); bytes++) {
        assert_int_equal(Fit(&object, bytes), NS_NOTE_MISSING);
    }
    for (size_t i = 0; i < Ns_NrElements(odd); i++) {
        object = Good();
        object.notes[0].nameBytes = odd[i];
        assert_int_not_equal(FitWhole(&object), NS_NOTE_DIFFERS);
        object = Good();
        object.notes[0].valueBytes = odd[i];
        assert_int_not_equal(FitWhole(&object), NS_NOTE_DIFFERS);
        object = Good();
        object.segment.p_filesz = odd[i];
        (void) FitWhole(&object);
        object.segment.p_filesz = (ElfW(Xword)) - (int64_t) odd[i];
        (void) FitWhole(&object);
        object = Good();
        object.segment.p_offset = (ElfW(Off)) - (int64_t) odd[i];
        (void) FitWhole(&object);
        object = Good();
        object.head.e_phoff = (ElfW(Off)) - (int64_t) odd[i];
        (void) FitWhole(&object);
        object = Good();
        object.head.e_phnum = (ElfW(Half)) odd[i];
        assert_int_not_equal(FitWhole(&object), NS_NOTE_DIFFERS);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NotesThatFit), cmocka_unit_test(OneThatDiffers),
        cmocka_unit_test(AnInterface), cmocka_unit_test(NoNotes),
        cmocka_unit_test(BrokenFiles)};
    const char *directory = getenv("TMPDIR");
    int         status;

    snprintf(path, sizeof(path), "%s/nsd-note-%ld",
             directory == NULL ? "/tmp" : directory, (long) getpid());
    status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return status;
}
