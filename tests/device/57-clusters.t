# SPDX-License-Identifier: Apache-2.0
# Clusters on devices that are emulated: these draw, the host puts batches together, and devices gather and train.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/setup.sh"
gnn-import -q sbm:nodes=600,degree=8,features=8 -o s
gnn-import -q sbm:nodes=200,types=3,weights=1,features=6 -o h
gnn-partition -q -k 7 -o s7 s
gnn-partition -q -k 5 -o h5 h
same "of clusters" 1 71 cuda --clusters 2 --epochs 0:2 --eval valid --edge-ids s7
same "of clusters without edges between them" 2 72 cuda:0,1 --clusters 3 --disjoint -j 3 s7
same "of clusters of several node types" 1 73 cuda --clusters 2 --edge-ids h5
same "of clusters from the host's memory" 1 74 cuda --clusters 2 --edge-ids --with uva 64K s7
for s in s7 h5; do
    learn="--clusters 2 --layers 3 --hidden 8 --dropout 0 --lr 0.01 --no-provenance --epochs 2 --eval valid --store $s"
    check "gnn-train --clusters learns on the CPU ($s)" gnn-train -q $learn --metrics cpu.json -o cpu
    for d in cuda cuda:0,1; do
        check "gnn-train --clusters learns with $d ($s)" env GNN_FAKE_DEVICES=2 "$GNN_B/emu/bin/gnn-train" -q $learn --device $d --metrics dev.json -o dev
        check "gnn-train --clusters has the losses of the CPU with $d ($s)" /usr/bin/python3 -c '
import json
a, b = ([v for e in map(json.loads, open(f)) if e.get("event") == "epoch" for v in (e["train"]["loss"], e["valid"]["loss"])] for f in ("cpu.json", "dev.json"))
assert len(a) == len(b) == 4 and all(abs(x - y) < 1e-4 * abs(x) for x, y in zip(a, b)), (a, b)'
    done
    check "a pipeline of devices makes the model ($s)" env GNN_FAKE_DEVICES=1 B="$GNN_B/emu/bin" sh -c "
        \$B/gnn-sample -q --device cuda $s --clusters 2 --epochs 2 --eval valid | \$B/gnn-gather -q --device cuda $s |
        \$B/gnn-train -q --device cuda --layers 3 --hidden 8 --dropout 0 --lr 0.01 --no-provenance -o pipe && cmp dev pipe"
done
GNN_FAKE_DEVICES=1 status 2 "batches of clusters do not stay on devices" "$emu" -q --device cuda s7 --clusters 2 --transport cuda -o o
done_testing
