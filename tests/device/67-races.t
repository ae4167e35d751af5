# SPDX-License-Identifier: Apache-2.0
# Kernels whose blocks run two at once, by turns: what the one writes, the other sees after a fence only (tests/emu/watch.cc). Of the
# groups of check_kernels those whose blocks have to do with each other; all of them in the wider tiers, and by `make check-races`.
. "$GNN_TOP/tests/lib.sh"
kernels=$GNN_B/watched/tests/gpu/check_kernels
check "planted races between blocks are found" "$GNN_B/watched/tests/emu/test_races"
if wide; then groups=$("$kernels" --groups); else groups="edges transpose label sample capacity"; fi
for group in $groups; do
    check "kernels of the group $group give the same when two blocks run at once" env GNN_EMU_BLOCKS=2 "$kernels" 1 "$group"
done
# Elsewhere the blocks that run by turns would share it, and it would not be filled with rubbish.
check "all static shared memory lies in a section of its own (in templates g++ puts it elsewhere)" \
    sh -c 'nm "$1"/emu/kernels/cuda/*.o >names && grep -q " T gnn_cuda_" names && ! grep " [bB] " names' - "$GNN_B"
refusing="an emulated device"
refuses 134 '^emu: GNN_EMU_BLOCKS=0: expected a number from 1 to 16$' 'to run no blocks' env GNN_EMU_BLOCKS=0 "$kernels" 1 label
done_testing
