# Programs that the scripts in bench/ run; they make them when they need them.

obj/bench/%: bench/%.c bench/measure.h bench/producers.h nsd/libnsd.so
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -o $@ $< -Lnsd -lnsd -Wl,-rpath,$(CURDIR)/nsd \
	    -Wl,--push-state,--no-as-needed $(TCMALLOC_LIBS) -Wl,--pop-state $(LIBS)

obj/bench/%: bench/%.cc bench/measure.h bench/producers.h config.mk
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -D_GNU_SOURCE -g -pthread $(OPTIMIZE) -Wall -Wextra \
	    -o $@ $< -lspdlog -lfmt
