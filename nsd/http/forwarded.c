/*
 * forwarded.c --
 *
 *      Clients as proxies name them.
 */

#include "http/forwarded.h"

#include "base/chars.h"

/*
 * The meaning of an element.
 */
typedef enum {
    PROXY, /* Look further left. */
    CLIENT,
    NOBODY /* No address: what is left of it is hearsay. */
} Verdict;

static Verdict JudgeField(const NsHttpField *fieldPtr, bool isStandard,
                          const NsProxies *proxiesPtr, char *buffer);
static Verdict JudgeElement(const char *start, const char *end,
                            const NsProxies *proxiesPtr, char *buffer);
static bool    FindFor(const char **startPtr, const char **endPtr);
static bool    TakeAddress(const char *start, const char *end, char *buffer);
static bool    HasName(const NsHttpField *fieldPtr, const char *name);

const char *
NsForwardedPeer(const NsHttpHead *headPtr, const char *peer,
                const NsProxies *proxiesPtr, char buffer[NS_FORWARDED_BYTES])
{
    bool isStandard = NsHttpKnown(headPtr, NS_FIELD_X_FORWARDED_FOR) == NULL;
    const char *name = isStandard ? "forwarded" : "x-forwarded-for";
    const char *client = peer;
    Verdict     verdict = NsProxiesHave(proxiesPtr, peer) ? PROXY : NOBODY;

    for (int i = headPtr->nFields - 1; i >= 0 && verdict == PROXY; i--) {
        if (HasName(&headPtr->fields[i], name)) {
            verdict = JudgeField(&headPtr->fields[i], isStandard, proxiesPtr,
                                 buffer);
            client = verdict == NOBODY ? peer : buffer;
        }
    }
    return client;
}

bool
NsProxiesHave(const NsProxies *proxiesPtr, const char *peer)
{
    NsIpAddress address;

    if (!NsIpParse(peer, &address)) {
        return false;
    }
    for (int i = 0; i < proxiesPtr->n; i++) {
        if (NsIpRangeHas(&proxiesPtr->ranges[i], &address)) {
            return true;
        }
    }
    return false;
}

/*
 * The elements of a list, from the right.
 */
static Verdict
JudgeField(const NsHttpField *fieldPtr, bool isStandard,
           const NsProxies *proxiesPtr, char *buffer)
{
    const char *start, *end = fieldPtr->value + fieldPtr->valueLength;
    Verdict     verdict;

    do {
        const char *from, *to = end;

        start = end;
        while (start > fieldPtr->value && start[-1] != ',') {
            start--;
        }
        from = start;
        verdict = isStandard && !FindFor(&from, &to)
            ? NOBODY
            : JudgeElement(from, to, proxiesPtr, buffer);
        end = start - 1;
    } while (verdict == PROXY && start > fieldPtr->value);
    return verdict;
}

static Verdict
JudgeElement(const char *start, const char *end, const NsProxies *proxiesPtr,
             char *buffer)
{
    char text[NS_FORWARDED_BYTES];

    if (!TakeAddress(start, end, text)) {
        return NOBODY;
    }
    memcpy(buffer, text, sizeof(text));
    return NsProxiesHave(proxiesPtr, text) ? PROXY : CLIENT;
}

/*
 * The value of `for` among `a=b;for=c;d=e`.
 */
static bool
FindFor(const char **startPtr, const char **endPtr)
{
    const char *p = *startPtr;

    while (p < *endPtr) {
        const char *stop = memchr(p, ';', (size_t) (*endPtr - p));

        stop = stop == NULL ? *endPtr : stop;
        p = NsSkipSpaceTo(p, stop);
        if (stop - p > 4 && NsIsSameNoCase(p, "for=", 4)) {
            *startPtr = p + 4;
            *endPtr = stop;
            return true;
        }
        p = stop + 1;
    }
    return false;
}

/*
 * An address, alone or as `address:port` or `[address]:port`, perhaps in quotes
 * and blanks.
 */
static bool
TakeAddress(const char *start, const char *end, char *buffer)
{
    NsIpAddress address;
    const char *colon;
    size_t      length;

    while (start < end && (NsIsSpace(*start) || *start == '"')) {
        start++;
    }
    while (end > start && (NsIsSpace(end[-1]) || end[-1] == '"')) {
        end--;
    }
    if (start < end && *start == '[') {
        start++;
        end = memchr(start, ']', (size_t) (end - start));
        if (end == NULL) {
            return false;
        }
    } else {
        colon = memchr(start, ':', (size_t) (end - start));
        if (colon != NULL
            && memchr(start, '.', (size_t) (colon - start)) != NULL) {
            end = colon;
        }
    }
    length = (size_t) (end - start);
    if (length == 0 || length >= NS_FORWARDED_BYTES) {
        return false;
    }
    memset(buffer, 0, NS_FORWARDED_BYTES);
    memcpy(buffer, start, length);
    return NsIpParse(buffer, &address);
}

static bool
HasName(const NsHttpField *fieldPtr, const char *name)
{
    return fieldPtr->nameLength == strlen(name)
        && NsIsSameNoCase(fieldPtr->name, name, fieldPtr->nameLength);
}
