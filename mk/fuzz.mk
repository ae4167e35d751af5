# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: with libFuzzer by `make fuzz`, and as plain programs that replay files for `make check`.
FUZZ     := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= $(FUZZ)
# What replays files ignores checksums, as what fuzzes does: or most damage would end there.
UNSUMMED := $(addprefix $(B)/unsummed/,formats/gnb.o formats/safetensors.o lib/model/file.o lib/import/read/stage.o lib/store/open_store.o \
            lib/store/store.o lib/stream/read.o)
$(B)/unsummed/%.o: %.c Makefile mk/fuzz.mk
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

.PHONY: fuzz fuzz-run fuzz-build replay
