# SPDX-License-Identifier: Apache-2.0
# A training script of PyG, of which only the import line is changed, learns as much: the loss differs from that with PyG's loader by no
# more than losses of several seeds do.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
if ! "$py" -B -c 'import torch_geometric' 2>err; then
    skip "training scripts of PyG" "torch_geometric is not installed"
    done_testing
fi
PYTHONPATH=$GNN_TOP/formats/python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
sed 's/^from torch_geometric.loader import NeighborLoader$/from gnntools.pyg import NeighborLoader/' "$GNN_TOP/tests/peers/sage.py" >changed.py
check "one line is changed" test "$(diff "$GNN_TOP/tests/peers/sage.py" changed.py | grep -c '^[<>]')" -eq 2
lib=$("$py" -B -W ignore -c 'import torch_geometric.typing as t; print(t.WITH_PYG_LIB)' 2>/dev/null)
# Whether the means are nearer than twice the larger spread, and the accuracy is not lower than by a twentieth.
agree() {
    awk 'FNR == 1 { f++ } { n[f]++; s[f] += $1; a[f] += $2; if (n[f] == 1 || $1 < lo[f]) lo[f] = $1; if (n[f] == 1 || $1 > hi[f]) hi[f] = $1 }
        END { d = s[1] / n[1] - s[2] / n[2]; w = hi[1] - lo[1]; if (hi[2] - lo[2] > w) w = hi[2] - lo[2]; if (w < 0.01) w = 0.01
              printf "losses %.4f and %.4f, spread %.4f, accuracy %.4f and %.4f\n", s[1] / n[1], s[2] / n[2], w, a[1] / n[1], a[2] / n[2]
              exit !(n[1] == 3 && n[2] == 3 && (d < 0 ? -d : d) < 2 * w && a[2] / n[2] > a[1] / n[1] - 0.05) }' "$1" "$2"
}
for kind in one typed; do
    for seed in 1 2 3; do
        OMP_NUM_THREADS=1 "$py" -B -W ignore changed.py $kind $seed 2>>err.$kind
    done >ours.$kind
    check "a script with the changed line runs: $kind" logged err.$kind test "$(wc -l <ours.$kind)" -eq 3
    check "it learns: $kind" awk '{ bad += $2 < 0.7 } END { exit bad || NR != 3 }' ours.$kind
    if [ "$lib" = True ]; then
        for seed in 1 2 3; do
            OMP_NUM_THREADS=1 "$py" -B -W ignore "$GNN_TOP/tests/peers/sage.py" $kind $seed 2>>err.$kind
        done >theirs.$kind
        check "it learns as much as with PyG's loader: $kind" agree theirs.$kind ours.$kind
    else
        skip "it learns as much as with PyG's loader: $kind" "PyG has no pyg-lib"
    fi
done
done_testing
