/* SPDX-License-Identifier: MPL-2.0
 * nsparam.h --
 *
 *      Reading the configuration.
 *
 *      A section's name ignores case, counts `\` as `/`, and may have blanks
 *      around it.  Keys ignore case; of several equal ones the first counts.
 *      A key that is absent from an existing section is entered there with the
 *      default it was read with, so that listings show what is in force.
 *
 *      Numbers may carry a unit: kB, MB, GB or, the same, KiB, MiB, GiB (powers
 *      of 1024); us, ms, s, m, h, d, w, y.  A number out of range is clamped, a
 *      value that cannot be read is replaced by the default, both with a
 *      Warning.
 *
 *      Every string here lives as long as the process.  All threads.
 */

#ifndef NSPARAM_H
#define NSPARAM_H

#include "nstypes.h"

/*
 * The name of section `ns[/server/SERVER][/module/MODULE][/MORE...]`, NULL if
 * the configuration has no such section.  server and module may be NULL; the
 * other parts end with NULL.
 */
NS_EXTERN char *Ns_ConfigGetPath(const char *server, const char *module, ...);

/*
 * The value, or NULL if there is none.  Exact matches the case of the key.
 */
NS_EXTERN char *Ns_ConfigGetValue(const char *section, const char *key);
NS_EXTERN char *Ns_ConfigGetValueExact(const char *section, const char *key);

/*
 * The value, or the default (which may be NULL).
 */
NS_EXTERN const char *Ns_ConfigString(const char *section, const char *key,
                                      const char *defaultValue);

/*
 * NS_TRUE or NS_FALSE.
 */
NS_EXTERN int Ns_ConfigBool(const char *section, const char *key,
                            int defaultValue);

/*
 * Add flag to *flagsPtr if the boolean (or its default) is true.  The result
 * says whether a valid value was found.
 */
NS_EXTERN int Ns_ConfigFlag(const char *section, const char *key, int flag,
                            int defaultValue, int *flagsPtr);

/*
 * Integers.  A time is in seconds; where it is rounded up, a Warning says so.
 */
NS_EXTERN int         Ns_ConfigInt(const char *section, const char *key,
                                   int defaultValue);
NS_EXTERN int         Ns_ConfigIntRange(const char *section, const char *key,
                                        int defaultValue, int min, int max);
NS_EXTERN Tcl_WideInt Ns_ConfigWideInt(const char *section, const char *key,
                                       Tcl_WideInt defaultValue);
NS_EXTERN Tcl_WideInt Ns_ConfigWideIntRange(const char *section,
                                            const char *key,
                                            Tcl_WideInt defaultValue,
                                            Tcl_WideInt min, Tcl_WideInt max);

/*
 * A size in bytes.  The default is written as people read it ("10MB"); when
 * that is NULL, defaultValue counts.
 */
NS_EXTERN Tcl_WideInt
Ns_ConfigMemUnitRange(const char *section, const char *key,
                      const char *defaultString, Tcl_WideInt defaultValue,
                      Tcl_WideInt min, Tcl_WideInt max);

/*
 * A duration to the microsecond; without a unit, in seconds.  The default is
 * written as people read it ("0.1s").
 */
NS_EXTERN void Ns_ConfigTimeUnitRange(const char *section, const char *key,
                                      const char *defaultString, long minSec,
                                      long minUsec, long maxSec, long maxUsec,
                                      Ns_Time *timePtr);

/*
 * NS_TRUE and the value, if it is there and valid.  Otherwise NS_FALSE; Int
 * and Int64 then set the value to 0, Bool leaves it.
 */
NS_EXTERN int Ns_ConfigGetInt(const char *section, const char *key,
                              int *valuePtr);
NS_EXTERN int Ns_ConfigGetInt64(const char *section, const char *key,
                                int64_t *valuePtr);
NS_EXTERN int Ns_ConfigGetBool(const char *section, const char *key,
                               int *valuePtr);

/*
 * The section, or NULL.  The set belongs to the configuration and must not be
 * changed once the server has started.  Defaults recorded after that are not
 * in it.
 */
NS_EXTERN Ns_Set *Ns_ConfigGetSection(const char *section);

/*
 * Likewise, but create the section if it is missing; after the start, NULL
 * instead.
 */
NS_EXTERN Ns_Set *Ns_ConfigCreateSection(const char *section);

/*
 * All sections in the order of the file, ending with NULL.  The caller frees
 * the array with ns_free.
 */
NS_EXTERN Ns_Set **Ns_ConfigGetSections(void);

/*
 * The section, or NULL; isRead says whether that counts as a use of the
 * section, which is otherwise reported as unused.
 */
NS_EXTERN Ns_Set *Ns_ConfigGetSection2(const char *section, bool isRead);

/*
 * As Ns_ConfigGetPath, but the section is created where it is missing (after
 * the start: NULL).  *setPtrPtr (may be NULL): the section.
 */
NS_EXTERN const char *Ns_ConfigSectionPath(Ns_Set    **setPtrPtr,
                                           const char *server,
                                           const char *module, ...);

/*
 * Whether the configuration file has the parameter.
 */
NS_EXTERN bool Ns_ConfigParameterProvided(const char *section, const char *key);

/*
 * The number of the keyword in the table; a value that is none of them, in any
 * case, is replaced by the default, with a Warning.
 */
NS_EXTERN int Ns_ConfigGetEnum(const char *section, const char *key,
                               const Ns_ObjvTable *tablePtr, int defaultValue);

/*
 * A parameter whose value is a list of keys and values, as a set with a name
 * (may be NULL); the caller's.  NULL: there is none, or, with an Error in the
 * log, it is not such a list.
 */
NS_EXTERN Ns_Set *Ns_ConfigSet(const char *section, const char *key,
                               const char *name);

/*
 * A file or directory: the value, or the default, below directory unless it is
 * absolute, without `.` and `..` if isNormalized.  With isUpdated the section
 * has the result from then on, until the start is over.  keyLength: bytes of
 * the key, negative for all.  The result lives as long as the process: for the
 * start.  NULL: neither value nor default.
 */
NS_EXTERN const char *Ns_ConfigFilename(const char *section, const char *key,
                                        TCL_SIZE_T  keyLength,
                                        const char *directory,
                                        const char *defaultValue,
                                        bool isNormalized, bool isUpdated);

#endif
