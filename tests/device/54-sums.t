# SPDX-License-Identifier: Apache-2.0
# Products that the emulated cuBLASLt adds up in float, in either of two orders, as a device's does in one of its own: training stays
# near the CPU, with bits of its own that each run has. (`make check-sums` has all tests of devices with each order.)
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/train.sh"
gnn-import -q -o s sbm:nodes=400,degree=7,features=12
gnn-import -q -o h sbm:nodes=200,types=3
how="-f 4,3 -b 20"
for sums in double forward backward; do
    export GNN_FAKE_SUMS=$sums
    turns=0
    trains "SAGE with products added up in $sums" s --residual
    cp a.st "$sums.st"
    if wide; then
        trains "GCN with products added up in $sums" s --model gcn --batch-norm
        trains "SAGE for several node types with products added up in $sums" h
    fi
    status 0 "bench_gpu measures epilogues that add up in $sums" env GNN_FAKE_LT=1 "$GNN_B/emu/tests/gpu/bench_gpu" 100 epilogues
    cp out lt
    if grep -q 'built without CUDA' lt; then
        skip "none of them is wrong with sums in $sums" 'built without CUDA'
        continue
    fi
    check "none of them is wrong with sums in $sums" sh -c 'grep -q "^| epilogue BGRADA.* right" lt && ! grep "WRONG\|OTHER\|another\|not measured" lt'
done
check "the order in which products are added up shows in the model" sh -c '! cmp -s double.st forward.st && ! cmp -s forward.st backward.st'
refusing="an emulated device"
refuses 134 '^fake device: GNN_FAKE_SUMS: expected double, forward or backward$' 'a word that is no order of sums' \
    env GNN_FAKE_SUMS=sideways "$emu/gnn-train" -q --store s $how --device cuda -o c.st
done_testing
