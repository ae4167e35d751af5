# SPDX-License-Identifier: Apache-2.0
# What scripts/gpu-bundle.sh packs, with stand-ins for the programs; and, by `make check-bundle`, the bundle itself.
. "$GNN_TOP/tests/lib.sh"
if ! command -v xz >/dev/null || ! command -v strip >/dev/null || ! command -v python3 >/dev/null; then
    skip "gpu-bundle.sh packs what gpu-check.sh runs" "xz, strip or python3 is not here"
    done_testing
fi
mkdir -p b data
for p in gnn-import gnn-train bench_gpu; do cp "$(command -v cat)" b/$p; done
cp "$(command -v xz)" b/check_kernels # loads a library beside the C library
echo graph >data/cora.zip
check "gpu-bundle.sh packs its bundle" env GNN_DATA="$PWD/data" sh "$GNN_TOP/scripts/gpu-bundle.sh" b.tar.xz b/*
cp err said
check "gpu-bundle.sh does not say that real graphs are missing that it packs" sh -c '! grep "no real graph" said'
check "Python unpacks the bundle where there is no xz" python3 -m tarfile -e b.tar.xz .
check "gpu-bundle.sh packs what gpu-check.sh runs" \
    sh -c 'cd gnn-gpu &&
        cmp data/cora.zip ../data/cora.zip && test -s COMMIT -a -s peer.py -a -s gpu-profile.awk -a -x bin/gnn-train -a -x bin/bench_gpu'
check "gpu-bundle.sh packs the libraries that programs load" sh -c 'ls gnn-gpu/lib | grep -q "^liblzma[.]"'
check "gpu-bundle.sh packs no C library, which every machine has" sh -c '! ls gnn-gpu/lib | grep -E "^lib(c|m|stdc[+]+|gcc_s)[.]"'
check "gpu-bundle.sh packs a bundle without real graphs" env GNN_DATA="$PWD/none" sh "$GNN_TOP/scripts/gpu-bundle.sh" c.tar.xz b/gnn-train
cp err said
check "gpu-bundle.sh says that no real graph comes along" grep -q '^gpu-bundle: no real graph comes along: set GNN_DATA' said
mkdir -p top/scripts top/tests/gpu # the same script with another limit
sed 's/^most=.*/most=100/' "$GNN_TOP/scripts/gpu-bundle.sh" >top/scripts/gpu-bundle.sh
cp "$GNN_TOP/scripts/gpu-check.sh" "$GNN_TOP/scripts/gpu-profile.awk" top/scripts
cp "$GNN_TOP/tests/gpu/peer.py" top/tests/gpu
status 1 "gpu-bundle.sh refuses a bundle that is larger than its limit" sh top/scripts/gpu-bundle.sh c.tar.xz b/*
cp err said
check "gpu-bundle.sh names what is large in a bundle" sh -c 'grep -q "gpu-bundle: larger than 100 bytes" said && grep -q "bin/gnn-train" said'
if [ -z "${GNN_BUNDLE-}" ]; then
    skip "the bundle is complete" "make check-bundle packs it"
    done_testing
fi

# The bundle, elsewhere and in an empty environment.
rm -rf gnn-gpu
check "the bundle is unpacked" tar -xJf "$GNN_BUNDLE"
cd gnn-gpu || exit 1
for p in bin/*; do
    check "$p finds all of its libraries in the bundle, but for those that every machine has" sh -c '
        env -i ldd "$1" >found && awk -v lib="$PWD/bin/../lib/" "\$2 == \"=>\" && index(\$3, lib) != 1 &&
            \$1 !~ /^lib(c|m|dl|rt|pthread|stdc[+]+|gcc_s)[.]so/ { print; bad = 1 } END { exit bad }" found' sh $p
done
for p in bin/gnn-*; do check "$p runs in an empty environment" env -i "$PWD/$p" --version; done
check "gnn-import makes a graph in an empty environment" env -i "$PWD/bin/gnn-import" -q -o graph sbm:nodes=300,features=8
check "gnn-partition parts it in an empty environment" env -i "$PWD/bin/gnn-partition" -q -k 2 -o parts graph
check "gnn-train trains in an empty environment" env -i "$PWD/bin/gnn-train" -q --store parts -f 3,2 -b 32 --hidden 8 --epochs 1 -o model
if [ -e /dev/nvidia0 ]; then
    skip "gnn-sample says why there is no device" "there is one"
    done_testing
fi
for p in 'gnn-sample --device cuda -f 1 graph -o batches' 'gnn-train --device cuda --store graph -f 1 -o model'; do
    # shellcheck disable=SC2086
    status 4 "${p%% *} --device cuda ends with status 4 where there is no device" env -i "$PWD/bin/"$p
    cp err said
    check "${p%% *} --device cuda says why" grep -q 'no CUDA device: no driver is installed' said
done
for p in check_kernels check_reduce check_train bench_gpu; do
    check "$p starts, and says that there is no device" sh -c '! env -i "$1" >said 2>&1 && grep -q "no CUDA device" said' sh "$PWD/bin/$p"
done
status 1 "gpu-check.sh ends at once where there is no device" env -i PATH=/usr/bin:/bin sh gpu-check.sh
check "gpu-check.sh says why" grep -q '^Not possible: .*no CUDA device: no driver is installed' results/results.md
done_testing
