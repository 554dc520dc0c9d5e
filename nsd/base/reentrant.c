/* SPDX-License-Identifier: MPL-2.0
 * reentrant.c --
 *
 *      Functions of the C library that keep their result in static memory, with
 *      memory of the thread's own instead; and those for signals and processes.
 */

#include "nsthread.h"

struct tm *
ns_localtime(const time_t *timePtr)
{
    static _Thread_local struct tm tm;

    return localtime_r(timePtr, &tm);
}

struct tm *
ns_gmtime(const time_t *timePtr)
{
    static _Thread_local struct tm tm;

    return gmtime_r(timePtr, &tm);
}

char *
ns_ctime(const time_t *timePtr)
{
    return ns_asctime(ns_localtime(timePtr));
}

/*
 * Not asctime_r: with a year beyond 9999 it overflows its buffer.
 */
char *
ns_asctime(const struct tm *tmPtr)
{
    static _Thread_local char text[64];

    if (tmPtr == NULL
        || strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y\n", tmPtr) == 0) {
        return NULL;
    }
    return text;
}

char *
ns_strtok(char *string, const char *separators)
{
    static _Thread_local char *rest;

    return strtok_r(string, separators, &rest);
}

char *
ns_inet_ntoa(struct in_addr address)
{
    static _Thread_local char text[INET_ADDRSTRLEN];

    return (char *) inet_ntop(AF_INET, &address, text, sizeof(text));
}

/*
 * The result belongs to the directory stream, which is one thread's.
 */
struct dirent *
ns_readdir(DIR *dir)
{
    return readdir(dir);
}

int
ns_fork(void)
{
    return fork();
}

int
ns_signal(int signal, void (*proc)(int))
{
    struct sigaction action = {.sa_handler = proc};

    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL);
}

int
ns_sigmask(int how, sigset_t *setPtr, sigset_t *oldSetPtr)
{
    return pthread_sigmask(how, setPtr, oldSetPtr);
}

int
ns_sigwait(sigset_t *setPtr, int *signalPtr)
{
    return sigwait(setPtr, signalPtr);
}
