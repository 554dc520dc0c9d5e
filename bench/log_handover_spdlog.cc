/* SPDX-License-Identifier: MPL-2.0 */
// log_handover_spdlog.cc --
//
//      What handing one line to spdlog's asynchronous logger costs the caller.
//
//      log_handover_spdlog DIRECTORY CALLS THREADS RATE ?-histogram?
//
//      One line for each of record (255 bytes and the newline, no pattern) and
//      line (a message with time and thread).

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <string>

#include "producers.h"

static std::string text;

static void
Put(void *arg)
{
    static_cast<spdlog::logger *>(arg)->info(text);
}

static void
Run(const char *name, BenchRun run, const std::string &file, size_t bytes,
    const char *pattern, int showsAll)
{
    // 256 Ki entries are about the 64 MiB that the other log has.
    spdlog::init_thread_pool(256 * 1024, 1);
    auto logger = spdlog::basic_logger_mt<spdlog::async_factory>(name, file);

    logger->set_pattern(pattern);
    text.assign(bytes, 'r');
    run.put = Put;
    run.arg = logger.get();
    BenchProduceAll(stdout, name, &run, showsAll);
    logger.reset();
    spdlog::shutdown();
}

int
main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: log_handover_spdlog DIRECTORY CALLS THREADS"
                " RATE ?-histogram?\n");
        return 1;
    }
    BenchRun run = {};
    run.nCalls = atoll(argv[2]);
    run.nThreads = std::min(std::max(atoi(argv[3]), 1), BENCH_MAX_THREADS);
    run.rate = atof(argv[4]);
    const std::string directory = argv[1];
    Run("record", run, directory + "/spdlog.records", 255, "%v", argc > 5);
    Run("line", run, directory + "/spdlog.lines", 54,
        "[%d/%b/%Y:%H:%M:%S][%P.%t][main] Notice: %v", argc > 5);
    return 0;
}
