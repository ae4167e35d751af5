# SPDX-License-Identifier: Apache-2.0
# What make builds for, without building it: GPUs of one kind unless asked for others, on all cores unless asked for fewer.
. "$GNN_TOP/tests/lib.sh"
cat >nvcc <<'T'
#!/bin/sh
# stands in for the compiler: answers what the Makefile asks
case $* in
*--list-gpu-code*) printf 'sm_75\nsm_80\nsm_90\nsm_100\nsm_120\nsm_121\n' ;;
*--help*) echo '--compress-mode' ;;
esac
T
chmod +x nvcc
dry() { env -u MAKEFLAGS -u MAKELEVEL -u CUDA_ARCHS make -n -C "$GNN_TOP" NVCC="$PWD/nvcc" MPICC= "$@"; }
# codes WANT ARGUMENTS...: what code the kernels are compiled to
codes() {
    _want=$1
    shift
    dry "$@" "${goal-all}" >all || return 1
    grep -o 'code=[a-z]*_[0-9]*' all | sed 's/code=//' | awk '!n[$0]++' | paste -sd ' ' >got
    grep -c -- '-c -o .*kernels/cuda/' all >count
    echo "$(cat got), $(cat count) files"
    [ "$(cat got)" = "$_want" ] && [ "$(cat count)" -gt 10 ]
}
check "make builds by default for one kind of device, with PTX for later ones" codes 'sm_90 compute_90'
check "make CUDA_ARCHS=all builds for every kind of device" codes 'sm_80 sm_90 sm_100 sm_120 compute_120' CUDA_ARCHS=all
check "make CUDA_ARCHS='121 80' builds for these kinds in their order" codes 'sm_80 sm_121 compute_121' CUDA_ARCHS='121 80'
goal=wheel-cuda
check "make wheel-cuda builds for every kind of device" codes 'sm_80 sm_90 sm_100 sm_120 compute_120'
check "make wheel-cuda CUDA_ARCHS=80 builds for one" codes 'sm_80 compute_80' CUDA_ARCHS=80
unset goal
status 2 "make wheel-cuda needs nvcc" dry NVCC= wheel-cuda
cp err said
check "make names what needs nvcc" grep -q 'wheel-cuda needs nvcc' said
dry CUDA_ARCHS=all all >all
check "make tells the programs the least compute capability that CUDA_ARCHS has" grep -q 'GNN_CUDA_LEAST=80' all
status 2 "make refuses a CUDA_ARCHS that the compiler does not know" dry CUDA_ARCHS='90 77'
cp err said
check "make lists in one line what CUDA_ARCHS may be" \
    grep -q "^mk/cuda.mk:.*CUDA_ARCHS: .*nvcc makes no code for '77': choose from 80 90 100 120 121, or all" said
status 2 "make refuses a CUDA_ARCHS that the kernels are too new for" dry CUDA_ARCHS=75
dry -B NVCC= all >all
check "make NVCC= builds nothing for devices" \
    sh -c '! grep "kernels/cuda\|lib/gpu/\|/gpu_" all | grep -v "lib/gpu/gpu\.\|/no_gpu\." && grep -q lib/gpu/no_gpu.c all'

cores() { dry -p "$@" list 2>/dev/null | sed -n 's/^MAKEFLAGS = [^-]*\(-j[0-9]*\).*/\1/p' | head -n 1; }
check "make builds on all cores" test "$(cores)" = "-j$(nproc)"
check "make -j3 builds on three cores" test "$(cores -j3)" = -j3
done_testing
