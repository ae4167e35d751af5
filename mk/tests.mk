# SPDX-License-Identifier: Apache-2.0
# Tests, and what they are run with.

UNIT  := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
BENCH := $(filter-out $(if $(MPICC),,bench_mpi),$(patsubst tests/bench/%.c,%,$(sort $(wildcard tests/bench/bench_*.c))))

$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(B)/libgnn.a
	$(Q)$(LINK)
$(B)/tests/bench/bench_%: $(B)/tests/bench/bench_%.o $(B)/libgnn.a
	$(Q)$(LINK)
$(B)/tests/bench/bench_mpi: tests/bench/bench_mpi.c Makefile mk/tests.mk
	$(Q)mkdir -p $(@D)
	$(Q)$(MPICC) -std=c11 -O2 $(filter-out -Wpedantic -Wconversion,$(WARN)) -o $@ $<

# A plug-in of MPI in which ranks die.
$(B)/fault-mpi.so: tests/ranks-long/fault.c lib/comm/mpi.h Makefile mk/tests.mk
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=c11 -O2 -fPIC -shared $(WARN) -o $@ $<

# The shim that makes calls fail, preloaded by tests/faults.
$(B)/shim.so: tests/faults/shim.c Makefile mk/tests.mk
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(if $(SAN),-DSANITIZED) -O2 -fPIC -shared $(WARN) -o $@ $<

# What libraries compute, for tests/bits.
$(B)/tests/bits/probe: $(B)/tests/bits/probe.o
	$(Q)$(LINK)
# And models without what is said of their training.
$(B)/tests/bits/bare: $(B)/tests/bits/bare.o $(B)/libgnn.a
	$(Q)$(LINK)

unit: $(UNIT:%=$(B)/tests/unit/%) $(addprefix $(B)/tests/bits/,probe bare)
unit: $(EMU:%=$(B)/tests/emu/%) $(addprefix $(B)/emu/bin/,gnn-sample gnn-gather gnn-train gnn-predict) $(GPU_TEST:%=$(B)/emu/tests/gpu/%)
unit: ## build the unit tests

# Unit tests are TAP programs, the rest are TAP shell scripts named NN-what.t; a test finds the programs in $$GNN_BIN.
# Tiers: `make check` runs a choice of each test's matrix, `make check-all` all of it (GNN_SWEEP=more), `make check-long` every single
# call and combination (GNN_SWEEP=all). Tests ask by `wide` and `turn` of tests/lib.sh, and tap_wide of tests/tap.h.
# The longest first, so that none of them is left for the end.
# PLAIN: not under sanitizers, which own memory, and see nothing in scripts, manuals and other runs of the same code.
PLAIN     = $(addprefix tests/,bits/% lint/% man/% scripts/% faults/10-% faults/40-a% import/50-% import/60-% inspect/30-% \
            partition/60-% python/16-% ranks/20-% ranks/30-% ranks/32-% ranks/36-% ranks/38-% ranks/40-h% train/25-% train/50-% \
            device/57-c% device/67-% device/70-%)
SCRIPTS   = $(filter-out tests/ranks-long/% tests/peers/% $(RARE) $(if $(SAN),$(PLAIN)),$(sort $(wildcard tests/*/*.t)))
# What few changes concern is in the wider tiers, and among ALSO of .ci/run if its paths changed.
RARE     := $(filter tests/%.t,$(file <.ci/rare))
RARE     := $(if $(GNN_SWEEP),,$(filter-out $(ALSO),$(RARE)))
LONGEST   = tests/faults/20-% tests/bits/% tests/man/40-% tests/full/% tests/rules/% tests/train/39-% tests/ranks/% tests/device/% tests/scripts/37-%
ALL_TESTS = $(filter $(LONGEST),$(SCRIPTS)) $(addprefix $(B)/emu/tests/gpu/,check_kernels check_reduce $(if $(SAN),,check_train)) \
            $(UNIT:%=$(B)/tests/unit/%) $(EMU:%=$(B)/tests/emu/%) $(filter-out $(LONGEST),$(SCRIPTS))
IN_TREE   = GNN_BIN=$(CURDIR)/$(B)/bin GNN_TOP=$(CURDIR) GNN_B=$(CURDIR)/$(B)
# verify_asan_link_order=0: ASan would refuse to start, as the shim is loaded before it.
RUN_TESTS = GNN_PATIENCE=$${GNN_PATIENCE:-$(if $(SAN),1800,600)} $(IN_TREE) GNN_SAN=$(GNN_SAN) GNN_SWEEP=$(GNN_SWEEP) \
            $(if $(SAN),ASAN_OPTIONS=verify_asan_link_order=0$${ASAN_OPTIONS:+:$$ASAN_OPTIONS}) sh tests/run.sh
WATCHING  = $(filter tests/device/67-%,$(wildcard $(or $(TESTS),$(ALL_TESTS))))
check: all unit replay $(B)/shim.so $(B)/fault-mpi.so $(if $(WATCHING),$(WATCHED)) ## run the tests (TESTS=... narrows them)
	$(Q)$(RUN_TESTS) $(or $(TESTS),$(ALL_TESTS))

# What CI leaves out, too: hours.
check-all: ## everything that needs no other system: all of each test's matrix, also under sanitizers, all of check-ranks and check-sums
	$(Q)$(MAKE) -s lint
	$(Q)$(MAKE) -s CC=clang WERROR=1 syntax
	$(Q)$(MAKE) -s check GNN_SWEEP=more WERROR=1
	$(Q)$(MAKE) -s check-sums WERROR=1
	$(Q)$(MAKE) -s check-ranks GNN_SWEEP=more WERROR=1
	$(Q)$(MAKE) -s check $(ASAN) GNN_SWEEP=more
	$(Q)$(MAKE) -s check-threads $(TSAN)

check-races: ## run all kernels with two blocks at once that see each other's writes after fences only (part of check-all)
	$(Q)$(MAKE) -s check GNN_SWEEP=more TESTS=tests/device/67-races.t
# Of those of devices, not what neither trains nor predicts.
SUMMED = $(addprefix $(B)/emu/tests/gpu/,check_kernels check_reduce check_train) \
         $(filter-out $(addprefix tests/device/,1% 2% 3% 67-% 72-%),$(sort $(wildcard tests/device/*.t tests/full/*.t)))
check-sums: ## run all tests of devices with products that are added up in float, in two orders
	$(Q)for s in forward backward; do GNN_FAKE_SUMS=$$s $(MAKE) -s check TESTS='$(SUMMED)' || exit; done

# What needs other systems: their samplers beside gnn-sample, and models in PyG. Each may be missing, but not all.
PEERS     ?= $(or $(GNN_PYTHON),python3)
PEER       = $(if $(findstring /,$(PEERS)),$(abspath $(PEERS)),$(PEERS))
PEERED     = $(sort $(wildcard tests/peers/*.t)) tests/train/30-pyg.t tests/python/60-manual.t tests/man/40-readme.t
check-peers: $(addprefix $(B)/tests/unit/,test_link_metrics test_torch_file test_dgl_file)
check-peers: all ## compare samplers and models with PyG and DGL (PEERS=a python3 that has them; TESTS=... narrows it)
	$(Q)have=$$($(firstword $(PEER)) -B tests/peers/rosetta.py --have 2>/dev/null) && [ "$$have" ] || \
	    { echo "check-peers: $(PEERS) has neither PyG nor DGL: set PEERS to a python3 that has" >&2; exit 1; }; echo "$$have"
	$(Q)GNN_PEERS=$(firstword $(PEER)) GNN_PYTHON=$(firstword $(PEER)) $(IN_TREE) sh tests/run.sh $(or $(TESTS),$(PEERED))

# Sanitizers: parts, readers of damaged files and a case of each program under ASan and UBSan (everything in check-all); what runs on
# several threads under TSan, with one OpenMP thread, as the OpenMP run-time is not built for it.
EMULATED = $(addprefix $(B)/emu/tests/gpu/,check_kernels check_reduce) $(EMU:%=$(B)/tests/emu/%)
PARTS    = $(UNIT:%=$(B)/tests/unit/%) tests/fuzz/10-replay.t tests/import/30-corpus.t tests/threads/10-programs.t
check-parts: all $(UNIT:%=$(B)/tests/unit/%) replay
	$(Q)$(RUN_TESTS) $(PARTS)
check-emulated: unit
	$(Q)$(RUN_TESTS) $(EMULATED)
THREADED = $(addprefix $(B)/tests/unit/,test_map test_swap test_store test_stream test_comm test_sample_remote)
check-threads: all $(THREADED)
	$(Q)OMP_THREAD_LIMIT=1 $(RUN_TESTS) $(THREADED) tests/threads/*.t
check-san-parts check-san-emulated check-san-threads: check-san-%:
	$(Q)$(MAKE) -s check-$* $(if $(filter threads,$*),$(TSAN),$(ASAN))
check-san: ## run parts and a case of each program under sanitizers
	$(Q)for p in parts emulated threads; do $(MAKE) -s check-san-$$p || exit; done
ASAN = SAN=address,undefined OPT=-O1 WERROR=1 GNN_SAN=address
TSAN = SAN=thread OPT=-O1 GNN_SAN=thread

SWEPT = $(addprefix tests/faults/,10-malloc.t 20-io.t 40-address-space.t) $(sort $(wildcard $(addsuffix /*.t,$(addprefix tests/,ranks full rules))))
check-long: all $(B)/shim.so ## fail every single allocation and call, try all combinations of ranks, not a choice of them
	$(Q)GNN_PATIENCE=$${GNN_PATIENCE:-3600} $(MAKE) -s check GNN_SWEEP=all TESTS='$(SWEPT)'

# TESTS=... narrows the second.
check-bare: ## run demo.sh and check.sh on a bare Debian that is made on the spot (as root)
	$(Q)TESTS='$(TESTS)' sh scripts/check-bare.sh

check-big: all ## import and partition 2^31 edges (SCALE=27 EDGES=16 METHODS=random OPTIONS=...; 40 GB of disk under BIG_DIR)
	$(Q)GNN_BIN=$(CURDIR)/$(B)/bin sh scripts/big.sh $(BIG_DIR)

check-arm: all ## compile for ARM, run there under emulation, and compare the bits; an hour
	$(Q)GNN_BIN=$(CURDIR)/$(B)/bin sh scripts/check-arm.sh

# Slurm and two hosts beside what make check has of ranks, and faults. Some wait for minutes until a model is learned before they say a word.
check-ranks: all ## ranks that are killed, links that are cut, nodes that fail (GNN_IDLE=1: and how soon, on an idle machine)
	$(Q)GNN_PATIENCE=$${GNN_PATIENCE:-1800} $(MAKE) -s check TESTS='$(or $(TESTS),$(sort $(wildcard tests/ranks-long/*.t)))'

# clang warns of other things than gcc; what it would compile is tested as gcc compiles it.
SYNTAX_C  = $(sort $(wildcard cmd/*.c formats/*.c kernels/*.c kernels/cpu/*.c lib/*/*.c lib/*/*/*.c \
            $(addprefix tests/,unit/*.c fuzz/*.c gpu/*.c bench/*.c)))
SYNTAX_CC = $(EMU_OBJ:$(B)/emu/%.o=%.cu) $(sort $(wildcard tests/emu/*.cc))
syntax: ## let clang read everything but what needs CUDA or MPI (make CC=clang syntax)
	$(if $(findstring clang,$(CC)),,$(error make CC=clang syntax))
	$(Q)printf '%s\n' $(filter-out %_cuda.c lib/comm/calls_mpi.c tests/bench/bench_mpi.c,$(SYNTAX_C)) | \
	    xargs -P 2 -n 40 $(CC) $(CPPFLAGS) $(filter-out -g,$(CFLAGS_ALL)) $(TESTFLAGS) -fsyntax-only
	$(Q)printf '%s\n' $(SYNTAX_CC) | \
	    xargs -P 2 -n 8 $(CXX) $(CPPFLAGS) $(filter-out -g,$(CXXFLAGS_ALL)) $(TESTFLAGS) -include emu/emu.h -fsyntax-only -x c++

bits: all unit ## compare what the programs produce with recorded hashes (BITS=all: the whole matrix, with GNN_DATA)
	$(Q)GNN_BIN=$(CURDIR)/$(B)/bin sh tests/bits/run.sh $(or $(BITS),quick)

bench-build: all $(BENCH:%=$(B)/tests/bench/%)
bench: bench-build ## measure rates beside the machine's limits (SCALE=0.1: a smaller graph)
	$(Q)GNN_B=$(CURDIR)/$(B) sh scripts/bench.sh
# Several interpreters may have several versions: PEERS='PYTHON PYTHON'.
bench-peers: all $(B)/tests/bench/bench_limits ## measure beside PyG and DGL (PEERS='PYTHON...' that have them; SCALE=0.01 ROUNDS=1: a trial)
	$(Q)mkdir -p build/peers && cd build/peers && $(IN_TREE) python3 -B $(CURDIR)/scripts/bench-peers.py --scale $(or $(SCALE),1) \
	    --rounds $(or $(ROUNDS),3) $(if $(ROWS),--only '$(ROWS)') $(PEER)

.PHONY: unit check check-all check-races check-sums check-peers check-parts check-emulated check-threads check-san check-san-parts \
    check-san-emulated check-san-threads check-long check-bare check-big check-arm check-ranks syntax bits bench bench-build bench-peers
