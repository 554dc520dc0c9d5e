/* SPDX-License-Identifier: MPL-2.0
 * input.c --
 *
 *      Lines from a client that may or may not be telnet.
 *
 *      Telnet puts codes (RFC 854) anywhere into what it sends, and nc sends
 *      none.  So they are recognized anywhere and never waited for.
 */

#include "nscp.h"

#include <arpa/telnet.h>

#define CONTROL_D 4

static int  NextChar(Input *inputPtr);
static int  NextByte(Input *inputPtr);
static bool Fill(Input *inputPtr);

bool
NscpInputLine(Input *inputPtr, Ns_DString *dsPtr, int maxBytes)
{
    bool isAfterCr = false;
    int  length = 0, c;

    /* A line ends with CR LF, LF, or CR NUL, which telnet sends for CR. */
    while ((c = NextChar(inputPtr)) >= 0) {
        char byte = (char) c;

        if (c == '\n' || (c == '\0' && isAfterCr)) {
            return true;
        }
        if (isAfterCr) {
            Ns_DStringNAppend(dsPtr, "\r", 1);
        }
        isAfterCr = c == '\r';
        if (!isAfterCr) {
            Ns_DStringNAppend(dsPtr, &byte, 1);
        }
        if (++length > maxBytes) {
            Ns_Log(Warning, "nscp: a line of more than %d bytes was refused",
                   maxBytes);
            return false;
        }
    }
    return false;
}

/*
 * -1: end of input.
 */
static int
NextChar(Input *inputPtr)
{
    for (;;) {
        int c = NextByte(inputPtr);

        if (c != IAC) {
            return c == CONTROL_D ? -1 : c;
        }
        switch (c = NextByte(inputPtr)) {
        case IAC:
            return IAC;
        case WILL:
        case WONT:
        case DO:
        case DONT:
            /* The answer to the request made by the password prompt. */
            if (NextByte(inputPtr) < 0) {
                return -1;
            }
            break;
        case -1:
        case xEOF:
        case IP:
            return -1;
        default:
            Ns_Log(Warning,
                   "nscp: unsupported telnet IAC code received from client");
            return -1;
        }
    }
}

static int
NextByte(Input *inputPtr)
{
    if (inputPtr->next == inputPtr->n && !Fill(inputPtr)) {
        return -1;
    }
    return inputPtr->bytes[inputPtr->next++];
}

static bool
Fill(Input *inputPtr)
{
    struct pollfd pfd = {.fd = inputPtr->sock, .events = POLLIN};
    int64_t       leftMs = -1;
    ssize_t       n;

    do {
        if (inputPtr->deadlineMs != 0) {
            leftMs = inputPtr->deadlineMs - NscpNowMs();
            if (leftMs <= 0) {
                return false;
            }
        }
        n = ns_poll(&pfd, 1, (int) MIN(leftMs, INT_MAX));
        if (n > 0) {
            n = recv(inputPtr->sock, inputPtr->bytes, sizeof(inputPtr->bytes),
                     0);
            if (n == 0) {
                return false;
            }
        }
    } while (n == 0 || (n < 0 && errno == EINTR));

    inputPtr->next = 0;
    inputPtr->n = n > 0 ? (int) n : 0;
    return n > 0;
}

int64_t
NscpNowMs(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
