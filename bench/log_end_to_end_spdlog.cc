/* SPDX-License-Identifier: MPL-2.0 */
// log_end_to_end_spdlog.cc --
//
//      Lines through spdlog's asynchronous logger into a file, until the last one is
//      synced.
//
//      log_end_to_end_spdlog DIRECTORY KIND LINES THREADS IDLE
//
//      KIND: lines (256 bytes, no pattern), access (the parts of an access line, formatted by
//      spdlog).

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <string>
#include <thread>
#include <vector>

#include "lines.h"

static const char referer[] = "http://www.example.com/index.html";
static const char agent[] =
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
static const size_t timeBytes =
    sizeof("127.0.0.1 - - [21/Nov/2026:00:07:00 +0000] ") - 1;

static BenchLine lines[BENCH_MAX_WRITERS], expected[BENCH_MAX_WRITERS];

static void
PutLines(spdlog::logger *logger, BenchLine *line, long n)
{
    for (long i = 0; i < n; i++) {
        logger->info(spdlog::string_view_t(line->text, line->length - 1));
        BenchLineNext(line);
    }
}

static void
PutAccess(spdlog::logger *logger, BenchLine *line, long n)
{
    const char *request = line->text + 1;
    size_t requestBytes = (size_t) (strchr(request, '"') - request);

    for (long i = 0; i < n; i++) {
        logger->info("\"{}\" {} {} \"{}\" \"{}\"",
                     spdlog::string_view_t(request, requestBytes), 200, 1234,
                     referer, agent);
        BenchLineNext(line);
    }
}

int
main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: log_end_to_end_spdlog DIRECTORY lines|access"
                " LINES THREADS IDLE\n");
        return 1;
    }
    const bool isAccess = strcmp(argv[2], "access") == 0;
    const int  nThreads = std::min(std::max(atoi(argv[4]), 1),
                                   BENCH_MAX_WRITERS);
    const long nLines = atol(argv[3]) / nThreads;
    const std::string file = std::string(argv[1]) + "/spdlog.lines";
    std::vector<std::thread> threads;
    std::vector<double> seconds(nThreads);
    BenchEnd end = {};
    static char buffer[65536];
    spdlog::file_event_handlers handlers;

    // As large a buffer as the other log has.
    handlers.after_open = [](spdlog::filename_t, std::FILE *fp) {
        setvbuf(fp, buffer, _IOFBF, sizeof(buffer));
    };
    for (int i = 0; i < nThreads; i++) {
        if (isAccess) {
            BenchLineInit(&lines[i], i, "\"GET /page",
                          (std::string(" HTTP/1.1\" 200 1234 \"") + referer
                           + "\" \"" + agent + "\"\n").c_str());
        } else {
            BenchLineInitPlain(&lines[i], i);
        }
        expected[i] = lines[i];
    }
    BenchWarm(file.c_str(), (size_t) (nLines * nThreads) * BENCH_LINE_BYTES);
    // 256 Ki entries are about the 64 MiB that the other log has.
    spdlog::init_thread_pool(256 * 1024, 1);
    auto logger = std::make_shared<spdlog::async_logger>(
        "bench", std::make_shared<spdlog::sinks::basic_file_sink_mt>(
            file, false, handlers),
        spdlog::thread_pool(), spdlog::async_overflow_policy::block);
    logger->set_pattern(isAccess
                        ? "127.0.0.1 - - [%d/%b/%Y:%H:%M:%S +0000] %v" : "%v");

    double  all = BenchCpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
    int64_t start = BenchNow();
    for (int i = 0; i < nThreads; i++) {
        threads.emplace_back([&, i] {
            (isAccess ? PutAccess : PutLines)(logger.get(), &lines[i], nLines);
            seconds[i] = BenchCpuSeconds(CLOCK_THREAD_CPUTIME_ID);
        });
    }
    for (int i = 0; i < nThreads; i++) {
        threads[i].join();
        end.putSeconds += seconds[i];
    }
    // This writes out everything and closes the file, so another handle syncs.
    logger.reset();
    spdlog::shutdown();
    int fd = open(file.c_str(), O_WRONLY);
    if (fd < 0 || fdatasync(fd) != 0) {
        perror(file.c_str());
        return 1;
    }
    end.nanos = BenchNow() - start;
    end.logSeconds = BenchCpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - all
        - end.putSeconds;
    close(fd);
    end.name = argv[2];
    end.peakKb = BenchPeakKb();
    end.nLines = BenchVerify(file.c_str(), expected, nThreads, nLines,
                             isAccess ? timeBytes : 0, &end.sum);
    unlink(file.c_str());
    if (end.nLines < 0) {
        return 1;
    }
    BenchPrintEnd(stdout, &end, 0);
    return 0;
}
