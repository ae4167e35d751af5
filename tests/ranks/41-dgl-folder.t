# SPDX-License-Identifier: Apache-2.0
# A folder of four partitions, as DGL 0.6 (which SAR reads), 0.9 and 2.1 write it, trains on four ranks in full batches and in minibatches
# to the model of the same graph that came as arrays, bit for bit, in the same parts.
. "$GNN_TOP/tests/ranks/setup.sh"
command -v python3 >/dev/null || { skip 'folders of DGL' 'no python3'; done_testing; }
cat >make.py <<'END'
import random
import sys
sys.path.insert(0, sys.argv[1])
from dgl_parts_files import *

draw = random.Random(3)
COUNT, PARTS = 400, 4
part = [draw.randrange(PARTS) for _ in range(COUNT)]
label = [(v * 7 + v // 50) % 5 for v in range(COUNT)]
feat = [round(draw.gauss(label[v] if c == 0 else 0, 1), 3) for v in range(COUNT) for c in range(6)]
mask = [draw.random() for _ in range(COUNT)]
pairs = sorted({(draw.randrange(COUNT), draw.randrange(COUNT)) for _ in range(2400)})
fields = {"feat": ("f", (COUNT, 6), feat), "label": ("q", (COUNT,), label),
          "train_mask": ("B", (COUNT,), [int(m < .6) for m in mask]), "val_mask": ("B", (COUNT,), [int(.6 <= m < .8) for m in mask]),
          "test_mask": ("B", (COUNT,), [int(m >= .8) for m in mask])}
nodes, edges = [("_N", COUNT, fields)], [(0, "_E", 0, pairs, {})]
save_npy("arrays", arrays([("node", COUNT, dict(fields, part=("H", (COUNT,), part)))], [(0, "to", 0, pairs, {})]))
for layout in "0.5", "0.9":
    save_parts("dgl-" + layout, nodes, edges, [part], layout)
nids, eids = save_parts("dgl-2.1", nodes, edges, [part])
write("dgl-2.1/orig_nids.dgl", save_tensors(nids))
write("dgl-2.1/orig_eids.dgl", save_tensors(eids))
END
check 'the folders are written' python3 -B make.py "$GNN_TOP/tests/import"
learn='-q --no-provenance --hidden 8 --lr 0.01 --epochs 3'
models() { # NAME INPUT: of its four partitions
    rm -rf S P
    check "gnn-import reads $2" gnn-import -q --directed -o S "$2"
    check "gnn-partition keeps the parts of $2" gnn-partition -q -k 4 --from field:part -o P S
    check "four ranks train on $2 in full batches" ranks 4 gnn-train $learn --full-batch --layers 2 --store P -o "$1.full"
    check "four ranks train on $2 in minibatches" ranks 4 gnn-train $learn -f 4,4 -b 32 --store P -o "$1.mini"
}
models want arrays
for version in 0.5 0.9 2.1; do
    models got "dgl-$version"
    check "full batches of the folder of $version learn the model of the arrays" cmp want.full got.full
    check "minibatches of the folder of $version learn the model of the arrays" cmp want.mini got.mini
done
check 'another seed learns another model' ranks 4 gnn-train $learn --seed 5 -f 4,4 -b 32 --store P -o other
check 'it is another one' sh -c '! cmp -s other got.mini'
done_testing
