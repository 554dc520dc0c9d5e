/* SPDX-License-Identifier: MPL-2.0
 * relay.c --
 *
 *      Turns what a script writes into the reply.
 *
 *      The connection thread waits only for the script: no write of the reply
 *      waits for the client.  It stops when the script closes its output, has
 *      ended, or is silent for too long, and when the client has left.
 */

#include "nscgi.h"

#define MAX_HEAD 65536
/* A child may keep the output open after the script has ended. */
#define LINGER_MS 1000
/* How long it may take to notice that the server stops. */
#define LOOK_MS 500

typedef enum {
    ENDED, /* No more output. */
    TIMED_OUT,
    STOPPED, /* The server stops. */
    LEFT,    /* The client has left. */
    INVALID
} Outcome;

typedef struct Relay {
    Script    *scriptPtr;
    Ns_DString head;      /* As far as received. */
    bool       isRaw;     /* nph-: the script writes the header. */
    bool       isSending; /* The head is complete. */
    int64_t    left;      /* Of the length given by the script; -1: none. */
} Relay;

static Outcome Run(Relay *relayPtr);
static ssize_t ReadSome(Relay *relayPtr, char *buffer, size_t bytes,
                        Outcome *outcomePtr);
static bool    HasClientLeft(int revents);
static Outcome Take(Relay *relayPtr, char *bytes, size_t n);
static int     HeadBytes(const Ns_DString *dsPtr);
static bool    SendHead(Relay *relayPtr);
static bool    PutField(Relay *relayPtr, char *line, int *statusPtr,
                        char **locationPtr);
static bool    IsToken(const char *text);
static bool    IsConnectionField(const char *name);
static bool    Send(Relay *relayPtr, const char *bytes, size_t n);
static int     Finish(Relay *relayPtr, Outcome outcome);

int
CgiRelay(Script *scriptPtr)
{
    Relay       relay = {.scriptPtr = scriptPtr, .left = -1};
    const char *slash = strrchr(scriptPtr->file.string, '/');
    Outcome     outcome;

    Ns_DStringInit(&relay.head);
    relay.isRaw = strncmp(slash + 1, "nph-", 4) == 0;
    if (relay.isRaw) {
        scriptPtr->conn->flags |= NS_CONN_SKIPHDRS;
        relay.isSending = true;
    }
    outcome = Run(&relay);
    ns_close(scriptPtr->outFd);
    CgiReap(scriptPtr->processPtr, outcome != ENDED);
    scriptPtr->processPtr = NULL;
    Ns_DStringFree(&relay.head);
    return Finish(&relay, outcome);
}

static Outcome
Run(Relay *relayPtr)
{
    Outcome outcome = ENDED;
    char    buffer[16384];
    ssize_t n;

    while ((n = ReadSome(relayPtr, buffer, sizeof(buffer), &outcome)) > 0) {
        outcome = Take(relayPtr, buffer, (size_t) n);
        if (outcome != ENDED) {
            return outcome;
        }
    }
    if (outcome == ENDED && !relayPtr->isSending) {
        outcome = INVALID;
    }
    return outcome;
}

/*
 * 0: there is no more, and the outcome says why.
 */
static ssize_t
ReadSome(Relay *relayPtr, char *buffer, size_t bytes, Outcome *outcomePtr)
{
    Script  *scriptPtr = relayPtr->scriptPtr;
    Process *processPtr = scriptPtr->processPtr;
    int64_t  timeoutMs = scriptPtr->cgiPtr->timeoutMs;
    int64_t  endMs = timeoutMs == 0 ? INT64_MAX : CgiNowMs() + timeoutMs;
    bool     isGone = false;

    for (;;) {
        struct pollfd pfds[] = {
            {.fd = scriptPtr->outFd, .events = POLLIN},
            {.fd = processPtr->errors.fd, .events = POLLIN},
            {.fd = isGone ? -1 : processPtr->pidFd, .events = POLLIN},
            {.fd = Ns_ConnSock(scriptPtr->conn), .events = POLLRDHUP}};
        int64_t nowMs = CgiNowMs();

        if (nowMs >= endMs) {
            *outcomePtr = isGone ? ENDED : TIMED_OUT;
            return 0;
        }
        (void) ns_poll(pfds, Ns_NrElements(pfds),
                       (int) MIN(endMs - nowMs, LOOK_MS));
        if (pfds[1].revents != 0) {
            (void) CgiErrorsRead(&processPtr->errors, processPtr->name);
        }
        if (pfds[0].revents != 0) {
            ssize_t n = ns_read(scriptPtr->outFd, buffer, bytes);

            if (n >= 0) {
                *outcomePtr = ENDED;
                return n;
            }
        } else if (HasClientLeft(pfds[3].revents)) {
            *outcomePtr = LEFT;
            return 0;
        } else if (scriptPtr->cgiPtr->isStopping) {
            *outcomePtr = STOPPED;
            return 0;
        }
        if (pfds[2].revents != 0) {
            isGone = true;
            endMs = MIN(endMs, CgiNowMs() + LINGER_MS);
        }
    }
}

static bool
HasClientLeft(int revents)
{
    return (revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/*
 * First the head, then the body.
 */
static Outcome
Take(Relay *relayPtr, char *bytes, size_t n)
{
    int before = Ns_DStringLength(&relayPtr->head), headBytes;

    if (relayPtr->isSending) {
        return Send(relayPtr, bytes, n) ? ENDED : LEFT;
    }
    Ns_DStringNAppend(&relayPtr->head, bytes, (int) n);
    headBytes = HeadBytes(&relayPtr->head);
    if (headBytes < 0) {
        return before + (int) n > MAX_HEAD ? INVALID : ENDED;
    }
    relayPtr->isSending = true;
    bytes += headBytes - before;
    n -= (size_t) (headBytes - before);
    Ns_DStringTrunc(&relayPtr->head, headBytes);
    if (headBytes > MAX_HEAD || !SendHead(relayPtr)) {
        relayPtr->isSending = false;
        return INVALID;
    }
    return Send(relayPtr, bytes, n) ? ENDED : LEFT;
}

/*
 * Includes the empty line; -1: incomplete.
 */
static int
HeadBytes(const Ns_DString *dsPtr)
{
    const char *line = dsPtr->string, *last = line + dsPtr->length, *end;

    while ((end = memchr(line, '\n', (size_t) (last - line))) != NULL) {
        if (end == line || (end == line + 1 && *line == '\r')) {
            return (int) (end + 1 - dsPtr->string);
        }
        line = end + 1;
    }
    return -1;
}

static bool
SendHead(Relay *relayPtr)
{
    Ns_Conn *conn = relayPtr->scriptPtr->conn;
    char    *location = NULL, *next = relayPtr->head.string;
    int      status = 0, nFields = 0;
    bool isValid = memchr(next, '\0', (size_t) relayPtr->head.length) == NULL;
    Ns_DString line, url;

    Ns_DStringInit(&line);
    Ns_DStringInit(&url);
    while (isValid && *next != '\0') {
        size_t length = strcspn(next, "\n");

        Ns_DStringTrunc(&line, 0);
        Ns_DStringNAppend(&line, next, (int) length);
        next += length + (next[length] != '\0');
        /* A line that begins with a blank continues the one before. */
        while (length > 0 && (*next == ' ' || *next == '\t')) {
            length = strcspn(next, "\n");
            Ns_DStringTrunc(&line, (int) strlen(Ns_StrTrimRight(line.string)));
            Ns_DStringNAppend(&line, " ", 1);
            next += strspn(next, " \t");
            length = strcspn(next, "\n");
            Ns_DStringNAppend(&line, next, (int) length);
            next += length + (next[length] != '\0');
        }
        (void) Ns_StrTrimRight(line.string);
        if (strchr(line.string, ':') != NULL) {
            nFields++;
            isValid = PutField(relayPtr, line.string, &status, &location);
        }
    }
    isValid = isValid && nFields > 0
        && (status == 0 || (status >= 200 && status <= 599));
    if (isValid && location != NULL) {
        if (*location == '/') {
            Ns_DStringAppend(&url, Ns_ConnLocation(conn));
        }
        Ns_DStringAppend(&url, location);
        Ns_ConnUpdateHeaders(conn, "Location", url.string);
        status = status == 0 ? 302 : status;
    }
    if (isValid && status != 0) {
        Ns_ConnSetResponseStatus(conn, status);
    }
    ns_free(location);
    Ns_DStringFree(&line);
    Ns_DStringFree(&url);
    return isValid;
}

static bool
PutField(Relay *relayPtr, char *line, int *statusPtr, char **locationPtr)
{
    Ns_Conn    *conn = relayPtr->scriptPtr->conn;
    char       *value = strchr(line, ':');
    Tcl_WideInt length;

    *value++ = '\0';
    value = Ns_StrTrim(value);
    (void) Ns_StrTrimRight(line);
    for (const char *p = value; *p != '\0'; p++) {
        if (UCHAR(*p) < ' ' && *p != '\t') {
            return false;
        }
    }
    if (!IsToken(line)) {
        return false;
    }
    if (STRIEQ(line, "Status")) {
        char *end = value + strcspn(value, " \t");

        *end = '\0';
        return Ns_StrToInt(value, statusPtr) == NS_OK && *statusPtr != 0;
    }
    if (STRIEQ(line, "Location")) {
        ns_free(*locationPtr);
        *locationPtr = ns_strdup(value);
    } else if (STRIEQ(line, "Content-Length")) {
        if (Ns_StrToWideInt(value, &length) != NS_OK || length < 0) {
            return false;
        }
        relayPtr->left = length;
        Ns_ConnSetLengthHeader(conn, length);
    } else if (STRIEQ(line, "Content-Type")) {
        Ns_ConnSetTypeHeader(conn, value);
    } else if (!IsConnectionField(line)) {
        Ns_ConnSetHeaders(conn, line, value);
    }
    return true;
}

static bool
IsToken(const char *text)
{
    return *text != '\0'
        && text[strspn(text,
                       "abcdefghijklmnopqrstuvwxyz"
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                       "!#$%&'*+-.^_`|~")]
        == '\0';
}

/*
 * Fields that concern only the connection between server and client.
 */
static bool
IsConnectionField(const char *name)
{
    static const char *const names[] = {
        "Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade",
        "Trailer",    "TE",         "Proxy-Connection"};

    for (int i = 0; i < Ns_NrElements(names); i++) {
        if (STRIEQ(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool
Send(Relay *relayPtr, const char *bytes, size_t n)
{
    Ns_Conn *conn = relayPtr->scriptPtr->conn;

    if (relayPtr->left >= 0) {
        n = (size_t) MIN((int64_t) n, relayPtr->left);
        relayPtr->left -= (int64_t) n;
    }
    if (n == 0) {
        return true;
    }
    return Ns_ConnWriteData(conn, bytes, n, NS_CONN_STREAM) == NS_OK;
}

static int
Finish(Relay *relayPtr, Outcome outcome)
{
    Script  *scriptPtr = relayPtr->scriptPtr;
    Ns_Conn *conn = scriptPtr->conn;

    switch (outcome) {
    case ENDED:
        if (relayPtr->left > 0 && (conn->flags & NS_CONN_SKIPBODY) == 0) {
            Ns_Log(Error,
                   "nscgi: %s: %" PRId64
                   " bytes of the announced length are missing",
                   scriptPtr->file.string, relayPtr->left);
            break;
        }
        if ((conn->flags & NS_CONN_SKIPBODY) != 0 && relayPtr->left < 0) {
            /* The length of what GET brings is not known. */
            (void) Ns_ConnWriteData(conn, NULL, 0, NS_CONN_STREAM);
        }
        (void) Ns_ConnWriteData(conn, NULL, 0, NS_CONN_STREAM_CLOSE);
        return Ns_ConnClose(conn);
    case INVALID:
        Ns_Log(Error, "nscgi: invalid response from CGI: %s",
               scriptPtr->file.string);
        return Ns_ConnReturnInternalError(conn);
    case TIMED_OUT:
        Ns_Log(Error,
               "nscgi: %s: no output for %" PRId64 " ms, ended; see the "
               "parameter timeout",
               scriptPtr->file.string, scriptPtr->cgiPtr->timeoutMs);
        if (!relayPtr->isSending) {
            return Ns_ConnReturnNotice(conn, 504, "Gateway Timeout",
                                       "The script has not answered in time.");
        }
        break;
    case STOPPED:
        if (!relayPtr->isSending) {
            return Ns_ConnReturnUnavailable(conn);
        }
        break;
    case LEFT:
        break;
    }
    /* What was sent cannot be taken back; after an error, it does not look
     * complete. */
    return NS_ERROR;
}
