/* SPDX-License-Identifier: MPL-2.0
 * date.c --
 *
 *      Dates as HTTP writes them.
 *
 *      Days are counted with the calendar's own arithmetic instead of the
 *      library's: no locale, no time zone, no lock, no 32 bits.
 */

#include "http/date.h"

#include "nsstring.h"
#include "nsthread.h"

#include "base/chars.h"

#define DAY_SECONDS INT64_C(86400)

static const char dayNames[7][4] = {
    "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char monthNames[12][4] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

typedef struct {
    int64_t year;
    int     month; /* 0 ... 11 */
    int     day;   /* 1 ... 31 */
    int     hour, minute, second;
} Date;

static void    DateOfDay(int64_t days, Date *datePtr);
static int64_t DayOfDate(int64_t year, int month, int day);
static char   *PutDigits(char *to, int64_t value, int nDigits);
static bool    ParseWithComma(const char *text, Date *datePtr);
static bool    ParseWithoutComma(const char *text, Date *datePtr);
static bool    TakeName(const char **textPtr, int *monthPtr);
static bool    TakeNumber(const char **textPtr, int minDigits, int maxDigits,
                          int *valuePtr);
static bool    TakeClock(const char **textPtr, Date *datePtr);
static bool    TakeChar(const char **textPtr, char c);
static bool    TakeZone(const char **textPtr);

void
NsHttpDate(char *buffer, time_t seconds)
{
    int64_t days = (int64_t) seconds / DAY_SECONDS;
    int64_t rest = (int64_t) seconds % DAY_SECONDS;
    Date    date;

    if (rest < 0) {
        rest += DAY_SECONDS;
        days--;
    }
    DateOfDay(days, &date);

    /* 1970-01-01 was a Thursday. */
    memcpy(buffer, dayNames[((days % 7) + 7 + 4) % 7], 3);
    buffer[3] = ',';
    buffer[4] = ' ';
    buffer = PutDigits(buffer + 5, date.day, 2);
    *buffer++ = ' ';
    memcpy(buffer, monthNames[date.month], 3);
    buffer[3] = ' ';
    buffer = PutDigits(buffer + 4, MAX(0, MIN(date.year, 9999)), 4);
    *buffer++ = ' ';
    buffer = PutDigits(buffer, rest / 3600, 2);
    *buffer++ = ':';
    buffer = PutDigits(buffer, rest / 60 % 60, 2);
    *buffer++ = ':';
    buffer = PutDigits(buffer, rest % 60, 2);
    memcpy(buffer, " GMT", 5);
}

const char *
NsHttpDateNow(void)
{
    static _Thread_local char   text[NS_HTTP_DATE_LENGTH + 1];
    static _Thread_local time_t textSecond = -1;
    struct timespec             now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != textSecond) {
        NsHttpDate(text, now.tv_sec);
        textSecond = now.tv_sec;
    }
    return text;
}

bool
NsHttpDateParse(const char *text, time_t *secondsPtr)
{
    Date date = {0};

    text = NsSkipSpace(text);
    if (!(strchr(text, ',') != NULL ? ParseWithComma(text, &date)
                                    : ParseWithoutComma(text, &date))
        || date.year < 1970) {
        return false;
    }
    *secondsPtr =
        (time_t) (DayOfDate(date.year, date.month, date.day) * DAY_SECONDS
                  + date.hour * 3600 + date.minute * 60 + date.second);
    return true;
}

char *
Ns_HttpTime(Ns_DString *dsPtr, time_t *secondsPtr)
{
    char text[NS_HTTP_DATE_LENGTH + 1];

    NsHttpDate(text, secondsPtr == NULL ? time(NULL) : *secondsPtr);
    return Ns_DStringNAppend(dsPtr, text, NS_HTTP_DATE_LENGTH);
}

time_t
Ns_ParseHttpTime(const char *text)
{
    time_t seconds;

    return NsHttpDateParse(text, &seconds) ? seconds : 0;
}

/*
 * Civil date of a day counted from 1970-01-01.  Years start in March here, so
 * that the leap day is a year's last.
 */
static void
DateOfDay(int64_t days, Date *datePtr)
{
    int64_t fromMarch0 = days + 719468; /* Since 0000-03-01. */
    int64_t era, dayOfEra, yearOfEra, dayOfYear, month;

    era = (fromMarch0 >= 0 ? fromMarch0 : fromMarch0 - 146096) / 146097;
    dayOfEra = fromMarch0 - era * 146097;
    yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524
                 - dayOfEra / 146096)
        / 365;
    dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    month = (5 * dayOfYear + 2) / 153; /* 0 is March. */
    datePtr->day = (int) (dayOfYear - (153 * month + 2) / 5 + 1);
    datePtr->month = (int) (month < 10 ? month + 2 : month - 10);
    datePtr->year = era * 400 + yearOfEra + (datePtr->month <= 1);
}

/*
 * The reverse; a day beyond the month's length counts on into the next.
 */
static int64_t
DayOfDate(int64_t year, int month, int day)
{
    int64_t era, yearOfEra, dayOfYear;

    year -= month <= 1;
    era = (year >= 0 ? year : year - 399) / 400;
    yearOfEra = year - era * 400;
    dayOfYear = (153 * (month > 1 ? month - 2 : month + 10) + 2) / 5 + day - 1;
    return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100
        + dayOfYear - 719468;
}

static char *
PutDigits(char *to, int64_t value, int nDigits)
{
    for (int i = nDigits - 1; i >= 0; i--) {
        to[i] = (char) ('0' + value % 10);
        value /= 10;
    }
    return to + nDigits;
}

/*
 * Sun, 06 Nov 1994 08:49:37 GMT  or  Sunday, 06-Nov-94 08:49:37 GMT
 */
static bool
ParseWithComma(const char *text, Date *datePtr)
{
    int  year;
    char separator;

    text = strchr(text, ',') + 1;
    text = NsSkipSpace(text);
    if (!TakeNumber(&text, 1, 2, &datePtr->day)) {
        return false;
    }
    separator = *text;
    if ((separator != ' ' && separator != '-') || !TakeChar(&text, separator)
        || !TakeName(&text, &datePtr->month) || !TakeChar(&text, separator)) {
        return false;
    }
    if (separator == ' ') {
        if (!TakeNumber(&text, 4, 4, &year)) {
            return false;
        }
    } else {
        const char *start = text;

        if (!TakeNumber(&text, 2, 4, &year) || text - start == 3) {
            return false;
        }
        if (text - start == 2) {
            year += year < 70 ? 2000 : 1900;
        }
    }
    datePtr->year = year;
    return TakeChar(&text, ' ') && TakeClock(&text, datePtr) && TakeZone(&text);
}

/*
 * Sun Nov  6 08:49:37 1994
 */
static bool
ParseWithoutComma(const char *text, Date *datePtr)
{
    int year;

    while (NsIsAlpha(*text)) {
        text++;
    }
    if (!TakeChar(&text, ' ')) {
        return false;
    }
    text = NsSkipSpace(text);
    if (!TakeName(&text, &datePtr->month) || !TakeChar(&text, ' ')) {
        return false;
    }
    text = NsSkipSpace(text);
    if (!TakeNumber(&text, 1, 2, &datePtr->day) || !TakeChar(&text, ' ')
        || !TakeClock(&text, datePtr) || !TakeChar(&text, ' ')) {
        return false;
    }
    text = NsSkipSpace(text);
    if (!TakeNumber(&text, 4, 4, &year)) {
        return false;
    }
    datePtr->year = year;
    return TakeZone(&text);
}

/*
 * Each Take function reads its item and moves behind it; false if it is not
 * there or out of range.
 */
static bool
TakeName(const char **textPtr, int *monthPtr)
{
    for (int i = 0; i < 12; i++) {
        if (strncasecmp(*textPtr, monthNames[i], 3) == 0) {
            *textPtr += 3;
            *monthPtr = i;
            return true;
        }
    }
    return false;
}

static bool
TakeNumber(const char **textPtr, int minDigits, int maxDigits, int *valuePtr)
{
    const char *start = *textPtr, *p = start;
    int         value = 0;

    while (NsIsDigit(*p) && p - start < maxDigits) {
        value = value * 10 + (*p - '0');
        p++;
    }
    *textPtr = p;
    *valuePtr = value;
    return p - start >= minDigits && !NsIsDigit(*p);
}

static bool
TakeClock(const char **textPtr, Date *datePtr)
{
    *textPtr = NsSkipSpace(*textPtr);
    return TakeNumber(textPtr, 1, 2, &datePtr->hour) && datePtr->hour <= 23
        && TakeChar(textPtr, ':') && TakeNumber(textPtr, 2, 2, &datePtr->minute)
        && datePtr->minute <= 59 && TakeChar(textPtr, ':')
        && TakeNumber(textPtr, 2, 2, &datePtr->second) && datePtr->second <= 59
        && datePtr->day >= 1 && datePtr->day <= 31;
}

static bool
TakeChar(const char **textPtr, char c)
{
    if (**textPtr != c) {
        return false;
    }
    (*textPtr)++;
    return true;
}

/*
 * Whatever the zone says, it is GMT.  Nothing may follow it, except that old
 * browsers append `; length=N`.
 */
static bool
TakeZone(const char **textPtr)
{
    *textPtr = NsSkipSpace(*textPtr);
    while (NsIsAlpha(**textPtr) || **textPtr == '+' || **textPtr == '-'
           || NsIsDigit(**textPtr)) {
        (*textPtr)++;
    }
    *textPtr = NsSkipSpace(*textPtr);
    return **textPtr == '\0' || **textPtr == ';';
}
