# SPDX-License-Identifier: Apache-2.0
# The memory that gnn-train computes for the largest rank of full batches, and what this takes.
. "$GNN_TOP/tests/ranks/setup.sh"
/usr/bin/python3 -c 'import numpy' 2>err || {
    skip 'gnn-train computes the memory of ranks' 'no NumPy'
    done_testing
}
gnn-import -q -o W sbm:nodes=600,degree=9,features=7 && gnn-partition -q -k 5 -o w W && gnn-partition -q -k 2 -o h W &&
    gnn-import -q -o T sbm:nodes=300,types=3,features=6 && gnn-partition -q -k 3 -o t T ||
    _not_ok 'gnn-import and gnn-partition make stores'
for s in w h t; do check "gnn-inspect exports $s" gnn-inspect --raw --export $s.npz $s; done
while IFS='|' read -r s size depth layer layers hidden heads opts <&4; do # mpirun would read standard input
    turn 3 || continue
    check "gnn-train --full-batch -m $layer $opts learns on $size ranks" ranks $size gnn-train -q --full-batch --store $s --epochs 2 -m $layer --batch-norm \
        --layers $layers --hidden $hidden --metrics m.json -o m.st $opts
    check "gnn-train --full-batch -m $layer $opts computes the memory of one of $size ranks" \
        /usr/bin/python3 "$GNN_TOP/tests/train/full_size.py" $s.npz m.st m.json $size $depth $layer $layers $hidden $heads batch
done 4<<'END'
w|5|1|sage|3|16|1|
w|5|1|gat|3|16|4|--heads 4
w|5|3|gat|2|6|2|--heads 2 --pipeline-depth 3
w|5|1|gcn|2|6|1|
t|3|1|sage|2|8|1|
h|2|1|sage|3|8|1|
h|2|5|gat|2|8|2|--heads 2 --pipeline-depth 5
t|3|1|hgt|2|8|2|--heads 2 --head 0
END
# The slope between a model and a wider one, as libraries and MPI take much of a small one.
if [ -n "${GNN_SAN:-}" ]; then
    skip 'the largest rank takes between 0.6 and 1.1 times what the formula says' 'sanitizers take memory of their own'
    done_testing
fi
gnn-import -q -o big products:scale=0.01 && gnn-partition -q -k 6 --method ldg -o big6 big || _not_ok 'gnn-import makes a graph'
turns=0
while read -r opts <&4; do
    turn 2 || continue
    for hidden in 16 512; do
        check "gnn-train $opts --hidden $hidden learns on 6 ranks" ranks 6 gnn-train -q --full-batch --store big6 --layers 3 --batch-norm --epochs 2 \
            --hidden $hidden --metrics $hidden.json -o m.st $opts
    done
    check "gnn-train $opts takes between 0.6 and 1.1 times what the formula says" /usr/bin/python3 -c '
import json
a, b = (next(e for e in map(json.loads, open(f)) if e["event"] == "full_batch") for f in ("16.json", "512.json"))
more = b["memory_bytes"] - a["memory_bytes"], b["formula_bytes"] - a["formula_bytes"]
print(more, more[0] / more[1])
assert more[1] > 20e6 and 0.6 * more[1] < more[0] < 1.1 * more[1], (more, a, b)'
done 4<<'END'
-m sage
-m gat --heads 4
END
done_testing
