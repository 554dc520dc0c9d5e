/* SPDX-License-Identifier: MPL-2.0
 * controlclient.c --
 *
 *      `nsd ctl`.
 */

#include "process/controlclient.h"

#include "base/writeall.h"
#include "log/print.h"
#include "nsstring.h"
#include "nsthread.h"
#include "process/control.h"
#include "process/help.h"
#include "process/lineeditor.h"

#include <poll.h>

/* How long the start after a restart is waited for, and how often it is tried.
 */
#define RESTART_SECONDS 300
#define PAUSE_MS        50

typedef struct Client {
    const char      *path;
    const NsOptions *optionsPtr;
    int              fd;
} Client;

typedef struct Reply {
    int        result; /* NS_CONTROL_... */
    Ns_DString text;
} Reply;

static int             RunOnce(Client *clientPtr, int argc, char *const *argv);
static int             Stop(Client *clientPtr, int argc, char *const *argv);
static int             Restart(Client *clientPtr, int argc, char *const *argv);
static int             Eval(Client *clientPtr, int argc, char *const *argv);
static int             Shell(Client *clientPtr, int argc, char *const *argv);
static void            StartEditor(Client *clientPtr);
static NsLineWordsProc AppendWords;
static bool            ReadLine(bool isTerminal, Ns_DString *scriptPtr);
static int             Logs(Client *clientPtr, int argc, char *const *argv);
static int             Print(const Reply *replyPtr);
static bool            Ask(Client *clientPtr, int argc, const char *const *argv,
                           Reply *replyPtr);
static void            AppendWord(Ns_DString *dsPtr, const char *word);
static bool            ReadReply(int fd, Reply *replyPtr);
static bool            ReadHead(int fd, Reply *replyPtr, size_t *lengthPtr);
static void            ReadAll(FILE *file, Ns_DString *dsPtr);
static int             Vanished(const Client *clientPtr);

static const struct {
    const char *name;
    int (*proc)(Client *clientPtr, int argc, char *const *argv);
} special[] = {{"stop", Stop},
               {"restart", Restart},
               {"eval", Eval},
               {"shell", Shell},
               {"logs", Logs}};

int
NsControlClient(const char *path, const NsOptions *optionsPtr, int argc,
                char *const *argv)
{
    static char        word[] = "help";
    static char *const help[] = {word};
    Client             client = {.path = path, .optionsPtr = optionsPtr};
    int                status, i = 0;

    if (argc == 0) {
        argc = 1;
        argv = help;
    }
    client.fd = NsControlConnect(path);
    if (client.fd < 0 && argc == 1 && STREQ(argv[0], "help")
        && NsHelpControl(stdout)) {
        return NS_CONTROL_DONE;
    }
    if (client.fd < 0) {
        fprintf(stderr, "nsd ctl: no server listens on %s: %s\n", path,
                strerror(errno));
        return NS_CONTROL_NOBODY;
    }
    while (i < Ns_NrElements(special) && !STREQ(special[i].name, argv[0])) {
        i++;
    }
    status = i < Ns_NrElements(special)
        ? special[i].proc(&client, argc, argv)
        : RunOnce(&client, argc, argv);
    close(client.fd);
    return status;
}

static int
RunOnce(Client *clientPtr, int argc, char *const *argv)
{
    Reply reply;
    int   status;

    if (!Ask(clientPtr, argc, (const char *const *) argv, &reply)) {
        return Vanished(clientPtr);
    }
    status = Print(&reply);
    Ns_DStringFree(&reply.text);
    return status;
}

/*
 * Until the process has ended: then it closes its end.
 */
static int
Stop(Client *clientPtr, int argc, char *const *argv)
{
    int  status = RunOnce(clientPtr, argc, argv);
    char byte;

    if (status == NS_CONTROL_DONE) {
        while (read(clientPtr->fd, &byte, 1) > 0) {
            continue;
        }
    }
    return status;
}

/*
 * Until the program runs anew.
 */
static int
Restart(Client *clientPtr, int argc, char *const *argv)
{
    static const char *const question[] = {"ready"};
    int                      status = Stop(clientPtr, argc, argv);
    Reply                    reply;

    for (int i = 0;
         i < RESTART_SECONDS * 1000 / PAUSE_MS && status == NS_CONTROL_DONE;
         i++) {
        close(clientPtr->fd);
        clientPtr->fd = NsControlConnect(clientPtr->path);
        if (clientPtr->fd >= 0 && Ask(clientPtr, 1, question, &reply)) {
            Ns_DStringFree(&reply.text);
            return NS_CONTROL_DONE;
        }
        (void) poll(NULL, 0, PAUSE_MS);
    }
    return status == NS_CONTROL_DONE ? Vanished(clientPtr) : status;
}

/*
 * eval SCRIPT ?ARG ...?; with "-" the script is read from standard input.
 */
static int
Eval(Client *clientPtr, int argc, char *const *argv)
{
    Ns_DString  script;
    const char *words[2] = {"eval"};
    int         status;

    if (argc < 2) {
        fprintf(stderr,
                "usage: nsd ctl eval SCRIPT, or - for standard input\n");
        return NS_CONTROL_USAGE;
    }
    Ns_DStringInit(&script);
    if (argc == 2 && STREQ(argv[1], "-")) {
        ReadAll(stdin, &script);
    } else {
        for (int i = 1; i < argc; i++) {
            Ns_DStringVarAppend(&script, i > 1 ? " " : "", argv[i],
                                (char *) NULL);
        }
    }
    words[1] = Ns_DStringValue(&script);
    status = RunOnce(clientPtr, 2, (char *const *) words);
    Ns_DStringFree(&script);
    return status;
}

/*
 * Commands from standard input, one after the other, in one interpreter of the
 * server.
 */
static int
Shell(Client *clientPtr, int argc, char *const *argv)
{
    bool       isTerminal = isatty(STDIN_FILENO) != 0;
    int        status = NS_CONTROL_DONE;
    Ns_DString script;

    if (isTerminal) {
        StartEditor(clientPtr);
    }
    Ns_DStringInit(&script);
    while (status != NS_CONTROL_NOBODY && ReadLine(isTerminal, &script)) {
        const char *words[] = {"eval", script.string};

        if (Tcl_CommandComplete(script.string)) {
            status = RunOnce(clientPtr, 2, (char *const *) words);
            Ns_DStringSetLength(&script, 0);
        }
    }
    if (isTerminal) {
        NsLineEditorEnd();
    }
    Ns_DStringFree(&script);
    return isTerminal ? NS_CONTROL_DONE : status;
}

static void
StartEditor(Client *clientPtr)
{
    static char path[PATH_MAX];
    const char *home = getenv("HOME");

    snprintf(path, sizeof(path), "%s/.nsd_history", home == NULL ? "" : home);
    NsLineEditorStart(home == NULL ? NULL : path, AppendWords, clientPtr);
}

/*
 * The words that the server knows.
 */
static void
AppendWords(const char *begun, Ns_DString *dsPtr, void *arg)
{
    const char *words[] = {"complete", begun};
    Reply       reply;

    if (Ask(arg, Ns_NrElements(words), words, &reply)) {
        if (reply.result == NS_CONTROL_DONE) {
            Ns_DStringAppend(dsPtr, reply.text.string);
        }
        Ns_DStringFree(&reply.text);
    }
}

static bool
ReadLine(bool isTerminal, Ns_DString *scriptPtr)
{
    char  *line = NULL;
    size_t size = 0;
    bool   isRead;

    if (isTerminal) {
        return NsLineEditorRead(scriptPtr->length == 0 ? "% " : "> ",
                                scriptPtr);
    }
    isRead = getline(&line, &size, stdin) >= 0;
    if (isRead) {
        Ns_DStringAppend(scriptPtr, line);
    }
    free(line);
    return isRead;
}

/*
 * What `nsd --logs` prints, of the log memory of that server.
 */
static int
Logs(Client *clientPtr, int argc, char *const *argv)
{
    static const char *const question[] = {"logmemory"};
    Reply                    reply;
    char                   **words;
    int                      status = NS_CONTROL_REFUSED;

    if (!Ask(clientPtr, 1, question, &reply)) {
        return Vanished(clientPtr);
    }
    if (reply.result != NS_CONTROL_DONE) {
        (void) Print(&reply);
    } else {
        words = ns_calloc((size_t) argc + 1, sizeof(char *));
        words[0] = reply.text.string;
        for (int i = 1; i < argc; i++) {
            words[i] = argv[i];
        }
        status = NsLogPrintMain(argc, words);
        ns_free(words);
    }
    Ns_DStringFree(&reply.text);
    return status;
}

static int
Print(const Reply *replyPtr)
{
    FILE       *file = replyPtr->result != NS_CONTROL_DONE ? stderr : stdout;
    const char *text = replyPtr->text.string;
    int         length = replyPtr->text.length;

    if (length > 0) {
        (void) fwrite(text, 1, (size_t) length, file);
        if (text[length - 1] != '\n') {
            putc('\n', file);
        }
        fflush(file);
    }
    return replyPtr->result;
}

/*
 * False: the server has gone.  Otherwise the caller frees the text.
 */
static bool
Ask(Client *clientPtr, int argc, const char *const *argv, Reply *replyPtr)
{
    const NsOptions *optionsPtr = clientPtr->optionsPtr;
    Ns_DString       request;
    bool             isDone;

    Ns_DStringInit(&request);
    if (optionsPtr->isJson) {
        AppendWord(&request, "--json");
    }
    if (optionsPtr->server != NULL) {
        AppendWord(&request, "--server");
        AppendWord(&request, optionsPtr->server);
    }
    for (int i = 0; i < argc; i++) {
        AppendWord(&request, argv[i]);
    }
    Ns_DStringAppend(&request, "\n");
    Ns_DStringInit(&replyPtr->text);
    isDone = NsWriteAll(clientPtr->fd, request.string, (size_t) request.length)
        && ReadReply(clientPtr->fd, replyPtr);
    if (!isDone) {
        Ns_DStringFree(&replyPtr->text);
    }
    Ns_DStringFree(&request);
    return isDone;
}

/*
 * As an element of a list that has no line end in it.
 */
static void
AppendWord(Ns_DString *dsPtr, const char *word)
{
    int flags, start = dsPtr->length;
    int size = Tcl_ScanElement(word, &flags);

    Ns_DStringSetLength(dsPtr, start + size + 1);
    size = Tcl_ConvertElement(word, dsPtr->string + start,
                              flags | TCL_DONT_USE_BRACES);
    Ns_DStringSetLength(dsPtr, start + size);
    Ns_DStringAppend(dsPtr, " ");
}

static bool
ReadReply(int fd, Reply *replyPtr)
{
    size_t length, n = 0;

    if (!ReadHead(fd, replyPtr, &length) || length > INT_MAX) {
        return false;
    }
    Ns_DStringSetLength(&replyPtr->text, (int) length);
    while (n < length) {
        ssize_t more = read(fd, replyPtr->text.string + n, length - n);

        if (more <= 0) {
            return false;
        }
        n += (size_t) more;
    }
    return true;
}

/*
 * `ok N`, `error N` or `usage N`.
 */
static bool
ReadHead(int fd, Reply *replyPtr, size_t *lengthPtr)
{
    char   head[40], word[8];
    size_t n = 0;

    while (n < sizeof(head) - 1 && read(fd, head + n, 1) == 1
           && head[n] != '\n') {
        n++;
    }
    head[n] = '\0';
    if (sscanf(head, "%7s %zu", word, lengthPtr) != 2) {
        return false;
    }
    for (int i = 0; i < NS_CONTROL_WORDS; i++) {
        if (STREQ(word, nsControlWords[i])) {
            replyPtr->result = i;
            return true;
        }
    }
    return false;
}

static void
ReadAll(FILE *file, Ns_DString *dsPtr)
{
    char   bytes[4096];
    size_t n;

    while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0) {
        Ns_DStringNAppend(dsPtr, bytes, (int) n);
    }
}

static int
Vanished(const Client *clientPtr)
{
    fprintf(stderr, "nsd ctl: the server on %s has ended the connection\n",
            clientPtr->path);
    return NS_CONTROL_NOBODY;
}
