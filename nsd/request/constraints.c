/* SPDX-License-Identifier: MPL-2.0
 * constraints.c --
 *
 *      What a request must be like for an entry to count.
 */

#include "request/constraints.h"

#include "nsthread.h"
#include "base/assert.h"
#include "http/parse.h"
#include "request/proxies.h"

/*
 * Stands for the client's address in the place of a header field.
 */
#define PEER "x-ns-ip"

typedef struct Pair {
    char     *key;     /* In lower case. */
    char     *pattern; /* Glob. */
    bool      isPeer;
    bool      isRange; /* The peer is to be in range, not as the pattern. */
    NsIpRange range;
} Pair;

struct NsConstraints {
    char *text;
    int   nPairs;
    Pair  pairs[];
};

static void        InitPair(Pair *pairPtr, const char *key, const char *value);
static bool        Holds(const Pair *pairPtr, const NsContext *contextPtr);
static const char *GetPeer(const NsContext *contextPtr,
                           char             buffer[NS_FORWARDED_BYTES]);
static int         Narrowness(const Pair *pairPtr);

Ns_ReturnCode
NsConstraintsParse(const char *list, NsConstraints **constraintsPtr)
{
    NsConstraints *newPtr;
    const char   **words;
    Ns_DString     text;
    int            nWords;

    *constraintsPtr = NULL;
    if (Tcl_SplitList(NULL, list, &nWords, &words) != TCL_OK) {
        return NS_ERROR;
    }
    if (nWords % 2 != 0) {
        Tcl_Free((char *) words);
        return NS_ERROR;
    }
    if (nWords > 0) {
        newPtr =
            ns_calloc(1, sizeof(*newPtr) + (size_t) nWords / 2 * sizeof(Pair));
        newPtr->nPairs = nWords / 2;
        Ns_DStringInit(&text);
        for (int i = 0; i < newPtr->nPairs; i++) {
            InitPair(&newPtr->pairs[i], words[2 * i], words[2 * i + 1]);
            Ns_DStringAppendElement(&text, newPtr->pairs[i].key);
            Ns_DStringAppendElement(&text, newPtr->pairs[i].pattern);
        }
        newPtr->text = Ns_DStringExport(&text);
        *constraintsPtr = newPtr;
    }
    Tcl_Free((char *) words);
    return NS_OK;
}

static void
InitPair(Pair *pairPtr, const char *key, const char *value)
{
    pairPtr->key = Ns_StrToLower(ns_strdup(key));
    pairPtr->pattern = ns_strdup(value);
    pairPtr->isPeer = STREQ(pairPtr->key, PEER);
    pairPtr->isRange = pairPtr->isPeer
        && NsIpRangeParse(value, &pairPtr->range);
}

void
NsConstraintsFree(NsConstraints **constraintsPtr)
{
    NsConstraints *oldPtr = *constraintsPtr;

    *constraintsPtr = NULL;
    if (oldPtr == NULL) {
        return;
    }
    NsAssert(oldPtr->nPairs > 0 && oldPtr->text != NULL);
    for (int i = 0; i < oldPtr->nPairs; i++) {
        ns_free(oldPtr->pairs[i].key);
        ns_free(oldPtr->pairs[i].pattern);
    }
    ns_free(oldPtr->text);
    ns_free(oldPtr);
}

bool
NsConstraintsHold(const NsConstraints *constraintsPtr,
                  const NsContext     *contextPtr)
{
    if (constraintsPtr == NULL) {
        return true;
    }
    if (contextPtr == NULL) {
        return false;
    }
    NsAssert(constraintsPtr->nPairs > 0);
    for (int i = 0; i < constraintsPtr->nPairs && !contextPtr->isAny; i++) {
        if (!Holds(&constraintsPtr->pairs[i], contextPtr)) {
            return false;
        }
    }
    return true;
}

static bool
Holds(const Pair *pairPtr, const NsContext *contextPtr)
{
    char        buffer[NS_FORWARDED_BYTES];
    NsIpAddress address;
    const char *value;

    if (pairPtr->isPeer) {
        value = GetPeer(contextPtr, buffer);
    } else if (contextPtr->messagePtr != NULL) {
        value = NsHttpFind(&contextPtr->messagePtr->head, pairPtr->key);
    } else {
        value = contextPtr->setPtr == NULL
            ? NULL
            : Ns_SetIGet(contextPtr->setPtr, pairPtr->key);
    }
    if (value == NULL) {
        return false;
    }
    if (pairPtr->isRange) {
        return NsIpParse(value, &address)
            && NsIpRangeHas(&pairPtr->range, &address);
    }
    return Tcl_StringMatch(value, pairPtr->pattern);
}

static const char *
GetPeer(const NsContext *contextPtr, char buffer[NS_FORWARDED_BYTES])
{
    if (contextPtr->messagePtr != NULL) {
        return NsProxiesClientText(contextPtr->messagePtr, buffer);
    }
    return contextPtr->setPtr == NULL
        ? NULL
        : Ns_SetIGet(contextPtr->setPtr, PEER);
}

bool
NsConstraintsPrecede(const NsConstraints *constraintsPtr,
                     const NsConstraints *otherPtr)
{
    int narrowness = 0;

    NsAssert(constraintsPtr->nPairs > 0 && otherPtr->nPairs > 0);
    if (constraintsPtr->nPairs != otherPtr->nPairs) {
        return constraintsPtr->nPairs > otherPtr->nPairs;
    }
    for (int i = 0; i < constraintsPtr->nPairs; i++) {
        narrowness += Narrowness(&constraintsPtr->pairs[i])
            - Narrowness(&otherPtr->pairs[i]);
    }
    return narrowness > 0;
}

/*
 * A literal is narrower than any glob, and a glob the narrower the more it
 * says; a network the more bits it has.
 */
static int
Narrowness(const Pair *pairPtr)
{
    enum { LITERAL = 100000 };
    int         n = 0;
    const char *p;

    if (pairPtr->isRange) {
        return pairPtr->range.nBits;
    }
    for (p = pairPtr->pattern; *p != '\0'; p++) {
        n += *p != '*' && *p != '?';
    }
    return strpbrk(pairPtr->pattern, "*?[\\") == NULL ? LITERAL + n : n;
}

bool
NsConstraintsAreSame(const NsConstraints *constraintsPtr,
                     const NsConstraints *otherPtr)
{
    return constraintsPtr == NULL || otherPtr == NULL
        ? constraintsPtr == otherPtr
        : STREQ(constraintsPtr->text, otherPtr->text);
}

const char *
NsConstraintsText(const NsConstraints *constraintsPtr)
{
    return constraintsPtr->text;
}
