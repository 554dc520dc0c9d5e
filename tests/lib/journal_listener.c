/* SPDX-License-Identifier: MPL-2.0
 * journal_listener.c --
 *
 *      A listener for journald's native protocol, which believes nothing:
 *      journal_listener PATH prints `listening`, and for each entry how it came
 *      (datagram or file), then the names of fields and their values in
 *      hexadecimal; or BAD and what is wrong.
 */

#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SEALS     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define MAX_BYTES (1 << 20)

static const char *
PutField(const char *text, const char *end)
{
    const char *p = text;
    uint64_t    length;

    while (p < end
           && ((*p >= 'A' && *p <= 'Z') || *p == '_'
               || (p > text && *p >= '0' && *p <= '9'))) {
        p++;
    }
    if (p == text || *text == '_' || p - text > 64 || p == end) {
        return NULL;
    }
    printf(" %.*s ", (int) (p - text), text);
    if (*p == '=') {
        const char *newline;

        p++;
        newline = memchr(p, '\n', (size_t) (end - p));
        if (newline == NULL) {
            return NULL;
        }
        length = (uint64_t) (newline - p);
    } else if (*p++ == '\n' && end - p >= 8) {
        memcpy(&length, p, 8);
        length = le64toh(length);
        p += 8;
        if (length >= (uint64_t) (end - p) || p[length] != '\n') {
            return NULL;
        }
    } else {
        return NULL;
    }
    fputs(length == 0 ? "{}" : "", stdout);
    for (uint64_t i = 0; i < length; i++) {
        printf("%02x", (unsigned char) p[i]);
    }
    return p + length + 1;
}

static void
PutEntry(const char *how, const char *bytes, size_t length)
{
    const char *p = bytes, *end = bytes + length;

    fputs(how, stdout);
    while (p != NULL && p < end) {
        p = PutField(p, end);
    }
    puts(p == NULL ? " BAD field" : "");
}

static void
PutFile(int fd)
{
    struct stat st;
    void       *bytes;

    if ((fcntl(fd, F_GET_SEALS) & SEALS) != SEALS) {
        puts("BAD not sealed");
    } else if (fstat(fd, &st) != 0 || st.st_size == 0
               || (bytes = mmap(NULL, (size_t) st.st_size, PROT_READ,
                                MAP_PRIVATE, fd, 0))
                   == MAP_FAILED) {
        puts("BAD file");
    } else {
        PutEntry("file", bytes, (size_t) st.st_size);
        munmap(bytes, (size_t) st.st_size);
    }
    close(fd);
}

int
main(int argc, char **argv)
{
    static char        bytes[MAX_BYTES];
    char               control[CMSG_SPACE(sizeof(int))];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int                fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    if (argc != 2) {
        return 2;
    }
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]);
    unlink(argv[1]);
    if (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0) {
        perror(argv[1]);
        return 1;
    }
    puts("listening");
    fflush(stdout);
    for (;;) {
        struct iovec    piece = {bytes, sizeof(bytes)};
        struct msghdr   message = {.msg_iov = &piece,
                                   .msg_iovlen = 1,
                                   .msg_control = control,
                                   .msg_controllen = sizeof(control)};
        ssize_t         n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
        struct cmsghdr *head = n < 0 ? NULL : CMSG_FIRSTHDR(&message);

        if (n < 0) {
            perror("recvmsg");
            return 1;
        }
        if (head != NULL) {
            int file;

            memcpy(&file, CMSG_DATA(head), sizeof(file));
            if (n > 0 || head->cmsg_type != SCM_RIGHTS
                || head->cmsg_len != CMSG_LEN(sizeof(int))) {
                puts("BAD control");
            } else {
                PutFile(file);
            }
        } else if (n > 0) {
            PutEntry("datagram", bytes, (size_t) n);
        }
        fflush(stdout);
    }
}
