/*
 * signals.c --
 *
 *      Signals.
 */

#include "process/signals.h"

#include "nsthread.h"

static sigset_t waited;         /* Constant after NsSignalsBlock. */

static void OnFatalSignal(int number);


void
NsSignalsBlock(bool isDebugged)
{
    static const int fatal[] = {SIGILL, SIGTRAP, SIGBUS, SIGSEGV, SIGFPE};
    sigset_t blocked;

    sigemptyset(&waited);
    sigaddset(&waited, SIGTERM);
    sigaddset(&waited, SIGHUP);
    sigaddset(&waited, SIGQUIT);
    if (!isDebugged) {
        sigaddset(&waited, SIGINT);
    }
    blocked = waited;
    sigaddset(&blocked, SIGPIPE);
    ns_sigmask(SIG_BLOCK, &blocked, NULL);

    for (int i = 0; i < Ns_NrElements(fatal); i++) {
        struct sigaction action = {
            .sa_handler = OnFatalSignal, .sa_flags = (int) SA_RESETHAND
        };

        sigaction(fatal[i], &action, NULL);
    }
}

int
NsSignalsWait(void)
{
    int number;

    while (ns_sigwait(&waited, &number) != 0) {
        continue;
    }
    return number;
}

void
NsSignalsRestore(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++) {
        if (number != SIGKILL && number != SIGSTOP) {
            (void) signal(number, SIG_DFL);
        }
    }
    sigemptyset(&none);
    (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Only what is allowed in a signal handler.  SA_RESETHAND has put the default
 * action back: the process ends by the same signal, with a core where that is
 * configured.
 */
static void
OnFatalSignal(int number)
{
    char   text[] = "Fatal: received fatal signal 00\n";
    size_t length = sizeof(text) - 1;

    text[length - 3] = (char) ('0' + number / 10);
    text[length - 2] = (char) ('0' + number % 10);
    if (number < 10) {
        text[length - 3] = text[length - 2];
        text[length - 2] = '\n';
        length--;
    }
    (void) !write(STDERR_FILENO, text, length);
    (void) raise(number);
}
