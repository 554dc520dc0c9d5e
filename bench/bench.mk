# SPDX-License-Identifier: MPL-2.0
# Programs that the scripts in bench/ run; they make them when they need them.

BENCH_HEADERS = bench/measure.h bench/producers.h bench/lines.h bench/engine.h

obj/bench/%: bench/%.c $(BENCH_HEADERS) nsd/libnsd.so
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -o $@ $(filter %.c %.o,$^) -Lnsd -lnsd -Wl,-rpath,$(CURDIR)/nsd \
	    -Wl,--push-state,--no-as-needed $(TCMALLOC_LIBS) -Wl,--pop-state $(LIBS)

obj/bench/%: bench/%.cc $(BENCH_HEADERS) config.mk
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -D_GNU_SOURCE -g -pthread $(OPTIMIZE) -Wall -Wextra \
	    -o $@ $< -lspdlog -lfmt

obj/bench/kafka_producer: LIBS += $(RDKAFKA_LIBS)
