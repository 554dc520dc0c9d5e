/* SPDX-License-Identifier: MPL-2.0
 * urltree.c --
 *
 *      A tree of URL patterns for each method.
 *
 *      One root per method; an edge per path segment, sorted for binary search;
 *      at each node the filters registered for that directory, the more
 *      restrictive ones first.  A search walks down as far as the path leads,
 *      then looks at the nodes it passed from the deepest to the root.
 */

#include "request/urltree.h"
#include "nsthread.h"
#include "base/assert.h"

typedef struct Slot {
    void *data; /* NULL: nothing registered. */
    void (*freeProc)(void *data);
} Slot;

/*
 * An entry with constraints.
 */
typedef struct Variant {
    struct Variant *nextPtr; /* What precedes comes first. */
    NsConstraints  *constraintsPtr;
    Slot            slot;
    bool            isExact;
} Variant;

typedef struct Filter {
    char    *glob;
    size_t   suffixBytes; /* For "*.adp" and the like; 0: another form. */
    bool     matchesAll;  /* The glob is "*". */
    Slot     inherited;
    Slot     exact; /* Registered with NS_OP_NOINHERIT. */
    Variant *variants;
} Filter;

typedef struct Node {
    char         *segment;
    size_t        segmentBytes;
    struct Node  *parentPtr; /* NULL: the root. */
    struct Node **children;  /* Sorted. */
    int           nChildren;
    Filter       *filters; /* More restrictive ones first. */
    int           nFilters;
} Node;

typedef struct Method {
    char *name;
    Node  root;
} Method;

struct NsUrlTree {
    Method **methods;
    int      nMethods;
    int      nVariants; /* In the whole tree. */
};

/*
 * A stretch of a path between two slashes.
 */
typedef struct Segment {
    const char *start;
    size_t      bytes;
} Segment;

/*
 * A pattern cut into directory and filter; the filter is NULL for "*".
 */
typedef struct Pattern {
    const char *end; /* Of the directory. */
    const char *glob;
    size_t      globBytes;
} Pattern;

/*
 * Where in the tree an entry was found: the deeper comes first, then that with
 * the more restrictive filter, then the kind.
 */
typedef struct Place {
    int           depth; /* Of the directory. */
    const Filter *filterPtr;
    bool          isExact;
    bool          isVariant;
} Place;

static Pattern ParsePattern(const char *url);
static bool    NextSegment(const char **nextPtr, const char *end,
                           Segment *segmentPtr);
static Method *FindMethod(const NsUrlTree *treePtr, const char *method);
static Method *GetMethod(NsUrlTree *treePtr, const char *method);
static int     FindChild(const Node *nodePtr, const Segment *segmentPtr,
                         bool *foundPtr);
static Node   *GetChild(Node *nodePtr, const Segment *segmentPtr);
static Node   *FindNode(const NsUrlTree *treePtr, const char *method,
                        const char *url, const Pattern *patternPtr);
static Filter *FindFilter(const Node *nodePtr, const Pattern *patternPtr);
static Filter *AddFilter(Node *nodePtr, const Pattern *patternPtr);
static void    PutVariant(NsUrlTree *treePtr, Filter *filterPtr,
                          NsConstraints *constraintsPtr, bool isExact,
                          const Slot *slotPtr, NsUrlDropped **droppedPtr);
static bool    DropVariants(NsUrlTree *treePtr, Filter *filterPtr, bool isExact,
                            NsUrlDropped **droppedPtr);

static void *Search(const NsUrlTree *treePtr, const NsContext *contextPtr,
                    const char *method, const char *url, bool isFast, int flags,
                    NsUrlAcceptProc *acceptProc, void *arg, Place *placePtr);
static void *FindHead(const NsUrlTree *treePtr, const NsContext *contextPtr,
                      const char *url, int flags, NsUrlAcceptProc *acceptProc,
                      void *arg);
static bool  IsNearer(const Place *placePtr, const Place *otherPtr);
static void *FindAtNode(const Node *nodePtr, const char *lastSegment,
                        bool isWhole, bool isFast, NsUrlAcceptProc *acceptProc,
                        void *arg, Place *placePtr);
static void *FindForAtNode(const Node *nodePtr, const NsContext *contextPtr,
                           const char *lastSegment, bool isWhole, int flags,
                           NsUrlAcceptProc *acceptProc, void *arg,
                           Place *placePtr);
static void *FindInFilter(const Filter *filterPtr, bool isExact,
                          const NsContext *contextPtr,
                          NsUrlAcceptProc *acceptProc, void *arg,
                          Place *placePtr);

static bool MatchesFilter(const Filter *filterPtr, const char *segment);
static void DropSlot(Slot *slotPtr, NsUrlDropped **droppedPtr);
static void DropBelow(NsUrlTree *treePtr, Node *nodePtr,
                      NsUrlDropped **droppedPtr);
static void CheckNode(const Node *nodePtr);
static void VisitNode(const Method *methodPtr, const Node *nodePtr,
                      Tcl_DString *pathPtr, NsUrlVisitProc *proc, void *arg);

NsUrlTree *
NsUrlTreeCreate(void)
{
    return ns_calloc(1, sizeof(NsUrlTree));
}

void
NsUrlTreePut(NsUrlTree *treePtr, const char *method, const char *url,
             void *data, int flags, void (*freeProc)(void *data),
             NsUrlDropped **droppedPtr)
{
    NsUrlTreePutFor(treePtr, NULL, method, url, data, flags, freeProc,
                    droppedPtr);
}

void
NsUrlTreePutFor(NsUrlTree *treePtr, NsConstraints *constraintsPtr,
                const char *method, const char *url, void *data, int flags,
                void (*freeProc)(void *data), NsUrlDropped **droppedPtr)
{
    Pattern     pattern = ParsePattern(url);
    const char *next = url;
    Segment     segment;
    Node       *nodePtr = &GetMethod(treePtr, method)->root;
    Filter     *filterPtr;
    Slot       *slotPtr;
    bool        isExact = (flags & NS_OP_NOINHERIT) != 0;

    while (NextSegment(&next, pattern.end, &segment)) {
        nodePtr = GetChild(nodePtr, &segment);
    }
    filterPtr = AddFilter(nodePtr, &pattern);
    if (constraintsPtr != NULL) {
        PutVariant(treePtr, filterPtr, constraintsPtr, isExact,
                   &(Slot){data, freeProc}, droppedPtr);
        return;
    }
    slotPtr = isExact ? &filterPtr->exact : &filterPtr->inherited;
    if (flags & NS_OP_NODELETE) {
        slotPtr->freeProc = NULL;
    }
    DropSlot(slotPtr, droppedPtr);
    slotPtr->data = data;
    slotPtr->freeProc = freeProc;
}

static void
PutVariant(NsUrlTree *treePtr, Filter *filterPtr, NsConstraints *constraintsPtr,
           bool isExact, const Slot *slotPtr, NsUrlDropped **droppedPtr)
{
    Variant **linkPtr = &filterPtr->variants, *variantPtr;

    for (variantPtr = filterPtr->variants; variantPtr != NULL;
         variantPtr = variantPtr->nextPtr) {
        if (variantPtr->isExact == isExact
            && NsConstraintsAreSame(variantPtr->constraintsPtr,
                                    constraintsPtr)) {
            DropSlot(&variantPtr->slot, droppedPtr);
            variantPtr->slot = *slotPtr;
            NsConstraintsFree(&constraintsPtr);
            return;
        }
    }
    while (*linkPtr != NULL
           && !NsConstraintsPrecede(constraintsPtr,
                                    (*linkPtr)->constraintsPtr)) {
        linkPtr = &(*linkPtr)->nextPtr;
    }
    NsAssert(slotPtr->data != NULL);
    variantPtr = ns_malloc(sizeof(Variant));
    *variantPtr = (Variant){*linkPtr, constraintsPtr, *slotPtr, isExact};
    *linkPtr = variantPtr;
    treePtr->nVariants++;
}

void *
NsUrlTreeRemove(NsUrlTree *treePtr, const char *method, const char *url,
                int flags, NsUrlDropped **droppedPtr)
{
    Pattern pattern = ParsePattern(url);
    Node   *nodePtr = FindNode(treePtr, method, url, &pattern);
    Filter *filterPtr;
    Slot   *slotPtr;
    void   *data;

    if (nodePtr == NULL) {
        return NULL;
    }
    if (flags & NS_OP_RECURSE) {
        DropBelow(treePtr, nodePtr, droppedPtr);
        return NULL;
    }
    filterPtr = FindFilter(nodePtr, &pattern);
    if (filterPtr == NULL) {
        return NULL;
    }
    slotPtr = (flags & NS_OP_NOINHERIT)
        ? &filterPtr->exact
        : &filterPtr->inherited;
    data = slotPtr->data;
    if (flags & NS_OP_NODELETE) {
        slotPtr->freeProc = NULL;
    }
    DropSlot(slotPtr, droppedPtr);
    return data;
}

bool
NsUrlTreeRemoveAll(NsUrlTree *treePtr, const char *method, const char *url,
                   int flags, NsUrlDropped **droppedPtr)
{
    Pattern pattern = ParsePattern(url);
    Node   *nodePtr = FindNode(treePtr, method, url, &pattern);
    Filter *namedPtr;
    bool    isExact = (flags & NS_OP_NOINHERIT) != 0, isFound = false;

    if (nodePtr == NULL) {
        return false;
    }
    namedPtr = FindFilter(nodePtr, &pattern);
    for (int i = 0; i < nodePtr->nFilters; i++) {
        Filter *filterPtr = &nodePtr->filters[i];
        Slot   *slotPtr = isExact ? &filterPtr->exact : &filterPtr->inherited;

        if (filterPtr == namedPtr || (flags & NS_OP_ALLFILTERS) != 0) {
            isFound |= slotPtr->data != NULL;
            DropSlot(slotPtr, droppedPtr);
            if ((flags & NS_OP_ALLCONSTRAINTS) != 0) {
                isFound |= DropVariants(treePtr, filterPtr, isExact,
                                        droppedPtr);
            }
        }
    }
    return isFound;
}

void *
NsUrlTreeGetFor(const NsUrlTree *treePtr, const NsContext *contextPtr,
                const char *method, const char *url, int flags)
{
    Pattern       pattern = ParsePattern(url);
    const Node   *nodePtr = FindNode(treePtr, method, url, &pattern);
    const Filter *filterPtr = NULL;

    if (nodePtr != NULL) {
        filterPtr = FindFilter(nodePtr, &pattern);
    }
    return filterPtr == NULL
        ? NULL
        : FindInFilter(filterPtr, (flags & NS_OP_NOINHERIT) != 0, contextPtr,
                       NULL, NULL, &(Place){0});
}

void *
NsUrlTreeFind(const NsUrlTree *treePtr, const char *method, const char *url,
              bool isFast, NsUrlAcceptProc *acceptProc, void *arg)
{
    return Search(treePtr, NULL, method, url, isFast, 0, acceptProc, arg,
                  &(Place){0});
}

void *
NsUrlTreeFindFor(const NsUrlTree *treePtr, const NsContext *contextPtr,
                 const char *method, const char *url, int flags,
                 NsUrlAcceptProc *acceptProc, void *arg)
{
    if ((flags & NS_URL_ALSO_GET) != 0) {
        flags &= ~NS_URL_ALSO_GET;
        if (STREQ(method, "HEAD")) {
            return FindHead(treePtr, contextPtr, url, flags, acceptProc, arg);
        }
    }
    return Search(treePtr, contextPtr, method, url, false, flags, acceptProc,
                  arg, &(Place){0});
}

/*
 * The entry of GET, unless that of HEAD is as near to the URL.
 */
static void *
FindHead(const NsUrlTree *treePtr, const NsContext *contextPtr, const char *url,
         int flags, NsUrlAcceptProc *acceptProc, void *arg)
{
    Place headPlace, getPlace;
    void *data = Search(treePtr, contextPtr, "HEAD", url, false, flags, NULL,
                        NULL, &headPlace);
    void *getData = Search(treePtr, contextPtr, "GET", url, false, flags, NULL,
                           NULL, &getPlace);

    if (data == NULL || (getData != NULL && IsNearer(&getPlace, &headPlace))) {
        data = getData;
    }
    return data != NULL && (acceptProc == NULL || acceptProc(data, arg))
        ? data
        : NULL;
}

static bool
IsNearer(const Place *placePtr, const Place *otherPtr)
{
    const char *glob = placePtr->filterPtr->glob;
    const char *otherGlob = otherPtr->filterPtr->glob;

    NsAssert(placePtr->depth >= 0 && otherPtr->depth >= 0);
    if (placePtr->depth != otherPtr->depth) {
        return placePtr->depth > otherPtr->depth;
    }
    if (!STREQ(glob, otherGlob)) {
        return Tcl_StringMatch(glob, otherGlob);
    }
    if (placePtr->isExact != otherPtr->isExact) {
        return placePtr->isExact;
    }
    return placePtr->isVariant && !otherPtr->isVariant;
}

/*
 * Most trees have no constraints, and pay nothing for those that have.
 */
static void *
Search(const NsUrlTree *treePtr, const NsContext *contextPtr,
       const char *method, const char *url, bool isFast, int flags,
       NsUrlAcceptProc *acceptProc, void *arg, Place *placePtr)
{
    const Method *methodPtr = FindMethod(treePtr, method);
    const Node   *nodePtr;
    const char   *next = url, *end = url + strlen(url);
    Segment       segment, last = {"", 0};
    bool          isWhole = true;
    bool          isPlain = isFast || (treePtr->nVariants == 0 && flags == 0);
    char          stackName[256], *lastSegment = stackName;
    void         *data = NULL;
    int           depth = 0;

    if (methodPtr == NULL) {
        return NULL;
    }
    nodePtr = &methodPtr->root;
    while (NextSegment(&next, end, &segment)) {
        last = segment;
        if (isWhole) {
            int i = FindChild(nodePtr, &segment, &isWhole);

            if (isWhole) {
                nodePtr = nodePtr->children[i];
                depth++;
            }
        }
    }
    if (last.bytes >= sizeof(stackName)) {
        lastSegment = ns_malloc(last.bytes + 1);
    }
    memcpy(lastSegment, last.start, last.bytes);
    lastSegment[last.bytes] = '\0';

    while (data == NULL && nodePtr != NULL) {
        data = isPlain
            ? FindAtNode(nodePtr, lastSegment, isWhole, isFast, acceptProc, arg,
                         placePtr)
            : FindForAtNode(nodePtr, contextPtr, lastSegment, isWhole, flags,
                            acceptProc, arg, placePtr);
        NsAssert(depth >= 0);
        placePtr->depth = depth--;
        isWhole = false;
        nodePtr = nodePtr->parentPtr;
    }
    if (lastSegment != stackName) {
        ns_free(lastSegment);
    }
    return data;
}

void
NsUrlTreeMethods(const NsUrlTree *treePtr, const NsContext *contextPtr,
                 const char *url, NsUrlMethodProc *proc, void *arg)
{
    for (int i = 0; i < treePtr->nMethods; i++) {
        const char *method = treePtr->methods[i]->name;

        if (Search(treePtr, contextPtr, method, url, false, 0, NULL, NULL,
                   &(Place){0})
            != NULL) {
            proc(method, arg);
        }
    }
}

void
NsUrlTreeVisit(const NsUrlTree *treePtr, NsUrlVisitProc *proc, void *arg)
{
    Tcl_DString path;

    for (int i = 0; i < treePtr->nMethods; i++) {
        Tcl_DStringInit(&path);
        VisitNode(treePtr->methods[i], &treePtr->methods[i]->root, &path, proc,
                  arg);
        Tcl_DStringFree(&path);
    }
}

/*
 * The last segment is the filter when it has a wildcard.
 */
static Pattern
ParsePattern(const char *url)
{
    Pattern     pattern = {url + strlen(url), NULL, 0};
    const char *end = pattern.end, *start;

    while (end > url && end[-1] == '/') {
        end--;
    }
    start = end;
    while (start > url && start[-1] != '/') {
        start--;
    }
    if (memchr(start, '*', (size_t) (end - start)) != NULL
        || memchr(start, '?', (size_t) (end - start)) != NULL) {
        pattern.end = start;
        if (end - start != 1 || *start != '*') {
            pattern.glob = start;
            pattern.globBytes = (size_t) (end - start);
        }
    }
    return pattern;
}

/*
 * The next non-empty segment before end; false if there is none.
 */
static bool
NextSegment(const char **nextPtr, const char *end, Segment *segmentPtr)
{
    const char *start = *nextPtr, *stop;

    while (start < end && *start == '/') {
        start++;
    }
    if (start == end) {
        return false;
    }
    stop = memchr(start, '/', (size_t) (end - start));
    if (stop == NULL) {
        stop = end;
    }
    segmentPtr->start = start;
    segmentPtr->bytes = (size_t) (stop - start);
    *nextPtr = stop;
    return true;
}

static Method *
FindMethod(const NsUrlTree *treePtr, const char *method)
{
    for (int i = 0; i < treePtr->nMethods; i++) {
        if (STREQ(treePtr->methods[i]->name, method)) {
            return treePtr->methods[i];
        }
    }
    return NULL;
}

static Method *
GetMethod(NsUrlTree *treePtr, const char *method)
{
    Method *methodPtr = FindMethod(treePtr, method);

    if (methodPtr == NULL) {
        methodPtr = ns_calloc(1, sizeof(Method));
        methodPtr->name = ns_strdup(method);
        treePtr->methods = ns_realloc(treePtr->methods,
                                      sizeof(Method *)
                                          * ((size_t) treePtr->nMethods + 1));
        treePtr->methods[treePtr->nMethods++] = methodPtr;
    }
    return methodPtr;
}

/*
 * Index of the child, or where it would have to be.
 */
static int
FindChild(const Node *nodePtr, const Segment *segmentPtr, bool *foundPtr)
{
    int low = 0, high = nodePtr->nChildren;

    while (low < high) {
        int         middle = (low + high) / 2;
        const Node *childPtr = nodePtr->children[middle];
        size_t      bytes = MIN(childPtr->segmentBytes, segmentPtr->bytes);
        int         order = memcmp(segmentPtr->start, childPtr->segment, bytes);

        if (order == 0 && segmentPtr->bytes == childPtr->segmentBytes) {
            *foundPtr = true;
            return middle;
        }
        if (order < 0 || (order == 0 && segmentPtr->bytes == bytes)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    *foundPtr = false;
    return low;
}

static Node *
GetChild(Node *nodePtr, const Segment *segmentPtr)
{
    bool  found;
    int   i = FindChild(nodePtr, segmentPtr, &found);
    Node *childPtr;

    if (found) {
        return nodePtr->children[i];
    }
    childPtr = ns_calloc(1, sizeof(Node));
    childPtr->segment = ns_strncopy(segmentPtr->start,
                                    (ssize_t) segmentPtr->bytes);
    childPtr->segmentBytes = segmentPtr->bytes;
    childPtr->parentPtr = nodePtr;
    nodePtr->children = ns_realloc(nodePtr->children,
                                   sizeof(Node *)
                                       * ((size_t) nodePtr->nChildren + 1));
    NsAssert(i >= 0 && i <= nodePtr->nChildren);
    memmove(nodePtr->children + i + 1, nodePtr->children + i,
            sizeof(Node *) * (size_t) (nodePtr->nChildren - i));
    nodePtr->children[i] = childPtr;
    nodePtr->nChildren++;
    CheckNode(nodePtr);
    return childPtr;
}

/*
 * The node of a pattern's directory.
 */
static Node *
FindNode(const NsUrlTree *treePtr, const char *method, const char *url,
         const Pattern *patternPtr)
{
    Method     *methodPtr = FindMethod(treePtr, method);
    Node       *nodePtr;
    const char *next = url;
    Segment     segment;

    if (methodPtr == NULL) {
        return NULL;
    }
    nodePtr = &methodPtr->root;
    while (NextSegment(&next, patternPtr->end, &segment)) {
        bool found;
        int  i = FindChild(nodePtr, &segment, &found);

        if (!found) {
            return NULL;
        }
        nodePtr = nodePtr->children[i];
    }
    return nodePtr;
}

static Filter *
FindFilter(const Node *nodePtr, const Pattern *patternPtr)
{
    for (int i = 0; i < nodePtr->nFilters; i++) {
        Filter *filterPtr = &nodePtr->filters[i];

        if (patternPtr->glob == NULL
                ? filterPtr->matchesAll
                : strlen(filterPtr->glob) == patternPtr->globBytes
                    && memcmp(filterPtr->glob, patternPtr->glob,
                              patternPtr->globBytes)
                        == 0) {
            return filterPtr;
        }
    }
    return NULL;
}

static Filter *
AddFilter(Node *nodePtr, const Pattern *patternPtr)
{
    Filter *filterPtr = FindFilter(nodePtr, patternPtr);
    char   *glob;
    int     i = 0;

    if (filterPtr != NULL) {
        return filterPtr;
    }
    glob = patternPtr->glob == NULL
        ? ns_strdup("*")
        : ns_strncopy(patternPtr->glob, (ssize_t) patternPtr->globBytes);

    /*
     * In front of the first filter that matches this one's text, which is then
     * less restrictive.
     */
    while (i < nodePtr->nFilters
           && !Tcl_StringMatch(glob, nodePtr->filters[i].glob)) {
        i++;
    }
    nodePtr->filters = ns_realloc(nodePtr->filters,
                                  sizeof(Filter)
                                      * ((size_t) nodePtr->nFilters + 1));
    filterPtr = nodePtr->filters + i;
    memmove(filterPtr + 1, filterPtr,
            sizeof(Filter) * (size_t) (nodePtr->nFilters - i));
    nodePtr->nFilters++;
    *filterPtr = (Filter){
        .glob = glob,
        .suffixBytes = glob[0] == '*' && strpbrk(glob + 1, "*?[\\") == NULL
            ? strlen(glob + 1)
            : 0u,
        .matchesAll = patternPtr->glob == NULL};
    CheckNode(nodePtr);
    return filterPtr;
}

/*
 * The first accepted entry of a directory.  isWhole: the directory is the whole
 * path, so that entries without inheritance count.
 */
static void *
FindAtNode(const Node *nodePtr, const char *lastSegment, bool isWhole,
           bool isFast, NsUrlAcceptProc *acceptProc, void *arg, Place *placePtr)
{
    for (int i = 0; i < nodePtr->nFilters; i++) {
        const Filter *filterPtr = &nodePtr->filters[i];
        void         *data = filterPtr->exact.data;

        if (filterPtr->matchesAll) {
            if (isWhole && data != NULL
                && (acceptProc == NULL || acceptProc(data, arg))) {
                placePtr->filterPtr = filterPtr;
                placePtr->isExact = true;
                placePtr->isVariant = false;
                return data;
            }
        } else if (isFast || !MatchesFilter(filterPtr, lastSegment)) {
            continue;
        }
        data = filterPtr->inherited.data;
        if (data != NULL && (acceptProc == NULL || acceptProc(data, arg))) {
            placePtr->filterPtr = filterPtr;
            placePtr->isExact = placePtr->isVariant = false;
            return data;
        }
    }
    return NULL;
}

/*
 * The same where constraints count, or entries of one kind alone.
 */
static void *
FindForAtNode(const Node *nodePtr, const NsContext *contextPtr,
              const char *lastSegment, bool isWhole, int flags,
              NsUrlAcceptProc *acceptProc, void *arg, Place *placePtr)
{
    bool isExactOnly = (flags & NS_OP_NOINHERIT) != 0;

    for (int i = 0; i < nodePtr->nFilters; i++) {
        const Filter *filterPtr = &nodePtr->filters[i];
        void         *data = NULL;

        if (!filterPtr->matchesAll && !MatchesFilter(filterPtr, lastSegment)) {
            continue;
        }
        if (isWhole || !filterPtr->matchesAll) {
            bool mayBeExact = filterPtr->matchesAll || isExactOnly;

            data = mayBeExact
                ? FindInFilter(filterPtr, true, contextPtr, acceptProc, arg,
                               placePtr)
                : NULL;
        }
        if (data == NULL && !isExactOnly) {
            data = FindInFilter(filterPtr, false, contextPtr, acceptProc, arg,
                                placePtr);
        }
        if (data != NULL) {
            return data;
        }
    }
    return NULL;
}

static void *
FindInFilter(const Filter *filterPtr, bool isExact, const NsContext *contextPtr,
             NsUrlAcceptProc *acceptProc, void *arg, Place *placePtr)
{
    void *data;

    placePtr->filterPtr = filterPtr;
    placePtr->isExact = isExact;
    placePtr->isVariant = true;
    for (const Variant *variantPtr = filterPtr->variants; variantPtr != NULL;
         variantPtr = variantPtr->nextPtr) {
        data = variantPtr->slot.data;
        if (variantPtr->isExact == isExact
            && NsConstraintsHold(variantPtr->constraintsPtr, contextPtr)
            && (acceptProc == NULL || acceptProc(data, arg))) {
            return data;
        }
    }
    placePtr->isVariant = false;
    data = isExact ? filterPtr->exact.data : filterPtr->inherited.data;
    return data != NULL && (acceptProc == NULL || acceptProc(data, arg))
        ? data
        : NULL;
}

static bool
MatchesFilter(const Filter *filterPtr, const char *segment)
{
    size_t length;

    if (filterPtr->suffixBytes == 0u) {
        return Tcl_StringMatch(segment, filterPtr->glob);
    }
    length = strlen(segment);
    return length >= filterPtr->suffixBytes
        && memcmp(segment + length - filterPtr->suffixBytes,
                  filterPtr->glob + 1, filterPtr->suffixBytes)
        == 0;
}

static void
DropSlot(Slot *slotPtr, NsUrlDropped **droppedPtr)
{
    if (slotPtr->data != NULL && slotPtr->freeProc != NULL) {
        NsUrlDropped *newPtr = ns_malloc(sizeof(NsUrlDropped));

        newPtr->data = slotPtr->data;
        newPtr->freeProc = slotPtr->freeProc;
        newPtr->nextPtr = *droppedPtr;
        *droppedPtr = newPtr;
    }
    slotPtr->data = NULL;
    slotPtr->freeProc = NULL;
}

static void
DropBelow(NsUrlTree *treePtr, Node *nodePtr, NsUrlDropped **droppedPtr)
{
    for (int i = 0; i < nodePtr->nFilters; i++) {
        Filter *filterPtr = &nodePtr->filters[i];

        DropSlot(&filterPtr->inherited, droppedPtr);
        DropSlot(&filterPtr->exact, droppedPtr);
        (void) DropVariants(treePtr, filterPtr, false, droppedPtr);
        (void) DropVariants(treePtr, filterPtr, true, droppedPtr);
    }
    for (int i = 0; i < nodePtr->nChildren; i++) {
        DropBelow(treePtr, nodePtr->children[i], droppedPtr);
    }
}

/*
 * Whether there were any.
 */
static bool
DropVariants(NsUrlTree *treePtr, Filter *filterPtr, bool isExact,
             NsUrlDropped **droppedPtr)
{
    Variant **linkPtr = &filterPtr->variants;
    int       nBefore = treePtr->nVariants;

    while (*linkPtr != NULL) {
        Variant *variantPtr = *linkPtr;

        if (variantPtr->isExact != isExact) {
            linkPtr = &variantPtr->nextPtr;
            continue;
        }
        *linkPtr = variantPtr->nextPtr;
        DropSlot(&variantPtr->slot, droppedPtr);
        NsConstraintsFree(&variantPtr->constraintsPtr);
        ns_free(variantPtr);
        treePtr->nVariants--;
    }
    NsAssert(treePtr->nVariants >= 0);
    return treePtr->nVariants < nBefore;
}

/*
 * Each child is where a search for it ends, and knows its parent; each filter
 * is the first of its text, and none is behind a less restrictive one.
 */
static void
CheckNode(const Node *nodePtr)
{
    for (int i = 0; i < nodePtr->nChildren; i++) {
        const Node *childPtr = nodePtr->children[i];
        Segment     segment = {childPtr->segment, childPtr->segmentBytes};
        bool        isFound;

        NsCheck(childPtr->parentPtr == nodePtr);
        NsCheck(childPtr->segmentBytes > 0);
        NsCheck(FindChild(nodePtr, &segment, &isFound) == i && isFound);
        (void) segment, (void) isFound;
    }
    for (int i = 0; i < nodePtr->nFilters; i++) {
        const Filter *filterPtr = &nodePtr->filters[i];

        NsCheck(!filterPtr->matchesAll || i == nodePtr->nFilters - 1);
        NsCheck(filterPtr->matchesAll == STREQ(filterPtr->glob, "*"));
        NsCheck(filterPtr->suffixBytes < strlen(filterPtr->glob));
        (void) filterPtr;
    }
}

static void
VisitNode(const Method *methodPtr, const Node *nodePtr, Tcl_DString *pathPtr,
          NsUrlVisitProc *proc, void *arg)
{
    int i, length = Tcl_DStringLength(pathPtr);

    /* The URLs below come first, and so "/" last. */
    for (i = 0; i < nodePtr->nChildren; i++) {
        Tcl_DStringAppend(pathPtr, "/", 1);
        Tcl_DStringAppend(pathPtr, nodePtr->children[i]->segment,
                          (int) nodePtr->children[i]->segmentBytes);
        VisitNode(methodPtr, nodePtr->children[i], pathPtr, proc, arg);
        Tcl_DStringSetLength(pathPtr, length);
    }
    for (i = 0; i < nodePtr->nFilters; i++) {
        const Filter *filterPtr = &nodePtr->filters[i];
        NsUrlEntry    entry = {
               .method = methodPtr->name,
               .directory = length == 0 ? "/" : Tcl_DStringValue(pathPtr),
               .filter = filterPtr->glob};

        if (filterPtr->inherited.data != NULL) {
            entry.inherits = true;
            entry.data = filterPtr->inherited.data;
            proc(&entry, arg);
        }
        if (filterPtr->exact.data != NULL) {
            entry.inherits = false;
            entry.data = filterPtr->exact.data;
            proc(&entry, arg);
        }
        for (const Variant *variantPtr = filterPtr->variants;
             variantPtr != NULL; variantPtr = variantPtr->nextPtr) {
            entry.inherits = !variantPtr->isExact;
            entry.data = variantPtr->slot.data;
            entry.constraints = NsConstraintsText(variantPtr->constraintsPtr);
            proc(&entry, arg);
        }
    }
}
