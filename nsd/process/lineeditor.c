/* SPDX-License-Identifier: MPL-2.0
 * lineeditor.c --
 *
 *      Lines that are typed at a terminal.
 *
 *      libedit is looked for when it is needed: the server does without.
 */

#include "process/lineeditor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#define LIBRARY   "libedit.so.2"
#define MAX_LINES 1000

typedef char  *GeneratorProc(const char *text, int state);
typedef char **CompletionProc(const char *text, int start, int end);

static struct {
    char *(*read)(const char *prompt); /* NULL: there is no library. */
    int (*addHistory)(const char *line);
    int (*readHistory)(const char *file);
    int (*writeHistory)(const char *file);
    int (*stifleHistory)(int n);
    char **(*matches)(const char *text, GeneratorProc *proc);
    CompletionProc **completionPtr;
    const char     **breaksPtr;
    int             *isOverPtr;

    const char      *historyFile;
    NsLineWordsProc *wordsProc;
    void            *arg;

    const char **words; /* Of the completion at hand. */
    int          nWords;
} editor;

static bool           LoadLibrary(void);
static void           ReadHistory(void);
static bool           ReadPlain(const char *prompt, Ns_DString *dsPtr);
static CompletionProc Complete;
static GeneratorProc  NextWord;

void
NsLineEditorStart(const char *historyFile, NsLineWordsProc *proc, void *arg)
{
    editor.historyFile = historyFile;
    editor.wordsProc = proc;
    editor.arg = arg;
    if (LoadLibrary()) {
        *editor.completionPtr = Complete;
        /* A variable's name begins with its dollar. */
        *editor.breaksPtr = " \t\n\"[]{};";
        ReadHistory();
    }
}

static bool
LoadLibrary(void)
{
    const struct {
        const char *name;
        void      **slotPtr;
    } symbols[] = {
        {"add_history", (void **) &editor.addHistory},
        {"read_history", (void **) &editor.readHistory},
        {"write_history", (void **) &editor.writeHistory},
        {"stifle_history", (void **) &editor.stifleHistory},
        {"rl_completion_matches", (void **) &editor.matches},
        {"rl_attempted_completion_function", (void **) &editor.completionPtr},
        {"rl_completer_word_break_characters", (void **) &editor.breaksPtr},
        {"rl_attempted_completion_over", (void **) &editor.isOverPtr},
        {"readline", (void **) &editor.read}};
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool  isThere = library != NULL;

    for (int i = 0; i < Ns_NrElements(symbols) && isThere; i++) {
        *symbols[i].slotPtr = dlsym(library, symbols[i].name);
        isThere = *symbols[i].slotPtr != NULL;
    }
    if (!isThere) {
        editor.read = NULL;
    }
    return isThere;
}

/*
 * The file is made here, so that its mode is right before anything is in it:
 * scripts may have passwords.
 */
static void
ReadHistory(void)
{
    int fd;

    (void) editor.stifleHistory(MAX_LINES);
    if (editor.historyFile == NULL) {
        return;
    }
    fd = open(editor.historyFile, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        editor.historyFile = NULL;
        return;
    }
    (void) fchmod(fd, 0600);
    close(fd);
    (void) editor.readHistory(editor.historyFile);
}

void
NsLineEditorEnd(void)
{
    if (editor.read != NULL && editor.historyFile != NULL) {
        (void) editor.writeHistory(editor.historyFile);
    }
}

bool
NsLineEditorRead(const char *prompt, Ns_DString *dsPtr)
{
    char *line;

    if (editor.read == NULL) {
        return ReadPlain(prompt, dsPtr);
    }
    line = editor.read(prompt);
    if (line == NULL) {
        putchar('\n');
        return false;
    }
    if (*line != '\0') {
        (void) editor.addHistory(line);
    }
    Ns_DStringVarAppend(dsPtr, line, "\n", (char *) NULL);
    free(line);
    return true;
}

static bool
ReadPlain(const char *prompt, Ns_DString *dsPtr)
{
    char  *line = NULL;
    size_t size = 0;
    bool   isRead;

    fputs(prompt, stdout);
    fflush(stdout);
    isRead = getline(&line, &size, stdin) >= 0;
    if (isRead) {
        Ns_DStringAppend(dsPtr, line);
    }
    free(line);
    return isRead;
}

static char **
Complete(const char *text, int start, int end)
{
    Ns_DString ds;
    char     **matches = NULL;

    /* No names of files instead. */
    *editor.isOverPtr = 1;
    Ns_DStringInit(&ds);
    editor.wordsProc(text, &ds, editor.arg);
    if (Tcl_SplitList(NULL, ds.string, &editor.nWords, &editor.words)
        == TCL_OK) {
        matches = editor.matches(text, NextWord);
        Tcl_Free((char *) editor.words);
    }
    Ns_DStringFree(&ds);
    return matches;
}

/*
 * The library frees it.
 */
static char *
NextWord(const char *text, int state)
{
    static int next;

    if (state == 0) {
        next = 0;
    }
    return next < editor.nWords ? strdup(editor.words[next++]) : NULL;
}
