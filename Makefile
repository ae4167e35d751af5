# gnn-tools. `make list` shows the targets; V=1 shows commands.
# SAN=address,undefined or SAN=thread and CC=clang builds live side by side under build/.

PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
OPT     ?= -O3
SAN     ?=
WERROR  ?=
VERSION := 0.1.0

PKGS := libzstd libarchive zlib jansson
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wformat=2 -Wwrite-strings -Wundef -fno-common $(if $(WERROR),-Werror)
CPPFLAGS += -I. -D_GNU_SOURCE -DGNN_VERSION='"$(VERSION)"' -DXXH_INLINE_ALL $(if $(SAN),-DGNN_NO_IFUNC)
CFLAGS_ALL = -std=c11 $(OPT) -g -fopenmp -fno-math-errno -fno-trapping-math $(WARN) \
        $(shell pkg-config --cflags $(PKGS)) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) $(CFLAGS)
LIBS := $(shell pkg-config --libs $(PKGS)) -lmetis -ldnnl -lm -lpthread

# Object folders are named by a hash of what decides their contents.
HASH := $(shell echo "$(CC) $(CPPFLAGS) $(OPT) $(SAN) $(CFLAGS) $(LDFLAGS)" | cksum | cut -d' ' -f1)
B    := build/$(HASH)
Q    := $(if $(V),,@)
# Headers of the test code only.
TESTFLAGS := -Itests

LIB_SRC  := $(sort $(wildcard lib/*.c lib/*/*.c formats/*.c kernels/*.c kernels/cpu/*.c))
CMD_SRC  := $(filter-out cmd/gnn-%,$(wildcard cmd/*.c))
PROGS    := $(patsubst cmd/%.c,%,$(sort $(wildcard cmd/gnn-*.c)))
UNIT     := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
BENCH    := $(patsubst tests/bench/%.c,%,$(sort $(wildcard tests/bench/bench_*.c)))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
CMD_OBJ  := $(CMD_SRC:%.c=$(B)/%.o)

all: $(PROGS:%=$(B)/bin/%) build/bin build/libgnn.a ## build everything

build/bin: $(PROGS:%=$(B)/bin/%)
	$(Q)ln -sfn $(HASH)/bin build/bin
build/libgnn.a: $(B)/libgnn.a
	$(Q)ln -sfn $(HASH)/libgnn.a build/libgnn.a

$(B)/%.o: %.c Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  CC  $<')
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(if $(filter tests/%,$<),$(TESTFLAGS)) -MMD -MP -c -o $@ $<

$(B)/libgnn.a: $(LIB_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

LINK = $(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

$(B)/bin/gnn-%: $(B)/cmd/gnn-%.o $(CMD_OBJ) $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(LINK)
$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(B)/libgnn.a
	$(Q)$(LINK)
$(B)/tests/bench/bench_%: $(B)/tests/bench/bench_%.o $(B)/libgnn.a
	$(Q)$(LINK)

unit: $(UNIT:%=$(B)/tests/unit/%) ## build the unit tests

# Unit tests are TAP programs, the rest are TAP shell scripts named NN-what.t; a test finds the programs in $$GNN_BIN.
check: all unit ## run the tests (TESTS=... narrows them)
	$(Q)GNN_BIN=$(CURDIR)/$(B)/bin GNN_TOP=$(CURDIR) sh tests/run.sh $(if $(TESTS),$(TESTS),$(UNIT:%=$(B)/tests/unit/%) $(sort $(wildcard tests/*/*.t)))

bench-build: all $(BENCH:%=$(B)/tests/bench/%)

clean: ## remove build/
	rm -rf build

list: ## print the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | sort

.PHONY: all unit check bench-build clean list
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
