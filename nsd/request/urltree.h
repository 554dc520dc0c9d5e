/* SPDX-License-Identifier: MPL-2.0
 * urltree.h --
 *
 *      A tree of URL patterns for each method.
 *
 *      A pattern is a directory and a filter: below /a/b with the wildcard
 *      `*.html` behind it these are `/a/b` and `*.html`.  A pattern without
 *      wildcard has the filter `*`.  Without locks; the URL space has them.
 */

#ifndef NSD_REQUEST_URLTREE_H
#define NSD_REQUEST_URLTREE_H

#include "request/urlspace.h"

/*
 * Further flags of NsUrlTreeRemoveAll.
 */
#define NS_OP_ALLFILTERS     0x1000 /* Every filter of the directory. */
#define NS_OP_ALLCONSTRAINTS 0x2000 /* Entries with constraints as well. */

/*
 * Data that left the tree, to be given to its procedure when no lock is held.
 */
typedef struct NsUrlDropped {
    struct NsUrlDropped *nextPtr;
    void                *data;
    void (*freeProc)(void *data);
} NsUrlDropped;

typedef struct NsUrlTree NsUrlTree;

NsUrlTree *NsUrlTreeCreate(void);

/*
 * Store data under a pattern; NS_OP_NOINHERIT in flags selects the entry for
 * exactly the directory.  A former entry of the same kind is added to dropped.
 */
void NsUrlTreePut(NsUrlTree *treePtr, const char *method, const char *url,
                  void *data, int flags, void (*freeProc)(void *data),
                  NsUrlDropped **droppedPtr);

/*
 * Likewise an entry that counts only where its constraints hold, and there
 * comes before the one without.  They become the tree's; NULL: none.
 */
void NsUrlTreePutFor(NsUrlTree *treePtr, NsConstraints *constraintsPtr,
                     const char *method, const char *url, void *data, int flags,
                     void (*freeProc)(void *data), NsUrlDropped **droppedPtr);

/*
 * Take the entry of exactly that pattern out; NULL if there is none.  With
 * NS_OP_RECURSE: all entries at and below the pattern's directory, NULL.  What
 * leaves is added to dropped.
 */
void *NsUrlTreeRemove(NsUrlTree *treePtr, const char *method, const char *url,
                      int flags, NsUrlDropped **droppedPtr);

/*
 * Remove as well what the flags above say; whether something was there.
 */
bool NsUrlTreeRemoveAll(NsUrlTree *treePtr, const char *method, const char *url,
                        int flags, NsUrlDropped **droppedPtr);

/*
 * The entry of exactly that pattern and kind, for a context.
 */
void *NsUrlTreeGetFor(const NsUrlTree *treePtr, const NsContext *contextPtr,
                      const char *method, const char *url, int flags);

/*
 * The best match that acceptProc (NULL: any) accepts; ignoring filters other
 * than `*` when isFast.  Entries with constraints do not count; the second one
 * is for a context, where they may, and with NS_OP_NOINHERIT looks only at
 * entries of that kind.
 */
void *NsUrlTreeFind(const NsUrlTree *treePtr, const char *method,
                    const char *url, bool isFast, NsUrlAcceptProc *acceptProc,
                    void *arg);

void *NsUrlTreeFindFor(const NsUrlTree *treePtr, const NsContext *contextPtr,
                       const char *method, const char *url, int flags,
                       NsUrlAcceptProc *acceptProc, void *arg);

/*
 * Call a procedure with each method for which the URL has an entry.
 */
void NsUrlTreeMethods(const NsUrlTree *treePtr, const NsContext *contextPtr,
                      const char *url, NsUrlMethodProc *proc, void *arg);

void NsUrlTreeVisit(const NsUrlTree *treePtr, NsUrlVisitProc *proc, void *arg);

#endif
