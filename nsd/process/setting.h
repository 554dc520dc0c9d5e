/* SPDX-License-Identifier: MPL-2.0
 * setting.h --
 *
 *      Parameters that can change while the server runs.
 *
 *      The row of such a parameter names the procedure of its room that knows
 *      where the value is.  Scripts, `nsd ctl set` and a reload of the
 *      configuration all change it this way.
 */

#ifndef NSD_PROCESS_SETTING_H
#define NSD_PROCESS_SETTING_H

#include "nsstring.h"
#include "process/parameters.h"

/*
 * A new value.
 */
typedef struct NsSettingChange {
    const NsParameter *rowPtr;
    const char        *text; /* NULL: the default.  Values of a key that is
                              * repeated: a list. */
    const char *oldText;     /* What the configuration said before. */
} NsSettingChange;

/*
 * What is asked of a procedure: either a value and its limits, or changes of
 * rows that name it, all of them or none.
 */
typedef struct NsSettingAccess {
    const char            *section;
    const NsParameter     *rowPtr; /* To be read; NULL: there are changes. */
    const NsSettingChange *changes;
    int                    nChanges;
    bool                   isTrial;    /* Say whether they are possible. */
    Ns_DString            *valuePtr;   /* The value, or what is wrong. */
    Ns_DString            *defaultPtr; /* Of what is read, these, too. */
    Ns_DString            *rangePtr;
} NsSettingAccess;

/*
 * NsSettingProc finds the struct, locks it, calls NsSettingAccessStruct, and
 * sees to the consequences.  NS_ERROR: the reason is in valuePtr, and nothing
 * has changed.
 *
 * Values that nobody has set follow when what is changed makes their default
 * another one.  Texts are copied, and live as long as the process.
 */
Ns_ReturnCode NsSettingAccessStruct(const NsSettingAccess *accessPtr,
                                    void                  *structPtr);

/*
 * Whether a change of that key was made.
 */
bool NsSettingHasChanged(const NsSettingAccess *accessPtr, const char *key);

/*
 * For what scripts and modules read whenever they need it.
 */
NsSettingProc NsSettingReadAtUse;

/*
 * Rooms list the sections whose rows name procedures: the name, and the pattern
 * of its rows.  Main thread, before others are started.
 */
typedef void NsSettingSectionProc(const char *section, const char *pattern,
                                  void *arg);
typedef void NsSettingListProc(NsSettingSectionProc *proc, void *arg);

void NsSettingInit(void);
void NsSettingAddSections(NsSettingListProc *proc);

/*
 * The row of a setting; NULL: there is no such setting, and text says so.
 */
const NsParameter *NsSettingFind(const char *section, const char *key,
                                 Ns_DString *textPtr);

/*
 * Append the value in force, or take over another one.  NS_ERROR: the reason is
 * appended, and nothing has changed.
 */
typedef enum { NS_SETTING_SCRIPT, NS_SETTING_CTL } NsSettingOrigin;

Ns_ReturnCode NsSettingGet(const char *section, const char *key,
                           Ns_DString *valuePtr);
Ns_ReturnCode NsSettingSet(const char *section, const char *key,
                           const char *text, NsSettingOrigin origin,
                           Ns_DString *problemPtr);

/*
 * Visit all settings.
 */
typedef struct NsSettingFacts {
    const char        *section;
    const NsParameter *rowPtr;
    const char        *value;
    const char        *defaultText;
    const char        *range;    /* "": none. */
    const char        *origin;   /* "default", FILE:LINE, "script", "ctl". */
    bool               isByHand; /* One of the latter two. */
} NsSettingFacts;

typedef void NsSettingVisitProc(const NsSettingFacts *factsPtr, void *arg);
void         NsSettingVisit(NsSettingVisitProc *proc, void *arg);

/*
 * A copy that lives as long as the process; NULL of NULL.  The same for equal
 * texts.
 */
const char *NsSettingKeepText(const char *text);

/*
 * It has the value of the configuration again.
 */
void NsSettingForget(const char *section, const char *key);

#endif
