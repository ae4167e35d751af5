# SPDX-License-Identifier: Apache-2.0
# gnn-tools. `make list` shows the targets; V=1 shows commands.
# SAN=address,undefined or SAN=thread, CC=clang and AVX512=0 (what processors without AVX-512 run) builds live side by side under build/.
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
AVX512  ?=
WERROR  ?=
VERSION := 0.3.0

PKGS := libzstd libarchive zlib jansson libxxhash yaml-0.1
WARN := -Wall -Wextra -Wno-missing-field-initializers -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
        -Wformat=2 -Wwrite-strings -Wundef -fno-common $(if $(WERROR),-Werror)
CPPFLAGS += -I. -D_GNU_SOURCE -DGNN_VERSION='"$(VERSION)"' $(if $(SAN),-DGNN_NO_IFUNC) $(if $(filter 0,$(AVX512)),-DGNN_NO_AVX512) \
        $(if $(findstring fuzzer,$(SAN)),-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
# No contraction: a product and a sum are rounded one after the other by every compiler and on every device.
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS))
ANY_FLAGS = $(OPT) -g -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=off
SAN_FLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS_ALL = -std=c11 -fPIC -fno-semantic-interposition $(ANY_FLAGS) $(WARN) $(PKG_CFLAGS) $(SAN_FLAGS) $(CFLAGS)
# Only .cu files and what runs them in the tests are C++.
CXXFLAGS_ALL = -std=c++17 $(ANY_FLAGS) -fno-exceptions -fno-rtti $(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(WARN)) $(SAN_FLAGS)
include mk/cuda.mk
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
LIB_SRC  := $(filter-out $(GPU_SRC) $(if $(NVCC),$(GPU_NONE)) lib/comm/calls_mpi.c lib/api/own_libs.c,\
            $(sort $(wildcard lib/*/*.c lib/*/*/*.c formats/*.c kernels/*.c kernels/cpu/*.c)))
CMD_SRC  := $(filter-out cmd/gnn-%,$(wildcard cmd/*.c))
PROGS    := $(patsubst cmd/%.c,%,$(sort $(wildcard cmd/gnn-*.c)))
CUDA_SRC := $(sort $(wildcard kernels/cuda/*.cu))
# What programs outside the tree include, as <gnn/NAME.h>; each has an example, which tests/scripts/30-install.t compiles.
PUBLIC   := lib/base/status.h $(patsubst %,lib/api/%.h,gnn graph minibatch builder learn)
API_OBJ  := $(patsubst %.c,$(B)/%.o,$(wildcard lib/api/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
CMD_OBJ  := $(CMD_SRC:%.c=$(B)/%.o)

# With nvcc the kernels are in the library; the programs start without a driver all the same, as the run-time is linked
# statically and looks for one only when it is first called.
ifneq ($(NVCC),)
CUDA_OBJ := $(CUDA_SRC:%.cu=$(B)/%.o) $(GPU_OBJ)
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
	    'OPT ?= $(OPT)' 'AVX512 ?= $(AVX512)' 'CFLAGS ?= $(CFLAGS)' 'LDFLAGS ?= $(LDFLAGS)' >build/settings.mk)
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
	    $(API_OBJ) $(B)/libgnn.a $(filter-out -ldnnl -lmetis -larchive -lyaml,$(LIBS)) -ldl
# What programs share, of which each is linked with what it uses.
$(B)/cmd.a: $(CMD_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Only what a program uses is loaded: oneDNN alone costs some 10 ms at the start.
LINK = $(CC) $(CFLAGS_ALL) -Wl,--as-needed $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(B)/bin/gnn-%: $(B)/cmd/gnn-%.o $(B)/cmd.a $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(LINK)

$(B)/kernels/cuda/%.o: kernels/cuda/%.cu Makefile mk/cuda.mk
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  NV  $<')
	$(Q)$(NVCC) $(NVCCFLAGS) -MD -MP -MF $(@:.o=.d) -c -o $@ $<
ifneq ($(NVCC),)
$(B)/tests/gpu/part_epilogues.o: CPPFLAGS += -isystem $(CUDA_LIB)/../include
$(B)/lib/gpu/%_cuda.o $(B)/tests/unit/%_cuda.o: CPPFLAGS += -isystem $(CUDA_LIB)/../include -DGNN_CUDA_LEAST=$(firstword $(CUDA_ARCHS:%a=%))
endif

# No sanitizer: it would have to be loaded first.
$(B)/lib/gnn-tools/gnn-mpi.so: lib/comm/calls_mpi.c lib/comm/mpi.h lib/comm/comm.h Makefile
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  MPI $<')
	$(Q)$(MPICC) $(CPPFLAGS) -std=c11 -O2 -g -fPIC -shared $(filter-out -Wpedantic -Wconversion,$(WARN)) -o $@ $<

LINTS := check-layers.pl tree-stats.pl check-format.sh check-headers.sh check-text.sh
lint: $(LINTS:%=lint/%) ## check layers, cycles, headers, format, scripts, manual pages, text
$(LINTS:%=lint/%): lint/%:
	$(Q)$(if $(filter %.pl,$*),perl,sh) scripts/$* $(if $(filter tree-stats.pl,$*),-c)

include $(addprefix mk/,emulation.mk tests.mk fuzz.mk install.mk package.mk)

clean: ## remove build/
	rm -rf build

list: ## print the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile mk/*.mk | sort

.PHONY: all programs build/bin build/libgnn.a build/libgnn.so lint $(LINTS:%=lint/%) clean list
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
