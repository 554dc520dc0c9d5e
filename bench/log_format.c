/* SPDX-License-Identifier: MPL-2.0
 * log_format.c --
 *
 *      How fast a thread makes lines of access records: in the built-in form,
 *      and by templates.
 *
 *      Prints for each: name, lines per second.
 */

#include "engine.h"
#include "measure.h"

#include "log/init.h"
#include "log/stream/stream.h"
#include "log/stream/template.h"
#include "nsaccessline.h"

#define RECORDS 64
#define ROUNDS  200
#define LINES   20000

static const struct {
    const char *name;
    const char *text; /* NULL: built in. */
} forms[] = {
    {"builtin", NULL},
    {"combined",
     "$peer - $user [$localtime] \"$request\" $status $bytes "
     "\"$referer\" \"$agent\""},
    {"short", "[$localtime] $peer \"$method $path\" $status $duration"},
    {"logfmt", "escape=logfmt peer=$peer request=$request status=$status"}};

static _Alignas(8) char bytes[RECORDS][512];
static Ns_LogRecord records[RECORDS];

static void
MakeRecords(void)
{
    static const char *const texts[] = {
        "127.0.0.1", "", "GET /page.tcl?n=1234 HTTP/1.1",
        "http://www.example.com/start/page.html",
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 "
        "Firefox/128.0"};

    for (int i = 0; i < RECORDS; i++) {
        Ns_AccessRecord r = {
            .flags = NS_ACCESS_COMBINED | NS_ACCESS_FMTTIME,
            .status = 200,
            .bytesSent = 4711 + i,
            .start = INT64_C(1795219621704179),
            .queueSpan = 17,
            .runSpan = 300 + i};
        uint32_t *lengths = &r.peerLength;
        size_t    n = sizeof(r);

        for (int j = 0; j < 5; j++) {
            lengths[j] = (uint32_t) strlen(texts[j]);
            memcpy(bytes[i] + n, texts[j], lengths[j]);
            n += lengths[j];
        }
        memcpy(bytes[i], &r, sizeof(r));
        records[i] = (Ns_LogRecord){.stream = "access/s/m",
                                    .time = INT64_C(1795219621704535999),
                                    .bytes = bytes[i],
                                    .length = n};
    }
}

/*
 * The best of some rounds, as others use the machine.
 */
static double
Measure(const NsTemplate *templatePtr, const NsFieldProcs *procsPtr)
{
    static char buffer[65536];
    int64_t     best = INT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = BenchNow();
        size_t  total = 0;

        for (int i = 0; i < LINES; i++) {
            const Ns_LogRecord *recordPtr = &records[i % RECORDS];

            total += templatePtr == NULL
                ? Ns_LogAccessLine(buffer, sizeof(buffer), recordPtr, NULL)
                : NsTemplateLine(templatePtr, procsPtr, recordPtr, buffer,
                                 sizeof(buffer));
        }
        if (total == 0) {
            exit(1);
        }
        best = MIN(best, BenchNow() - start);
    }
    return LINES * 1e9 / (double) best;
}

int
main(void)
{
    const NsFieldProcs *procsPtr;

    NsLogInit();
    procsPtr = NsStreamFields(Ns_LogAccessStream("access/s/m"));
    MakeRecords();
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        NsTemplate *templatePtr = NULL;
        Ns_DString  error;

        Ns_DStringInit(&error);
        if (forms[i].text != NULL) {
            templatePtr = NsTemplateCreate(forms[i].text, &error);
        }
        printf("%s %.0f\n", forms[i].name, Measure(templatePtr, procsPtr));
        NsTemplateDestroy(&templatePtr);
        Ns_DStringFree(&error);
    }
    return 0;
}
