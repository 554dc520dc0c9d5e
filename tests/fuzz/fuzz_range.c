/* SPDX-License-Identifier: MPL-2.0
 * fuzz_range.c --
 *
 *      Range, If-Range, dates, and Accept-Encoding: ranges stay inside the
 *      body.
 */

#include "fuzz.h"

#include "http/date.h"
#include "http/negotiate.h"
#include "http/precondition.h"
#include "http/range.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    uint64_t      bodyBytes = length > 0 ? data[0] : 0;
    char         *text = FuzzString(data + (length > 0), length - (length > 0));
    NsRange       ranges[NS_MAX_RANGES];
    NsRangeStatus status;
    int           n;
    time_t        seconds;
    char          date[NS_HTTP_DATE_LENGTH + 1];
    NsValidators  validators = {"\"tag\"", 1000000};
    NsConditions  conditions = {text, text, text, text};
    int           refusal;

    if (bodyBytes == 255) {
        bodyBytes = UINT64_MAX / 2;
    }
    status = NsRangeParse(text, bodyBytes, ranges, &n);
    FuzzAssert((status == NS_RANGE_SOME) == (n > 0) && n <= NS_MAX_RANGES);
    for (int i = 0; i < n; i++) {
        FuzzAssert(ranges[i].first <= ranges[i].last);
        FuzzAssert(ranges[i].last < bodyBytes);
    }
    if (NsHttpDateParse(text, &seconds)) {
        time_t again;

        FuzzAssert(seconds >= 0);
        NsHttpDate(date, seconds);
        FuzzAssert(strlen(date) == NS_HTTP_DATE_LENGTH);
        if (seconds < INT64_C(253402300800)) {
            FuzzAssert(NsHttpDateParse(date, &again) && again == seconds);
        }
    }
    NsJudgeIfRange(text, &validators);
    refusal = NsJudgeConditions(&conditions, &validators, true);
    FuzzAssert(refusal == 0 || refusal == 304 || refusal == 412);
    NsAcceptsGzip(text);
    NsAcceptsCoding(text, "br");
    free(text);
    return 0;
}
