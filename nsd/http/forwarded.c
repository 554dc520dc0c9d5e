/* SPDX-License-Identifier: MPL-2.0
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
    PROXY,   /* Look further left. */
    SKIPPED, /* Likewise; nobody's address. */
    CLIENT,
    NOBODY /* No address: what is left of it is hearsay. */
} Verdict;

typedef struct Walk {
    const NsProxies *proxiesPtr;
    char            *buffer; /* The address found last. */
    bool             isFound;
    const char      *junk; /* The element that made the verdict NOBODY. */
    size_t           junkLength;
} Walk;

static Verdict JudgeFields(Walk *walkPtr, const NsHttpHead *headPtr,
                           const char *peer);
static Verdict JudgeField(Walk *walkPtr, const NsHttpField *fieldPtr,
                          bool isStandard);
static Verdict JudgeElement(Walk *walkPtr, const char *start, const char *end);
static bool    FindFor(const char **startPtr, const char **endPtr);
static bool    FindValue(const char *name, const char **startPtr,
                         const char **endPtr);
static void    TrimQuotes(const char **startPtr, const char **endPtr);
static bool    TakeAddress(const char *start, const char *end, char *buffer);
static bool    HasName(const NsHttpField *fieldPtr, const char *name);

const char *
NsForwardedPeer(const NsHttpHead *headPtr, const char *peer,
                const NsProxies *proxiesPtr, char buffer[NS_FORWARDED_BYTES])
{
    Walk    walk = {.proxiesPtr = proxiesPtr, .buffer = buffer};
    Verdict verdict = JudgeFields(&walk, headPtr, peer);

    return verdict == NOBODY || !walk.isFound ? peer : buffer;
}

const char *
NsForwardedJunk(const NsHttpHead *headPtr, const char *peer,
                const NsProxies *proxiesPtr, size_t *lengthPtr)
{
    char buffer[NS_FORWARDED_BYTES];
    Walk walk = {.proxiesPtr = proxiesPtr, .buffer = buffer};

    if (NsHttpKnown(headPtr, NS_FIELD_X_FORWARDED_FOR) == NULL
        || JudgeFields(&walk, headPtr, peer) != NOBODY || walk.junk == NULL) {
        return NULL;
    }
    while (walk.junkLength > 0 && NsIsSpace(*walk.junk)) {
        walk.junk++;
        walk.junkLength--;
    }
    while (walk.junkLength > 0 && NsIsSpace(walk.junk[walk.junkLength - 1])) {
        walk.junkLength--;
    }
    *lengthPtr = walk.junkLength;
    return walk.junkLength == 0
            || (walk.junkLength == 7
                && NsIsSameNoCase(walk.junk, "unknown", walk.junkLength))
        ? NULL
        : walk.junk;
}

/*
 * What the peer, or the last one that was looked at, is.
 */
static Verdict
JudgeFields(Walk *walkPtr, const NsHttpHead *headPtr, const char *peer)
{
    bool isStandard = NsHttpKnown(headPtr, NS_FIELD_X_FORWARDED_FOR) == NULL;
    const char *name = isStandard ? "forwarded" : "x-forwarded-for";
    Verdict verdict = NsProxiesHave(walkPtr->proxiesPtr, peer) ? PROXY : NOBODY;

    for (int i = headPtr->nFields - 1; i >= 0 && verdict <= SKIPPED; i--) {
        if (HasName(&headPtr->fields[i], name)) {
            verdict = JudgeField(walkPtr, &headPtr->fields[i], isStandard);
        }
    }
    return verdict;
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
JudgeField(Walk *walkPtr, const NsHttpField *fieldPtr, bool isStandard)
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
            : JudgeElement(walkPtr, from, to);
        end = start - 1;
    } while (verdict <= SKIPPED && start > fieldPtr->value);
    return verdict;
}

static Verdict
JudgeElement(Walk *walkPtr, const char *start, const char *end)
{
    char        text[NS_FORWARDED_BYTES];
    NsIpAddress address;

    if (!TakeAddress(start, end, text) || !NsIpParse(text, &address)) {
        walkPtr->junk = start;
        walkPtr->junkLength = (size_t) (end - start);
        return NOBODY;
    }
    if (walkPtr->proxiesPtr->skipsNonPublic && !NsIpIsPublic(&address)) {
        return SKIPPED;
    }
    memcpy(walkPtr->buffer, text, sizeof(text));
    walkPtr->isFound = true;
    return NsProxiesHave(walkPtr->proxiesPtr, text) ? PROXY : CLIENT;
}

/*
 * The value of `for` among `a=b;for=c;d=e`.
 */
static bool
FindFor(const char **startPtr, const char **endPtr)
{
    return FindValue("for", startPtr, endPtr);
}

static bool
FindValue(const char *name, const char **startPtr, const char **endPtr)
{
    const char *p = *startPtr;
    size_t      length = strlen(name);

    while (p < *endPtr) {
        const char *stop = memchr(p, ';', (size_t) (*endPtr - p));

        stop = stop == NULL ? *endPtr : stop;
        p = NsSkipSpaceTo(p, stop);
        if ((size_t) (stop - p) > length + 1u && p[length] == '='
            && NsIsSameNoCase(p, name, length)) {
            *startPtr = p + length + 1u;
            *endPtr = stop;
            return true;
        }
        p = stop + 1;
    }
    return false;
}

bool
NsForwardedParameter(const NsHttpHead *headPtr, const char *name, char *buffer,
                     size_t size)
{
    const char *value = NULL, *end;

    for (int i = 0; i < headPtr->nFields; i++) {
        if (HasName(&headPtr->fields[i], "Forwarded")) {
            if (value != NULL) {
                return false;
            }
            value = headPtr->fields[i].value;
        }
    }
    if (value == NULL || strchr(value, ',') != NULL) {
        return false;
    }
    end = value + strlen(value);
    if (!FindValue(name, &value, &end)) {
        return false;
    }
    TrimQuotes(&value, &end);
    if (value == end || (size_t) (end - value) >= size) {
        return false;
    }
    memcpy(buffer, value, (size_t) (end - value));
    buffer[end - value] = '\0';
    return true;
}

static void
TrimQuotes(const char **startPtr, const char **endPtr)
{
    while (*startPtr < *endPtr
           && (NsIsSpace(**startPtr) || **startPtr == '"')) {
        (*startPtr)++;
    }
    while (*endPtr > *startPtr
           && (NsIsSpace((*endPtr)[-1]) || (*endPtr)[-1] == '"')) {
        (*endPtr)--;
    }
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

    TrimQuotes(&start, &end);
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
