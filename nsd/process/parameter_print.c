/* SPDX-License-Identifier: MPL-2.0
 * parameter_print.c --
 *
 *      The manual's page of parameters.
 */

#include "process/parameter_print.h"
#include "process/parameters.h"

#include "nsthread.h"
#include "process/parameter_judge.h"

static void PrintSection(const NsParameterSection *sectionPtr, FILE *file);
static void PrintRows(const NsParameterSection *sectionPtr, bool areIgnored,
                      FILE *file);
static void PrintRow(const NsParameterSection *sectionPtr,
                     const NsParameter *rowPtr, FILE *file);

void
NsParametersPrint(FILE *file)
{
    const NsParameterSection *sectionPtr;

    fputs("# Parameters\n\n"
          "All parameters of the configuration file, as `nsd --parameters` "
          "prints them.\n\n"
          "A size is in bytes or has a unit: `kB`, `MB`, `GB`, which are "
          "powers of 1024, or `KiB`, `MiB`,\n`GiB`, which are the same. A time "
          "is in seconds, which may have a fraction, or has a unit:\n`us`, "
          "`ms`, `s`, `m`, `h`, `d`, `w`, `y` (365 days). "
          "A boolean is `true` or `false`, `yes`\nor `no`, `on` "
          "or `off`, `1` or `0`.\n\n"
          "`nsd ctl reload` takes over a parameter that changes at a reload; "
          "the others keep\ntheir values until a restart.\n",
          file);
    for (int i = 0; (sectionPtr = NsParameterSectionAt(i)) != NULL; i++) {
        if (sectionPtr->basePattern == NULL) {
            PrintSection(sectionPtr, file);
        }
    }
}

/*
 * Sections that build on it follow it.
 */
static void
PrintSection(const NsParameterSection *sectionPtr, FILE *file)
{
    const NsParameterSection *nextPtr;

    fprintf(file, "\n## %s\n\n%s%s\n", sectionPtr->shown, sectionPtr->sentence,
            sectionPtr->takesAny && NsParameterSectionReload(sectionPtr) != NULL
                ? " Changes at a reload."
                : "");
    if (NsParameterAt(sectionPtr, 0) != NULL) {
        fputs("\n| Parameter | Default | Value | Changes at | Meaning |\n"
              "|---|---|---|---|---|\n",
              file);
        PrintRows(sectionPtr, false, file);
        PrintRows(sectionPtr, true, file);
    }
    for (int i = 0; (nextPtr = NsParameterSectionAt(i)) != NULL; i++) {
        if (nextPtr->basePattern != NULL && nextPtr->sentence != NULL
            && STREQ(nextPtr->basePattern, sectionPtr->pattern)) {
            PrintSection(nextPtr, file);
        }
    }
}

static void
PrintRows(const NsParameterSection *sectionPtr, bool areIgnored, FILE *file)
{
    const NsParameter *rowPtr;

    for (int i = 0; (rowPtr = NsParameterAt(sectionPtr, i)) != NULL; i++) {
        if ((rowPtr->type == NS_PARAM_IGNORED) == areIgnored) {
            PrintRow(sectionPtr, rowPtr, file);
        }
    }
}

static void
PrintRow(const NsParameterSection *sectionPtr, const NsParameter *rowPtr,
         FILE *file)
{
    NsParameterLimits limits = {
        .min = rowPtr->min, .max = NsParameterMax(rowPtr)};
    const char *type = rowPtr->type == NS_PARAM_CHOICE ? ""
        : rowPtr->type == NS_PARAM_NUMBERS
        ? "numbers"
        : NsParameterTypeName(rowPtr->type);
    char        range[128];

    NsParameterRange(rowPtr, &limits, range, sizeof(range));
    fprintf(file, "| `%s` | %s | %s%s%s | %s | %s |\n", rowPtr->key,
            rowPtr->defaultText, type,
            *type != '\0' && *range != '\0' ? ", " : "", range,
            rowPtr->type == NS_PARAM_IGNORED            ? ""
                : NsParameterIsLive(sectionPtr, rowPtr) ? "reload"
                                                        : "restart",
            rowPtr->sentence);
}
