# scripts/gpu-check.sh, every line of it but compute-sanitizer's, with devices that are emulated.
. "$GNN_TOP/tests/lib.sh"
[ -z "${GNN_SAN-}" ] || { skip 'gpu-check.sh' 'a script over programs that other tests run under the sanitizer'; done_testing; }
mkdir bin
ln -s "$GNN_BIN"/gnn-* bin
for p in "$GNN_B"/emu/bin/gnn-* "$GNN_B"/emu/tests/gpu/check_kernels "$GNN_B"/emu/tests/gpu/check_sums "$GNN_B"/emu/tests/gpu/bench_gpu; do ln -sf "$p" bin; done
check "every check passes" env GNN_CHECK_BIN="$PWD/bin" GNN_CHECK_SMALL=1 PATH="/usr/bin:/bin" sh "$GNN_TOP/scripts/gpu-check.sh" res
cp res/results.md results 2>/dev/null || : >results
check "and says so" grep -q '^Checks: [1-9][0-9]* passed, 0 failed, 0 skipped' results
for row in 'gather, device memory | [0-9.]* GB/s | [0-9.]*, [0-9.]* %' 'sampling, products:, --graph-memory device | [0-9.e+]* us a batch, [0-9.e-]* G edges/s | 100 us' \
    'sampling, products:, --graph-memory uva --graph-cache 0 | [0-9.e+]* us' 'epoch, SAGE 3x256, bf16, second of two | [0-9.]* s' 'aggregate, 256 wide | [0-9.]* GB/s | [0-9.]*, [0-9.]* %' 'predict, all nodes | [0-9.]* s'; do
    check "a row: ${row%% |*}" grep -q "^| $row" results
done
# One that fails is told, and the rest goes on.
cat >bin/check_kernels.no <<'T'
exit 1
T
rm bin/check_kernels
mv bin/check_kernels.no bin/check_kernels
chmod +x bin/check_kernels
status 1 "a check that fails" env GNN_CHECK_BIN="$PWD/bin" GNN_CHECK_SMALL=1 GNN_CHECK_SECONDS=8 PATH="/usr/bin:/bin" sh "$GNN_TOP/scripts/gpu-check.sh" res
check "is named" grep -q '^- FAILED: kernels' res/results.md
done_testing
