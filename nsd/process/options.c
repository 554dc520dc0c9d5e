/* SPDX-License-Identifier: MPL-2.0
 * options.c --
 *
 *      The command line.
 */

#include "process/options.h"

#include "base/assert.h"

typedef struct ValueOption {
    char        letter;
    size_t      offset;   /* Of a const char * in NsOptions. */
    const char *repeated; /* Error text; NULL: the last one counts. */
} ValueOption;

static const ValueOption valueOptions[] = {
    {'s', offsetof(NsOptions, server), "multiple -s <server> options"},
    {'t', offsetof(NsOptions, configFile), "multiple -t <file> options"},
    {'b', offsetof(NsOptions, bind), NULL},
    {'B', offsetof(NsOptions, bindFile), NULL},
    {'r', offsetof(NsOptions, root), NULL},
    {'u', offsetof(NsOptions, user), NULL},
    {'g', offsetof(NsOptions, group), NULL}};

static const struct {
    char   letter;
    NsMode mode;
} modeOptions[] = {{'c', NS_MODE_COMMAND},
                   {'f', NS_MODE_FOREGROUND},
                   {'i', NS_MODE_INITTAB},
                   {'w', NS_MODE_WATCHDOG},
                   {'V', NS_MODE_VERSION}};

/*
 * Each sets the mode, unless that is the one without options, and the bool of
 * its offset in NsOptions, if it has one.
 */
static const struct {
    const char *word;
    NsMode      mode;
    size_t      offset;
} longOptions[] = {
    {"--help", NS_MODE_HELP, 0},
    {"--version", NS_MODE_VERSION, 0},
    {"--parameters", NS_MODE_PARAMETERS, 0},
    {"--logs", NS_MODE_LOGS, 0},
    {"--dump", NS_MODE_DUMP, 0},
    {"--no-wait", NS_MODE_BACKGROUND, offsetof(NsOptions, isHasty)},
    {"--quiet", NS_MODE_BACKGROUND, offsetof(NsOptions, isQuiet)},
    {"--strict", NS_MODE_CHECK, offsetof(NsOptions, isStrict)},
    {"--bind", NS_MODE_CHECK, offsetof(NsOptions, mustBind)},
    {"--from-naviserver", NS_MODE_CHECK, offsetof(NsOptions, isFromNaviserver)},
    {"--init", NS_MODE_NEW_SITE, 0},
    {"--development", NS_MODE_BACKGROUND, offsetof(NsOptions, isDevelopment)}};

#define MAX_WORD 60 /* Of a wrong option, as it is shown. */

static char errorText[200];

static bool ParseLong(int argc, char *const *argv, int *iPtr,
                      NsOptions *optionsPtr, const char **errorPtr);
static bool ParseControl(int argc, char *const *argv, NsOptions *optionsPtr,
                         const char **errorPtr);
static const ValueOption *FindValueOption(char letter);
static bool SetMode(char letter, NsOptions *optionsPtr, const char **errorPtr);
static bool SetLong(const char *word, NsOptions *optionsPtr);
static bool ReportInvalid(const char *word, const char **errorPtr);
static const char *NearestLong(const char *word);
static int         Distance(const char *left, const char *right);

bool
NsOptionsParse(int argc, char *const *argv, NsOptions *optionsPtr,
               const char **errorPtr)
{
    int i;

    memset(optionsPtr, 0, sizeof(*optionsPtr));
    if (argc > 1 && STREQ(argv[1], "ctl")) {
        return ParseControl(argc, argv, optionsPtr, errorPtr);
    }
    if (argc > 1 && argv[1][0] != '-') {
        /* Who types `nsd stop` does not want to start one. */
        snprintf(errorText, sizeof(errorText),
                 "unknown command: %.*s; to ask a running server, use 'ctl "
                 "%.*s'",
                 MAX_WORD, argv[1], MAX_WORD, argv[1]);
        *errorPtr = errorText;
        return false;
    }
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        const char        *word = argv[i];
        const ValueOption *valuePtr = FindValueOption(word[1]);

        if (word[1] == '-') {
            if (!ParseLong(argc, argv, &i, optionsPtr, errorPtr)) {
                return false;
            }
            if (optionsPtr->mode == NS_MODE_LOGS
                || optionsPtr->mode == NS_MODE_HELP) {
                /* What follows is theirs. */
                break;
            }
        } else if (word[1] != '\0' && word[2] != '\0') {
            return ReportInvalid(word, errorPtr);
        } else if (valuePtr != NULL) {
            const char **slotPtr = (const char **) ((char *) optionsPtr
                                                    + valuePtr->offset);

            if (valuePtr->repeated != NULL && *slotPtr != NULL) {
                *errorPtr = valuePtr->repeated;
                return false;
            }
            if (++i == argc) {
                snprintf(errorText, sizeof(errorText),
                         "no parameter for -%c option", word[1]);
                *errorPtr = errorText;
                return false;
            }
            *slotPtr = argv[i];
        } else if (word[1] == 'h') {
            optionsPtr->mode = NS_MODE_HELP;
            return true;
        } else if (word[1] == 'T') {
            optionsPtr->mode = NS_MODE_CHECK;
        } else if (word[1] == 'd') {
            optionsPtr->isDebugged = true;
        } else if (word[1] != 'p' && word[1] != 'z'
                   && !SetMode(word[1], optionsPtr, errorPtr)) {
            return false;
        }
    }
    optionsPtr->optind = i;
    return true;
}

static bool
ParseLong(int argc, char *const *argv, int *iPtr, NsOptions *optionsPtr,
          const char **errorPtr)
{
    int i = *iPtr;

    if (!SetLong(argv[i], optionsPtr)) {
        return ReportInvalid(argv[i], errorPtr);
    }
    switch (optionsPtr->mode) {
    case NS_MODE_NEW_SITE:
        if (++i == argc) {
            *errorPtr = "no directory for --init";
            return false;
        }
        optionsPtr->site = argv[i];
        break;
    case NS_MODE_HELP:
        optionsPtr->topic = i + 1 < argc ? argv[++i] : NULL;
        break;
    case NS_MODE_LOGS:
        i++;
        break;
    default:
        break;
    }
    *iPtr = i;
    return true;
}

/*
 * ctl ?-t FILE? ?-s SERVER? ?--socket PATH? ?--json? COMMAND ?ARG ...?
 */
static bool
ParseControl(int argc, char *const *argv, NsOptions *optionsPtr,
             const char **errorPtr)
{
    int i = 2;

    optionsPtr->mode = NS_MODE_CONTROL;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char **slotPtr = NULL;

        if (STREQ(argv[i], "--json")) {
            optionsPtr->isJson = true;
            continue;
        }
        if (STREQ(argv[i], "-t")) {
            slotPtr = &optionsPtr->configFile;
        } else if (STREQ(argv[i], "-s") || STREQ(argv[i], "--server")) {
            slotPtr = &optionsPtr->server;
        } else if (STREQ(argv[i], "--socket")) {
            slotPtr = &optionsPtr->socket;
        }
        if (slotPtr == NULL || i + 1 == argc) {
            snprintf(errorText, sizeof(errorText),
                     slotPtr == NULL ? "ctl: invalid option: %.40s"
                                     : "ctl: no parameter for %.40s",
                     argv[i]);
            *errorPtr = errorText;
            return false;
        }
        *slotPtr = argv[++i];
    }
    optionsPtr->optind = i;
    return true;
}

void
NsOptionsUsage(FILE *file, const char *program)
{
    fprintf(
        file,
        "Usage: %s [-h|V] [-c|f|i|w] [-u <user>] [-g <group>] [-r <path>]"
        " [-b <address:port>|-B <file>] [-s <server>] [-t <file>]\n"
        "\n"
        "  -h  help (this text)\n"
        "  -V  version and release information\n"
        "  -c  command mode: a Tcl shell reads a script or standard input\n"
        "  -f  foreground mode: no fork, log to standard error\n"
        "  -i  inittab mode: no fork, log to the log file\n"
        "  -w  watchdog mode: restart the server when it fails\n"
        "  -d  debugger friendly: interrupts end the server at once\n"
        "  -u  run as <user>\n"
        "  -g  run as <group>\n"
        "  -r  change root to <path>\n"
        "  -b  bind <address:port> before the user is switched\n"
        "  -B  bind the addresses listed in <file>\n"
        "  -s  use the server named <server>\n"
        "  -t  read configuration from <file>\n"
        "  -T  check the configuration, report what is wrong with it, and exit\n"
        "  --no-wait            end at once, whether the server starts or not\n"
        "  --quiet              with -c: log to the log file only\n"
        "  --strict             as -T, and warnings are errors\n"
        "  --bind               as -T, and check that the ports are free\n"
        "  --from-naviserver    as -T, and report what a site lacks here\n"
        "  --dump               as -T, and print the configuration as lists\n"
        "  --help [<topic>]     as -h; or about files, signals, ctl, logs\n"
        "  --version            as -V\n"
        "  --init <directory>   create the first files of a site there\n"
        "  --development        show local clients why a page failed\n"
        "  --parameters         print all configuration parameters as Markdown\n"
        "  --logs <file> ...    print the records of a log mapping or spill file\n"
        "  --logs --list        list the log mappings of <dir>, or /dev/shm\n"
        "  ctl [-t <file>] ...  query or control a running server: nsd ctl help\n"
        "\n",
        program);
}

static const ValueOption *
FindValueOption(char letter)
{
    for (int i = 0; i < Ns_NrElements(valueOptions); i++) {
        if (valueOptions[i].letter == letter) {
            return &valueOptions[i];
        }
    }
    return NULL;
}

static bool
SetMode(char letter, NsOptions *optionsPtr, const char **errorPtr)
{
    for (int i = 0; i < Ns_NrElements(modeOptions); i++) {
        if (modeOptions[i].letter != letter) {
            continue;
        }
        if (optionsPtr->mode != NS_MODE_BACKGROUND
            && optionsPtr->mode != NS_MODE_CHECK
            && optionsPtr->mode != NS_MODE_DUMP) {
            *errorPtr =
                "only one of -c, -f, -i, or -w options may be specified";
            return false;
        }
        if (optionsPtr->mode == NS_MODE_BACKGROUND) {
            optionsPtr->mode = modeOptions[i].mode;
        }
        return true;
    }
    snprintf(errorText, sizeof(errorText), "invalid option: -%c", letter);
    *errorPtr = errorText;
    return false;
}

static bool
SetLong(const char *word, NsOptions *optionsPtr)
{
    for (int i = 0; i < Ns_NrElements(longOptions); i++) {
        if (STREQ(word, longOptions[i].word)) {
            if (longOptions[i].mode != NS_MODE_BACKGROUND) {
                optionsPtr->mode = longOptions[i].mode;
            }
            if (longOptions[i].offset != 0) {
                *(bool *) ((char *) optionsPtr + longOptions[i].offset) = true;
            }
            return true;
        }
    }
    return false;
}

static bool
ReportInvalid(const char *word, const char **errorPtr)
{
    const char *nearest = NearestLong(word);

    if (nearest != NULL) {
        snprintf(errorText, sizeof(errorText),
                 "invalid option: %.*s; did you mean %s?", MAX_WORD, word,
                 nearest);
    } else if (word[1] != '-' && word[2] != '\0') {
        snprintf(errorText, sizeof(errorText),
                 "invalid option: %.*s: one-letter options cannot be combined",
                 MAX_WORD, word);
    } else {
        snprintf(errorText, sizeof(errorText), "invalid option: %.*s", MAX_WORD,
                 word);
    }
    *errorPtr = errorText;
    return false;
}

/*
 * NULL: none resembles it, not even with another dash.
 */
static const char *
NearestLong(const char *word)
{
    const char *name = word + strspn(word, "-"), *nearest = NULL;
    int         least = 3;

    if (strlen(name) < 2 || strlen(name) > MAX_WORD) {
        return NULL;
    }
    for (int i = 0; i < Ns_NrElements(longOptions); i++) {
        const char *known = longOptions[i].word;
        int         distance = Distance(name, known + strlen("--"));

        if (distance < least) {
            least = distance;
            nearest = known;
        }
    }
    return nearest;
}

/*
 * How many letters have to be replaced, left out or put in.
 */
static int
Distance(const char *left, const char *right)
{
    int row[MAX_WORD + 1], n = (int) strlen(right);

    NsAssert(n <= MAX_WORD);
    for (int j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (int i = 1; left[i - 1] != '\0'; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int above = row[j];

            row[j] = MIN(MIN(above, row[j - 1]) + 1,
                         diagonal + (left[i - 1] != right[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}
