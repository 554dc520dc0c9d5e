/* SPDX-License-Identifier: MPL-2.0
 * options.c --
 *
 *      The command line.
 */

#include "process/options.h"

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

static const struct {
    const char *word;
    NsMode      mode;
} longOptions[] = {{"--help", NS_MODE_HELP},
                   {"--version", NS_MODE_VERSION},
                   {"--parameters", NS_MODE_PARAMETERS},
                   {"--logs", NS_MODE_LOGS}};

static char errorText[80];

static const ValueOption *FindValueOption(char letter);
static bool SetMode(char letter, NsOptions *optionsPtr, const char **errorPtr);
static bool SetLong(const char *word, NsOptions *optionsPtr);

bool
NsOptionsParse(int argc, char *const *argv, NsOptions *optionsPtr,
               const char **errorPtr)
{
    int i;

    memset(optionsPtr, 0, sizeof(*optionsPtr));
    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        const char        *word = argv[i];
        const ValueOption *valuePtr = FindValueOption(word[1]);

        if (valuePtr != NULL) {
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
        } else if (word[1] == '-') {
            if (!SetLong(word, optionsPtr)) {
                snprintf(errorText, sizeof(errorText), "invalid option: %.60s",
                         word);
                *errorPtr = errorText;
                return false;
            }
            if (optionsPtr->mode == NS_MODE_LOGS) {
                /* The reader of logs has options of its own. */
                optionsPtr->optind = i + 1;
                return true;
            }
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
        "  --parameters         print all configuration parameters as Markdown\n"
        "  --logs <file> ...    print the records of a log mapping or spill file\n"
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
            && optionsPtr->mode != NS_MODE_CHECK) {
            *errorPtr =
                "only one of -c, -f, -i, or -w options may be specified";
            return false;
        }
        if (optionsPtr->mode != NS_MODE_CHECK) {
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
            optionsPtr->mode = longOptions[i].mode;
            return true;
        }
    }
    return false;
}
