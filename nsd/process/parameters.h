/*
 * parameters.h --
 *
 *      The table of all parameters that exist: the one source for checking a
 *      configuration and for its documentation.
 */

#ifndef NSD_PROCESS_PARAMETERS_H
#define NSD_PROCESS_PARAMETERS_H

#include "nstypes.h"

typedef enum {
    NS_PARAM_STRING,
    NS_PARAM_BOOL,
    NS_PARAM_INT,
    NS_PARAM_NUMBERS,           /* One number or a list of them. */
    NS_PARAM_SIZE,              /* Bytes, or with a unit: 10MB. */
    NS_PARAM_TIME,              /* Seconds, or with a unit: 500ms. */
    NS_PARAM_PATH,
    NS_PARAM_LIST,              /* A Tcl list. */
    NS_PARAM_CHOICE,            /* One of the words in `choices`. */
    NS_PARAM_IGNORED            /* Of an earlier release; has no effect. */
} NsParameterType;

#define NS_PARAM_NO_LIMIT INT64_MAX

/*
 * In sections, `*` stands for one part of the name.  Drivers and logs stand
 * under the file that they are loaded from ("module/nssock"), whatever the
 * module is called and whether it is of one server or of all.
 */
typedef struct NsParameter {
    const char     *key;        /* "*": any key. */
    NsParameterType type;
    int64_t         min;        /* Of numbers; times in milliseconds. */
    int64_t         max;        /* See NsParameterMax. */
    const char     *defaultText;    /* "" : none. */
    const char     *choices;    /* Separated by blanks, any case. */
    const char     *sentence;
} NsParameter;

typedef struct NsParameterSection {
    const char        *pattern;
    const char        *shown;   /* As documentation names the section. */
    const char        *sentence;
    const NsParameter *parameters;  /* Ends with a NULL key. */
} NsParameterSection;

/*
 * All sections; ends with a NULL pattern.
 */
const NsParameterSection *NsParameterSections(void);

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
                                   const char *key);

/*
 * The largest value; without a limit of its own, what the type can hold.
 */
int64_t NsParameterMax(const NsParameter *parameterPtr);

/*
 * The known key that resembles one most; NULL if none does.
 */
const char *NsParameterNearest(const NsParameterSection *sectionPtr,
                               const char *key);
const char *NsParameterNearestSection(const char *canonical);

/*
 * What is wrong with a value, written into buffer; false: nothing.
 */
bool NsParameterIsBad(const NsParameter *parameterPtr, const char *value,
                      char *buffer, size_t bytes);

/*
 * The whole table as Markdown.
 */
void NsParametersPrint(FILE *file);

#endif
