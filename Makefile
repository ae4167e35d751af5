# SPDX-License-Identifier: Apache-2.0
# gnn-tools. `make list` shows the targets; V=1 shows commands.
# SAN=address,undefined or SAN=thread and CC=clang builds live side by side under build/.
# NVCC= builds without CUDA; CUDA_ARCHS='80 90' or all builds for other GPUs than compute capability 9.0.

# On all cores, unless -j says otherwise; a make that another one runs shares its jobs.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),1)
endif

PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
CXX     := $(if $(findstring clang,$(CC)),clang++,g++)
# What is installed is what was built last, with its settings: sudo has another PATH, which may lack nvcc.
ifneq ($(filter install,$(MAKECMDGOALS)),)
-include build/settings.mk
endif
NVCC    ?= $(if $(SAN),,$(shell command -v nvcc))
OPT     ?= -O3
SAN     ?=
WERROR  ?=
VERSION := 0.3.0

PKGS := libzstd libarchive zlib jansson libxxhash
WARN := -Wall -Wextra -Wno-missing-field-initializers -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wformat=2 -Wwrite-strings -Wundef -fno-common $(if $(WERROR),-Werror)
CPPFLAGS += -I. -D_GNU_SOURCE -DGNN_VERSION='"$(VERSION)"' $(if $(SAN),-DGNN_NO_IFUNC) \
        $(if $(findstring fuzzer,$(SAN)),-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
# No contraction: a product and a sum are rounded one after the other by every compiler and on every device.
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS))
CFLAGS_ALL = -std=c11 $(OPT) -g -fPIC -fno-semantic-interposition -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=off $(WARN) \
        $(PKG_CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) $(CFLAGS)
# Only .cu files and what runs them in the tests are C++.
CXXFLAGS_ALL = -std=c++17 $(OPT) -g -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-exceptions -fno-rtti \
        $(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(WARN)) $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# Compute capabilities to make code for, times ten. Later devices run the PTX of the last one.
CUDA_ARCHS ?= 90
CUDA_ASKED := $(CUDA_ARCHS)
ifneq ($(NVCC),)
ifneq ($(CUDA_ASKED),90)
CUDA_KNOWN := $(filter-out 5% 6% 7%,$(patsubst sm_%,%,$(filter sm_%,$(shell $(NVCC) --list-gpu-code))))
CUDA_UNKNOWN := $(filter-out all $(CUDA_KNOWN),$(CUDA_ASKED))
$(if $(CUDA_UNKNOWN),$(error CUDA_ARCHS: $(NVCC) makes no code for '$(CUDA_UNKNOWN)': choose from $(CUDA_KNOWN), or all))
override CUDA_ARCHS := $(filter $(if $(filter all,$(CUDA_ASKED)),80 90 100 120,$(CUDA_ASKED)),$(CUDA_KNOWN))
endif
endif
# Code for several devices is several times smaller so; from CUDA 12.8 on.
NVCC_SMALL := $(if $(NVCC),$(if $(shell $(NVCC) --help 2>/dev/null | grep -e '--compress-mode'),--compress-mode=size))
NVCCFLAGS = -std=c++17 -O3 -lineinfo -Xcompiler -fPIC,-Wall,-Wextra,-fno-exceptions,-fno-threadsafe-statics --Werror all-warnings -I. \
        $(NVCC_SMALL) $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
        -gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS))
LIBS := $(shell pkg-config --libs $(PKGS)) -lmetis -ldnnl -lm -lpthread

# MPI is in a plug-in, loaded when there are several ranks; without an mpicc there is none.
MPICC ?= $(shell command -v mpicc)

# Object folders are named by a hash of what decides their contents.
HASH := $(shell echo "$(CC) $(CPPFLAGS) $(OPT) $(SAN) $(CFLAGS) $(LDFLAGS) $(if $(NVCC),$(NVCC) $(CUDA_ARCHS))" | cksum | cut -d' ' -f1)
B    := build/$(HASH)
Q    := $(if $(V),,@)
# Headers of the test code only.
TESTFLAGS := -Itests

# What only a build with CUDA has: the device runtime in lib/gpu, each stage's gpu_*.c, and kernels/cuda. Files named *_cuda.c call
# CUDA's libraries; the rest is plain C. Without CUDA the files named *no_gpu.c take their place.
GPU_NONE := $(sort $(wildcard lib/*/*no_gpu.c))
GPU_SRC  := $(filter-out $(GPU_NONE) lib/gpu/gpu.c,$(sort $(wildcard lib/gpu/*.c lib/*/gpu_*.c)))
GPU_OBJ  := $(patsubst %.c,$(B)/%.o,$(GPU_SRC))
LIB_SRC  := $(filter-out $(GPU_SRC) $(if $(NVCC),$(GPU_NONE)) lib/comm/calls_mpi.c lib/api/own_libs.c,$(sort $(wildcard lib/*/*.c lib/*/*/*.c formats/*.c kernels/*.c kernels/cpu/*.c)))
CMD_SRC  := $(filter-out cmd/gnn-%,$(wildcard cmd/*.c))
PROGS    := $(patsubst cmd/%.c,%,$(sort $(wildcard cmd/gnn-*.c)))
UNIT     := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
CUDA_SRC := $(sort $(wildcard kernels/cuda/*.cu))
# test_races is among WATCHED, but under sanitizers.
EMU      := $(filter-out $(if $(SAN),,test_races),$(patsubst tests/emu/%.cc,%,$(sort $(wildcard tests/emu/test_*.cc))))
GPU_TEST := $(patsubst tests/gpu/%.c,%,$(sort $(wildcard tests/gpu/check_*.c tests/gpu/bench_gpu.c)))
BENCH    := $(filter-out $(if $(MPICC),,bench_mpi),$(patsubst tests/bench/%.c,%,$(sort $(wildcard tests/bench/bench_*.c))))
# What programs outside the tree include, as <gnn/NAME.h>; each has an example, which tests/scripts/30-install.t compiles.
PUBLIC   := lib/base/status.h $(patsubst %,lib/api/%.h,gnn graph minibatch builder learn)
API_OBJ  := $(patsubst %.c,$(B)/%.o,$(wildcard lib/api/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
CMD_OBJ  := $(CMD_SRC:%.c=$(B)/%.o)

# With nvcc the kernels are in the library; the programs start without a driver all the same, as the run-time is linked
# statically and looks for one only when it is first called.
ifneq ($(NVCC),)
CUDA_OBJ := $(CUDA_SRC:%.cu=$(B)/%.o) $(GPU_OBJ)
$(B)/tests/gpu/part_epilogues.o: CPPFLAGS += -isystem $(CUDA_LIB)/../include
$(B)/lib/gpu/%_cuda.o $(B)/tests/unit/%_cuda.o: CPPFLAGS += -isystem $(CUDA_LIB)/../include -DGNN_CUDA_LEAST=$(firstword $(CUDA_ARCHS:%a=%))
CUDA_LIB := $(dir $(shell readlink -f $(NVCC)))../lib64
CUDA_LIBS := $(if $(CUDA_OBJ),-L$(CUDA_LIB) -lcudart_static -ldl -lrt)
LIBS     += $(CUDA_LIBS)
endif

MPI_SO := $(if $(MPICC),$(B)/lib/gnn-tools/gnn-mpi.so)

# build/bin, build/libgnn.a and build/libgnn.so lead to the last plain build.
all: programs build/bin build/libgnn.a $(if $(SAN),,build/libgnn.so) ## build everything
programs: $(PROGS:%=$(B)/bin/%) $(MPI_SO)

build/bin: $(PROGS:%=$(B)/bin/%)
	$(if $(SAN),,$(Q)mkdir -p build && ln -sfn $(HASH)/bin build/bin && printf '%s\n' \
	    'ifneq ($$(origin CC),command line)' 'CC := $(CC)' endif 'NVCC ?= $(NVCC)' 'CUDA_ARCHS ?= $(CUDA_ARCHS)' 'MPICC ?= $(MPICC)' \
	    'OPT ?= $(OPT)' 'CFLAGS ?= $(CFLAGS)' 'LDFLAGS ?= $(LDFLAGS)' >build/settings.mk)
build/libgnn.a build/libgnn.so: build/%: $(B)/%
	$(if $(SAN),,$(Q)mkdir -p build && ln -sfn $(HASH)/$* $@)

$(B)/%.o: %.c Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  CC  $<')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(if $(filter tests/%,$<),$(TESTFLAGS)) -MMD -MP -c -o $@ $<

$(B)/libgnn.a: $(LIB_OBJ) $(CUDA_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
# Of the library as others load it: the functions of the public headers, what these use, and oneDNN only when it is needed.
SONAME := libgnn.so.$(firstword $(subst ., ,$(VERSION)))
$(B)/libgnn.map: $(PUBLIC)
	$(Q)mkdir -p $(@D)
	$(Q){ echo 'GNN_$(firstword $(subst ., ,$(VERSION))) { global:' && grep -oh '\bgnn_[a-z_]*(' $^ | sort -u | tr '(' ';' && echo 'local: *; };'; } >$@
$(B)/libgnn.so: $(B)/libgnn.map $(API_OBJ) $(B)/libgnn.a
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(CC) $(CFLAGS_ALL) -shared -Wl,--as-needed,--gc-sections,-z,defs,-soname,$(SONAME),--version-script=$< $(LDFLAGS) -o $@ \
	    $(API_OBJ) $(B)/libgnn.a $(filter-out -ldnnl -lmetis -larchive,$(LIBS)) -ldl
# What programs share, of which each is linked with what it uses.
$(B)/cmd.a: $(CMD_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Only what a program uses is loaded: oneDNN alone costs some 10 ms at the start.
LINK = $(CC) $(CFLAGS_ALL) -Wl,--as-needed $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(B)/bin/gnn-%: $(B)/cmd/gnn-%.o $(B)/cmd.a $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(LINK)
$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(B)/libgnn.a
	$(Q)$(LINK)
$(B)/tests/bench/bench_%: $(B)/tests/bench/bench_%.o $(B)/libgnn.a
	$(Q)$(LINK)

$(B)/kernels/cuda/%.o: kernels/cuda/%.cu Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  NV  $<')
	$(Q)$(NVCC) $(NVCCFLAGS) -MD -MP -MF $(@:.o=.d) -c -o $@ $<

# The same .cu files once more, run by the host (tests/emu/emu.h).
EMU_OBJ  := $(CUDA_SRC:%.cu=$(B)/emu/%.o)
$(B)/emu/%.o: %.cu Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  EMU $<')
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS_ALL) -Itests -include emu/emu.h -MMD -MP -c -o $@ -x c++ $<
$(B)/tests/emu/%.o: tests/emu/%.cc Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  CXX $<')
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS_ALL) -Itests -include emu/emu.h -MMD -MP -c -o $@ $<
# The CUDA backend without CUDA: the kernels as above, the run-time as in tests/emu/*_fake.cc. With it the tests and a second
# set of programs work on as many devices as one likes.
FAKE     := $(filter-out %_cuda.o,$(GPU_OBJ)) $(patsubst %.cc,$(B)/%.o,$(sort $(wildcard tests/emu/*_fake.cc))) $(B)/tests/emu/emu.o $(EMU_OBJ)
$(B)/tests/emu/test_%: $(B)/tests/emu/test_%.o $(B)/emu/tests/emu/planted.o $(FAKE) $(B)/libgnn.a
	$(Q)$(CXX) $(CXXFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)
# The kernels a third time, so that tests/emu/watch.cc learns of each access; no sanitizer goes with that.
WATCHED  := $(if $(SAN),,$(addprefix $(B)/watched/tests/,gpu/check_kernels emu/test_races))
$(B)/watched/%.o: %.cu Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  EMU watched $<')
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS_ALL) -O1 -fsanitize=thread -Itests -include emu/emu.h -MMD -MP -c -o $@ -x c++ $<
$(WATCHED): $(FAKE:$(B)/emu/%=$(B)/watched/%) $(B)/tests/emu/watch.o $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$(B)/watched/tests/gpu/check_kernels: $(B)/tests/gpu/check_kernels.o
$(B)/watched/tests/emu/test_races: $(B)/tests/emu/test_races.o $(B)/watched/tests/emu/planted.o
$(B)/tests/gpu/bench_gpu $(B)/emu/tests/gpu/bench_gpu: $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/gpu/part_*.c)))
$(addsuffix /tests/gpu/check_kernels,$(B) $(B)/emu $(B)/watched): $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/gpu/case_*.c)) $(addprefix tests/gpu/,blocks_case.c device_sampler.c on_device.c sampling.c))
$(B)/emu/tests/gpu/%: $(B)/tests/gpu/%.o $(FAKE) $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$(B)/tests/gpu/%: $(B)/tests/gpu/%.o $(B)/libgnn.a
	$(Q)$(LINK)
$(B)/emu/bin/gnn-%: $(B)/cmd/gnn-%.o $(B)/cmd.a $(FAKE) $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD  emulated $(@F)')
	$(Q)$(CXX) $(CXXFLAGS_ALL) -Wl,--as-needed $(LDFLAGS) -o $@ $^ $(LIBS)

# No sanitizer: it would have to be loaded first.
$(B)/lib/gnn-tools/gnn-mpi.so: lib/comm/calls_mpi.c lib/comm/mpi.h lib/comm/comm.h Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  MPI $<')
	$(Q)$(MPICC) $(CPPFLAGS) -std=c11 -O2 -g -fPIC -shared $(filter-out -Wpedantic -Wconversion,$(WARN)) -o $@ $<

$(B)/tests/bench/bench_mpi: tests/bench/bench_mpi.c Makefile
	$(Q)mkdir -p $(@D)
	$(Q)$(MPICC) -std=c11 -O2 $(filter-out -Wpedantic -Wconversion,$(WARN)) -o $@ $<

# A plug-in of MPI in which ranks die.
$(B)/fault-mpi.so: tests/ranks-long/fault.c lib/comm/mpi.h Makefile
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=c11 -O2 -fPIC -shared $(WARN) -o $@ $<

# The shim that makes calls fail, preloaded by tests/faults.
$(B)/shim.so: tests/faults/shim.c Makefile
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -fPIC -shared $(WARN) -o $@ $<

# What libraries compute, for tests/bits.
$(B)/tests/bits/probe: $(B)/tests/bits/probe.o
	$(Q)$(LINK)
# And models without what is said of their training.
$(B)/tests/bits/bare: $(B)/tests/bits/bare.o $(B)/libgnn.a
	$(Q)$(LINK)

unit: $(UNIT:%=$(B)/tests/unit/%) $(addprefix $(B)/tests/bits/,probe bare) $(EMU:%=$(B)/tests/emu/%) $(addprefix $(B)/emu/bin/,gnn-sample gnn-gather gnn-train gnn-predict) $(GPU_TEST:%=$(B)/emu/tests/gpu/%) $(WATCHED) ## build the unit tests

# Unit tests are TAP programs, the rest are TAP shell scripts named NN-what.t; a test finds the programs in $$GNN_BIN.
# Tiers: `make check` runs a choice of each test's matrix, `make check-all` all of it (GNN_SWEEP=more), `make check-long` every single
# call and combination (GNN_SWEEP=all). Tests ask by `wide` and `turn` of tests/lib.sh, and tap_wide of tests/tap.h.
# Under a sanitizer check_train is left out: tests/device/50-train.t leads through the same code.
# The longest first, so that none of them is left for the end.
SCRIPTS   = $(filter-out tests/ranks-long/% tests/peers/%,$(sort $(wildcard tests/*/*.t)))
LONGEST   = tests/faults/20-% tests/bits/% tests/man/40-% tests/train/38-% tests/train/39-% tests/ranks/% tests/device/%
ALL_TESTS = $(filter $(LONGEST),$(SCRIPTS)) $(addprefix $(B)/emu/tests/gpu/,check_kernels check_reduce $(if $(SAN),,check_train)) \
            $(UNIT:%=$(B)/tests/unit/%) $(EMU:%=$(B)/tests/emu/%) $(filter %/test_races,$(WATCHED)) $(filter-out $(LONGEST),$(SCRIPTS))
RUN_TESTS = GNN_PATIENCE=$${GNN_PATIENCE:-$(if $(SAN),1800,600)} GNN_BIN=$(CURDIR)/$(B)/bin GNN_TOP=$(CURDIR) GNN_B=$(CURDIR)/$(B) GNN_SAN=$(GNN_SAN) GNN_SWEEP=$(GNN_SWEEP) sh tests/run.sh
check: all unit replay $(B)/shim.so $(B)/fault-mpi.so ## run the tests (TESTS=... narrows them)
	$(Q)$(RUN_TESTS) $(or $(TESTS),$(ALL_TESTS))

# What CI leaves out, too: hours.
check-all: ## everything that needs no other system: all of each test's matrix, also under sanitizers, all of check-ranks and check-sums
	$(Q)$(MAKE) -s lint
	$(Q)$(MAKE) -s CC=clang WERROR=1 syntax
	$(Q)$(MAKE) -s check GNN_SWEEP=more WERROR=1
	$(Q)$(MAKE) -s check-sums WERROR=1
	$(Q)$(MAKE) -s check-ranks GNN_SWEEP=more WERROR=1
	$(Q)$(MAKE) -s bits BITS=all
	$(Q)$(MAKE) -s check $(ASAN) GNN_SWEEP=more
	$(Q)$(MAKE) -s check-threads $(TSAN)

check-races: ## run all kernels with two blocks at once that see each other's writes after fences only (part of check-all)
	$(Q)$(MAKE) -s check GNN_SWEEP=more TESTS='$(B)/watched/tests/emu/test_races tests/device/67-races.t'
check-sums: ## run all tests of devices with products that are added up in float, in two orders
	$(Q)for s in forward backward; do \
	    GNN_FAKE_SUMS=$$s $(MAKE) -s check TESTS='$(addprefix $(B)/emu/tests/gpu/,check_kernels check_reduce check_train) $(sort $(wildcard tests/device/*.t))' || exit; \
	done

# What needs other systems: their samplers beside gnn-sample, and models in PyG. Each may be missing, but not all.
PEERS     ?= $(or $(GNN_PYTHON),python3)
PEER       = $(if $(findstring /,$(PEERS)),$(abspath $(PEERS)),$(PEERS))
check-peers: all ## compare samplers and models with PyG and DGL (PEERS=a python3 that has them; TESTS=... narrows it)
	$(Q)have=$$($(PEER) -B tests/peers/rosetta.py --have 2>/dev/null) && [ "$$have" ] || { echo "check-peers: $(PEERS) has neither PyG nor DGL: set PEERS to a python3 that has" >&2; exit 1; }; echo "$$have"
	$(Q)GNN_PEERS=$(PEER) GNN_PYTHON=$(PEER) GNN_BIN=$(CURDIR)/$(B)/bin GNN_TOP=$(CURDIR) GNN_B=$(CURDIR)/$(B) sh tests/run.sh $(or $(TESTS),$(sort $(wildcard tests/peers/*.t)) tests/train/30-pyg.t tests/python/60-manual.t tests/man/40-readme.t)

# Sanitizers: parts, readers of damaged files and a case of each program under ASan and UBSan (everything in check-all); what runs on
# several threads under TSan, with one OpenMP thread, as the OpenMP run-time is not built for it.
PARTS    = $(addprefix $(B)/emu/tests/gpu/,check_kernels check_reduce) $(UNIT:%=$(B)/tests/unit/%) $(EMU:%=$(B)/tests/emu/%) \
           tests/fuzz/10-replay.t tests/import/30-corpus.t tests/threads/10-programs.t
check-parts: all unit replay
	$(Q)$(RUN_TESTS) $(PARTS)
THREADED = $(addprefix $(B)/tests/unit/,test_map test_swap test_store test_stream test_comm test_sample_remote)
check-threads: all $(THREADED)
	$(Q)OMP_THREAD_LIMIT=1 $(RUN_TESTS) $(THREADED) tests/threads/*.t
check-san: ## run parts and a case of each program under sanitizers
	$(Q)$(MAKE) -s check-parts $(ASAN)
	$(Q)$(MAKE) -s check-threads $(TSAN)
build-san: # most of what check-san builds, ahead of it
	$(Q)$(MAKE) -s all unit replay $(ASAN)
	$(Q)$(MAKE) -s all $(TSAN)
ASAN = SAN=address,undefined OPT=-O1 WERROR=1 GNN_SAN=address
TSAN = SAN=thread OPT=-O1 GNN_SAN=thread

# clang warns of other things than gcc; what it would compile is tested as gcc compiles it.
SYNTAX_C  = $(sort $(wildcard cmd/*.c formats/*.c kernels/*.c kernels/cpu/*.c lib/*/*.c lib/*/*/*.c tests/unit/*.c tests/fuzz/*.c tests/gpu/*.c tests/bench/*.c))
SYNTAX_CC = $(EMU_OBJ:$(B)/emu/%.o=%.cu) $(sort $(wildcard tests/emu/*.cc))
syntax: ## let clang read everything but what needs CUDA or MPI (make CC=clang syntax)
	$(if $(findstring clang,$(CC)),,$(error make CC=clang syntax))
	$(Q)printf '%s\n' $(filter-out %_cuda.c lib/comm/calls_mpi.c tests/bench/bench_mpi.c,$(SYNTAX_C)) | \
	    xargs -P 2 -n 40 $(CC) $(CPPFLAGS) $(filter-out -g,$(CFLAGS_ALL)) $(TESTFLAGS) -fsyntax-only
	$(Q)printf '%s\n' $(SYNTAX_CC) | \
	    xargs -P 2 -n 8 $(CXX) $(CPPFLAGS) $(filter-out -g,$(CXXFLAGS_ALL)) $(TESTFLAGS) -include emu/emu.h -fsyntax-only -x c++

bits: all unit ## compare what the programs produce with recorded hashes (BITS=all: the whole matrix, with GNN_DATA)
	$(Q)GNN_BIN=$(CURDIR)/$(B)/bin sh tests/bits/run.sh $(or $(BITS),quick)

lint: ## check layers, cycles, headers, format, scripts, manual pages, text
	$(Q)perl scripts/check-layers.pl
	$(Q)perl scripts/tree-stats.pl -c
	$(Q)sh scripts/check-format.sh
	$(Q)sh scripts/check-headers.sh
	$(Q)sh scripts/check-text.sh

# --- installation ---
D          = $(DESTDIR)$(PREFIX)
PACKAGE   := $(sort $(wildcard formats/python/gnntools/*.py)) formats/python/gnntools/py.typed
MAN1      := $(sort $(wildcard man/*.1))
MAN5      := $(sort $(wildcard man/*.5))
MAN7      := $(sort $(wildcard man/*.7))
COMPDIR    = $(D)/share/bash-completion/completions
write_pc = printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: $1' 'Version: $(VERSION)' \
    'Description: Sampling, gathering and training of graph neural networks' 'Cflags: -I$${includedir}' $2 >$(D)/lib/pkgconfig/$1.pc
install: all ## install under PREFIX (DESTDIR is put before it)
	install -d $(D)/bin $(D)/lib/pkgconfig $(D)/share/man/man1 $(D)/share/man/man5 $(D)/share/man/man7 $(COMPDIR)
	$(if $(PROGS),install -m 755 $(PROGS:%=$(B)/bin/%) $(D)/bin)
	install -m 644 $(B)/libgnn.a $(D)/lib
	install -m 755 $(B)/libgnn.so $(D)/lib/$(SONAME)
	ln -sfn $(SONAME) $(D)/lib/libgnn.so
	$(if $(MPI_SO),install -D -m 644 $(MPI_SO) $(D)/lib/gnn-tools/gnn-mpi.so)
	install -d $(D)/share/gnn-tools/slurm
	install -m 755 scripts/slurm/*.sbatch $(D)/share/gnn-tools/slurm
	install -d $(D)/share/gnn-tools/gnntools
	install -m 644 $(PACKAGE) $(D)/share/gnn-tools/gnntools
	sh scripts/install-headers.sh $(D)/include/gnn $(PUBLIC)
	$(call write_pc,gnn,'Libs: -L$${libdir} -lgnn')
	$(call write_pc,gnn-static,'Libs: -L$${libdir} -l:libgnn.a -lmetis -ldnnl -fopenmp -lm -lpthread $(CUDA_LIBS)' 'Requires: $(PKGS)')
	$(if $(MAN1),install -m 644 $(MAN1) $(D)/share/man/man1)
	$(if $(MAN5),install -m 644 $(MAN5) $(D)/share/man/man5)
	$(if $(MAN7),install -m 644 $(MAN7) $(D)/share/man/man7)
	for p in $(PROGS); do $(B)/bin/$$p --completion | sh scripts/completion.sh $$p >$(COMPDIR)/$$p || exit 1; done

uninstall: ## remove what install put under PREFIX
	rm -f $(PROGS:%=$(D)/bin/%) $(D)/lib/libgnn.a $(D)/lib/libgnn.so $(D)/lib/$(SONAME) $(D)/lib/pkgconfig/gnn.pc $(D)/lib/pkgconfig/gnn-static.pc $(PROGS:%=$(COMPDIR)/%)
	rm -f $(MAN1:man/%=$(D)/share/man/man1/%) $(MAN5:man/%=$(D)/share/man/man5/%) $(MAN7:man/%=$(D)/share/man/man7/%)
	rm -rf $(D)/include/gnn $(D)/lib/gnn-tools $(D)/share/gnn-tools

# Fuzz targets: with libFuzzer by `make fuzz`, and as plain programs that replay files for `make check`.
FUZZ     := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= $(FUZZ)
# What replays files ignores checksums, as what fuzzes does: or most damage would end there.
UNSUMMED := $(addprefix $(B)/unsummed/,formats/gnb.o formats/safetensors.o lib/model/file.o lib/import/read/stage.o lib/store/open_store.o lib/store/store.o lib/stream/read.o)
$(B)/unsummed/%.o: %.c Makefile
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -MMD -MP -c -o $@ $<
$(B)/tests/fuzz/replay_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/replay.o $(UNSUMMED) $(B)/libgnn.a
	$(Q)$(LINK)
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(B)/libgnn.a
	$(Q)$(CC) -fsanitize=fuzzer $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)
fuzz-build: $(FUZZ:%=$(B)/tests/fuzz/%)
replay: $(FUZZ:fuzz_%=$(B)/tests/fuzz/replay_%)
fuzz: all ## fuzz the readers (FUZZ_SECONDS each, FUZZ_TARGETS=...)
	$(Q)$(MAKE) fuzz-run CC=clang SAN=address,undefined,fuzzer-no-link OPT=-O1 FUZZ='$(FUZZ_TARGETS)'
fuzz-run: fuzz-build
	$(Q)GNN_BIN=$(CURDIR)/build/bin FUZZ_SECONDS=$(FUZZ_SECONDS) sh tests/fuzz/run.sh $(FUZZ:%=$(B)/tests/fuzz/%)

bench-build: all $(BENCH:%=$(B)/tests/bench/%)
bench: bench-build ## measure rates beside the machine's limits (SCALE=0.1: a smaller graph)
	$(Q)GNN_B=$(CURDIR)/$(B) sh scripts/bench.sh

# Said at once, and not by the linker.
$(if $(NVCC),,$(if $(filter gpu-bundle check-bundle,$(MAKECMDGOALS)),$(error a bundle needs nvcc)))
# There libarchive is linked statically where it can be: as a shared library it loads libxml2 and 31 MB of ICU's tables.
ARCHIVE_A    = $(wildcard $(shell $(CC) -print-file-name=libarchive.a))
ARCHIVE_LIBS = $(if $(ARCHIVE_A),$(B)/libarchive.a $(filter-out -larchive -lxml2 -lacl -llz4,$(shell pkg-config --libs --static libarchive)),-larchive)
$(B)/bundle/gnn-%: LIBS := $(filter-out -larchive,$(LIBS))
# It asks for random bytes, 16 at most, if it encrypts, which it never does here, by a function that glibc has from 2.36 on only.
$(B)/libarchive.a: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)objcopy --redefine-sym arc4random_buf=getentropy $(ARCHIVE_A) $@
# The bundle's libraries are found from wherever it is unpacked, and theirs, for which only the older kind of tag holds.
$(B)/bundle/gnn-% $(B)/tests/gpu/%: LDFLAGS += -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib'
$(B)/bundle/gnn-%: $(B)/cmd/gnn-%.o $(B)/cmd.a $(B)/libgnn.a | $(if $(ARCHIVE_A),$(B)/libarchive.a)
	$(Q)mkdir -p $(@D)
	$(Q)$(LINK) $(ARCHIVE_LIBS)
BUNDLE := $(addprefix $(B)/bundle/,gnn-import gnn-partition gnn-sample gnn-gather gnn-train gnn-predict) $(GPU_TEST:%=$(B)/tests/gpu/%)
gpu-bundle: $(BUNDLE) ## pack what scripts/gpu-check.sh needs on a bare machine with a GPU
	$(Q)sh scripts/gpu-bundle.sh build/gnn-gpu.tar.xz $(BUNDLE)
check-bundle: gpu-bundle ## pack it, unpack it elsewhere, and run its programs in an empty environment
	$(Q)GNN_BUNDLE=$(CURDIR)/build/gnn-gpu.tar.xz GNN_BIN=$(CURDIR)/$(B)/bin GNN_TOP=$(CURDIR) GNN_B=$(CURDIR)/$(B) sh tests/run.sh tests/scripts/45-gpu-bundle.t

DIST = build/gnn-tools-$(VERSION).tar.xz
dist: ## pack the sources, as they are committed
	$(Q)mkdir -p $(dir $(DIST))
	$(Q)[ -z "$$(git status --porcelain)" ] || echo 'make dist: what is not committed is left out' >&2
	$(Q)git archive --prefix=gnn-tools-$(VERSION)/ -o $(DIST).tar HEAD && xz -c $(DIST).tar >$(DIST).part && mv $(DIST).part $(DIST); \
	    rc=$$? && rm -f $(DIST).tar $(DIST).part && exit $$rc
# As whoever has only the sources would: nothing that is built here counts.
deb: dist ## build Debian packages of them, for lintian to find nothing in
	$(Q)command -v dh >/dev/null && command -v lintian >/dev/null || { echo 'make deb: install debhelper, dh-python and lintian' >&2; exit 1; }
	$(Q)rm -rf build/deb && mkdir build/deb && tar -C build/deb -xf $(DIST)
	$(Q)cd build/deb/gnn-tools-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc -b
	$(Q)mkdir build/deb/tmp && TMPDIR=$(CURDIR)/build/deb/tmp lintian --fail-on error,warning build/deb/gnn-tools_$(VERSION)_*.changes
	$(Q)rm -r build/deb/tmp # what lintian leaves

# A wheel is for CPUs and one machine: no CUDA, no MPI. Its programs share their code in a library, so that it stays small.
WHEEL_CFLAGS = -g0 -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
WHEEL_TOOLS  = build/wheel-tools
wheel: ## build the Python wheel: programs, manuals and the package gnntools
	$(Q)sh scripts/wheel-tools.sh $(WHEEL_TOOLS)
	$(Q)$(MAKE) -s NVCC= MPICC= SAN= CFLAGS='$(WHEEL_CFLAGS) $(CFLAGS)' wheel-programs
wheel-programs: $(PROGS:%=$(B)/wheel/%)
	$(Q)PATH="$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH" python3 scripts/wheel.py $(VERSION) build/wheel $^
# What programs call, and the functions of the public headers, which the Python package calls; and what these call.
$(B)/wheel/exports: $(PROGS:%=$(B)/cmd/%.o) $(B)/libgnn.map
	$(Q)mkdir -p $(@D)
	$(Q){ echo '{ global:' && nm -u $(filter %.o,$^) | sed -n 's/^ *U \(.*\)/\1;/p' | sort -u - $(B)/libgnn.map | grep ';$$' | grep -v '[{}]' && echo 'local: *; };'; } >$@
$(B)/wheel/libgnn-tools.so: $(B)/wheel/exports $(B)/cmd.a $(B)/libgnn.a $(B)/libarchive.a
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(CC) $(CFLAGS_ALL) -shared -Wl,--as-needed,--gc-sections,-soname,$(@F),--version-script=$< $(LDFLAGS) -o $@ \
	    -Wl,--whole-archive $(B)/cmd.a $(B)/libgnn.a -Wl,--no-whole-archive $(ARCHIVE_LIBS) $(filter-out -larchive,$(LIBS))
$(B)/wheel/gnn-%: $(B)/cmd/gnn-%.o $(B)/wheel/libgnn-tools.so
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(CC) $(CFLAGS_ALL) -Wl,--as-needed,-rpath,'$$ORIGIN' $(LDFLAGS) -o $@ $^ $(filter-out -larchive,$(LIBS))

check-long: all $(B)/shim.so ## fail every single allocation and call, try all combinations of ranks, not a choice of them
	$(Q)GNN_PATIENCE=$${GNN_PATIENCE:-3600} $(MAKE) -s check GNN_SWEEP=all TESTS='tests/faults/10-malloc.t tests/faults/20-io.t tests/faults/40-address-space.t $(sort $(wildcard tests/ranks/*.t))'

# TESTS=... narrows the second.
check-bare: ## run demo.sh and check.sh on a bare Debian that is made on the spot (as root)
	$(Q)TESTS='$(TESTS)' sh scripts/check-bare.sh

check-big: all ## import and partition 2^31 edges (SCALE=27 EDGES=16 METHODS=random OPTIONS=...; 40 GB of disk under BIG_DIR)
	$(Q)GNN_BIN=$(CURDIR)/$(B)/bin sh scripts/big.sh $(BIG_DIR)

check-arm: all ## compile for ARM, run there under emulation, and compare the bits; an hour
	$(Q)GNN_BIN=$(CURDIR)/$(B)/bin sh scripts/check-arm.sh

# Slurm and two hosts beside what make check has of ranks, and faults.
check-ranks: all ## ranks that are killed, links that are cut, nodes that fail (GNN_IDLE=1: and how soon, on an idle machine)
	$(Q)$(MAKE) -s check TESTS='$(or $(TESTS),$(sort $(wildcard tests/ranks-long/*.t)))'

clean: ## remove build/
	rm -rf build

list: ## print the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | sort

.PHONY: all bits gpu-bundle check-bundle build/bin build/libgnn.a build/libgnn.so unit check check-all check-races check-sums check-parts check-threads check-san build-san syntax check-long check-ranks check-bare check-arm check-big check-peers lint wheel wheel-programs dist deb bench bench-build install uninstall clean list fuzz fuzz-run fuzz-build replay
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
