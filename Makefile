# SPDX-License-Identifier: GPL-2.0
#
# The front door. 'make help' lists what can be asked for.

# Which kernel the nodes run: a series of Debian's, or "debug".
KERNEL ?= 6.1
# Which tests: a pattern of program names, or program:case-pattern.
TESTS ?=
export TESTS

PREFIX ?= /usr/local
DESTDIR ?=
# DESTDIR for commands that run in other directories; $(abspath) would split it at blanks.
ROOT = $(if $(DESTDIR),$(shell realpath -m -- '$(DESTDIR)'))
# How long make soak and make fuzz last: seconds, or a number with m or h behind it.
TIME ?=

# What make bench measures: one figure instead of all, with the checksum if 1.
FIGURE ?=
CRC ?=

# Which of the programs in tools/apps/programs make check-apps runs: all, unless
# named; how often; and the form of what it prints, "table" or "json".
APPS ?=
ROUNDS ?= 1
FORM ?= table

# How many changes make mutate tries, and which ones.
COUNT ?= 300
SEED ?= 1

# Where a module is installed for: the running kernel, unless told otherwise.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

BUILD := build
# The tools as they are installed; those that are tested are in $(BUILD)/tools.
RELEASE := $(BUILD)/release
VM := tools/vm/vm

ifneq ($(V),1)
MAKEFLAGS += --no-print-directory
endif

.DEFAULT_GOAL := all
.PHONY: all help deps module tools bed-tools check check-612 check-debug check-faults check-races check-hostile check-unit check-foreign \
	coverage mutate check-flow check-scale check-apps check-machines fuzz matrix soak lint \
	demo bench shell install uninstall modules_install deb rpm dkms-install dkms-remove \
	debug-kernel clean

##all: build the modules and the tools
all: module tools

help:
	@echo "Targets:"
	@sed -n 's/^##\([a-z0-9_-]*\): /\1\t/p' $(MAKEFILE_LIST) | \
		while IFS="$$(printf '\t')" read -r name what; do printf '  %-16s %s\n' "$$name" "$$what"; done
	@echo "Variables:"
	@echo "  KERNEL=6.12      kernel of the nodes: 6.1 (default), 6.12 or debug"
	@echo "  TESTS=sdp_close  run only these test programs; a shell pattern"
	@echo "  TESTS=sdp_api:connect_*   run only these cases of one program"
	@echo "  APPS=redis       run only these programs with make check-apps"
	@echo "  ROUNDS=5         run each of them so often, for its figures; FORM=json for a program"
	@echo "  TIME=8h          how long make soak lasts, 30m unless told otherwise, and each half of"
	@echo "                   make fuzz, 10m"
	@echo "  FIGURE=4b        measure only this figure; tools/bench/bench --help names them"
	@echo "  COUNT=300 SEED=1 change so much with make mutate, and which"
	@echo "  CRC=1            measure with the checksum that Soft-RoCE computes in software"
	@echo "  V=1              show the commands"
	@echo "Logs of the nodes are kept in $(BUILD)/vm, results in $(BUILD)/results."

##deps: install what tests and benchmarks need, too, from Debian's packages
deps:
	@tools/install-deps

##module: build sdp.ko and iwarp.ko for KVER, or for KERNEL if it is given
module:
	@tools/build-module $(if $(filter file,$(origin KERNEL)),$(KDIR),$(KERNEL))

##tools: build libsdp, sdp-run, sdp-bpf, sdpctl and sdpstat for PREFIX
tools:
	@command -v cmake > /dev/null || { echo "cmake is missing. Debian's package of it is cmake." >&2; exit 1; }
	@cmake -S tools -B $(RELEASE) -DCMAKE_INSTALL_PREFIX='$(PREFIX)' -DSDP_BENCH=OFF -DSDP_WERROR=OFF \
		$(if $(filter 1,$(V)),,> /dev/null)
	@cmake --build $(RELEASE) -j2 $(if $(filter 1,$(V)),--verbose,-- --no-print-directory -s)

# What the demonstration and the benchmarks take into the nodes.
bed-tools: deps
	@tools/build-module $(KERNEL)
	@cmake -S tools -B $(BUILD)/tools -DSDP_TESTS=ON $(if $(filter 1,$(V)),,> /dev/null)
	@cmake --build $(BUILD)/tools -j2 --target sdp sdp-run sdp-bpf sdpctl sdpstat \
		$(if $(filter 1,$(V)),--verbose,-- --no-print-directory -s)

##check: build all, run unit tests, fuzzers and selftests on KERNEL
check: deps
	@tools/check $(if $(TESTS),,unit install) $(KERNEL)

##check-612: run the selftests on Linux 6.12
check-612: deps
	@tools/check 6.12

##check-debug: run the selftests on the debug kernel, built on first use
check-debug: deps
	@tools/check debug

##check-faults: fail each allocation once, in each call, on the debug kernel
check-faults: deps
	@TESTS='*_fail_*' SDP_DEBUG_SCALE=1 SDP_TEST_DEADLINE=600 tools/check debug debug-iwarp gcov gcov-iwarp

##check-races: make calls at the same time, of the same sockets; on two kernels
check-races: deps
	@TESTS=sdp_races tools/check debug debug-iwarp kcsan kcsan-iwarp

##coverage: say what the tests make the modules run, and what not
coverage: deps
	@rm -rf $(BUILD)/results/*/gcov
	@status=0; SDP_COVERAGE=1 SDP_RUN_LIMIT=10000 SDP_TEST_DEADLINE=200 tools/check gcov gcov-iwarp || status=$$?; \
		tools/quality/coverage && exit $$status

##mutate: change the modules, COUNT times, and see whether the tests notice
mutate: deps
	@tools/quality/mutate --count $(COUNT) --seed $(SEED)

##check-hostile: run scripts that play the peer, most of them a bad one, on the debug kernel
check-hostile: deps
	@TESTS='*_script*' tools/check debug debug-iwarp

##check-unit: run only what needs no node
check-unit: deps
	@tools/check unit

##check-foreign: run CPython's and libuv's own tests through AF_SDP on KERNEL
check-foreign: deps
	@tools/check foreign-$(KERNEL)

##check-flow: run the programs that move data with each engine that has rings
check-flow: deps
	@TESTS=sdp_flow_rerun SDP_RUN_LIMIT=5400 \
		SDP_TEST_DEADLINE=$(if $(filter debug,$(KERNEL)),1200,200) SDP_FLOW_PROGRAMS="sdp_data sdp_flags sdp_oob \
		sdp_close sdp_poll sdp_splice sdp_stream sdp_stamp sdp_thread sdp_uring" \
		tools/check $(KERNEL)

##check-scale: hold 10,000 connections in one node of 6 GB
check-scale: deps
	@TESTS=sdp_scale SDP_TEST_CONNECTIONS=10000 SDP_TEST_DEADLINE=1000 \
		SDP_NODE_MEM=6144 SDP_RUN_LIMIT=4000 tools/check $(KERNEL)

##check-apps: run Debian's servers and clients over SDP and TCP, and compare
check-apps: deps
	@tools/apps/check-apps --rounds $(ROUNDS) --form $(FORM) $(KERNEL) $(APPS)

##check-machines: run a few programs on nodes unlike others: processors, memory, clocks
check-machines: deps
	@tools/check machines-$(KERNEL)

##matrix: build for each kernel, the newest of Debian's included, and run a few programs there
matrix: deps
	@TESTS='$(TESTS)' tools/matrix $(if $(filter command environment,$(origin KERNEL)),$(KERNEL))

##soak: load KERNEL for TIME=30m, or as told, and see that nothing grows, stops or is wrong
soak: deps
	@tools/soak $(or $(TIME),30m) $(KERNEL)

##fuzz: fuzz for TIME=10m, or as told, the module's pure parts and its system calls
fuzz: deps
	@selftests/run-fuzz $(or $(TIME),10m)

##lint: check the style and the source
lint: deps
	@tools/lint

##demo: show unmodified programs at work, between two nodes and in one
demo: bed-tools
	@tools/demo/demo $(KERNEL)

##bench: measure beside verbs, rsockets, SMC-R and TCP; draw the figures
bench: bed-tools
	@tools/bench/bench --kernel $(KERNEL) $(if $(FIGURE),--figure $(FIGURE)) \
		$(if $(filter 1,$(CRC)),--crc software)

##shell: open a shell inside a node with the module at hand
shell: deps
	@SDP_MODULE="$$(tools/build-module $(KERNEL))" && \
		$(VM) shell --kernel $(KERNEL) --env SDP_MODULE="$$SDP_MODULE"

##debug-kernel: build the debug kernel, once a machine
debug-kernel: deps
	@tools/vm/build-debug-kernel

##install: install libsdp, its header and the tools below DESTDIR and PREFIX
install: tools
	DESTDIR='$(ROOT)' cmake --install $(RELEASE)
	@tools/installed --add $(RELEASE)/install_manifest.txt '$(ROOT)' '$(PREFIX)'

##uninstall: remove what make install puts below DESTDIR and PREFIX
uninstall:
	tools/installed --remove '$(ROOT)' '$(PREFIX)'

##modules_install: build and install sdp.ko and iwarp.ko for KVER
# The kernel's own call of depmod does nothing without a System.map, which Debian's headers lack.
modules_install:
	tools/build-module $(KDIR)
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(BUILD)/$$(cat $(KDIR)/include/config/kernel.release)/module \
		INSTALL_MOD_PATH='$(ROOT)' modules_install
	$(if $(ROOT),,depmod $$(cat $(KDIR)/include/config/kernel.release))

##deb: build Debian's packages of it all into build/deb
deb:
	@tools/deb/build

##rpm: build packages for distributions with RPM into build/rpm
rpm:
	@tools/rpm/build

##dkms-install: let DKMS build the module for this and later kernels
dkms-install:
	tools/dkms/install $(KVER)

##dkms-remove: take the module away from DKMS
dkms-remove:
	tools/dkms/remove

##clean: remove what was built; the cache outside the checkout stays
clean:
	rm -rf $(BUILD)
