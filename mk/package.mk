# SPDX-License-Identifier: Apache-2.0
# What is handed out: sources, Debian packages, wheels, and a bundle for a bare machine with a GPU.

# In a bundle and a wheel libarchive is linked statically where it can be: as a shared library it loads libxml2 and 31 MB of ICU.
ARCHIVE_A    = $(wildcard $(shell $(CC) -print-file-name=libarchive.a))
ARCHIVE_LIBS = $(if $(ARCHIVE_A),$(B)/libarchive.a \
    $(filter-out -larchive -lxml2 -lacl -llz4,$(shell pkg-config --libs --static libarchive)),-larchive)
$(B)/bundle/gnn-%: LIBS := $(filter-out -larchive,$(LIBS))
# It asks for random bytes, 16 at most, if it encrypts, which it never does here, by a function that glibc has from 2.36 on only.
$(B)/libarchive.a: Makefile mk/package.mk
	$(Q)mkdir -p $(@D)
	$(Q)objcopy --redefine-sym arc4random_buf=getentropy $(ARCHIVE_A) $@

# Said at once, and not by the linker.
$(if $(NVCC),,$(if $(filter gpu-bundle check-bundle wheel-cuda,$(MAKECMDGOALS)),$(error $(MAKECMDGOALS) needs nvcc)))

# The bundle's libraries are found from wherever it is unpacked, and theirs, for which only the older kind of tag holds.
$(B)/bundle/gnn-% $(B)/tests/gpu/%: LDFLAGS += -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib'
$(B)/bundle/gnn-%: $(B)/cmd/gnn-%.o $(B)/cmd.a $(B)/libgnn.a | $(if $(ARCHIVE_A),$(B)/libarchive.a)
	$(Q)mkdir -p $(@D)
	$(Q)$(LINK) $(ARCHIVE_LIBS)
BUNDLE := $(addprefix $(B)/bundle/,gnn-import gnn-partition gnn-sample gnn-gather gnn-train gnn-predict) $(GPU_TEST:%=$(B)/tests/gpu/%)
gpu-bundle: $(BUNDLE) ## pack what scripts/gpu-check.sh needs on a bare machine with a GPU
	$(Q)sh scripts/gpu-bundle.sh build/gnn-gpu.tar.xz $(BUNDLE)
check-bundle: gpu-bundle ## pack it, unpack it elsewhere, and run its programs in an empty environment
	$(Q)GNN_BUNDLE=$(CURDIR)/build/gnn-gpu.tar.xz $(IN_TREE) sh tests/run.sh tests/scripts/45-gpu-bundle.t

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

# A wheel is for one machine: no MPI. Its programs share their code in a library, so that it stays small. One for GPUs has code for all
# of them, unless CUDA_ARCHS is given, and nothing of CUDA but its run-time: programs find the driver and cuBLASLt when they need them.
WHEEL_CFLAGS = -g0 -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
WHEEL_TOOLS  = build/wheel-tools
wheel: WHEEL_FOR = NVCC=
wheel: ## build the Python wheel: programs, manuals and the package gnntools
wheel-cuda: WHEEL_FOR = NVCC='$(NVCC)' CUDA_ARCHS='$(if $(filter file,$(origin CUDA_ARCHS)),all,$(CUDA_ASKED))'
wheel-cuda: ## build the same wheel with CUDA
wheel-tools:
	$(Q)sh scripts/wheel-tools.sh $(WHEEL_TOOLS)
wheel wheel-cuda: wheel-tools
	$(Q)$(MAKE) -s $(WHEEL_FOR) MPICC= SAN= CFLAGS='$(WHEEL_CFLAGS) $(CFLAGS)' wheel-programs
wheel-programs: $(PROGS:%=$(B)/wheel/%)
	$(Q)PATH="$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH" python3 scripts/wheel.py $(VERSION) build/wheel '$(if $(NVCC),$(CUDA_LIB)/..)' $^
# What programs call, and the functions of the public headers, which the Python package calls; and what these call.
$(B)/wheel/exports: $(PROGS:%=$(B)/cmd/%.o) $(B)/libgnn.map
	$(Q)mkdir -p $(@D)
	$(Q){ echo '{ global:' && nm -u $(filter %.o,$^) | sed -n 's/^ *U \(.*\)/\1;/p' | sort -u - $(B)/libgnn.map | \
	    grep ';$$' | grep -v '[{}]' && echo 'local: *; };'; } >$@
$(B)/wheel/libgnn-tools.so: $(B)/wheel/exports $(B)/cmd.a $(B)/libgnn.a $(B)/libarchive.a
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(CC) $(CFLAGS_ALL) -shared -Wl,--as-needed,--gc-sections,-soname,$(@F),--version-script=$< $(LDFLAGS) -o $@ \
	    -Wl,--whole-archive $(B)/cmd.a $(B)/libgnn.a -Wl,--no-whole-archive $(ARCHIVE_LIBS) $(filter-out -larchive,$(LIBS))
$(B)/wheel/gnn-%: $(B)/cmd/gnn-%.o $(B)/wheel/libgnn-tools.so
	$(if $(Q),@echo '  LD  $(@F)')
	$(Q)$(CC) $(CFLAGS_ALL) -Wl,--as-needed,-rpath,'$$ORIGIN' $(LDFLAGS) -o $@ $^ $(filter-out -larchive,$(LIBS))

.PHONY: gpu-bundle check-bundle dist deb wheel wheel-cuda wheel-tools wheel-programs
