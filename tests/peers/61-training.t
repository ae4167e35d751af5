# SPDX-License-Identifier: Apache-2.0
# Training scripts of PyG, of which only the import line is changed, learn as much: over seeds, the mean of the last epoch's loss differs
# from that with PyG's loader by less than losses of one loader do. The scripts are one of our own and, where they are, PyG's examples.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
if ! "$py" -B -c 'import torch_geometric' 2>err; then
    skip "training scripts of PyG" "torch_geometric is not installed"
    done_testing
fi
PYTHONPATH=$GNN_TOP/formats/python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH OMP_NUM_THREADS=1
lib=$("$py" -B -W ignore -c 'import torch_geometric.typing as t; print(t.WITH_PYG_LIB)' 2>/dev/null)
# Loss and accuracy (of validation, if there is one) in the last epoch of each run.
last() {
    tr ',%' '  ' <"$1" | awk '
        { for (i = 1; i < NF; i++) {
              if ($i ~ /^Epoch:?$/) epoch = $(i + 1) + 0
              if ($i == "Loss:") { n[epoch]++; at = epoch " " n[epoch]; loss[at] = $(i + 1); if (epoch > most) most = epoch }
              if (at && ($i == "Train:" || $i == "Val:")) accuracy[at] = $(i + 1) > 1 ? $(i + 1) / 100 : $(i + 1) } }
        END { for (i = 1; i <= n[most]; i++) print loss[most " " i], accuracy[most " " i] }'
}
# At least five of each; the means of losses are nearer than those of one side are apart, and the mean accuracies than 0.05.
agree() {
    awk 'FNR == 1 { f++ } NF == 2 { n[f]++; s[f] += $1; a[f] += $2; if (n[f] == 1 || $1 < lo[f]) lo[f] = $1; if (n[f] == 1 || $1 > hi[f]) hi[f] = $1 }
        END { if (n[1] < 5 || n[2] != n[1]) { print n[1] + 0, "and", n[2] + 0, "runs"; exit 1 }
              d = s[1] / n[1] - s[2] / n[2]; w = hi[1] - lo[1]; if (hi[2] - lo[2] > w) w = hi[2] - lo[2]; e = (a[2] - a[1]) / n[1]
              printf "losses %.4f (PyG) and %.4f, spread %.4f, accuracy %.4f and %.4f, %d runs each\n", s[1] / n[1], s[2] / n[2], w, a[1] / n[1], a[2] / n[2], n[1]
              exit !((d < 0 ? -d : d) < w && (e < 0 ? -e : e) < 0.05) }' "$1" "$2"
}
# trains NAME SEEDS SCRIPT ARGS...
trains() {
    name=$1 seeds=$2 script=$3
    shift 3
    if [ ! -e "$script" ]; then
        skip "$name" "PyG's examples of this version have no such script"
        return
    fi
    mkdir -p "$name"
    cp "$script" "$name/theirs.py"
    sed 's/^from torch_geometric.loader import NeighborLoader$/from gnntools.pyg import NeighborLoader/
         s/^\(from torch_geometric.loader import .*\), NeighborLoader$/\1; from gnntools.pyg import NeighborLoader/' "$script" >"$name/ours.py"
    check "one line is changed: $name" test "$(diff "$name/theirs.py" "$name/ours.py" | grep -c '^[<>]')" -eq 2
    for who in ours theirs; do
        [ "$lib" = True ] || [ $who = ours ] || { skip "it learns as much as with PyG's loader: $name" "PyG has no pyg-lib" && continue; }
        for seed in $(seq "$seeds"); do
            "$py" -B -W ignore "$GNN_TOP/tests/peers/example.py" "$seed" "$name/$who.py" "$@" >"$name/out" 2>"$name/err" ||
                { tail -n 5 "$name/err" && break; }
            last "$name/out"
        done >"$name/$who"
        if [ $who = ours ]; then
            check "the script with the changed line runs, and learns: $name" logged "$name/ours" awk '{ bad += $2 < 0.4 } END { exit bad || NR < 5 }' "$name/ours"
        else
            check "it learns as much as with PyG's loader: $name" agree "$name/theirs" "$name/ours"
            sed 's/^/# /' out
        fi
    done
}
for kind in one typed temporal; do
    trains "$kind" 5 "$GNN_TOP/tests/peers/sage.py" $kind
done
if [ -d "${GNN_PYG_EXAMPLES-}" ]; then
    trains reddit 5 "$GNN_PYG_EXAMPLES/reddit.py"
    trains ogbn_train 5 "$GNN_PYG_EXAMPLES/ogbn_train.py" --dataset ogbn-products --model sage --epochs 8 --num_workers 1
    trains ogbn_products_sage 1 "$GNN_PYG_EXAMPLES/ogbn_products_sage.py" # which trains ten times
    trains to_hetero_mag 5 "$GNN_PYG_EXAMPLES/hetero/to_hetero_mag.py"
    trains hierarchical_sage 5 "$GNN_PYG_EXAMPLES/hetero/hierarchical_sage.py"
else
    skip "PyG's examples" "GNN_PYG_EXAMPLES is not set to the folder examples of PyG's sources"
fi
done_testing
