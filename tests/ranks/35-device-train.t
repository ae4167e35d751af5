# SPDX-License-Identifier: Apache-2.0
# Ranks that sample, gather and train on devices, which are emulated, learn what one process learns on the CPU.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q -o S sbm:nodes=500,degree=6,features=12
gnn-partition -q -k 4 -o P S
opts='-f 3,3 -b 100 --epochs 3 --eval valid --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance'
check 'gnn-train learns in one process on the CPU' gnn-train -q --store P $opts --metrics one.json -o one
agree() { # FILE: losses of all steps, accuracies
    /usr/bin/python3 - one.json "$1" <<'PY'
import json, sys
a, b = ([json.loads(l) for l in open(f)] for f in sys.argv[1:])
x, y = ([e for e in s if e.get("event") == "step"] for s in (a, b))
assert len(x) == len(y) >= 9, (len(x), len(y))
worst = max(abs(p["loss"] - q["loss"]) / abs(p["loss"]) for p, q in zip(x, y))
assert worst < 1e-4, worst
p, q = ([e for e in s if e.get("event") == "epoch"] for s in (a, b))
assert len(p) == len(q) == 3 and all(u["seeds"] == v["seeds"] and abs(u["valid"]["accuracy"] - v["valid"]["accuracy"]) < 0.02 for u, v in zip(p, q))
PY
}
check 'gnn-train learns on 2 ranks with 2 devices' on 2 2 gnn-train -q --store P $opts --device cuda --metrics two.json -o two
check 'gnn-train on 2 ranks with 2 devices has the losses of one process on the CPU' agree two.json
check 'gnn-train learns on 2 ranks with 2 devices and sharded caches' on 2 2 gnn-train -q --store P $opts --device cuda --cache 0.2 --cache-policy shard -o again
check 'gnn-train on 2 ranks writes the same model with sharded caches' cmp two again
check 'gnn-train learns on 2 ranks with 2 devices and the graph in the memory of the host' \
    on 2 2 gnn-train -q --store P $opts --device cuda --graph-memory uva --graph-cache 2K -o again
check 'gnn-train on 2 ranks writes the same model with the graph in the memory of the host' cmp two again
check 'gnn-train learns on 4 ranks with 2 devices' on 4 2 gnn-train -q --store P $opts --device cuda --cache 0.1 --prefetch 1 --metrics four.json -o four
check 'gnn-train on 4 ranks with 2 devices has the losses of one process on the CPU' agree four.json

# Batches that come as streams; stopping early; going on from a checkpoint.
check 'gnn-sample on 2 ranks writes a stream for each rank' ranks 2 gnn-sample -q P -f 3,3 -b 100 --epochs 3 --eval valid -o 's.%r.gnb'
check 'gnn-gather on 2 ranks gathers the streams of the ranks' ranks 2 gnn-gather -q P -i 's.%r.gnb' -o 'g.%r.gnb'
check 'gnn-train on 2 ranks learns from streams on devices' \
    on 2 2 gnn-train -q -i 'g.%r.gnb' --device cuda --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance -o streamed
check 'gnn-train on 2 ranks writes the same model from streams and from the store' cmp two streamed
check 'gnn-train --patience on 2 ranks with devices stops early' on 2 2 gnn-train -q --store P $opts --epochs 40 --patience 1 --lr 0 --device cuda -o patient
check 'gnn-train on 2 ranks learns a part of the epochs on devices and leaves a checkpoint' \
    on 2 2 gnn-train -q --store P $opts --epochs 2 --device cuda --checkpoint C --checkpoint-every 2 -o part
check 'gnn-train --resume on 2 ranks goes on from the checkpoint on devices' on 2 2 gnn-train -q --store P $opts --device cuda --checkpoint C --resume -o resumed
check 'gnn-train --resume on 2 ranks with devices writes the same model as without interruption' cmp two resumed

# Batch norm, whose sums a step waits for: by NCCL, and by the host where two ranks share a device.
check 'gnn-train learns with batch norm in one process on the CPU' gnn-train -q --store P $opts --batch-norm --metrics one.json -o one.bn
check 'gnn-train learns with batch norm on 2 ranks with 2 devices' on 2 2 gnn-train -q --store P $opts --device cuda --batch-norm --metrics two.json -o two.bn
check 'gnn-train with batch norm on 2 ranks with 2 devices has the losses of one process on the CPU' agree two.json
check 'gnn-train learns once more with batch norm on 2 ranks with 2 devices' on 2 2 gnn-train -q --store P $opts --device cuda --batch-norm -o again.bn
check 'gnn-train with batch norm on 2 ranks with 2 devices writes the same model in two runs' cmp two.bn again.bn
check 'gnn-train learns with batch norm on 4 ranks with 2 devices' on 4 2 gnn-train -q --store P $opts --device cuda --batch-norm --metrics four.json -o four.bn
check 'gnn-train with batch norm on 4 ranks with 2 devices has the losses of one process on the CPU' agree four.json

# GIN: the gradient of eps is summed over the ranks, and so are the statistics within its layers.
gin='-m gin --train-eps --batch-norm'
check 'one process trains GIN on the CPU' gnn-train -q --store P $opts $gin --metrics one.json -o one.gin
check '2 ranks train GIN on 2 devices' on 2 2 gnn-train -q --store P $opts --device cuda $gin --metrics two.json -o two.gin
check '2 ranks on 2 devices have the losses of one process with GIN' agree two.json
check '2 ranks train GIN on 2 devices again' on 2 2 gnn-train -q --store P $opts --device cuda $gin -o again.gin
check '2 ranks on 2 devices give the same bits again with GIN' cmp two.gin again.gin

# Clusters: a batch says how many seeds all ranks have, by which the loss is divided, also after it was copied to a device.
clusters='--clusters 1 --disjoint --layers 2 --epochs 3 --eval valid --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm --no-provenance'
check 'one process trains on clusters' gnn-train -q --store P $clusters --metrics one.json -o one.cl
check '2 ranks train on clusters on 2 devices' on 2 2 gnn-train -q --store P $clusters --device cuda --metrics two.json -o two.cl
check '2 ranks on 2 devices have the losses of one process with clusters' agree two.json

# A rank whose device fails ends all.
for k in 60 200 600; do
    rm -f never
    fails() { GNN_FAKE_DEVICES=2 ranks 2 sh -c 'test $OMPI_COMM_WORLD_RANK = 0 || export GNN_FAKE_FAIL='$k'; exec timeout 600 '"$emu/gnn-train"' -q --timeout 120 "$@"' sh "$@"; }
    status 4 "gnn-train ends on all ranks with status 4 when call $k to one device fails" fails --store P $opts --device cuda -o never
    check "gnn-train leaves no model when call $k to one device fails" test ! -e never
done

# Edges among the nodes of trees.
check 'gnn-train learns from induced edges in one process on the CPU' gnn-train -q --store P $opts --induced --disjoint --metrics one.json -o one.in
check 'gnn-train learns from induced edges on 2 ranks with 2 devices' \
    on 2 2 gnn-train -q --store P $opts --induced --disjoint --device cuda --metrics two.json -o two.in
check 'gnn-train on 2 ranks with 2 devices has the losses of induced edges that one process has on the CPU' agree two.json
done_testing
