# SPDX-License-Identifier: MPL-2.0
# The whole build, without recursion.
#
#   make run     build and start the server on port 8080 of this machine (PORT=9000 for
#                another port, ADDRESS=0.0.0.0 for the whole network)
#   make test    build and run all tests (TESTFLAGS="-only command/*" for some)
#   make test-fault SECONDS=7200 SEED=1   failing system calls, limits, kills
#   make install copy it below the prefix of configure, /usr/local/ns
#   make layers lint internals check-asan check-tsan fuzz coverage bench: see CONTRIBUTING.md
#
# The rooms of nsd/ stand in one line; each may use only what is to its left.
ROOMS   = base http log/ring log/stream log/sink log/target log process net dispatch request tcl adp
MODULES = nssock nsssl nslog nslogsqlite nslogpostgresql nscp nsperm nscgi nsdb nsdbsqlite nsdbpg nsproxy
PORT    = 8080
ADDRESS =
# make V=1 shows the commands.
Q       = $(if $(V),,@)

# The packages of a goal are installed before configure looks for them.
GOALS_WITH_TESTS = test check-asan check-tsan coverage fuzz obj/tests/%
GROUPS = build $(if $(filter $(GOALS_WITH_TESTS),$(MAKECMDGOALS)),test)

GOALS_WITHOUT_CONFIG = clean distclean packages packages-% help internals format
ifneq ($(filter-out $(GOALS_WITHOUT_CONFIG),$(or $(MAKECMDGOALS),all)),)
include config.mk
endif

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wformat=2 -Wvla \
	-Wundef -Wno-unused-parameter
# -I nsd/.. before the system: #include "base/arena.h", #include "ns.h".
INCLUDES = -Insd -Iinclude $(TCL_INCLUDE)
COMPILE  = $(CC) -std=c11 -D_GNU_SOURCE $(DEFINES) -g -fPIC -pthread \
	-fno-omit-frame-pointer -fno-strict-aliasing \
	-fno-semantic-interposition $(OPTIMIZE) $(SANITIZE) $(WARNINGS) $(INCLUDES)
LIBS     = $(TCL_LIBS) $(SSL_LIBS) $(Z_LIBS) $(BROTLI_LIBS) $(ARGON2_LIBS) $(CRYPT_LIBS) \
	-lrt -ldl -lm -pthread

ROOM_SOURCES   = $(foreach r,$(ROOMS),$(sort $(wildcard nsd/$(r)/*.c)))
ROOM_OBJECTS   = $(ROOM_SOURCES:%.c=obj/%.o)
# The library is there from the start of the process, never loaded later.
$(ROOM_OBJECTS): COMPILE += -ftls-model=initial-exec
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

BUILT_MODULES  = $(foreach m,$(filter-out $(if $(PQ_LIBS),,nslogpostgresql nsdbpg),$(MODULES)),$(m)/$(m).so)

# Programs have the library from their start, so its thread-local variables need
# no call to be found.
$(ROOM_OBJECTS) $(MAIN_OBJECTS): private COMPILE += -ftls-model=initial-exec
# The one file that looks into an interpreter's insides.
obj/nsd/tcl/globals.o: private COMPILE += $(TCL_PRIVATE)
obj/nslogpostgresql/%.o obj/nsdbpg/%.o: private COMPILE += $(PQ_INCLUDE)

.PHONY: all build run test test-fault install check check-asan check-tsan layers lint internals coverage bench \
	format format-prove clean distclean packages packages-test packages-optional packages-bench help fuzz

all: build

build: nsd/nsd nsd/init.tcl $(BUILT_MODULES) nsproxy/nsproxy-helper | run/logs

# The home of a server that runs from the tree.
run/logs:
	@mkdir -p $@

help:
	@sed -n 's/^#  *make /make /p' Makefile

# Packages.  The script does nothing, and needs no network, when all are there.
packages:
	@tools/packages build
packages-test:
	@tools/packages build test
packages-optional:
	@tools/packages build test optional
packages-bench:
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

nsd/libnsd.so: $(ROOM_OBJECTS) $(MAIN_OBJECTS)
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) -shared -Wl,-z,defs -Wl,-Bsymbolic-functions \
	    -Wl,-soname,libnsd.so -o $@ $^ $(LIBS)

nsd/nsd: obj/nsd/main.o nsd/libnsd.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) -rdynamic -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib' -o $@ obj/nsd/main.o \
	    -Lnsd -lnsd -Wl,--push-state,--no-as-needed $(TCMALLOC_LIBS) -Wl,--pop-state $(LIBS)

nsd/init.tcl: tcl/bin/init.tcl
	cp $< $@

nsdb/libnsdb.so: $(DB_OBJECTS) nsd/libnsd.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) -shared -Wl,-Bsymbolic-functions -Wl,-soname,libnsdb.so -o $@ $(DB_OBJECTS) -Lnsd -lnsd

define MODULE_RULE
$(1)/$(1).so: $(patsubst %.c,obj/%.o,$(sort $(wildcard $(1)/*.c))) nsd/libnsd.so
	@echo '  LINK  $$@'
	$$(Q)$$(CC) $$(SANITIZE) -shared -Wl,-Bsymbolic -o $$@ $$(filter %.o,$$^) -Lnsd -lnsd $$($(1)_LIBS)
endef
nsssl_LIBS = $(SSL_LIBS)
nsperm_LIBS = $(SSL_LIBS)
nslogsqlite_LIBS = $(SQLITE_LIBS)
nslogpostgresql_LIBS = $(PQ_LIBS)
# In the tree, and as it is installed.
# A library for C users, and the program that workers are.
PROXY_OBJECTS = $(patsubst %.c,obj/%.o,$(sort $(wildcard nsproxy/lib/*.c)))
nsproxy_LIBS = -Lnsproxy -lnsproxy -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib'
nsproxy/nsproxy.so: nsproxy/libnsproxy.so

nsproxy/libnsproxy.so: $(PROXY_OBJECTS) nsd/libnsd.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) -shared -Wl,-Bsymbolic-functions -Wl,-soname,libnsproxy.so -Wl,-rpath,'$$ORIGIN/../nsd:$$ORIGIN' -o $@ $(PROXY_OBJECTS) -Lnsd -lnsd

nsproxy/nsproxy-helper: obj/nsproxy/helper/nsproxy-helper.o nsproxy/libnsproxy.so
	@echo '  LINK  $@'
	$(Q)$(CC) $(SANITIZE) -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../nsd:$$ORIGIN/../lib' -o $@ $< \
	    -Lnsproxy -lnsproxy -Lnsd -lnsd $(LIBS)

DB_LIBS = -Lnsdb -lnsdb -Wl,-rpath,'$$ORIGIN/../nsdb:$$ORIGIN/../lib'
nsdb_LIBS = $(DB_LIBS)
nsdbsqlite_LIBS = $(DB_LIBS) $(SQLITE_LIBS)
nsdbpg_LIBS = $(DB_LIBS) $(PQ_LIBS)
nsdb/nsdb.so nsdbsqlite/nsdbsqlite.so nsdbpg/nsdbpg.so: nsdb/libnsdb.so
$(foreach m,$(MODULES),$(eval $(call MODULE_RULE,$(m))))

# Tests.
obj/tests/unit/%: tests/unit/%.c $(wildcard tests/unit/*.h) nsd/libnsd.so
	@mkdir -p $(@D)
	@echo '  TEST  $<'
	$(Q)$(COMPILE) -o $@ $< $(filter %.o,$^) -Lnsd -lnsd -Wl,-rpath,$(CURDIR)/nsd -lcmocka $(LIBS) $(SQLITE_LIBS)
$(UNIT_TESTS): | packages-test

obj/tests/stress/%: tests/stress/%.c nsd/libnsd.so
	@mkdir -p $(@D)
	@echo '  TEST  $<'
	$(Q)$(COMPILE) -o $@ $< -Lnsd -lnsd -Wl,-rpath,$(CURDIR)/nsd $(LIBS)

test: packages-test build $(UNIT_TESTS) $(STRESS_TESTS)
	@$(TCLSH) tests/run.tcl $(TESTFLAGS)

# The fault suite for as long as one likes; the short form is among the tests.
SECONDS = 3600
SEED    =
test-fault: packages-test build
	@$(TCLSH) tests/fault/long.tcl $(SECONDS) $(SEED)

# A variant is built and tested in a copy of the tree.
check-asan: packages-test
	@tools/variant asan --enable-asan -- test
check-tsan: packages-test
	@tools/variant tsan --enable-tsan -- test
coverage: packages-test
	@tools/packages coverage
	@tools/variant coverage --enable-coverage -- test coverage-report
coverage-report:
	@gcovr -r . --exclude tests --print-summary --html-details obj/coverage.html

fuzz: packages-test
	@tools/packages fuzz
	@tools/fuzz $(FUZZ_SOURCES)

bench: packages-bench build
	@bench/run

run: packages build
	@exec tools/run-server $(PORT) "$(ADDRESS)"

layers: build
	@CC="$(CC)" LIBS="$(LIBS)" SANITIZE="$(SANITIZE)" MODULES="$(MODULES)" tools/layers $(ROOMS)

# What doc/internals has from the code.
internals:
	@tools/locks -write

lint:
	@mkdir -p obj
	@tools/lint

# What a change should pass before it is handed in.
check: lint layers test

# The C sources as .clang-format describes them.
format:
	@tools/packages lint
	@tools/format
format-prove: config.mk
	@tools/packages lint
	@COMPILE='$(COMPILE) $(TCL_PRIVATE)' tools/format -prove

# For clangd and other tools that read sources.
compile_commands.json: Makefile config.mk $(COMPILED_SOURCES)
	@for file in $(COMPILED_SOURCES); do \
	    echo ',{"directory": "$(CURDIR)", "file": "'$$file'",'; \
	    echo ' "command": "$(subst ",\",$(COMPILE) $(TCL_PRIVATE)) -c '$$file'"}'; \
	done | sed '1s/^,/[/; $$s/$$/]/' >$@

install: build
	@PREFIX="$(DESTDIR)$(PREFIX)" tools/install

clean:
	rm -rf obj nsd/nsd nsd/libnsd.so nsd/init.tcl nsdb/libnsdb.so nsproxy/libnsproxy.so nsproxy/nsproxy-helper \
	    $(foreach m,$(MODULES),$(m)/$(m).so)

distclean: clean
	rm -rf build-* configure config.mk include/Makefile.module config.status config.log autom4te.cache \
	    nsd/base/config.h configure~ compile_commands.json run

include bench/bench.mk

-include $(ROOM_OBJECTS:.o=.d) $(MAIN_OBJECTS:.o=.d) $(MODULE_OBJECTS:.o=.d) obj/nsd/main.d
-include $(PROXY_OBJECTS:.o=.d) obj/nsproxy/helper/nsproxy-helper.d
