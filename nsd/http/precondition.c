/* SPDX-License-Identifier: MPL-2.0
 * precondition.c --
 *
 *      Requests that hold only under conditions.
 */

#include "http/precondition.h"

#include "base/chars.h"
#include "http/date.h"

static bool        HasTag(const char *list, const char *etag, bool mayBeWeak);
static const char *TakeTag(const char *p, size_t *lengthPtr, bool *isWeakPtr);
static bool        IsDateBefore(const char *date, time_t modified);

/*
 * In the order of section 13.2.2.  A date that cannot be read is not a
 * condition, nor is one where the time of the last change is not known.
 */
int
NsJudgeConditions(const NsConditions *conditionsPtr,
                  const NsValidators *validatorsPtr, bool isGetOrHead)
{
    time_t modified = validatorsPtr->modified;

    if (conditionsPtr->ifMatch != NULL) {
        if (!HasTag(conditionsPtr->ifMatch, validatorsPtr->etag, false)) {
            return 412;
        }
    } else if (conditionsPtr->ifUnmodifiedSince != NULL && modified != 0
               && IsDateBefore(conditionsPtr->ifUnmodifiedSince, modified)) {
        return 412;
    }
    if (conditionsPtr->ifNoneMatch != NULL) {
        if (HasTag(conditionsPtr->ifNoneMatch, validatorsPtr->etag, true)) {
            return isGetOrHead ? 304 : 412;
        }
    } else if (conditionsPtr->ifModifiedSince != NULL && modified != 0
               && isGetOrHead) {
        time_t since;

        if (NsHttpDateParse(conditionsPtr->ifModifiedSince, &since)
            && modified <= since) {
            return 304;
        }
    }
    return 0;
}

bool
NsJudgeIfRange(const char *ifRange, const NsValidators *validatorsPtr)
{
    time_t since;

    if (ifRange == NULL) {
        return true;
    }
    if (validatorsPtr->etag != NULL && STREQ(ifRange, validatorsPtr->etag)) {
        return true;
    }
    return validatorsPtr->modified != 0 && NsHttpDateParse(ifRange, &since)
        && since == validatorsPtr->modified;
}

/*
 * Whether the list is `*`, or has the tag.  Text that is not a list of tags
 * ends it.
 */
static bool
HasTag(const char *list, const char *etag, bool mayBeWeak)
{
    const char *p = list + strspn(list, " \t");

    if (*p == '*' && p[1 + strspn(p + 1, " \t")] == '\0') {
        return true;
    }
    while (etag != NULL && *p != '\0') {
        size_t      length;
        bool        isWeak;
        const char *tag = TakeTag(p, &length, &isWeak);

        if (tag == NULL) {
            return false;
        }
        if (length == strlen(etag) && memcmp(tag, etag, length) == 0
            && (mayBeWeak || !isWeak)) {
            return true;
        }
        p = tag + length;
        p += strspn(p, ", \t");
    }
    return false;
}

/*
 * A tag with its quotes; NULL if there is none.
 */
static const char *
TakeTag(const char *p, size_t *lengthPtr, bool *isWeakPtr)
{
    const char *end;

    *isWeakPtr = strncmp(p, "W/", 2) == 0;
    p += *isWeakPtr ? 2 : 0;
    end = *p == '"' ? strchr(p + 1, '"') : NULL;
    if (end == NULL) {
        return NULL;
    }
    *lengthPtr = (size_t) (end + 1 - p);
    return p;
}

static bool
IsDateBefore(const char *date, time_t modified)
{
    time_t limit;

    return NsHttpDateParse(date, &limit) && limit < modified;
}
