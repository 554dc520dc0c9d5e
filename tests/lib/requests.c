/* SPDX-License-Identifier: MPL-2.0
 * requests.c --
 *
 *      Writes generated requests, each behind a line about it:
 *
 *          LENGTH valid|invalid|incomplete {STATUS ...} METHOD KEEPS FOREIGN
 *
 *      requests FIRST NUMBER
 */

#include "../fuzz/requests.h"

int
main(int argc, char *argv[])
{
    static const RequestLimits limits = {
        .maxLine = 256, .maxHead = 1024, .maxFields = 12, .maxBody = 1048576};
    uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 10) : 1u;
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1u;

    for (uint64_t seed = first; seed < first + n; seed++) {
        static Request request;
        Verdict        verdict;

        MakeRequest(&request, seed);
        verdict = JudgeRequest(request.bytes, request.length, &limits);
        if (verdict.nFaults == 0 && !verdict.isIncomplete) {
            /* What is behind it would be another request. */
            request.length = verdict.end;
        }
        printf("%zu %s {", request.length,
               verdict.nFaults > 0        ? "invalid"
                   : verdict.isIncomplete ? "incomplete"
                                          : "valid");
        for (int i = 0; i < verdict.nFaults; i++) {
            printf(" %d", verdict.faults[i]);
        }
        printf("} {%s} %d %d\n", verdict.nFaults > 0 ? "" : verdict.method,
               !verdict.closes && !verdict.isChunked, verdict.isForeign);
        fwrite(request.bytes, 1, request.length, stdout);
    }
    return 0;
}
