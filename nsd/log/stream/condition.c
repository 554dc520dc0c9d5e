/* SPDX-License-Identifier: MPL-2.0
 * condition.c --
 *
 *      Which records a sink takes.
 *
 *      A number or text that a record lacks is unequal to all others: `!=`,
 *      `!~` and `!in` hold then, and nothing else.
 */

#include "log/stream/condition.h"

#include <math.h>

#include "base/assert.h"
#include "base/ipaddress.h"
#include "nslog.h"
#include "nsstring.h"
#include "nsthread.h"

#define MAX_ADDRESS 64

typedef enum {
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    MATCHES,
    MATCHES_NOT,
    IN,
    IN_NOT
} Operator;

static const struct {
    const char *name;
    bool        isOfText; /* It can be used with texts, */
    bool        isOfNumber;
    bool        isNegative; /* and holds if the value lacks. */
} operators[] = {
    [EQUAL] = {"=", true, true, false},
    [UNEQUAL] = {"!=", true, true, true},
    [LESS] = {"<", false, true, false},
    [LESS_EQUAL] = {"<=", false, true, false},
    [GREATER] = {">", false, true, false},
    [GREATER_EQUAL] = {">=", false, true, false},
    [MATCHES] = {"~", true, false, false},
    [MATCHES_NOT] = {"!~", true, false, true},
    [IN] = {"in", true, true, false},
    [IN_NOT] = {"!in", true, true, true}};

/*
 * What a value is compared with.
 */
typedef struct Operand {
    char     *text;
    int64_t   number; /* As the variable has it: seconds are microseconds. */
    bool      isRange;
    NsIpRange range;
} Operand;

typedef struct Condition {
    const NsVariable *variablePtr;
    char             *name; /* Of a pair; else NULL. */
    Operator          op;
    int               n; /* With `in`, any number of them. */
    Operand          *operands;
} Condition;

struct NsConditions {
    int        n;
    Condition *conditions;
};

static bool Parse(Condition *conditionPtr, const char *text,
                  Ns_DString *errorPtr);
static bool ParseVariable(Condition *conditionPtr, const char *word,
                          Ns_DString *errorPtr);
static bool ParseOperator(Condition *conditionPtr, const char *word,
                          Ns_DString *errorPtr);
static bool ParseOperands(Condition *conditionPtr, const char *word,
                          Ns_DString *errorPtr);
static bool IsMisspeltRange(const char *word, const Operand *operandPtr);
static bool ParseNumber(const NsVariable *variablePtr, const char *word,
                        int64_t *numberPtr);
static bool Holds(const Condition *conditionPtr, const NsFieldProcs *procsPtr,
                  const NsFields *fieldsPtr);
static bool NumberHolds(const Condition *conditionPtr, int64_t number);
static bool TextHolds(const Condition *conditionPtr, NsFieldText text);
static bool IsAmong(const Condition *conditionPtr, NsFieldText text);
static bool IsEqual(const Operand *operandPtr, NsFieldText text);

NsConditions *
NsConditionsCreate(const char *text, Ns_DString *errorPtr)
{
    NsConditions *conditionsPtr;
    const char  **words;
    int           n;
    bool          isOk = true;

    if (Tcl_SplitList(NULL, text, &n, &words) != TCL_OK) {
        Ns_DStringAppend(errorPtr, "not a list");
        return NULL;
    }
    conditionsPtr = ns_calloc(1u, sizeof(*conditionsPtr));
    conditionsPtr->conditions = ns_calloc((size_t) n + 1, sizeof(Condition));
    for (int i = 0; i < n && isOk; i++) {
        conditionsPtr->n++;
        isOk = Parse(&conditionsPtr->conditions[i], words[i], errorPtr);
    }
    Tcl_Free((char *) words);
    if (!isOk) {
        NsConditionsDestroy(&conditionsPtr);
    }
    return conditionsPtr;
}

void
NsConditionsDestroy(NsConditions **conditionsPtrPtr)
{
    NsConditions *conditionsPtr = *conditionsPtrPtr;

    *conditionsPtrPtr = NULL;
    if (conditionsPtr == NULL) {
        return;
    }
    for (int i = 0; i < conditionsPtr->n; i++) {
        Condition *conditionPtr = &conditionsPtr->conditions[i];

        for (int j = 0; j < conditionPtr->n; j++) {
            ns_free(conditionPtr->operands[j].text);
        }
        ns_free(conditionPtr->operands);
        ns_free(conditionPtr->name);
    }
    ns_free(conditionsPtr->conditions);
    ns_free(conditionsPtr);
}

static bool
Parse(Condition *conditionPtr, const char *text, Ns_DString *errorPtr)
{
    const char **words;
    int          n;
    bool         isOk = false;

    if (Tcl_SplitList(NULL, text, &n, &words) != TCL_OK) {
        Ns_DStringPrintf(errorPtr, "\"%s\" is not a list", text);
        return false;
    }
    if (n != 3) {
        Ns_DStringPrintf(errorPtr,
                         "\"%s\" is not a variable, an operator and a value",
                         text);
    } else {
        isOk = ParseVariable(conditionPtr, words[0], errorPtr)
            && ParseOperator(conditionPtr, words[1], errorPtr)
            && ParseOperands(conditionPtr, words[2], errorPtr);
    }
    Tcl_Free((char *) words);
    return isOk;
}

static bool
ParseVariable(Condition *conditionPtr, const char *word, Ns_DString *errorPtr)
{
    size_t length, n;

    word += *word == '$';
    length = strlen(word);
    n = strcspn(word, "(");
    conditionPtr->variablePtr = NsVariableFind(word, n);
    if (conditionPtr->variablePtr == NULL
        || (conditionPtr->variablePtr->kind == NS_VARIABLE_PAIR)
            != (n < length)) {
        Ns_DStringPrintf(errorPtr, "unknown variable \"%s\"", word);
        return false;
    }
    switch (conditionPtr->variablePtr->kind) {
    case NS_VARIABLE_PAIR:
        if (length < n + 3 || word[length - 1] != ')') {
            Ns_DStringPrintf(errorPtr, "unknown variable \"%s\"", word);
            return false;
        }
        conditionPtr->name = ns_strdup(word + n + 1);
        conditionPtr->name[length - n - 2] = '\0';
        return true;
    case NS_VARIABLE_TIME:
    case NS_VARIABLE_LOCAL:
    case NS_VARIABLE_EPOCH:
    case NS_VARIABLE_START:
    case NS_VARIABLE_EVENTS:
        Ns_DStringPrintf(errorPtr, "\"%s\" cannot be compared", word);
        return false;
    default:
        return true;
    }
}

static bool
ParseOperator(Condition *conditionPtr, const char *word, Ns_DString *errorPtr)
{
    bool isNumber = NsVariableIsNumber(conditionPtr->variablePtr);

    for (int i = 0; i < Ns_NrElements(operators); i++) {
        if (STREQ(word, operators[i].name)
            && (isNumber ? operators[i].isOfNumber : operators[i].isOfText)) {
            conditionPtr->op = (Operator) i;
            return true;
        }
    }
    Ns_DStringPrintf(errorPtr,
                     "unknown operator \"%s\": of \"%s\" should be %s", word,
                     conditionPtr->variablePtr->name,
                     isNumber ? "=, !=, <, <=, >, >=, in, or !in"
                              : "=, !=, ~, !~, in, or !in");
    return false;
}

static bool
ParseOperands(Condition *conditionPtr, const char *word, Ns_DString *errorPtr)
{
    bool isList = conditionPtr->op == IN || conditionPtr->op == IN_NOT;
    bool isNumber = NsVariableIsNumber(conditionPtr->variablePtr), isOk = true;
    const char **words = &word;
    int          n = 1;

    if (isList && Tcl_SplitList(NULL, word, &n, &words) != TCL_OK) {
        Ns_DStringPrintf(errorPtr, "\"%s\" is not a list", word);
        return false;
    }
    conditionPtr->operands = ns_calloc((size_t) n + 1, sizeof(Operand));
    for (int i = 0; i < n && isOk; i++) {
        Operand *operandPtr = &conditionPtr->operands[i];

        conditionPtr->n++;
        operandPtr->text = ns_strdup(words[i]);
        operandPtr->isRange = NsIpRangeParse(words[i], &operandPtr->range);
        if (isList && IsMisspeltRange(words[i], operandPtr)) {
            Ns_DStringPrintf(errorPtr, "\"%s\" is not a range of addresses",
                             words[i]);
            isOk = false;
        }
        if (isNumber
            && !ParseNumber(conditionPtr->variablePtr, words[i],
                            &operandPtr->number)) {
            Ns_DStringPrintf(errorPtr, "\"%s\" is not a %s", words[i],
                             conditionPtr->variablePtr->kind
                                     == NS_VARIABLE_SECONDS
                                 ? "time"
                                 : "number");
            isOk = false;
        }
    }
    if (isList) {
        Tcl_Free((char *) words);
    }
    return isOk;
}

/*
 * An address with a number of bits that it cannot have would be a text that no
 * record has.
 */
static bool
IsMisspeltRange(const char *word, const Operand *operandPtr)
{
    const char *slash = strrchr(word, '/');
    char        copy[MAX_ADDRESS];
    NsIpAddress address;
    size_t      length = slash == NULL ? 0 : (size_t) (slash - word);

    if (operandPtr->isRange || length == 0 || length >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, word, length);
    copy[length] = '\0';
    return NsIpParse(copy, &address);
}

/*
 * A time has a unit or is in seconds.
 */
static bool
ParseNumber(const NsVariable *variablePtr, const char *word, int64_t *numberPtr)
{
    static const struct {
        const char *name;
        double      micros;
    } units[] = {{"", 1e6},   {"s", 1e6},    {"ms", 1e3},  {"us", 1},
                 {"m", 60e6}, {"min", 60e6}, {"h", 3600e6}};
    char  *end;
    double number = strtod(word, &end);

    if (end == word || !isfinite(number) || fabs(number) > 1e15) {
        return false;
    }
    if (variablePtr->kind != NS_VARIABLE_SECONDS) {
        *numberPtr = (int64_t) number;
        return *end == '\0' && (double) *numberPtr == number;
    }
    for (int i = 0; i < Ns_NrElements(units); i++) {
        double micros = number * units[i].micros;

        if (STREQ(end, units[i].name) && fabs(micros) < 1e18) {
            *numberPtr = llround(micros);
            return true;
        }
    }
    return false;
}

bool
NsConditionsHold(const NsConditions *conditionsPtr,
                 const NsFieldProcs *procsPtr, const Ns_LogRecord *recordPtr)
{
    NsFields fields;

    if (!NsFieldsRead(procsPtr, recordPtr, &fields)) {
        return true;
    }
    NsAssert(conditionsPtr->conditions != NULL);
    for (int i = 0; i < conditionsPtr->n; i++) {
        if (!Holds(&conditionsPtr->conditions[i], procsPtr, &fields)) {
            return false;
        }
    }
    return true;
}

static bool
Holds(const Condition *conditionPtr, const NsFieldProcs *procsPtr,
      const NsFields *fieldsPtr)
{
    NsFieldText text;
    int64_t     number;

    if (NsVariableIsNumber(conditionPtr->variablePtr)) {
        return NsVariableNumber(conditionPtr->variablePtr, fieldsPtr, &number)
            ? NumberHolds(conditionPtr, number)
            : operators[conditionPtr->op].isNegative;
    }
    text = NsVariableText(conditionPtr->variablePtr, conditionPtr->name,
                          procsPtr, fieldsPtr);
    return text.bytes != NULL ? TextHolds(conditionPtr, text)
                              : operators[conditionPtr->op].isNegative;
}

static bool
NumberHolds(const Condition *conditionPtr, int64_t number)
{
    int64_t other = conditionPtr->n == 0 ? 0 : conditionPtr->operands[0].number;
    bool    isAmong = false;

    NsAssert(NsVariableIsNumber(conditionPtr->variablePtr));
    switch (conditionPtr->op) {
    case EQUAL:
        return number == other;
    case UNEQUAL:
        return number != other;
    case LESS:
        return number < other;
    case LESS_EQUAL:
        return number <= other;
    case GREATER:
        return number > other;
    case GREATER_EQUAL:
        return number >= other;
    default:
        NsAssert(conditionPtr->op == IN || conditionPtr->op == IN_NOT);
        for (int i = 0; i < conditionPtr->n; i++) {
            isAmong |= conditionPtr->operands[i].number == number;
        }
        return isAmong == (conditionPtr->op == IN);
    }
}

static bool
TextHolds(const Condition *conditionPtr, NsFieldText text)
{
    Ns_DString copy;
    bool       matches;

    NsAssert(text.bytes != NULL);
    switch (conditionPtr->op) {
    case MATCHES:
    case MATCHES_NOT:
        Ns_DStringInit(&copy);
        Ns_DStringNAppend(&copy, text.bytes, (int) MIN(text.length, INT_MAX));
        matches = Tcl_StringMatch(Ns_DStringValue(&copy),
                                  conditionPtr->operands[0].text);
        Ns_DStringFree(&copy);
        return matches == (conditionPtr->op == MATCHES);
    case EQUAL:
    case UNEQUAL:
        return IsEqual(&conditionPtr->operands[0], text)
            == (conditionPtr->op == EQUAL);
    default:
        return IsAmong(conditionPtr, text) == (conditionPtr->op == IN);
    }
}

/*
 * An address is in a range of addresses.
 */
static bool
IsAmong(const Condition *conditionPtr, NsFieldText text)
{
    char        copy[MAX_ADDRESS];
    NsIpAddress address;
    bool        isAddress = false;

    NsAssert(conditionPtr->op == IN || conditionPtr->op == IN_NOT);
    if (text.length < sizeof(copy)) {
        memcpy(copy, text.bytes, text.length);
        copy[text.length] = '\0';
        isAddress = NsIpParse(copy, &address);
    }
    for (int i = 0; i < conditionPtr->n; i++) {
        const Operand *operandPtr = &conditionPtr->operands[i];

        if (IsEqual(operandPtr, text)
            || (isAddress && operandPtr->isRange
                && NsIpRangeHas(&operandPtr->range, &address))) {
            return true;
        }
    }
    return false;
}

static bool
IsEqual(const Operand *operandPtr, NsFieldText text)
{
    return strlen(operandPtr->text) == text.length
        && memcmp(operandPtr->text, text.bytes, text.length) == 0;
}
