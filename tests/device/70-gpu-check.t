# SPDX-License-Identifier: Apache-2.0
# scripts/gpu-check.sh, every line of it but compute-sanitizer's, with devices that are emulated.
. "$GNN_TOP/tests/lib.sh"
[ -z "${GNN_SAN-}" ] || { skip 'gpu-check.sh passes on emulated devices' \
    'a script over programs that other tests run under the sanitizer'; done_testing; }
mkdir bin
ln -s "$GNN_BIN"/gnn-* bin
for p in "$GNN_B"/emu/bin/gnn-* "$GNN_B"/emu/tests/gpu/check_kernels "$GNN_B"/emu/tests/gpu/check_reduce "$GNN_B"/emu/tests/gpu/bench_gpu; do ln -sf "$p" bin; done
cat >bin/ncu <<'T'
#!/bin/sh
echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters'
exit 1
T
chmod +x bin/ncu
# bf16 is refused, as it may be
check "gpu-check.sh passes every check on emulated devices" \
    env GNN_FAKE_NO_BF16=0 GNN_CHECK_BIN="$PWD/bin" GNN_CHECK_SMALL=1 PATH="/usr/bin:/bin" sh "$GNN_TOP/scripts/gpu-check.sh" res
cp res/results.md results 2>/dev/null || : >results
check "gpu-check.sh reports how many checks passed" grep -q '^Checks: [1-9][0-9]* passed, 0 failed, 0 skipped' results
check "gpu-check.sh reports the versions of the driver, the runtime and cuBLASLt" \
    grep -q 'the driver knows CUDA 13.0, the runtime is 13.0; cuBLASLt 130000' results
for row in 'gather, device memory | [0-9.]* GB/s, [0-9.]* us | [0-9.]*, [0-9.]* %' 'sampling, products:, --graph-memory device | [0-9.e+]* us a batch, [0-9.e-]* G edges/s | 100 us' \
    'sampling, products:, --graph-memory uva --graph-cache 0 | [0-9.e+]* us' 'epoch, SAGE 3x256, bf16, second of two | [0-9.]* s | 0.3 s; cuBLASLt cannot multiply' 'predict, all nodes | [0-9.]* s' \
    'aggregate, 256 wide | [0-9.]* GB/s, [0-9.]* us | [0-9.]*, [0-9.]* %' 'aggregate, 100 wide | ' 'transpose, [0-9]* edges | ' 'act_back, 256 wide | ' 'column sums, 256 wide | ' 'Adam, the model' \
    'product, layer 0: ([0-9]*, 100) by (100, 256), tf32 | [0-9.]* TFLOP/s, [0-9.]* us | tensor cores' 'product, layer 0: ([0-9]*, 100) by (100, 256), bf16 | refused' \
    'product (rows, 100) by (100, 8) | [0-9.]*, [0-9]* times | [0-9.]* ms'; do
    check "gpu-check.sh reports a row of ${row%% |*}" grep -q "^| $row" results
done
check "gpu-check.sh says why there are no counters" grep -q '^No counters (ncu: .*ERR_NVGPUCTRPERM' results

# Counters, as ncu writes them.
cat >ncu.csv <<'T'
==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Context","dram__bytes.sum","gpu__time_duration.sum","lts__t_bytes.sum","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","byte","ns","byte","%"
"0","1","void sum_rows<4, float>(const float *, int)","1","2,000,000","1000","4000000","50"
"1","1","gather(Args)","1","1000000","4000","1000000","25"
"2","1","void sum_rows<4, float>(const float *, int)","1","2000000","1000","4000000","50"
T
awk -v limit=4000 -f "$GNN_TOP/scripts/gpu-profile.awk" ncu.csv >profile
check "gpu-profile.awk lists the kernel first that takes longest" \
    sh -c 'sed -n 3p profile | grep -q "^| gather | 66.7 % | 4.0, 1 times | 1.0 MB, 250 GB/s | 6 % | 1.0 MB, 250 GB/s | 25 % |$"'
check "gpu-profile.awk adds up the launches of a kernel" \
    sh -c 'sed -n 4p profile | grep -q "^| sum_rows<4, float> | 33.3 % | 1.0, 2 times | 2.0 MB, 2000 GB/s | 50 % | 4.0 MB, 4000 GB/s | 50 % |$"'
echo '==ERROR== The application returned an error code (9).' >ncu.csv
status 1 "gpu-profile.awk fails when ncu wrote no counters" awk -f "$GNN_TOP/scripts/gpu-profile.awk" ncu.csv

# One that fails is told, and the rest goes on.
cat >bin/check_kernels.no <<'T'
exit 1
T
rm bin/check_kernels
mv bin/check_kernels.no bin/check_kernels
chmod +x bin/check_kernels
status 1 "gpu-check.sh fails when one of its checks fails" \
    env GNN_CHECK_BIN="$PWD/bin" GNN_CHECK_SMALL=1 GNN_CHECK_SECONDS=8 PATH="/usr/bin:/bin" sh "$GNN_TOP/scripts/gpu-check.sh" res
check "gpu-check.sh names the check that fails" grep -q '^- FAILED: kernels' res/results.md
done_testing
