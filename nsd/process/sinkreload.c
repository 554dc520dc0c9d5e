/* SPDX-License-Identifier: MPL-2.0
 * sinkreload.c --
 *
 *      Log sinks and a reload of the configuration.
 *
 *      A sink whose kind or target has changed is removed, after it has
 *      written what it has, and made anew.  The system log and access logs
 *      always stay.
 */

#include "process/sinkreload.h"

#include "log/sink/sink.h"
#include "nslog.h"
#include "nsparam.h"
#include "nsset.h"
#include "nsthread.h"
#include "process/config.h"
#include "process/parameters.h"
#include "process/sinkoptions.h"
#include "process/sinksection.h"

#define SINKS   "ns/logsinks"
#define SINK    "ns/logsink/"
#define FORMATS "ns/logformats"
#define FORMAT  "format"

static NsSectionReloadProc ReloadNames, ReloadOne, ReloadAccess, ReloadFormats;
static bool                Has(const Ns_Set *setPtr, const char *key);
static Ns_ReturnCode       Make(const char *name, bool isTrial,
                                Ns_DString *problemPtr);
static bool CanFollow(const NsSinkDraft *draftPtr, const Ns_Set *oldPtr,
                      const Ns_Set *setPtr);
static Ns_ReturnCode Configure(Ns_LogSink sink, const Ns_Set *oldPtr,
                               const char *section, Ns_DString *problemPtr);
static Ns_ReturnCode ChangeDraft(NsSinkDraft *draftPtr, Ns_LogSink sink,
                                 const Ns_Set *oldPtr, const char *section,
                                 Ns_DString *problemPtr);
static Ns_ReturnCode TakeFormat(Ns_LogSink sink, const Ns_Set *oldPtr,
                                Ns_DString *problemPtr);
static bool IsSame(const Ns_Set *oldPtr, const char *key, const char *value);

void
NsSinkReloadInit(void)
{
    NsParameterSectionSetReload(SINKS, ReloadNames);
    NsParameterSectionSetReload("ns/logsink/*", ReloadOne);
    NsParameterSectionSetReload("module/nslog", ReloadAccess);
    NsParameterSectionSetReload(FORMATS, ReloadFormats);
}

static Ns_ReturnCode
ReloadNames(const char *section, const Ns_Set *oldPtr, bool isTrial,
            Ns_DString *problemPtr)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);
    Ns_ReturnCode result = NS_OK;

    for (int i = 0; !isTrial && oldPtr != NULL && i < (int) Ns_SetSize(oldPtr);
         i++) {
        const char *name = Ns_SetKey(oldPtr, i);
        Ns_LogSink  sink = NsSinkFind(name);

        if (sink != NULL && !Has(setPtr, name)) {
            (void) NsSinkRemove(sink);
        }
    }
    for (int i = 0;
         setPtr != NULL && i < (int) Ns_SetSize(setPtr) && result == NS_OK;
         i++) {
        const char *name = Ns_SetKey(setPtr, i);

        if (!Has(oldPtr, name)) {
            result = Make(name, isTrial, problemPtr);
        }
    }
    return result;
}

/*
 * One that is not named in ns/logsinks is none; one that is new is made with
 * these values.
 */
static Ns_ReturnCode
ReloadOne(const char *section, const Ns_Set *oldPtr, bool isTrial,
          Ns_DString *problemPtr)
{
    const char   *name = section + strlen(SINK);
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);
    Ns_LogSink    sink = NsSinkFind(name);
    NsSinkDraft   draft;
    bool          canFollow;

    if (STREQ(name, "system") && sink != NULL && !isTrial) {
        return Configure(sink, oldPtr, section, problemPtr);
    }
    if (!Has(Ns_ConfigGetSection(SINKS), name)) {
        return NS_OK;
    }
    if (isTrial || sink == NULL) {
        return Make(name, isTrial, problemPtr);
    }
    NsSinkDraftInitFrom(&draft, sink);
    canFollow = CanFollow(&draft, oldPtr, setPtr);
    NsSinkDraftFree(&draft);
    if (!canFollow) {
        (void) NsSinkRemove(sink);
        return Make(name, false, problemPtr);
    }
    return Configure(sink, oldPtr, section, problemPtr);
}

static bool
Has(const Ns_Set *setPtr, const char *key)
{
    return setPtr != NULL && Ns_SetIFind((Ns_Set *) setPtr, key) >= 0;
}

/*
 * A target that cannot be opened now is waited for.
 */
static Ns_ReturnCode
Make(const char *name, bool isTrial, Ns_DString *problemPtr)
{
    NsSinkDraft   draft;
    Ns_DString    section;
    const Ns_Set *setPtr;
    Ns_ReturnCode result = NS_OK;

    Ns_DStringInit(&section);
    Ns_DStringVarAppend(&section, SINK, name, (char *) NULL);
    setPtr = Ns_ConfigGetSection(section.string);
    NsSinkDraftInit(&draft, NsConfigPeek(section.string, "type"));
    for (int i = 0;
         setPtr != NULL && i < (int) Ns_SetSize(setPtr) && result == NS_OK;
         i++) {
        result = NsSinkOptionSet(&draft, Ns_SetKey(setPtr, i),
                                 Ns_SetValue(setPtr, i), problemPtr);
    }
    draft.mayWait = true;
    if (result == NS_OK && !isTrial && NsSinkFind(name) == NULL) {
        result = NsSinkDraftCreate(&draft, name, problemPtr);
    }
    if (result == NS_OK) {
        Ns_DStringSetLength(problemPtr, 0);
    } else {
        Ns_DStringVarAppend(problemPtr, " (", section.string, ")",
                            (char *) NULL);
    }
    NsSinkDraftFree(&draft);
    Ns_DStringFree(&section);
    return result;
}

/*
 * Whether the sink that is there can take over the new values: its kind and its
 * target are the same, and no value goes back to its default.
 */
static bool
CanFollow(const NsSinkDraft *draftPtr, const Ns_Set *oldPtr,
          const Ns_Set *setPtr)
{
    bool canFollow = oldPtr != NULL && setPtr != NULL;

    for (int i = 0; canFollow && i < (int) Ns_SetSize(oldPtr); i++) {
        canFollow = Has(setPtr, Ns_SetKey(oldPtr, i));
    }
    for (int i = 0; canFollow && i < (int) Ns_SetSize(setPtr); i++) {
        const char *key = Ns_SetKey(setPtr, i);

        canFollow = !NsSinkOptionIsFixed(draftPtr, key)
            || IsSame(oldPtr, key, Ns_SetValue(setPtr, i));
    }
    return canFollow;
}

static bool
IsSame(const Ns_Set *oldPtr, const char *key, const char *value)
{
    int i = oldPtr == NULL ? -1 : Ns_SetIFind((Ns_Set *) oldPtr, key);

    return i >= 0 && STREQ(Ns_SetValue(oldPtr, i), value);
}

/*
 * What access logs have in common with other sinks; their module reads the
 * rest.
 */
static Ns_ReturnCode
ReloadAccess(const char *section, const Ns_Set *oldPtr, bool isTrial,
             Ns_DString *problemPtr)
{
    Ns_DString name;
    Ns_LogSink sink;

    Ns_DStringInit(&name);
    sink = NsSinkOfAccessSection(&name, section)
        ? NsSinkFind(name.string)
        : NULL;
    Ns_DStringFree(&name);
    /* The check of the file has judged the values. */
    return sink == NULL || isTrial
        ? NS_OK
        : Configure(sink, oldPtr, section, problemPtr);
}

/*
 * Sinks whose sections name a format that has changed.
 */
static Ns_ReturnCode
ReloadFormats(const char *section, const Ns_Set *oldPtr, bool isTrial,
              Ns_DString *problemPtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_LogSink    sink;

    NsSinkEnter();
    for (int i = 0; !isTrial && result == NS_OK && (sink = NsSinkAt(i)) != NULL;
         i++) {
        if (!NsSinkIsRemoved(sink)) {
            result = TakeFormat(sink, oldPtr, problemPtr);
        }
    }
    NsSinkLeave();
    return result;
}

/*
 * Not if a script has given it another one.
 */
static Ns_ReturnCode
TakeFormat(Ns_LogSink sink, const Ns_Set *oldPtr, Ns_DString *problemPtr)
{
    Ns_ReturnCode result = NS_OK;
    Ns_DString    section;
    const char   *name, *text;

    Ns_DStringInit(&section);
    NsSinkSectionOf(&section, NsSinkName(sink));
    name = NsConfigPeek(section.string, FORMAT);
    text = name == NULL ? NULL : NsConfigPeek(FORMATS, name);
    if (text != NULL && Has(oldPtr, name) && !IsSame(oldPtr, name, text)) {
        do {
            NsSinkDraft draft;

            NsSinkDraftInitFrom(&draft, sink);
            result = NS_OK;
            if (draft.settings.template != NULL
                && IsSame(oldPtr, name, draft.settings.template)) {
                result = NsSinkOptionSet(&draft, FORMAT, name, problemPtr);
                if (result == NS_OK) {
                    result = NsSinkDraftApply(&draft, sink, problemPtr);
                }
            }
            NsSinkDraftFree(&draft);
        } while (result != NS_OK && Ns_DStringLength(problemPtr) == 0);
    }
    Ns_DStringFree(&section);
    return result;
}

/*
 * Once more if a script has changed it meanwhile.
 */
static Ns_ReturnCode
Configure(Ns_LogSink sink, const Ns_Set *oldPtr, const char *section,
          Ns_DString *problemPtr)
{
    Ns_ReturnCode result;

    do {
        NsSinkDraft draft;

        NsSinkDraftInitFrom(&draft, sink);
        result = ChangeDraft(&draft, sink, oldPtr, section, problemPtr);
        if (result == NS_OK) {
            result = NsSinkDraftApply(&draft, sink, problemPtr);
        }
        NsSinkDraftFree(&draft);
    } while (result != NS_OK && Ns_DStringLength(problemPtr) == 0);
    return result;
}

/*
 * What has gone from the section, which may be gone as a whole, gets its
 * default.
 */
static Ns_ReturnCode
ChangeDraft(NsSinkDraft *draftPtr, Ns_LogSink sink, const Ns_Set *oldPtr,
            const char *section, Ns_DString *problemPtr)
{
    const Ns_Set *setPtr = Ns_ConfigGetSection(section);
    const char   *name = NsSinkName(sink);
    Ns_ReturnCode result = NS_OK;

    for (int i = 0; oldPtr != NULL && i < (int) Ns_SetSize(oldPtr); i++) {
        const char *key = Ns_SetKey(oldPtr, i);

        if (!Has(setPtr, key) && NsSinkHasParameter(name, oldPtr, key)) {
            NsSinkOptionReset(draftPtr, key);
        }
    }
    for (int i = 0;
         setPtr != NULL && i < (int) Ns_SetSize(setPtr) && result == NS_OK;
         i++) {
        const char *key = Ns_SetKey(setPtr, i), *value = Ns_SetValue(setPtr, i);

        if (NsSinkHasParameter(name, setPtr, key)
            && !IsSame(oldPtr, key, value)) {
            result = NsSinkOptionSet(draftPtr, key, value, problemPtr);
        }
    }
    return result;
}
