# SPDX-License-Identifier: Apache-2.0
# What scripts/gpu-bundle.sh packs, with stand-ins for the programs.
. "$GNN_TOP/tests/lib.sh"
if ! command -v xz >/dev/null || ! command -v strip >/dev/null || ! command -v python3 >/dev/null; then
    skip "gpu-bundle.sh packs what gpu-check.sh runs" "xz, strip or python3 is not here"
    done_testing
fi
mkdir -p b/bundle b/tests/gpu data
for p in bundle/gnn-import bundle/gnn-sample bundle/gnn-gather bundle/gnn-train bundle/gnn-predict tests/gpu/check_kernels tests/gpu/check_reduce tests/gpu/check_train tests/gpu/bench_gpu; do
    cp "$(command -v cat)" b/$p
done
echo graph >data/cora.zip
check "gpu-bundle.sh packs its bundle" env GNN_DATA="$PWD/data" sh "$GNN_TOP/scripts/gpu-bundle.sh" b b.tar.xz
check "Python unpacks the bundle where there is no xz" python3 -m tarfile -e b.tar.xz .
check "gpu-bundle.sh packs what gpu-check.sh runs" \
    sh -c 'cd gnn-gpu &&
        cmp data/cora.zip ../data/cora.zip && test -s COMMIT -a -s peer.py -a -s gpu-profile.awk -a -x bin/gnn-train -a -x bin/bench_gpu'
check "gpu-bundle.sh packs no C library, which every machine has" sh -c '! ls gnn-gpu/lib | grep -q "^libc[.]"'
mkdir -p top/scripts top/tests/gpu # the same script with another limit
sed 's/^most=.*/most=100/' "$GNN_TOP/scripts/gpu-bundle.sh" >top/scripts/gpu-bundle.sh
cp "$GNN_TOP/scripts/gpu-check.sh" "$GNN_TOP/scripts/gpu-profile.awk" top/scripts
cp "$GNN_TOP/tests/gpu/peer.py" top/tests/gpu
status 1 "gpu-bundle.sh refuses a bundle that is larger than its limit" sh top/scripts/gpu-bundle.sh b c.tar.xz
cp err said
check "gpu-bundle.sh names what is large in a bundle" sh -c 'grep -q "gpu-bundle: larger than 100 bytes" said && grep -q "bin/gnn-train" said'
done_testing
