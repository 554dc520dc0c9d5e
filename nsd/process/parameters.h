/* SPDX-License-Identifier: MPL-2.0
 * parameters.h --
 *
 *      The parameters of the configuration: one row for each, from which come
 *      its check, its value, and its documentation.
 *
 *      A room keeps the rows of what it reads next to the struct that they
 *      fill, and registers them in its init procedure.
 */

#ifndef NSD_PROCESS_PARAMETERS_H
#define NSD_PROCESS_PARAMETERS_H

#include <stddef.h>

#include "nsset.h"
#include "nsstring.h"

typedef enum {
    NS_PARAM_STRING,
    NS_PARAM_BOOL,
    NS_PARAM_INT,
    NS_PARAM_NUMBERS, /* One number or a list of them. */
    NS_PARAM_SIZE,    /* Bytes, or with a unit: 10MB. */
    NS_PARAM_TIME,    /* Seconds, or with a unit: 500ms. */
    NS_PARAM_PATH,
    NS_PARAM_LIST,   /* A Tcl list. */
    NS_PARAM_FIELDS, /* One of names and values of header fields. */
    NS_PARAM_CHOICE, /* One of the words in `choices`. */
    NS_PARAM_IGNORED /* Of an earlier release; has no effect. */
} NsParameterType;

/*
 * The types of a member.
 */
typedef enum {
    NS_MEMBER_NONE, /* The row fills none. */
    NS_MEMBER_BOOL,
    NS_MEMBER_FLAG,  /* A bit of an int. */
    NS_MEMBER_INT,   /* An int, or an enum for a choice. */
    NS_MEMBER_INT64, /* NsStamp for times. */
    NS_MEMBER_SIZE,
    NS_MEMBER_TEXT
} NsParameterMember;

#define NS_PARAM_NO_LIMIT INT64_MAX

/*
 * The limits of a value in its context.  They begin as the row states them.
 */
typedef struct NsParameterLimits {
    int64_t     min; /* In the unit of the row. */
    int64_t     max;
    const char *minName; /* The parameter that sets the limit; NULL: the
                          * row does. */
    const char *maxName;
    const char *defaultText; /* NULL: none. */
    char        buffer[32];  /* For NsParameterDefault. */
} NsParameterLimits;

/*
 * Change the limits or the default by other values of the same struct, whose
 * rows come first.  In a check of the configuration, nothing else of the struct
 * is filled.
 */
typedef void NsParameterAdjustProc(const void        *valuesPtr,
                                   NsParameterLimits *limitsPtr);

/*
 * How a row changes while the server runs: see setting.h.
 */
struct NsSettingAccess;
typedef Ns_ReturnCode NsSettingProc(const char             *section,
                                    struct NsSettingAccess *accessPtr);

typedef struct NsParameter {
    const char            *key;
    NsParameterType        type;
    int64_t                min;         /* Of numbers; times in milliseconds. */
    int64_t                max;         /* See NsParameterMax. */
    const char            *defaultText; /* "" : none. */
    bool                   isDescribed; /* The default is described in words. */
    const char            *choices;     /* Separated by blanks, any case. */
    const char            *sentence;
    NsParameterMember      member;
    size_t                 offset;      /* Of that member. */
    int                    flag;        /* The bit, of NS_MEMBER_FLAG. */
    NsParameterAdjustProc *adjustProc;  /* Or NULL. */
    NsSettingProc         *settingProc; /* NULL: a change needs a restart. */
} NsParameter;

/*
 * Rows: the struct and its member (of the type that fits), key, default,
 * (limits or choices,) and the sentence, after which `.adjustProc = `,
 * `.settingProc = ` and `.isDescribed = true` may follow.  Limits of times are
 * in milliseconds.  A member that changes while others read it is _Atomic.
 *
 *   TEXT, PATH, LIST, FIELDS, NUMBERS
 *                               const char *; NULL: no value and no default.
 *                               Lives as long as the process
 *   BOOL                        bool
 *   FLAG                        int, of which it is the given bit
 *   INT                         int
 *   SIZE                        int64_t, size_t, or an int if max fits into it
 *   TIME                        NsStamp, a span
 *   CHOICE                      int or enum: the index of the word
 */
#define NS_PARAM_MEMBER(type, name) \
    .member = _Generic(((type *) NULL)->name, bool: NS_MEMBER_BOOL, \
                       int: NS_MEMBER_INT, unsigned: NS_MEMBER_INT, \
                       int64_t: NS_MEMBER_INT64, size_t: NS_MEMBER_SIZE, \
                       const char *: NS_MEMBER_TEXT), \
    .offset = offsetof(type, name)
#define NS_PARAM_ROW(struct_, name, key_, type_, default_, ...) \
    {                                                           \
        .key = key_, .type = type_, .defaultText = default_,    \
        NS_PARAM_MEMBER(struct_, name), .sentence = __VA_ARGS__ \
    }
#define NS_PARAM_RANGE(struct_, name, key_, type_, default_, min_, max_, ...) \
    {                                                                         \
        .key = key_, .type = type_, .defaultText = default_,                  \
        NS_PARAM_MEMBER(struct_, name), .min = min_, .max = max_,             \
        .sentence = __VA_ARGS__                                               \
    }

#define NS_TEXT(struct_, name, key, ...) \
    NS_PARAM_ROW(struct_, name, key, NS_PARAM_STRING, __VA_ARGS__)
#define NS_PATH(struct_, name, key, ...) \
    NS_PARAM_ROW(struct_, name, key, NS_PARAM_PATH, __VA_ARGS__)
#define NS_LIST(struct_, name, key, ...) \
    NS_PARAM_ROW(struct_, name, key, NS_PARAM_LIST, __VA_ARGS__)
#define NS_FIELDS(struct_, name, key, ...) \
    NS_PARAM_ROW(struct_, name, key, NS_PARAM_FIELDS, __VA_ARGS__)
#define NS_BOOL(struct_, name, key, ...) \
    NS_PARAM_ROW(struct_, name, key, NS_PARAM_BOOL, __VA_ARGS__)
#define NS_FLAG(struct_, name, flag_, key_, default_, sentence_)        \
    {                                                                   \
        .key = key_, .type = NS_PARAM_BOOL, .defaultText = default_,    \
        .member = NS_MEMBER_FLAG, .flag = flag_, .sentence = sentence_, \
        .offset = offsetof(struct_, name)                               \
            + _Generic(((struct_ *) NULL)->name, int : 0)               \
    }
#define NS_CHOICE(struct_, name, key, default_, words, ...)                  \
    NS_PARAM_ROW(struct_, name, key, NS_PARAM_CHOICE, default_, __VA_ARGS__, \
                 .choices = words)
#define NS_INT(struct_, name, key, ...) \
    NS_PARAM_RANGE(struct_, name, key, NS_PARAM_INT, __VA_ARGS__)
#define NS_NUMBERS(struct_, name, key, ...) \
    NS_PARAM_RANGE(struct_, name, key, NS_PARAM_NUMBERS, __VA_ARGS__)
#define NS_SIZE(struct_, name, key, ...) \
    NS_PARAM_RANGE(struct_, name, key, NS_PARAM_SIZE, __VA_ARGS__)
#define NS_TIME(struct_, name, key, ...) \
    NS_PARAM_RANGE(struct_, name, key, NS_PARAM_TIME, __VA_ARGS__)

/*
 * A row that fills no member: known to the check, read in a way of its own, or
 * not at all.
 */
#define NS_LISTED(key_, type_, default_, sentence_)          \
    {                                                        \
        .key = key_, .type = type_, .defaultText = default_, \
        .sentence = sentence_                                \
    }
#define NS_IGNORED(key_, sentence_) \
    NS_LISTED(key_, NS_PARAM_IGNORED, "", sentence_)
#define NS_PARAM_END \
    {                \
        .key = NULL  \
    }

/*
 * These rows, which end with NS_PARAM_END and fill a struct of the given size,
 * belong to the sections of a pattern.  Main thread, before others are started;
 * a second call does nothing.  Ns_Fatal if a row is wrong in itself: its
 * default is not within its limits, its name is there already, or its member
 * does not fit.
 */
void NsParametersRegister(const char *pattern, const NsParameter *rows,
                          size_t structBytes);

/*
 * The rows among which one stands, and the size of their struct; NULL: it is
 * registered nowhere.
 */
const NsParameter *NsParameterRowsOf(const NsParameter *rowPtr,
                                     size_t            *structBytesPtr);

/*
 * The key of the first row that is wrong in itself; NULL: there is none.
 */
const char *NsParametersProblem(const NsParameter *rows, size_t structBytes);

/*
 * Fill the members that the rows name with what holds in a section of the
 * configuration.  A value out of range is clamped, one that cannot be read
 * gives way to the default, both with a Warning.
 */
void NsParametersFill(const NsParameter *rows, const char *section,
                      void *structPtr);

/*
 * One value, which may be its row's default; "" if there is neither.  The name
 * of the section is that of its pattern, so it is not a module's.
 */
const char *NsParameterText(const char *section, const char *key);

/*
 * In sections, `*` matches one part of the name.  Drivers and logs are listed
 * under the file that they are loaded from ("module/nssock"), whatever the
 * module is called and whether it is of one server or of all.
 */
typedef struct NsParameterSection {
    const char *pattern;
    const char *shown; /* As documentation names the section. */
    const char *sentence;
    bool        takesAny;    /* Its keys are names. */
    const char *basePattern; /* It has the parameters of that one, too;
                              * or NULL. */
} NsParameterSection;

/*
 * By index; NULL: there are no more.  Those that are added, which live on, come
 * last.  Main thread, before others are started.
 */
const NsParameterSection *NsParameterSectionAt(int index);
void NsParameterSectionAdd(const NsParameterSection *sectionPtr);
void NsParametersSetSections(const NsParameterSection *sections, int n);

/*
 * The room that owns sections of a pattern changes them as a whole while the
 * server runs: the procedure is called when anything in one of them has
 * changed, after the new configuration is in force; with isTrial, before that,
 * to say what is wrong.  oldPtr is the section as it was, or NULL.  NS_ERROR:
 * the reason is appended.
 */
typedef Ns_ReturnCode NsSectionReloadProc(const char   *section,
                                          const Ns_Set *oldPtr, bool isTrial,
                                          Ns_DString *problemPtr);

void NsParameterSectionSetReload(const char          *pattern,
                                 NsSectionReloadProc *proc);

/*
 * That procedure; NULL: the section has none.
 */
NsSectionReloadProc *NsParameterSectionReload(const NsParameterSection
                                                  *sectionPtr);

/*
 * Whether a parameter of a section changes without a restart.
 */
bool NsParameterIsLive(const NsParameterSection *sectionPtr,
                       const NsParameter        *rowPtr);

/*
 * The i-th parameter of a section, that of its base left out; NULL: there are
 * no more.
 */
const NsParameter *NsParameterAt(const NsParameterSection *sectionPtr, int i);

/*
 * The description of a section by its canonical name; NULL if there is none.
 */
const NsParameterSection *NsParameterSectionFind(const char *canonical);

/*
 * Whether a name is of a pattern.
 */
bool NsParameterMatches(const char *pattern, const char *name);

/*
 * A parameter of a section; NULL if there is none.
 */
const NsParameter *NsParameterFind(const NsParameterSection *sectionPtr,
                                   const char               *key);

/*
 * The known key that resembles one most; NULL if none does.
 */
const char *NsParameterNearest(const NsParameterSection *sectionPtr,
                               const char               *key);
const char *NsParameterNearestSection(const char *canonical);

/*
 * Append the value that a text, or the default if it is NULL, has in a section:
 * in one form, however it was written.
 */
void NsParameterAppendCanonical(Ns_DString *dsPtr, const NsParameter *rowPtr,
                                const char *section, const char *text);

/*
 * Write into buffer what is wrong with a value; false: nothing. section is its
 * section in the configuration, for limits that other values set; NULL: none.
 */
bool NsParameterIsBad(const NsParameter *parameterPtr, const char *section,
                      const char *value, char *buffer, size_t bytes);
bool NsParameterIsBadWithin(const NsParameter       *parameterPtr,
                            const NsParameterLimits *limitsPtr,
                            const char *value, char *buffer, size_t bytes);

#endif
