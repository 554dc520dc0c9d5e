/* SPDX-License-Identifier: MPL-2.0
 * config.h --
 *
 *      The configuration store, as the rooms share it; modules use nsparam.h.
 *
 *      Until NsConfigFreeze a lock guards everything.  From then on sections
 *      and their sets no longer change and are read without a lock; defaults
 *      that are read for the first time later are kept in a list beside the
 *      set.  A reload makes another store, which takes the place of the first.
 */

#ifndef NSD_PROCESS_CONFIG_H
#define NSD_PROCESS_CONFIG_H

#include "nsparam.h"

/*
 * The place where something was written; file NULL: none, the server made it.
 */
typedef struct NsConfigPlace {
    const char *file;
    int         line;
} NsConfigPlace;

void NsConfigInit(void);

/*
 * Open a section, making it if it is new.  NULL after the freeze.
 */
typedef struct NsSection NsSection;

NsSection *NsConfigOpen(const char *name, NsConfigPlace place);

/*
 * Append a parameter.  Before the freeze.
 */
void NsConfigAppend(NsSection *sectionPtr, const char *key, const char *value,
                    NsConfigPlace place);

/*
 * Change the first parameter of that name, or append one.  Before the freeze.
 */
void NsConfigReplace(NsSection *sectionPtr, const char *key, const char *value,
                     NsConfigPlace place);

/*
 * Change or add a value.  NS_ERROR after the freeze.
 */
Ns_ReturnCode NsConfigSet(const char *section, const char *key,
                          const char *value);

/*
 * From now on nothing changes.  The main thread, before others are started.
 */
void NsConfigFreeze(void);

/*
 * The value, or NULL.  exact: match the case of the key.  A missing key is
 * recorded with its default; with none (NULL), as an empty value.
 */
const char *NsConfigLookup(const char *section, const char *key, bool exact,
                           const char *defaultValue);

/*
 * The value, or NULL, without a trace of having been read.
 */
const char *NsConfigPeek(const char *section, const char *key);

/*
 * Where it was written; file NULL: it was not.
 */
NsConfigPlace NsConfigPlaceOf(const char *section, const char *key);

/*
 * All values of a repeated key as a Tcl list appended to dsPtr; the result is
 * their number.
 */
int NsConfigQueryAll(const char *section, const char *key, Ns_DString *dsPtr);

/*
 * A copy of a section, the caller's own (Ns_SetFree); NULL if there is none.
 *
 *   ALL        what is in force
 *   UNREAD     configured, but nothing has asked for it
 *   DEFAULTED  not configured: default in force
 *   DEFAULTS   every default that is known
 *   CONFIGURED what was set
 */
typedef enum {
    NS_CONFIG_ALL,
    NS_CONFIG_UNREAD,
    NS_CONFIG_DEFAULTED,
    NS_CONFIG_DEFAULTS,
    NS_CONFIG_CONFIGURED
} NsConfigFilter;

Ns_Set *NsConfigDupSection(const char *section, NsConfigFilter filter);

/*
 * Visit what the file says, section by section.  Main thread; any thread after
 * the freeze.
 */
typedef struct NsConfigItem {
    const char   *section;
    const char   *key; /* NULL when a section begins. */
    const char   *value;
    NsConfigPlace place;
    bool          isRead; /* Somebody has asked for it. */
} NsConfigItem;

typedef void NsConfigVisitProc(const NsConfigItem *itemPtr, void *arg);
void         NsConfigVisit(NsConfigVisitProc *proc, void *arg);

/*
 * A store beside the one in force: what a reload reads.  The thread that makes
 * it uses it as others use theirs, until it uses NULL again, and then has it
 * take the place of the one in force, which stays as it is for those who hold
 * values of it, or frees it.
 */
typedef struct NsConfigStore NsConfigStore;

NsConfigStore *NsConfigStoreCreate(void);
void           NsConfigStoreFree(NsConfigStore *storePtr);
void           NsConfigStoreUse(NsConfigStore *storePtr);
void           NsConfigStoreTake(NsConfigStore *storePtr);

/*
 * Remove all parameters of that name.  Before the freeze.
 */
void NsConfigRemove(NsSection *sectionPtr, const char *key);

/*
 * Forget everything.  For tests, one thread.
 */
void NsConfigReset(void);

#endif
