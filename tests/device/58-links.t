# SPDX-License-Identifier: Apache-2.0
# Links on devices that are emulated: these draw, the host puts batches together, and devices gather and train.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/setup.sh"
gnn-import -q sbm:nodes=600,degree=8,features=8 -o s
gnn-import -q sbm:nodes=200,types=3,features=6 -o h
same "of links" 1 81 cuda --links node/to/node --negatives binary:1 --strict -f 5,3 -b 100 --epochs 0:2 --edge-ids s
same "of links of several types, with trees" 2 82 cuda:0,1 --links t0/up/t1 --negatives triplet:2 --disjoint -f 4,3 -b 50 -j 3 h
for d in dot cosine mlp; do
    for s in s h; do
        turn 5 || continue
        [ $s = s ] && links='--links node/to/node' || links='--links t0/up/t1'
        learn="$links --negatives binary:1 -f 4,3 -b 200 --decoder $d --hidden 8 --dropout 0 --lr 0.01 --no-provenance --epochs 2 --store $s"
        check "gnn-train learns from links on the CPU ($s, $d)" gnn-train -q $learn --metrics cpu.json -o cpu
        check "gnn-train learns from links with a device ($s, $d)" env GNN_FAKE_DEVICES=1 "$GNN_B/emu/bin/gnn-train" -q $learn --device cuda --metrics dev.json -o dev
        check "gnn-train has the losses of the CPU ($s, $d)" /usr/bin/python3 -c '
import json
a, b = ([e["loss"] for e in map(json.loads, open(f)) if e.get("event") == "epoch"] for f in ("cpu.json", "dev.json"))
assert len(a) == len(b) == 2 and all(abs(x - y) < 1e-4 * abs(x) for x, y in zip(a, b)), (a, b)'
        printf '%s\n' 1,2 3,90 1,2 >pairs
        for kind in scores embeddings; do
            ask="-q --store $s --seeds pairs --output-kind $kind cpu"
            gnn-predict $ask -o cpu.npy
            env GNN_FAKE_DEVICES=1 "$GNN_B/emu/bin/gnn-predict" $ask --device cuda -o dev.npy
            check "gnn-predict has the $kind of the CPU ($s, $d)" perl "$GNN_TOP/tests/train/npygap.pl" cpu.npy dev.npy 1e-4
        done
    done
done
turns=0
for how in 'softmax joint:60:70 --strict' 'bpr binary:1.5' 'softmax in-batch:90 --decoder cosine' 'bpr triplet:2' 'bce joint:40 --negative-end head' 'softmax triplet:3'; do
    turn 2 || continue
    set -- $how
    learn="-q --store s --links node/to/node --loss $1 --negatives ${how#* } -f 4,3 -b 200 --hidden 8 --dropout 0 --lr 0.01 --epochs 2"
    gnn-train $learn --metrics cpu.json -o x
    check "gnn-train --loss $how learns with a device" env GNN_FAKE_DEVICES=1 "$GNN_B/emu/bin/gnn-train" $learn --device cuda --metrics dev.json -o x
    check "gnn-train --loss $how has the losses of the CPU" /usr/bin/python3 -c '
import json
a, b = ([e["loss"] for e in map(json.loads, open(f)) if e.get("event") in ("step", "epoch")] for f in ("cpu.json", "dev.json"))
assert len(a) == len(b) > 20 and all(abs(x - y) < 1e-4 * abs(x) for x, y in zip(a, b)), (a, b)'
done
gnn-import -q --split-links node/to/node=80/10/10 -o c s
learn="-q --store c --links node/to/node --negatives triplet:9 --metric recall@4 -f 4,3 -b 200 --hidden 8 --dropout 0 --lr 0.01 --epochs 3"
gnn-train $learn --metrics cpu.json -o x
check "gnn-train measures recall@K with a device" env GNN_FAKE_DEVICES=1 "$GNN_B/emu/bin/gnn-train" $learn --device cuda --metrics dev.json -o x
check "gnn-train has the recall@K of the CPU" /usr/bin/python3 -c '
import json
a, b = ([e["valid"]["recall@4-realistic"] for e in map(json.loads, open(f)) if e.get("event") == "epoch"] for f in ("cpu.json", "dev.json"))
assert len(a) == len(b) == 3 and min(a) > 0 and all(abs(x - y) < 0.01 for x, y in zip(a, b)), (a, b)'
check "a pipeline of devices makes the model" env GNN_FAKE_DEVICES=1 B="$GNN_B/emu/bin" sh -c "
    \$B/gnn-sample -q --device cuda h --links t0/up/t1 --negatives binary:1 --exclude reverse -f 4,3 -b 200 --epochs 2 | \$B/gnn-gather -q --device cuda h |
    \$B/gnn-train -q --device cuda --decoder mlp --hidden 8 --dropout 0 --lr 0.01 --no-provenance -o pipe && cmp dev pipe"
done_testing
