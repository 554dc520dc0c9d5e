/* SPDX-License-Identifier: MPL-2.0
 * modulenote.c --
 *
 *      What the file of a module says about the headers that it was built
 *      with.
 *
 *      A file may be anything: no offset or length in it is trusted.
 */

#include "process/modulenote.h"
#include "nsdriver.h"
#include "nsthread.h"
#include "nsstring.h"
#include "base/assert.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>

#define MAX_NOTE_BYTES (1u << 20) /* Of one segment. */

#if __SIZEOF_POINTER__ == 8
#define OUR_CLASS ELFCLASS64
#else
#define OUR_CLASS ELFCLASS32
#endif

/*
 * What this server was built with, by type.
 */
static const struct {
    const char *what;
    size_t      value;
} ours[] = {
    [NS_NOTE_INTERFACE] = {"interface has version", NS_MODULE_INTERFACE},
    [NS_NOTE_CONN] = {"Ns_Conn has size", sizeof(Ns_Conn)},
    [NS_NOTE_REQUEST] = {"Ns_Request has size", sizeof(Ns_Request)},
    [NS_NOTE_SET] = {"Ns_Set has size", sizeof(Ns_Set)},
    [NS_NOTE_DRIVER] = {"Ns_Driver has size", sizeof(Ns_Driver)},
    [NS_NOTE_SOCK] = {"Ns_Sock has size", sizeof(Ns_Sock)},
    [NS_NOTE_DRIVER_INIT] = {"Ns_DriverInitData has size",
                             sizeof(Ns_DriverInitData_05)},
    [NS_NOTE_DRIVER_INIT_33] = {
        "Ns_DriverInitData of 4.99.33 has size", sizeof(Ns_DriverInitData_33)}};

static NsNoteFit ReadObject(int fd, char *buffer, size_t bytes);
static NsNoteFit ReadSegment(int   fd, const ElfW(Phdr) * segmentPtr,
                             char *buffer, size_t bytes);
static NsNoteFit JudgeNotes(const char *notes, size_t length, size_t align,
                            char *buffer, size_t bytes);
static NsNoteFit JudgeNote(const Ns_ModuleNote *notePtr, char *buffer,
                           size_t bytes);
static bool      ReadAt(int fd, void *bytes, size_t length, uint64_t offset);

NsNoteFit
NsModuleNoteRead(const char *path, char *buffer, size_t bytes)
{
    int       fd = open(path, O_RDONLY | O_CLOEXEC);
    NsNoteFit fit;

    if (fd < 0) {
        return NS_NOTE_MISSING;
    }
    fit = ReadObject(fd, buffer, bytes);
    NsClose(fd);
    return fit;
}

static NsNoteFit
ReadObject(int fd, char *buffer, size_t bytes)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    NsNoteFit fit = NS_NOTE_MISSING;

    if (!ReadAt(fd, &head, sizeof(head), 0u)
        || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0
        || head.e_ident[EI_CLASS] != OUR_CLASS
        || head.e_phentsize != sizeof(segment)) {
        return NS_NOTE_MISSING;
    }
    for (size_t i = 0; i < head.e_phnum && fit != NS_NOTE_DIFFERS; i++) {
        if (!ReadAt(fd, &segment, sizeof(segment),
                    head.e_phoff + i * sizeof(segment))) {
            break;
        }
        if (segment.p_type == PT_NOTE) {
            NsNoteFit found = ReadSegment(fd, &segment, buffer, bytes);

            fit = found == NS_NOTE_MISSING ? fit : found;
        }
    }
    return fit;
}

static NsNoteFit
ReadSegment(int fd, const ElfW(Phdr) * segmentPtr, char *buffer, size_t bytes)
{
    NsNoteFit fit = NS_NOTE_MISSING;
    char     *notes;

    if (segmentPtr->p_filesz > MAX_NOTE_BYTES) {
        return NS_NOTE_MISSING;
    }
    notes = ns_malloc((size_t) segmentPtr->p_filesz + 1u);
    if (ReadAt(fd, notes, (size_t) segmentPtr->p_filesz,
               segmentPtr->p_offset)) {
        fit = JudgeNotes(notes, (size_t) segmentPtr->p_filesz,
                         segmentPtr->p_align == 8u ? 8u : 4u, buffer, bytes);
    }
    ns_free(notes);
    return fit;
}

/*
 * Each object that the file was linked from has notes; one that differs is
 * enough.
 */
static NsNoteFit
JudgeNotes(const char *notes, size_t length, size_t align, char *buffer,
           size_t bytes)
{
    NsNoteFit fit = NS_NOTE_MISSING;
    size_t    at = 0u;

    while (length - at >= sizeof(ElfW(Nhdr)) && fit != NS_NOTE_DIFFERS) {
        ElfW(Nhdr) head;
        size_t size = sizeof(head);

        memcpy(&head, notes + at, sizeof(head));
        if (head.n_namesz > length || head.n_descsz > length) {
            break;
        }
        size = (size + head.n_namesz + align - 1u) / align * align;
        size = (size + head.n_descsz + align - 1u) / align * align;
        if (size > length - at) {
            break;
        }
        if (size == sizeof(Ns_ModuleNote) && head.n_namesz == NS_NOTE_NAME_BYTES
            && head.n_descsz == sizeof(uint32_t)) {
            Ns_ModuleNote note;
            NsNoteFit     found;

            memcpy(&note, notes + at, sizeof(note));
            found = JudgeNote(&note, buffer, bytes);
            fit = found == NS_NOTE_MISSING ? fit : found;
        }
        at += size;
    }
    return fit;
}

static NsNoteFit
JudgeNote(const Ns_ModuleNote *notePtr, char *buffer, size_t bytes)
{
    if (memcmp(notePtr->name, NS_NOTE_NAME, NS_NOTE_NAME_BYTES) != 0
        || notePtr->type >= Ns_NrElements(ours)
        || ours[notePtr->type].what == NULL) {
        return NS_NOTE_MISSING;
    }
    if (notePtr->value == ours[notePtr->type].value) {
        return NS_NOTE_FITS;
    }
    snprintf(buffer, bytes,
             "its %s %lu, and this server's %lu: build it again with the "
             "headers of this one",
             ours[notePtr->type].what, (unsigned long) notePtr->value,
             (unsigned long) ours[notePtr->type].value);
    return NS_NOTE_DIFFERS;
}

static bool
ReadAt(int fd, void *bytes, size_t length, uint64_t offset)
{
    return offset <= INT64_MAX
        && pread(fd, bytes, length, (off_t) offset) == (ssize_t) length;
}
