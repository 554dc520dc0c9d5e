/* SPDX-License-Identifier: MPL-2.0
 * options.h --
 *
 *      The command line.  Parsing is a pure function.
 */

#ifndef NSD_PROCESS_OPTIONS_H
#define NSD_PROCESS_OPTIONS_H

#include "nstypes.h"

typedef enum {
    NS_MODE_BACKGROUND,
    NS_MODE_COMMAND,    /* -c */
    NS_MODE_FOREGROUND, /* -f */
    NS_MODE_INITTAB,    /* -i */
    NS_MODE_WATCHDOG,   /* -w */
    NS_MODE_VERSION,    /* -V: the others end at once. */
    NS_MODE_HELP,       /* -h, --help ?TOPIC? */
    NS_MODE_CHECK,      /* -T */
    NS_MODE_DUMP,       /* --dump */
    NS_MODE_PARAMETERS, /* --parameters */
    NS_MODE_LOGS,       /* --logs FILE ... */
    NS_MODE_CONTROL,    /* ctl ... */
    NS_MODE_NEW_SITE    /* --init DIRECTORY */
} NsMode;

/*
 * Strings point into argv.
 */
typedef struct NsOptions {
    NsMode      mode;
    bool        isDebugged;       /* -d: SIGINT has its default action. */
    bool        isDevelopment;    /* --development */
    bool        isHasty;          /* --no-wait: for the server to run. */
    bool        isQuiet;          /* --quiet, of -c: the log is in its file. */
    bool        isStrict;         /* --strict, of -T: warnings are errors. */
    bool        mustBind;         /* --bind, of -T: ports have to be free. */
    bool        isFromNaviserver; /* --from-naviserver, of -T. */
    const char *user;
    const char *group;
    const char *root;
    const char *bind;     /* -b */
    const char *bindFile; /* -B */
    const char *server;
    const char *configFile;
    const char *socket; /* --socket, of ctl */
    bool        isJson; /* --json, of ctl */
    const char *topic;  /* Of --help; NULL: the usage. */
    const char *site;   /* --init */
    int         optind; /* First word that is not an option. */
} NsOptions;

/*
 * False: *errorPtr says what is wrong, in storage that lasts until the next
 * call.
 */
bool NsOptionsParse(int argc, char *const *argv, NsOptions *optionsPtr,
                    const char **errorPtr);

/*
 * The usage text.
 */
void NsOptionsUsage(FILE *file, const char *program);

#endif
