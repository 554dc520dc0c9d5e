/* SPDX-License-Identifier: MPL-2.0
 * plain.c --
 *
 *      Clients that speak plain HTTP on the port for HTTPS.
 *
 *      Only what came with the first read counts.  The request is not
 *      interpreted further: its target and Host are shown in a link if they are
 *      what such a thing may be.
 */

#include "plain.h"

#define MAX_HEAD 4096

struct SslPlain {
    char head[MAX_HEAD + 1]; /* Its beginning. */
};

static bool AppendUrl(Ns_DString *dsPtr, char *head);
static bool IsOnly(const char *text, const char *others);

/*
 * Records of TLS begin with a number below 32 (RFC 8446, section 5.1), and the
 * hello of SSL 2 with one above 127; requests with the name of a method.
 */
SslPlain *
SslPlainCreate(const char *bytes, size_t length)
{
    SslPlain *plainPtr;

    if (length == 0u || bytes[0] < 'A' || bytes[0] > 'Z') {
        return NULL;
    }
    plainPtr = ns_malloc(sizeof(SslPlain));
    length = MIN(length, MAX_HEAD);
    memcpy(plainPtr->head, bytes, length);
    plainPtr->head[length] = '\0';
    return plainPtr;
}

void
SslPlainDestroy(SslPlain **plainPtrPtr)
{
    ns_free(*plainPtrPtr);
    *plainPtrPtr = NULL;
}

void
SslPlainReply(SslPlain **plainPtrPtr, NS_SOCKET sock, const char *location)
{
    char      *head = (*plainPtrPtr)->head;
    bool       isHead = strncmp(head, "HEAD ", 5u) == 0;
    Ns_DString url, page, reply;

    Ns_DStringInit(&url);
    Ns_DStringInit(&page);
    Ns_DStringInit(&reply);
    if (!AppendUrl(&url, head)) {
        Ns_DStringAppend(&url, location);
    }
    Ns_DStringAppend(&page,
                     "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                     "<meta name=\"color-scheme\" content=\"light dark\">"
                     "<meta name=\"viewport\" content=\"width=device-width\">"
                     "<title>Bad Request</title></head>\n<body><h1>Bad "
                     "Request</h1>\n<p>This port speaks HTTPS: <a href=\"");
    Ns_QuoteHtml(&page, Ns_DStringValue(&url));
    Ns_DStringAppend(&page, "\">");
    Ns_QuoteHtml(&page, Ns_DStringValue(&url));
    Ns_DStringAppend(&page, "</a></p></body></html>\n");
    Ns_DStringPrintf(&reply,
                     "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html; "
                     "charset=utf-8\r\nContent-Length: %d\r\nConnection: "
                     "close\r\n\r\n%s",
                     Ns_DStringLength(&page),
                     isHead ? "" : Ns_DStringValue(&page));
    (void) send(sock, Ns_DStringValue(&reply),
                (size_t) Ns_DStringLength(&reply), MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(sock, SHUT_WR);
    Ns_DStringFree(&url);
    Ns_DStringFree(&page);
    Ns_DStringFree(&reply);
    SslPlainDestroy(plainPtrPtr);
}

/*
 * False: the head has no Host or target that could be part of a URL.
 */
static bool
AppendUrl(Ns_DString *dsPtr, char *head)
{
    char *field = strcasestr(head, "\nhost:");
    char *host, *target, *end;

    if (field == NULL) {
        return false;
    }
    host = field + 6 + strspn(field + 6, " \t");
    host[strcspn(host, " \t\r\n")] = '\0';
    target = head + strcspn(head, " ");
    target += *target != '\0';
    end = target + strcspn(target, " \r\n");
    *end = '\0';
    if (*host == '\0' || !IsOnly(host, ".-_:[]")
        || (*target != '\0' && *target != '/')
        || !IsOnly(target, "-._~:/?#[]@!$&'()*+,;=%")) {
        return false;
    }
    Ns_DStringVarAppend(dsPtr, "https://", host, target, NULL);
    return true;
}

/*
 * Letters, digits, and these.
 */
static bool
IsOnly(const char *text, const char *others)
{
    while (*text != '\0'
           && ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')
               || (*text >= '0' && *text <= '9')
               || strchr(others, *text) != NULL)) {
        text++;
    }
    return *text == '\0';
}
