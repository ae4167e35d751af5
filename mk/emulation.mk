# SPDX-License-Identifier: Apache-2.0
# The CUDA code where there is no device, and no nvcc: the host runs it.

# test_races is among WATCHED, but under sanitizers.
EMU      := $(filter-out $(if $(SAN),,test_races),$(patsubst tests/emu/%.cc,%,$(sort $(wildcard tests/emu/test_*.cc))))
GPU_TEST := $(patsubst tests/gpu/%.c,%,$(sort $(wildcard tests/gpu/check_*.c tests/gpu/bench_gpu.c)))
# The same .cu files once more, run by the host (tests/emu/emu.h).
EMU_OBJ  := $(CUDA_SRC:%.cu=$(B)/emu/%.o)
$(B)/emu/%.o: %.cu Makefile mk/emulation.mk
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  EMU $<')
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS_ALL) -Itests -include emu/emu.h -MMD -MP -c -o $@ -x c++ $<
$(B)/tests/emu/%.o: tests/emu/%.cc Makefile mk/emulation.mk
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
$(B)/watched/%.o: %.cu Makefile mk/emulation.mk
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  EMU watched $<')
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS_ALL) -O1 -fsanitize=thread -Itests -include emu/emu.h -MMD -MP -c -o $@ -x c++ $<
$(WATCHED): $(FAKE:$(B)/emu/%=$(B)/watched/%) $(B)/tests/emu/watch.o $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$(B)/watched/tests/gpu/check_kernels: $(B)/tests/gpu/check_kernels.o
$(B)/watched/tests/emu/test_races: $(B)/tests/emu/test_races.o $(B)/watched/tests/emu/planted.o
$(B)/tests/gpu/bench_gpu $(B)/emu/tests/gpu/bench_gpu: $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/gpu/part_*.c)))
KERNEL_CASES := $(sort $(wildcard tests/gpu/case_*.c)) $(addprefix tests/gpu/,blocks_case.c device_sampler.c on_device.c sampling.c)
$(addsuffix /tests/gpu/check_kernels,$(B) $(B)/emu $(B)/watched): $(KERNEL_CASES:%.c=$(B)/%.o)
$(B)/emu/tests/gpu/%: $(B)/tests/gpu/%.o $(FAKE) $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS_ALL) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$(B)/tests/gpu/%: $(B)/tests/gpu/%.o $(B)/libgnn.a
	$(Q)$(LINK)
$(B)/emu/bin/gnn-%: $(B)/cmd/gnn-%.o $(B)/cmd.a $(FAKE) $(B)/libgnn.a
	$(Q)mkdir -p $(@D)
	$(if $(Q),@echo '  LD  emulated $(@F)')
	$(Q)$(CXX) $(CXXFLAGS_ALL) -Wl,--as-needed $(LDFLAGS) -o $@ $^ $(LIBS)
