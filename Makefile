# SPDX-License-Identifier: MPL-2.0
# The whole build, without recursion.
#
#   make help    the goals
#
# The rooms of nsd/ stand in one line; each may use only what is to its left.
ROOMS   = base http log/ring log/stream log/sink log/target log process net dispatch request tcl adp
MODULES = nssock nsssl nslog nslogsqlite nslogpostgresql nslogkafka nscp nsperm nscgi nsdb nsdbsqlite nsdbpg nsproxy nsredis
PORT    = 8080
HOST    =
# make V=1 shows the commands.
Q       = $(if $(V),,@)

# The packages of a goal are installed before configure looks for them.
GOALS_WITH_TESTS = test test-full retest check-asan check-tsan check-clang coverage fuzz obj/tests/%
# One goal installs, also where several would.
TEST_PACKAGES = packages-$(if $(filter test-full,$(MAKECMDGOALS)),optional,test)
GROUPS = build $(if $(filter $(GOALS_WITH_TESTS),$(MAKECMDGOALS)),test)

GOALS_WITHOUT_CONFIG = clean distclean packages packages-% help html internals format dist deb
ifneq ($(filter-out $(GOALS_WITHOUT_CONFIG),$(or $(MAKECMDGOALS),all)),)
include config.mk
endif

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wformat=2 -Wvla \
	-Wundef -Wno-unused-parameter
# What is built: the release, and the commit; an archive of a release has a file
# of that name.
RELEASE  := $(shell cat VERSION)
REVISION := $(or $(shell cat REVISION 2>/dev/null || git describe --always --dirty --exclude='*' 2>/dev/null),unknown)
# -I nsd/.. before the system: #include "base/arena.h", #include "ns.h".
INCLUDES = -Insd -Iinclude $(TCL_INCLUDE)
COMPILE  = $(CC) -std=c11 -D_GNU_SOURCE $(DEFINES) -g -fPIC -pthread \
	-fno-omit-frame-pointer -fno-strict-aliasing \
	-fno-semantic-interposition $(OPTIMIZE) $(SANITIZE) $(WARNINGS) $(INCLUDES)
LIBS     = $(TCL_LIBS) $(SSL_LIBS) $(NGHTTP2_LIBS) $(Z_LIBS) $(BROTLI_LIBS) $(ZSTD_LIBS) \
	$(ARGON2_LIBS) $(CRYPT_LIBS) -lrt -ldl -lm -pthread

ROOM_SOURCES   = $(foreach r,$(ROOMS),$(sort $(wildcard nsd/$(r)/*.c)))
ROOM_OBJECTS   = $(ROOM_SOURCES:%.c=obj/%.o)
# Starts and stops the rooms; in the library for programs that embed the server.
MAIN_OBJECTS   = obj/nsd/nsmain.o
# What nsdb and the drivers of databases share.
DB_OBJECTS     = $(patsubst %.c,obj/%.o,$(sort $(wildcard nsdb/lib/*.c)))
MODULE_OBJECTS = $(DB_OBJECTS) $(foreach m,$(MODULES),$(patsubst %.c,obj/%.o,$(sort $(wildcard $(m)/*.c))))
UNIT_SOURCES   = $(sort $(wildcard tests/unit/*_test.c))
UNIT_TESTS     = $(UNIT_SOURCES:tests/unit/%.c=obj/tests/unit/%)
STRESS_SOURCES = $(sort $(wildcard tests/stress/*_stress.c))
STRESS_TESTS   = $(STRESS_SOURCES:tests/stress/%.c=obj/tests/stress/%)
FUZZ_SOURCES   = $(sort $(wildcard tests/fuzz/fuzz_*.c))
COMPILED_SOURCES = $(ROOM_SOURCES) nsd/nsmain.c nsd/main.c $(MODULE_OBJECTS:obj/%.o=%.c) \
	$(UNIT_SOURCES) $(STRESS_SOURCES) $(FUZZ_SOURCES)

BUILT_MODULES  = $(foreach m,$(filter-out $(if $(PQ_LIBS),,nslogpostgresql nsdbpg) $(if $(RDKAFKA_LIBS),,nslogkafka) $(if $(HIREDIS_LIBS),,nsredis),$(MODULES)),$(m)/$(m).so)

# Programs have the library from their start, so its thread-local variables need
# no call to be found; and nobody asks for what it was built.
$(ROOM_OBJECTS) $(MAIN_OBJECTS): private COMPILE += -ftls-model=initial-exec -DNS_NO_MODULE_NOTES
# The files that look into an interpreter's insides.
obj/nsd/tcl/globals.o obj/nsd/tcl/statesum.o: private COMPILE += $(TCL_PRIVATE)
obj/nslogpostgresql/%.o obj/nsdbpg/%.o: private COMPILE += $(PQ_INCLUDE)

.PHONY: all build run test test-full retest test-fault install uninstall check check-asan check-tsan check-clang layers lint internals \
	coverage coverage-report bench dist deb format format-prove clean distclean packages packages-test \
	packages-optional packages-bench help html fuzz always

all: build

build: nsd/nsd nsd/init.tcl $(BUILT_MODULES) nsproxy/nsproxy-helper | run/logs ## [use] build the server in the tree (V=1: the commands)

# The home of a server that runs from the tree.
run/logs:
	@mkdir -p $@

help: ## [use] this list
	@tools/help

# Packages.  The script does nothing, and needs no network, when all are there.
packages: ## [package] install the Debian packages that building needs
	@tools/packages build
packages-test: ## [package] and those of the tests
	@tools/packages build test
packages-optional: ## [package] and those of tests that are skipped without them
	@tools/packages build test optional
packages-bench: ## [package] and those of the benchmarks
	@tools/packages build test bench

configure: configure.in
	@tools/packages $(GROUPS)
	autoconf -o configure configure.in

config.mk: configure config.mk.in $(wildcard include/Makefile.*.in) nsd/base/config.h.in
	@if test -x ./config.status; then ./config.status --recheck && ./config.status; \
	else ./configure $(CONFIGURE_FLAGS); fi
	@touch $@

nsd/base/config.h: config.mk

obj/%.o: %.c config.mk
	@mkdir -p $(@D)
	@echo '  CC    $<'
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

obj/nsd/process/release.o: private COMPILE += -DNSD_RELEASE='"$(RELEASE)"' -DNSD_REVISION='"$(REVISION)"'
obj/nsd/process/release.o: obj/release
# Git may tell nothing to somebody who may only read the tree.
obj/release: always
	@mkdir -p $(@D)
	@echo '$(RELEASE) $(REVISION)' | cmp -s - $@ || test -e $@ -a ! -w $@ || echo '$(RELEASE) $(REVISION)' >$@

# What is linked gets its name in the end: a program that starts meanwhile has the old one.
nsd/libnsd.so: $(ROOM_OBJECTS) $(MAIN_OBJECTS)
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-Bsymbolic-functions \
	    -Wl,-soname,libnsd.so -o obj/$(@F).new $^ $(LIBS) && mv obj/$(@F).new $@

nsd/nsd: obj/nsd/main.o nsd/libnsd.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -rdynamic -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib' -o obj/$(@F).new obj/nsd/main.o \
	    -Lnsd -lnsd -Wl,--push-state,--no-as-needed $(TCMALLOC_LIBS) -Wl,--pop-state $(LIBS) && mv obj/$(@F).new $@

nsd/init.tcl: tcl/bin/init.tcl
	cp $< $@

nsdb/libnsdb.so: $(DB_OBJECTS) nsd/libnsd.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -shared -Wl,-Bsymbolic-functions -Wl,-soname,libnsdb.so -o obj/$(@F).new $(DB_OBJECTS) -Lnsd -lnsd && mv obj/$(@F).new $@

define MODULE_RULE
$(1)/$(1).so: $(patsubst %.c,obj/%.o,$(sort $(wildcard $(1)/*.c))) nsd/libnsd.so
	@echo '  LINK  $$@'
	$$(Q)$$(CC) $$(SANITIZE) $$(LDFLAGS) -shared -Wl,-Bsymbolic -o obj/$$(@F).new $$(filter %.o,$$^) -Lnsd -lnsd $$($(1)_LIBS) && mv obj/$$(@F).new $$@
endef
nsssl_LIBS = $(SSL_LIBS)
nsperm_LIBS = $(SSL_LIBS)
nslogsqlite_LIBS = $(SQLITE_LIBS)
nslogpostgresql_LIBS = $(PQ_LIBS)
nslogkafka_LIBS = $(RDKAFKA_LIBS) $(TCL_LIBS)
nsredis_LIBS = $(HIREDIS_LIBS) $(SSL_LIBS) $(TCL_LIBS)
# In the tree, and as it is installed.
# A library for C users, and the program that workers are.
PROXY_OBJECTS = $(patsubst %.c,obj/%.o,$(sort $(wildcard nsproxy/lib/*.c)))
nsproxy_LIBS = -Lnsproxy -lnsproxy -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib'
nsproxy/nsproxy.so: nsproxy/libnsproxy.so

nsproxy/libnsproxy.so: $(PROXY_OBJECTS) nsd/libnsd.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -shared -Wl,-Bsymbolic-functions -Wl,-soname,libnsproxy.so -Wl,-rpath,'$$ORIGIN/../nsd:$$ORIGIN' -o obj/$(@F).new $(PROXY_OBJECTS) -Lnsd -lnsd && mv obj/$(@F).new $@

nsproxy/nsproxy-helper: obj/nsproxy/helper/nsproxy-helper.o nsproxy/libnsproxy.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../nsd:$$ORIGIN/../lib' -o obj/$(@F).new $< \
	    -Lnsproxy -lnsproxy -Lnsd -lnsd $(LIBS) && mv obj/$(@F).new $@

DB_LIBS = -Lnsdb -lnsdb -Wl,-rpath,'$$ORIGIN/../nsdb:$$ORIGIN/../lib'
nsdb_LIBS = $(DB_LIBS)
nsdbsqlite_LIBS = $(DB_LIBS) $(SQLITE_LIBS)
nsdbpg_LIBS = $(DB_LIBS) $(PQ_LIBS)
nsdb/nsdb.so nsdbsqlite/nsdbsqlite.so nsdbpg/nsdbpg.so: nsdb/libnsdb.so
$(foreach m,$(MODULES),$(eval $(call MODULE_RULE,$(m))))

# Tests.
# They include headers, and some of them sources, of the server.
obj/tests/unit/%: tests/unit/%.c nsd/libnsd.so
	@mkdir -p $(@D)
	@echo '  TEST  $<'
	$(Q)$(COMPILE) -MMD -MP -MF $@.d -MT $@ -o $@ $< $(filter %.o,$^) -Lnsd -lnsd -Wl,-rpath,$(CURDIR)/nsd -lcmocka $(LIBS) $(SQLITE_LIBS)
$(UNIT_TESTS): | $(TEST_PACKAGES)

obj/tests/stress/%: tests/stress/%.c nsd/libnsd.so
	@mkdir -p $(@D)
	@echo '  TEST  $<'
	$(Q)$(COMPILE) -MMD -MP -MF $@.d -MT $@ -o $@ $< -Lnsd -lnsd -Wl,-rpath,$(CURDIR)/nsd $(LIBS)

test: $(TEST_PACKAGES) build $(UNIT_TESTS) $(STRESS_TESTS) ## [test] build and run all tests (TESTFLAGS="-only command/*" for some)
	@$(TCLSH) tests/run.tcl $(TESTFLAGS)
test-full: $(TEST_PACKAGES) build $(UNIT_TESTS) $(STRESS_TESTS) ## [test] the same, with the packages without which some are skipped
	@$(TCLSH) tests/run.tcl $(TESTFLAGS)

# What failed last, once more.
retest: packages-test build $(UNIT_TESTS) $(STRESS_TESTS) ## [test] run the suites again that failed last
	@$(TCLSH) tests/run.tcl -again $(TESTFLAGS)

# The fault suite for as long as one likes; the short form is among the tests.
SECONDS = 3600
SEED    =
test-fault: packages-test build ## [test] failing system calls, limits, kills, for SECONDS=7200 with SEED=1
	@$(TCLSH) tests/fault/long.tcl $(SECONDS) $(SEED)

# A variant is built and tested in a copy of the tree.
check-asan: packages-test ## [test] the tests under AddressSanitizer and UBSan
	@tools/variant asan --enable-asan -- test
check-tsan: packages-test ## [test] the tests under ThreadSanitizer
	@tools/variant tsan --enable-tsan -- test
check-clang: packages-test ## [test] build everything with clang, whose warnings are errors, too
	@tools/packages fuzz
	@tools/variant clang CC=clang -- build $(UNIT_TESTS) $(STRESS_TESTS)
coverage: packages-test ## [test] which lines the tests reach
	@tools/packages coverage
	@tools/variant coverage --enable-coverage -- test coverage-report
coverage-report:
	@gcovr -r . --exclude tests --print-summary --html-details obj/coverage.html

fuzz: packages-test ## [test] the parsers under libFuzzer
	@tools/packages fuzz
	@tools/fuzz $(FUZZ_SOURCES)

bench: packages-bench build ## [test] requests per second and latency, next to peers
	@bench/run

run: packages build ## [use] build and start the server (PORT=8080, HOST=0.0.0.0 for all)
	@exec tools/run-server $(PORT) "$(HOST)"

layers: build ## [develop] prove the order of the rooms
	@CC="$(CC)" LIBS="$(LIBS)" SANITIZE="$(SANITIZE)" MODULES="$(MODULES)" tools/layers $(ROOMS)

# What doc/internals has from the code.
internals: ## [develop] renew what doc/internals has from the code
	@tools/locks -write

lint: ## [develop] the form of the sources
	@mkdir -p obj
	@tools/lint

# What a change should pass before it is handed in.
check: lint layers test ## [test] what a change has to pass: lint, layers, test

# The C sources as .clang-format describes them.
format: ## [develop] the C sources as .clang-format describes them
	@tools/packages lint
	@tools/format
format-prove: config.mk ## [develop] that formatting changes no code
	@tools/packages lint
	@COMPILE='$(COMPILE) $(TCL_PRIVATE)' tools/format -prove

# For clangd and other tools that read sources.
compile_commands.json: Makefile config.mk $(COMPILED_SOURCES)
	@for file in $(COMPILED_SOURCES); do \
	    echo ',{"directory": "$(CURDIR)", "file": "'$$file'",'; \
	    echo ' "command": "$(subst ",\",$(COMPILE) $(TCL_PRIVATE)) -c '$$file'"}'; \
	done | sed '1s/^,/[/; $$s/$$/]/' >$@

# To be read without a server.
html: ## [use] the manual as HTML, in obj/manual
	@tools/manual obj/manual
	@echo "obj/manual/index.html"

install: build ## [use] copy it below the prefix of configure, /usr/local/ns
	@PREFIX="$(DESTDIR)$(PREFIX)" OWNER="$(OWNER)" tools/install
uninstall: ## [use] remove what was installed and is unchanged
	@PREFIX="$(DESTDIR)$(PREFIX)" tools/install -uninstall

dist: ## [package] the archive of a release, the same bytes for the same commit
	@tools/dist
deb: ## [package] Debian packages
	@tools/deb

clean: ## [use] remove what was built
	rm -rf obj nsd/nsd nsd/libnsd.so nsd/init.tcl nsdb/libnsdb.so nsproxy/libnsproxy.so nsproxy/nsproxy-helper \
	    $(foreach m,$(MODULES),$(m)/$(m).so)

distclean: clean ## [use] and what configure wrote, and run/
	rm -rf build-* configure config.mk include/Makefile.module include/Makefile.global include/Makefile.build config.status config.log autom4te.cache \
	    nsd/base/config.h configure~ compile_commands.json run

include bench/bench.mk

-include $(ROOM_OBJECTS:.o=.d) $(MAIN_OBJECTS:.o=.d) $(MODULE_OBJECTS:.o=.d) obj/nsd/main.d
-include $(PROXY_OBJECTS:.o=.d) obj/nsproxy/helper/nsproxy-helper.d
-include $(UNIT_TESTS:=.d) $(STRESS_TESTS:=.d)
