/* SPDX-License-Identifier: MPL-2.0
 * dstring.c --
 *
 *      Growing strings: what Tcl's do not have.
 */

#include "nsstring.h"
#include "nsthread.h"

char *
Ns_DStringVarAppend(Ns_DString *dsPtr, ...)
{
    const char *string;
    va_list     ap;

    va_start(ap, dsPtr);
    while ((string = va_arg(ap, const char *)) != NULL) {
        Tcl_DStringAppend(dsPtr, string, -1);
    }
    va_end(ap);
    return Tcl_DStringValue(dsPtr);
}

char *
Ns_DStringPrintf(Ns_DString *dsPtr, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    Ns_DStringVPrintf(dsPtr, format, ap);
    va_end(ap);
    return Tcl_DStringValue(dsPtr);
}

/*
 * Most results fit into what the string has anyway, or into a small guess.
 */
char *
Ns_DStringVPrintf(Ns_DString *dsPtr, const char *format, va_list ap)
{
    enum { GUESS = 128 };

    int     oldLength = Tcl_DStringLength(dsPtr), room, needed;
    va_list again;

    va_copy(again, ap);
    room = MAX(dsPtr->spaceAvl - oldLength, GUESS);
    Tcl_DStringSetLength(dsPtr, oldLength + room - 1);
    needed = vsnprintf(dsPtr->string + oldLength, (size_t) room, format, ap);
    if (needed >= room) {
        Tcl_DStringSetLength(dsPtr, oldLength + needed);
        vsnprintf(dsPtr->string + oldLength, (size_t) needed + 1, format,
                  again);
    }
    va_end(again);
    Tcl_DStringSetLength(dsPtr, oldLength + MAX(needed, 0));
    return Tcl_DStringValue(dsPtr);
}

char *
Ns_DStringExport(Ns_DString *dsPtr)
{
    size_t bytes = (size_t) Tcl_DStringLength(dsPtr) + 1;
    char  *copy = ns_malloc(bytes);

    memcpy(copy, Tcl_DStringValue(dsPtr), bytes);
    Tcl_DStringFree(dsPtr);
    return copy;
}

char *
Ns_DStringAppendArg(Ns_DString *dsPtr, const char *string)
{
    return Tcl_DStringAppend(dsPtr, string, (int) strlen(string) + 1);
}

char **
Ns_DStringAppendArgv(Ns_DString *dsPtr)
{
    const size_t align = sizeof(char *);
    int          textLength = Tcl_DStringLength(dsPtr), argc = 0;
    size_t       vectorStart;
    char       **argv, *arg, *end;

    for (const char *s = dsPtr->string; s < dsPtr->string + textLength;
         s += strlen(s) + 1) {
        argc++;
    }

    /* The text may end without a null byte of its own: leave room for one. */
    vectorStart = ((size_t) textLength + align) / align * align;
    Tcl_DStringSetLength(dsPtr,
                         (int) (vectorStart
                                + (size_t) (argc + 1) * sizeof(char *)));

    /* Only now is the string where it will stay. */
    argv = (char **) (void *) (dsPtr->string + vectorStart);
    dsPtr->string[textLength] = '\0';
    arg = dsPtr->string;
    end = arg + textLength;
    for (argc = 0; arg < end; argc++) {
        argv[argc] = arg;
        arg += strlen(arg) + 1;
    }
    argv[argc] = NULL;
    return argv;
}

Ns_DString *
Ns_DStringPop(void)
{
    Ns_DString *dsPtr = ns_malloc(sizeof(Ns_DString));

    Tcl_DStringInit(dsPtr);
    return dsPtr;
}

void
Ns_DStringPush(Ns_DString *dsPtr)
{
    Tcl_DStringFree(dsPtr);
    ns_free(dsPtr);
}

Tcl_Obj *
Ns_DStringToObj(Ns_DString *dsPtr)
{
    Tcl_Obj *obj = Tcl_NewStringObj(Tcl_DStringValue(dsPtr),
                                    Tcl_DStringLength(dsPtr));

    Tcl_DStringFree(dsPtr);
    return obj;
}

/*
 * The sign of a negative time is that of the whole.
 */
char *
Ns_DStringAppendTime(Ns_DString *dsPtr, const Ns_Time *timePtr)
{
    Ns_Time       time = *timePtr;
    unsigned long seconds;
    int           length;

    Ns_AdjTime(&time);
    seconds = (unsigned long) time.sec;
    if (time.sec < 0) {
        Tcl_DStringAppend(dsPtr, "-", 1);
        seconds = 0ul - seconds;
        if (time.usec > 0) {
            seconds--;
            time.usec = 1000000 - time.usec;
        }
    }
    Ns_DStringPrintf(dsPtr, "%lu.%06ld", seconds, time.usec);
    length = Tcl_DStringLength(dsPtr);
    while (dsPtr->string[length - 1] == '0') {
        length--;
    }
    length -= dsPtr->string[length - 1] == '.';
    Tcl_DStringSetLength(dsPtr, length);
    return Tcl_DStringValue(dsPtr);
}
