/* SPDX-License-Identifier: MPL-2.0
 * status.c --
 *
 *      Reason phrases of status codes.
 */

#include "http/status.h"

#define MIN_STATUS 100

static const char *const reasons[] = {
    [100 - MIN_STATUS] = "Continue",
    [101 - MIN_STATUS] = "Switching Protocols",
    [102 - MIN_STATUS] = "Processing",
    [103 - MIN_STATUS] = "Early Hints",
    [200 - MIN_STATUS] = "OK",
    [201 - MIN_STATUS] = "Created",
    [202 - MIN_STATUS] = "Accepted",
    [203 - MIN_STATUS] = "Non-Authoritative Information",
    [204 - MIN_STATUS] = "No Content",
    [205 - MIN_STATUS] = "Reset Content",
    [206 - MIN_STATUS] = "Partial Content",
    [207 - MIN_STATUS] = "Multi-Status",
    [208 - MIN_STATUS] = "Already Reported",
    [226 - MIN_STATUS] = "IM Used",
    [300 - MIN_STATUS] = "Multiple Choices",
    [301 - MIN_STATUS] = "Moved Permanently",
    [302 - MIN_STATUS] = "Found",
    [303 - MIN_STATUS] = "See Other",
    [304 - MIN_STATUS] = "Not Modified",
    [305 - MIN_STATUS] = "Use Proxy",
    [307 - MIN_STATUS] = "Temporary Redirect",
    [308 - MIN_STATUS] = "Permanent Redirect",
    [400 - MIN_STATUS] = "Bad Request",
    [401 - MIN_STATUS] = "Unauthorized",
    [402 - MIN_STATUS] = "Payment Required",
    [403 - MIN_STATUS] = "Forbidden",
    [404 - MIN_STATUS] = "Not Found",
    [405 - MIN_STATUS] = "Method Not Allowed",
    [406 - MIN_STATUS] = "Not Acceptable",
    [407 - MIN_STATUS] = "Proxy Authentication Required",
    [408 - MIN_STATUS] = "Request Timeout",
    [409 - MIN_STATUS] = "Conflict",
    [410 - MIN_STATUS] = "Gone",
    [411 - MIN_STATUS] = "Length Required",
    [412 - MIN_STATUS] = "Precondition Failed",
    [413 - MIN_STATUS] = "Payload Too Large",
    [414 - MIN_STATUS] = "URI Too Long",
    [415 - MIN_STATUS] = "Unsupported Media Type",
    [416 - MIN_STATUS] = "Range Not Satisfiable",
    [417 - MIN_STATUS] = "Expectation Failed",
    [421 - MIN_STATUS] = "Misdirected Request",
    [422 - MIN_STATUS] = "Unprocessable Entity",
    [423 - MIN_STATUS] = "Locked",
    [424 - MIN_STATUS] = "Failed Dependency",
    [425 - MIN_STATUS] = "Too Early",
    [426 - MIN_STATUS] = "Upgrade Required",
    [428 - MIN_STATUS] = "Precondition Required",
    [429 - MIN_STATUS] = "Too Many Requests",
    [431 - MIN_STATUS] = "Request Header Fields Too Large",
    [451 - MIN_STATUS] = "Unavailable For Legal Reasons",
    [500 - MIN_STATUS] = "Internal Server Error",
    [501 - MIN_STATUS] = "Not Implemented",
    [502 - MIN_STATUS] = "Bad Gateway",
    [503 - MIN_STATUS] = "Service Unavailable",
    [504 - MIN_STATUS] = "Gateway Timeout",
    [505 - MIN_STATUS] = "HTTP Version Not Supported",
    [506 - MIN_STATUS] = "Variant Also Negotiates",
    [507 - MIN_STATUS] = "Insufficient Storage",
    [508 - MIN_STATUS] = "Loop Detected",
    [510 - MIN_STATUS] = "Not Extended",
    [511 - MIN_STATUS] = "Network Authentication Required"};

const char *
NsStatusReason(int status)
{
    const char *reason = NULL;

    if (status >= MIN_STATUS && status < MIN_STATUS + Ns_NrElements(reasons)) {
        reason = reasons[status - MIN_STATUS];
    }
    return reason == NULL ? "Unknown Reason" : reason;
}

bool
NsStatusKeyParse(const char *key, int *statusPtr)
{
    if (STRIEQ(key, "default")) {
        *statusPtr = NS_STATUS_DEFAULT;
        return true;
    }
    if ((*key == '4' || *key == '5') && STRIEQ(key + 1, "xx")) {
        *statusPtr = *key - '0';
        return true;
    }
    if (strlen(key) != 3 || strspn(key, "0123456789") != 3 || *key == '0') {
        return false;
    }
    *statusPtr = atoi(key);
    return true;
}
