/* SPDX-License-Identifier: MPL-2.0
 * session.c --
 *
 *      A session at a control port: login, then commands for the interpreter of
 *      its thread.
 */

#include "nscp.h"

#include <arpa/telnet.h>

#define LOGIN_LINE_MAX 1024
#define COMMAND_MAX    (16 * 1024 * 1024)
#define PENALTY_MS     1000

static bool Login(Session *sessionPtr);
static bool AskPassword(Session *sessionPtr, Ns_DString *passwordPtr);
static void Talk(Session *sessionPtr);
static void Greet(Session *sessionPtr);
static bool ReadCommand(Session *sessionPtr, unsigned n, Ns_DString *dsPtr);
static void Evaluate(Session *sessionPtr, Tcl_Interp *interp, unsigned n,
                     const char *command);
static bool Send(Session *sessionPtr, const char *text, int length);
static bool SendUtf(Session *sessionPtr, const char *text, int length);

static Tcl_ObjCmdProc ExitCmd;

void
NscpSessionRun(void *arg)
{
    Session *sessionPtr = arg;
    bool     isLoggedIn;

    Ns_ThreadSetName("-nscp:%u-", sessionPtr->id);
    Ns_Log(Notice, "nscp: %s connected", sessionPtr->peer);
    isLoggedIn = Login(sessionPtr);
    if (isLoggedIn) {
        NscpPortLoggedIn(sessionPtr);
        Talk(sessionPtr);
    }
    Ns_Log(Notice, "nscp: %s disconnected", sessionPtr->peer);
    ns_free(sessionPtr->user);
    NscpPortRemove(sessionPtr, !isLoggedIn);
}

static bool
Login(Session *sessionPtr)
{
    const Port *portPtr = sessionPtr->portPtr;
    Ns_DString  user, password;
    bool        isAllowed = false;

    sessionPtr->input.deadlineMs = NscpNowMs()
        + (int64_t) portPtr->loginTime.sec * 1000
        + portPtr->loginTime.usec / 1000;
    Ns_DStringInit(&user);
    Ns_DStringInit(&password);

    if (Send(sessionPtr, "login: ", -1)
        && NscpInputLine(&sessionPtr->input, &user, LOGIN_LINE_MAX)) {
        if (*user.string == '\0' && portPtr->isEmptyUserAllowed
            && sessionPtr->isLocal) {
            isAllowed = true;
        } else if (AskPassword(sessionPtr, &password)) {
            isAllowed = NscpUsersAllow(portPtr, user.string, password.string);
            if (!isAllowed) {
                /* Delays only this client, which cannot guess quickly. */
                (void) ns_poll(NULL, 0, PENALTY_MS);
                Ns_Log(Warning, "nscp: login failed: '%s'", user.string);
                (void) Send(sessionPtr, "Access denied!\r\n", -1);
            }
        }
    }
    if (isAllowed) {
        Ns_Log(Notice, "nscp: %s logged in", user.string);
        sessionPtr->user = Ns_DStringExport(&user);
    }
    explicit_bzero(password.string, (size_t) Ns_DStringLength(&password));
    explicit_bzero(sessionPtr->input.bytes, (size_t) sessionPtr->input.next);
    Ns_DStringFree(&user);
    Ns_DStringFree(&password);
    sessionPtr->input.deadlineMs = 0;
    return isAllowed;
}

/*
 * While the server claims to echo, a telnet client does not show what is typed.
 */
static bool
AskPassword(Session *sessionPtr, Ns_DString *passwordPtr)
{
    static const char hide[] = {(char) IAC, (char) WILL, TELOPT_ECHO,
                                (char) IAC, (char) DONT, TELOPT_ECHO};
    static const char show[] = {(char) IAC, (char) WONT, TELOPT_ECHO,
                                (char) IAC, (char) DO,   TELOPT_ECHO};
    bool              isHidden = !sessionPtr->portPtr->isPasswordShown;

    return (!isHidden || Send(sessionPtr, hide, sizeof(hide)))
        && Send(sessionPtr, "Password: ", -1)
        && NscpInputLine(&sessionPtr->input, passwordPtr, LOGIN_LINE_MAX)
        && (!isHidden || Send(sessionPtr, show, sizeof(show)));
}

static void
Talk(Session *sessionPtr)
{
    Tcl_Interp *interp = Ns_TclAllocateInterp(sessionPtr->portPtr->server);
    Ns_DString  command;
    unsigned    n = 1;

    if (interp == NULL) {
        (void) Send(sessionPtr, "no interpreter, see the log\r\n", -1);
        return;
    }
    /* The interpreter is deleted with this thread. */
    (void) Tcl_CreateObjCommand(interp, "exit", ExitCmd, sessionPtr, NULL);
    Greet(sessionPtr);
    Ns_DStringInit(&command);
    while (!sessionPtr->isOver && ReadCommand(sessionPtr, n, &command)) {
        if (*command.string != '\0') {
            Evaluate(sessionPtr, interp, n, command.string);
            n++;
        }
        Ns_DStringTrunc(&command, 0);
    }
    if (sessionPtr->isOver) {
        (void) Send(sessionPtr, "Goodbye!\r\n", -1);
    }
    Ns_DStringFree(&command);
    Ns_TclDeAllocateInterp(interp);
}

static void
Greet(Session *sessionPtr)
{
    Ns_DString ds;

    Ns_DStringInit(&ds);
    Ns_DStringPrintf(&ds,
                     "\r\nWelcome to %s running at %s (pid %d)\r\n"
                     "%s/%s for %s built on %s\r\nTag: %s\r\n",
                     sessionPtr->portPtr->server, Ns_InfoNameOfExecutable(),
                     Ns_InfoPid(), Ns_InfoServerName(), Ns_InfoServerVersion(),
                     Ns_InfoPlatform(), Ns_InfoBuildDate(), Ns_InfoTag());
    (void) SendUtf(sessionPtr, ds.string, Ns_DStringLength(&ds));
    Ns_DStringFree(&ds);
}

/*
 * Read lines until the command is complete.  The command is empty if there was
 * only white space.
 */
static bool
ReadCommand(Session *sessionPtr, unsigned n, Ns_DString *dsPtr)
{
    Tcl_Encoding utf8 = Ns_GetCharsetEncoding("utf-8");
    Ns_DString   line, prompt;
    bool         isMore = false, isOpen = true, isComplete = false;

    Ns_DStringInit(&line);
    Ns_DStringInit(&prompt);
    while (isOpen && !isComplete) {
        Tcl_DString text;

        Ns_DStringTrunc(&prompt, 0);
        Ns_DStringPrintf(&prompt, "%s:nscp %u>%s ", sessionPtr->portPtr->server,
                         n, isMore ? ">>" : "");
        Ns_DStringTrunc(&line, 0);
        isOpen = SendUtf(sessionPtr, prompt.string, Ns_DStringLength(&prompt))
            && NscpInputLine(&sessionPtr->input, &line,
                             COMMAND_MAX - Ns_DStringLength(dsPtr));
        if (isOpen) {
            (void) Tcl_ExternalToUtfDString(utf8, line.string,
                                            Ns_DStringLength(&line), &text);
            Ns_DStringNAppend(dsPtr, text.string, Ns_DStringLength(&text));
            Tcl_DStringFree(&text);
            Ns_DStringNAppend(dsPtr, "\n", 1);
            isComplete = Tcl_CommandComplete(dsPtr->string) != 0;
            isMore = !isComplete;
        }
    }
    Ns_DStringTrunc(dsPtr, (int) strlen(Ns_StrTrimRight(dsPtr->string)));
    Ns_DStringFree(&line);
    Ns_DStringFree(&prompt);
    return isOpen;
}

static void
Evaluate(Session *sessionPtr, Tcl_Interp *interp, unsigned n,
         const char *command)
{
    bool        isLogged = sessionPtr->portPtr->isLoggingCommands;
    const char *text;
    int         length;

    if (isLogged) {
        Ns_Log(Notice, "nscp: %s %u: %s", sessionPtr->user, n, command);
    }
    if (Tcl_EvalEx(interp, command, -1, TCL_EVAL_GLOBAL) != TCL_OK) {
        (void) Ns_TclLogErrorInfo(interp, "\n(context: nscp)");
    }
    if (isLogged) {
        Ns_Log(Notice, "nscp: %s %u: done", sessionPtr->user, n);
    }
    if (!sessionPtr->isOver) {
        text = Tcl_GetStringFromObj(Tcl_GetObjResult(interp), &length);
        if (SendUtf(sessionPtr, text, length)) {
            (void) Send(sessionPtr, "\r\n", 2);
        }
    }
    Tcl_ResetResult(interp);
}

/*
 * Replaces the server's `exit`: it ends the session.
 */
static int
ExitCmd(ClientData clientData, Tcl_Interp *interp, int objc,
        Tcl_Obj *const *objv)
{
    Session *sessionPtr = clientData;

    sessionPtr->isOver = true;
    return TCL_OK;
}

static bool
SendUtf(Session *sessionPtr, const char *text, int length)
{
    Tcl_DString bytes;
    bool        isSent;

    (void) Tcl_UtfToExternalDString(Ns_GetCharsetEncoding("utf-8"), text,
                                    length, &bytes);
    isSent = Send(sessionPtr, bytes.string, Tcl_DStringLength(&bytes));
    Tcl_DStringFree(&bytes);
    return isSent;
}

/*
 * A timeout on the socket limits how long a client may accept no data.
 */
static bool
Send(Session *sessionPtr, const char *text, int length)
{
    size_t left = length < 0 ? strlen(text) : (size_t) length;

    while (left > 0) {
        ssize_t n = send(sessionPtr->sock, text, left, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            text += n;
            left -= (size_t) n;
        }
    }
    return true;
}
