# SPDX-License-Identifier: Apache-2.0
# What is asked of nvcc.

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
