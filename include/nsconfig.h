/*
 * nsconfig.h --
 *
 *      Reading the configuration.
 */

#ifndef NSCONFIG_H
#define NSCONFIG_H

#include "nstypes.h"


/*
 * Name of section `ns[/server/S][/module/M][/more…]`, NULL if the file
 * has no such section; NULL-terminated.
 */
NS_EXTERN char *Ns_ConfigGetPath(const char *, const char *, ...);

/*
 * Value or NULL.
 */
NS_EXTERN char *Ns_ConfigGetValue(const char *, const char *);
NS_EXTERN char *Ns_ConfigGetValueExact(const char *, const char *);

/*
 * Value or default.
 */
NS_EXTERN const char *Ns_ConfigString(const char *, const char *, const char *);

/*
 * Boolean or default.
 */
NS_EXTERN int Ns_ConfigBool(const char *, const char *, int);

/*
 * OR `flag` into `*flagsPtr` if the boolean (or default) is true; result:
 * value found.
 */
NS_EXTERN int Ns_ConfigFlag(const char *, const char *, int, int, int *);

/*
 * Integer or default.
 */
NS_EXTERN int Ns_ConfigInt(const char *, const char *, int);

/*
 * Same, with min and max.
 */
NS_EXTERN int Ns_ConfigIntRange(const char *, const char *, int, int, int);

/*
 * 64-bit integer or default (4.99.5 clamps to int range; new code: full
 * range).
 */
NS_EXTERN Tcl_WideInt Ns_ConfigWideInt(const char *, const char *, Tcl_WideInt);

/*
 * Same, with min and max.
 */
NS_EXTERN Tcl_WideInt Ns_ConfigWideIntRange(const char *, const char *, Tcl_WideInt, Tcl_WideInt, Tcl_WideInt);

/*
 * NS_TRUE and `*valuePtr` if present and valid; Int zeroes the value
 * otherwise.
 */
NS_EXTERN int Ns_ConfigGetInt(const char *, const char *, int *);
NS_EXTERN int Ns_ConfigGetInt64(const char *, const char *, int64_t *);
NS_EXTERN int Ns_ConfigGetBool(const char *, const char *, int *);

/*
 * Section as set or NULL.
 */
NS_EXTERN Ns_Set *Ns_ConfigGetSection(const char *);

/*
 * Same, creating it before start-up is complete.
 */
NS_EXTERN Ns_Set *Ns_ConfigCreateSection(const char *);

/*
 * NULL-terminated array of all sections; caller frees the array.
 */
NS_EXTERN Ns_Set **Ns_ConfigGetSections(void);

#endif
