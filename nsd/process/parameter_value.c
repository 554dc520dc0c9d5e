/*
 * parameter_value.c --
 *
 *      Values of parameters.
 */

#include "process/parameter_value.h"

#include "base/assert.h"
#include "nsparam.h"
#include "process/parameter_judge.h"
#include "process/units.h"

static const NsParameter *Row(NsParameters from, const char *key,
                              NsParameterType type);


bool
NsParameterBool(NsParameters from, const char *key)
{
    bool value = false, isValid;

    isValid = NsUnitsBool(Row(from, key, NS_PARAM_BOOL)->defaultText, &value);
    NsAssert(isValid);
    return NsParameterBoolOr(from, key, value);
}

bool
NsParameterBoolOr(NsParameters from, const char *key, bool value)
{
    (void) Row(from, key, NS_PARAM_BOOL);
    return Ns_ConfigBool(from.section, key, value) != NS_FALSE;
}

int
NsParameterInt(NsParameters from, const char *key)
{
    Tcl_WideInt value = 0;
    bool        isValid;

    isValid = NsUnitsInteger(Row(from, key, NS_PARAM_INT)->defaultText,
                             &value);
    NsAssert(isValid);
    return NsParameterIntOr(from, key, (int) value);
}

int
NsParameterIntOr(NsParameters from, const char *key, int value)
{
    const NsParameter *rowPtr = Row(from, key, NS_PARAM_INT);

    return Ns_ConfigIntRange(from.section, key, value, (int) rowPtr->min,
                             (int) NsParameterMax(rowPtr));
}

int64_t
NsParameterSize(NsParameters from, const char *key)
{
    const NsParameter *rowPtr = Row(from, key, NS_PARAM_SIZE);
    Tcl_WideInt        value = 0;
    bool               isValid;

    isValid = NsUnitsSize(rowPtr->defaultText, &value);
    NsAssert(isValid);
    return Ns_ConfigMemUnitRange(from.section, key, rowPtr->defaultText, value,
                                 rowPtr->min, NsParameterMax(rowPtr));
}

int64_t
NsParameterSizeOr(NsParameters from, const char *key, int64_t value)
{
    const NsParameter *rowPtr = Row(from, key, NS_PARAM_SIZE);

    return Ns_ConfigMemUnitRange(from.section, key, NULL, value, rowPtr->min,
                                 NsParameterMax(rowPtr));
}

NsStamp
NsParameterSpan(NsParameters from, const char *key)
{
    const NsParameter *rowPtr = Row(from, key, NS_PARAM_TIME);
    Ns_Time            time;

    Ns_ConfigTimeUnitRange(from.section, key, rowPtr->defaultText,
                           (long) (rowPtr->min / 1000),
                           (long) (rowPtr->min % 1000 * 1000),
                           (long) (NsParameterMax(rowPtr) / 1000),
                           (long) (NsParameterMax(rowPtr) % 1000 * 1000),
                           &time);
    return NsClockFromTime(&time);
}

static const NsParameter *
Row(NsParameters from, const char *key, NsParameterType type)
{
    const NsParameterSection *sectionPtr = NsParameterSectionFind(from.pattern);
    const NsParameter        *rowPtr;

    NsAssert(sectionPtr != NULL);
    rowPtr = NsParameterFind(sectionPtr, key);
    NsAssert(rowPtr != NULL && rowPtr->type == type);
    return rowPtr;
}
