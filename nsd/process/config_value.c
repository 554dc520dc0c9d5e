/* SPDX-License-Identifier: MPL-2.0
 * config_value.c --
 *
 *      Typed values of the configuration.
 */

#include "process/config.h"

#include "nsfile.h"
#include "nslog.h"
#include "nsset.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/units.h"

static void Unreadable(const char *section, const char *key, const char *value,
                       const char *what);
static void NoteFraction(const char *section, const char *key,
                         const char *value, Tcl_WideInt number);
static Tcl_WideInt Clamp(const char *section, const char *key,
                         Tcl_WideInt value, Tcl_WideInt min, Tcl_WideInt max);

char *
Ns_ConfigGetValue(const char *section, const char *key)
{
    return (char *) NsConfigLookup(section, key, false, NULL);
}

char *
Ns_ConfigGetValueExact(const char *section, const char *key)
{
    return (char *) NsConfigLookup(section, key, true, NULL);
}

const char *
Ns_ConfigString(const char *section, const char *key, const char *defaultValue)
{
    const char *value = NsConfigLookup(section, key, false, defaultValue);

    return value == NULL ? defaultValue : value;
}

int
Ns_ConfigBool(const char *section, const char *key, int defaultValue)
{
    const char *value = NsConfigLookup(section, key, false,
                                       defaultValue ? "true" : "false");
    bool        isTrue;

    if (value == NULL || !NsUnitsBool(value, &isTrue)) {
        if (value != NULL) {
            Unreadable(section, key, value, "boolean");
        }
        return defaultValue ? NS_TRUE : NS_FALSE;
    }
    return isTrue ? NS_TRUE : NS_FALSE;
}

int
Ns_ConfigFlag(const char *section, const char *key, int flag, int defaultValue,
              int *flagsPtr)
{
    const char *value = NsConfigLookup(section, key, false,
                                       defaultValue ? "true" : "false");
    bool        isTrue = (defaultValue != 0);
    bool        isFound = value != NULL && NsUnitsBool(value, &isTrue);

    if (isTrue) {
        *flagsPtr |= flag;
    }
    return isFound ? NS_TRUE : NS_FALSE;
}

int
Ns_ConfigInt(const char *section, const char *key, int defaultValue)
{
    return Ns_ConfigIntRange(section, key, defaultValue, INT_MIN, INT_MAX);
}

int
Ns_ConfigIntRange(const char *section, const char *key, int defaultValue,
                  int min, int max)
{
    return (int) Ns_ConfigWideIntRange(section, key, defaultValue, min, max);
}

Tcl_WideInt
Ns_ConfigWideInt(const char *section, const char *key, Tcl_WideInt defaultValue)
{
    return Ns_ConfigWideIntRange(section, key, defaultValue, INT64_MIN,
                                 INT64_MAX);
}

Tcl_WideInt
Ns_ConfigWideIntRange(const char *section, const char *key,
                      Tcl_WideInt defaultValue, Tcl_WideInt min,
                      Tcl_WideInt max)
{
    char        text[32];
    const char *value;
    Tcl_WideInt number = defaultValue;

    snprintf(text, sizeof(text), "%" PRId64, (int64_t) defaultValue);
    value = NsConfigLookup(section, key, false, text);
    if (value != NULL && !NsUnitsInteger(value, &number)) {
        Unreadable(section, key, value, "number");
    } else if (value != NULL) {
        NoteFraction(section, key, value, number);
    }
    return Clamp(section, key, number, min, max);
}

Tcl_WideInt
Ns_ConfigMemUnitRange(const char *section, const char *key,
                      const char *defaultString, Tcl_WideInt defaultValue,
                      Tcl_WideInt min, Tcl_WideInt max)
{
    char        text[32];
    const char *value;
    Tcl_WideInt number = defaultValue;

    if (defaultString == NULL) {
        snprintf(text, sizeof(text), "%" PRId64, (int64_t) defaultValue);
        defaultString = text;
    } else {
        (void) NsUnitsSize(defaultString, &number);
    }
    value = NsConfigLookup(section, key, false, defaultString);
    if (value != NULL && !NsUnitsSize(value, &number)) {
        Unreadable(section, key, value, "size");
    }
    return Clamp(section, key, number, min, max);
}

void
Ns_ConfigTimeUnitRange(const char *section, const char *key,
                       const char *defaultString, long minSec, long minUsec,
                       long maxSec, long maxUsec, Ns_Time *timePtr)
{
    const char *value = NsConfigLookup(section, key, false, defaultString);
    Ns_Time     min = {minSec, minUsec}, max = {maxSec, maxUsec};
    Ns_Time    *limitPtr = NULL;

    if (value == NULL || !NsUnitsTime(value, timePtr)) {
        if (value != NULL) {
            Unreadable(section, key, value, "time");
        }
        if (!NsUnitsTime(defaultString, timePtr)) {
            *timePtr = min;
        }
    }
    if (Ns_DiffTime(timePtr, &min, NULL) < 0) {
        limitPtr = &min;
    } else if (Ns_DiffTime(timePtr, &max, NULL) > 0) {
        limitPtr = &max;
    }
    if (limitPtr != NULL) {
        Ns_Log(Warning, "config: %s:%s value=%s, rounded %s to %ld.%06ld",
               section, key, value == NULL ? defaultString : value,
               limitPtr == &min ? "up" : "down", limitPtr->sec, limitPtr->usec);
        *timePtr = *limitPtr;
    }
}

int
Ns_ConfigGetInt(const char *section, const char *key, int *valuePtr)
{
    int64_t wide;
    int     isFound = Ns_ConfigGetInt64(section, key, &wide);

    if (wide < INT_MIN || wide > INT_MAX) {
        wide = 0;
        isFound = NS_FALSE;
    }
    *valuePtr = (int) wide;
    return isFound;
}

int
Ns_ConfigGetInt64(const char *section, const char *key, int64_t *valuePtr)
{
    const char *value = NsConfigLookup(section, key, false, NULL);
    Tcl_WideInt wide = 0;
    bool        isFound = value != NULL && NsUnitsInteger(value, &wide);

    *valuePtr = wide;
    return isFound ? NS_TRUE : NS_FALSE;
}

int
Ns_ConfigGetBool(const char *section, const char *key, int *valuePtr)
{
    const char *value = NsConfigLookup(section, key, false, NULL);
    bool        isTrue;

    if (value == NULL || !NsUnitsBool(value, &isTrue)) {
        return NS_FALSE;
    }
    *valuePtr = isTrue ? NS_TRUE : NS_FALSE;
    return NS_TRUE;
}

int
Ns_ConfigGetEnum(const char *section, const char *key,
                 const Ns_ObjvTable *tablePtr, int defaultValue)
{
    const char *defaultKey = NULL, *value;

    for (const Ns_ObjvTable *rowPtr = tablePtr; rowPtr->key != NULL; rowPtr++) {
        if (rowPtr->value == defaultValue) {
            defaultKey = rowPtr->key;
            break;
        }
    }
    value = NsConfigLookup(section, key, false, defaultKey);
    if (value == NULL) {
        return defaultValue;
    }
    for (; tablePtr->key != NULL; tablePtr++) {
        if (STRIEQ(tablePtr->key, value)) {
            return tablePtr->value;
        }
    }
    Unreadable(section, key, value, "known keyword");
    return defaultValue;
}

Ns_Set *
Ns_ConfigSet(const char *section, const char *key, const char *name)
{
    const char  *value = Ns_ConfigGetValue(section, key);
    Ns_Set      *setPtr = NULL;
    const char **words;
    int          nWords;

    if (value == NULL) {
        return NULL;
    }
    if (Tcl_SplitList(NULL, value, &nWords, &words) == TCL_OK) {
        if (nWords % 2 == 0) {
            setPtr = Ns_SetCreateSz(name, (size_t) nWords / 2);
            for (int i = 0; i < nWords; i += 2) {
                (void) Ns_SetPut(setPtr, words[i], words[i + 1]);
            }
        }
        Tcl_Free((char *) words);
    }
    if (setPtr == NULL) {
        Ns_Log(Error,
               "config: %s:%s value=%s is not a list of keys and values; it is "
               "ignored",
               section, key, value);
    }
    return setPtr;
}

const char *
Ns_ConfigFilename(const char *section, const char *key, TCL_SIZE_T keyLength,
                  const char *directory, const char *defaultValue,
                  bool isNormalized, bool isUpdated)
{
    Ns_DString  name, path, normal;
    const char *value;

    Ns_DStringInit(&name);
    Ns_DStringInit(&path);
    Ns_DStringInit(&normal);
    Ns_DStringNAppend(&name, key, keyLength);
    value = Ns_ConfigString(section, Ns_DStringValue(&name), defaultValue);
    if (value != NULL) {
        if (Ns_PathIsAbsolute(value)) {
            Ns_DStringAppend(&path, value);
        } else {
            Ns_DStringAppend(&path, directory);
            (void) Ns_MakePath(&path, value, (char *) NULL);
        }
        value = isNormalized ? Ns_NormalizePath(&normal, Ns_DStringValue(&path))
                             : Ns_DStringValue(&path);
        if (isUpdated) {
            (void) NsConfigSet(section, Ns_DStringValue(&name), value);
        }
        value = ns_strdup(value);
    }
    Ns_DStringFree(&normal);
    Ns_DStringFree(&path);
    Ns_DStringFree(&name);
    return value;
}

static void
Unreadable(const char *section, const char *key, const char *value,
           const char *what)
{
    Ns_Log(Warning, "config: %s:%s value=%s is not a %s; the default is used",
           section, key, value, what);
}

/*
 * A time where whole seconds are asked for.
 */
static void
NoteFraction(const char *section, const char *key, const char *value,
             Tcl_WideInt number)
{
    Ns_Time time;

    if (NsUnitsTime(value, &time) && time.usec != 0) {
        Ns_Log(Warning, "config: %s:%s value=%s, rounded up to %" PRId64,
               section, key, value, (int64_t) number);
    }
}

static Tcl_WideInt
Clamp(const char *section, const char *key, Tcl_WideInt value, Tcl_WideInt min,
      Tcl_WideInt max)
{
    if (value < min) {
        Ns_Log(Warning,
               "config: %s:%s value=%" PRId64 ", rounded up to %" PRId64,
               section, key, (int64_t) value, (int64_t) min);
        return min;
    }
    if (value > max) {
        Ns_Log(Warning,
               "config: %s:%s value=%" PRId64 ", rounded down to %" PRId64,
               section, key, (int64_t) value, (int64_t) max);
        return max;
    }
    return value;
}
