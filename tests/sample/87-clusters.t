# SPDX-License-Identifier: Apache-2.0
# --clusters: batches that join partitions of the store, with all edges among their nodes.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample --clusters joins partitions' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
look() { "$python" "$GNN_TOP/tests/sample/clusters.py" "$@"; }
refusing=gnn-sample
gnn-import -q -o plain sbm:nodes=1500,degree=12
gnn-import -q -o typed sbm:nodes=700,types=3,weights=1
gnn-partition -q -k 17 -o plain17 plain
gnn-partition -q -k 9 -o typed9 typed

# The seeds of a set, as a stream without shuffling has them.
for s in plain17:5 typed9:4 plain17:17; do
    store=${s%:*} many=${s#*:}
    for set in train:0 valid:1; do
        smp $store -f 0 -b 100000 --split ${set%:*} --no-shuffle | "$python" -c '
import sys
sys.path.insert(0, sys.argv[1])
import gnb
for kind, t in gnb.read_frames(sys.stdin.buffer):
    if kind == gnb.BATCH:
        t = dict(t)
        print(*next(x[:int(t["counts" + n[5:]][0])] for n, x in t.items() if n.startswith("nodes/") and t["counts" + n[5:]][0]))
' "$GNN_TOP/tests/interop" >set.${set#*:}
    done
    for how in '' --disjoint --no-shuffle; do
        turn 2 || continue
        rm -f one many
        smp $store --clusters $many $how --epochs 3 --eval valid --edge-ids -o one
        check "gnn-sample --clusters $many $how joins partitions of $store" look $store one $many
        check "gnn-inspect --verify proves it: $how ($store)" gnn-inspect --verify one --against $store
        smp $store --clusters $many $how --epochs 3 --eval valid --edge-ids -j3 -o many
        check "gnn-sample --clusters $many $how -j3 makes the bytes of one thread ($store)" cmp one many
        smp $store --clusters $many $how --epochs 3 --eval valid --edge-ids --original-ids -o many
        check "gnn-inspect --verify proves it of original ids: $how ($store)" gnn-inspect --verify many --against $store
    done
done
check "gnn-inspect --verify says what it proves" sh -c 'gnn-inspect --verify one --against plain17 | grep -q "nodes: all of some partitions"'
smp plain17 --clusters 5 -o whole
for r in 0:1 1:3 3:4; do smp plain17 --clusters 5 --steps $r; done >slices
check "gnn-sample --clusters makes steps in slices as in one run" gnn-inspect --diff whole slices
smp plain17 --clusters 5 --drop-last -o dropped
check "gnn-sample --drop-last leaves out the last partitions of an epoch" sh -c 'gnn-inspect dropped | grep -q "in 3 steps an epoch"'
check "gnn-inspect names the clusters" sh -c 'gnn-inspect whole | grep -q -e " --induced --clusters 5$"'
check "streams of clusters are of version 2" test "$(od -An -tu2 -j4 -N2 whole)" -eq 2
check "gnn-sample --count counts them" sh -c 'gnn-sample plain17 --clusters 5 --count | grep -q "^hop 1: edges [1-9][0-9]* new nodes 0$"'
check "gnn-sample --frequency counts each node once in an epoch" sh -c '
    gnn-sample -q plain17 --clusters 5 --count --frequency f.npy && test "$(tail -c 6000 f.npy | od -An -v -tu4 -w4 | sort -u | tr -d " \n")" = 1'
smp plain --clusters 1 --edge-ids -o one
check "gnn-sample --clusters 1 of one partition is the whole graph" gnn-inspect --verify one --against plain

# What others say is not believed.
change() { "$python" "$GNN_TOP/tests/inspect/change.py" "$@"; }
if "$python" -c 'import xxhash' 2>/dev/null; then
    while read -r why what; do
        change whole forged "$what"
        refusing=gnn-inspect refuses 3 "$(echo $why | tr _ ' ')" "a stream whose $what" gnn-inspect --verify forged
    done <<.
bad_'clusters' h["sampling"]["clusters"] = 0
fewer_than_the_18_of_a_batch h["sampling"]["clusters"] = 18
bad_'clusters' h["sampling"]["clusters"] = "5"
bad_fan-outs_of_clusters h["sampling"]["fanout"][0] = [1]
clusters_without_'induced' h["sampling"]["induced"] = False
no_neighbours_are_picked h["sampling"]["replace"] = True
'seeds':_missing del b[0]["seeds"]
more_seeds_than_the_split_has b[0]["seeds"][0] = 1 << 40
more_seeds_than_all_ranks_have b[0]["seeds"][0] = 1
.
    change whole forged 'b[1] = dict(b[0], key=b[1]["key"])'
    status 3 "gnn-inspect --verify refuses partitions that are in an epoch twice" gnn-inspect --verify forged --against plain17
    change whole forged 'b[0]["counts/node"][0] -= 1'
    status 3 "gnn-inspect refuses fewer seeds than there are" gnn-inspect --verify forged
    change whole forged 'h["sampling"]["batch_size"] = 1'
    status 3 "gnn-inspect refuses more seeds than a batch has" gnn-inspect --verify forged
    smp plain17 --clusters 5 --disjoint -o apart
    change apart forged 'b[0]["tree/node"][-1] = 0'
    status 3 "gnn-inspect --verify refuses a partition in two trees" gnn-inspect --verify forged --against plain17
    change apart forged 'b[0]["tree/node"][-1] = 5'
    status 3 "gnn-inspect --verify refuses a tree too many" gnn-inspect --verify forged
else
    skip "gnn-inspect refuses forged clusters" "no xxhash"
fi

# Gathering and training.
check "gnn-gather gathers for clusters" sh -c 'gnn-gather -q -i whole plain17 -o gathered && gnn-inspect --verify gathered --against plain17'
check "gnn-gather --plan counts batches of clusters" gnn-gather -i whole --plan --cache 0.1 plain17
learn='-q --hidden 8 --layers 3 --no-provenance --dropout 0.2'
for how in '' --disjoint; do
    gnn-train $learn --store plain17 --clusters 5 $how --epochs 2 --eval valid -o a
    smp plain17 --clusters 5 $how --epochs 2 --eval valid | gnn-gather -q plain17 | gnn-train $learn -o b
    check "gnn-train --clusters $how makes the model of a pipeline" cmp a b
    rm -rf C
    smp plain17 --clusters 5 $how --eval valid --steps 0:2 | gnn-gather -q plain17 | gnn-train $learn --checkpoint C --checkpoint-every 2 -o b
    check "gnn-train --clusters $how resumes in the middle of an epoch" \
        gnn-train $learn --store plain17 --clusters 5 $how --epochs 2 --eval valid --checkpoint C --resume --metrics m.json -o b
    check "gnn-train --clusters $how makes the 6 steps that are left of 8" test "$(grep -c '"event": *"step"' m.json)" -eq 6
    check "gnn-train --clusters $how writes the same model then" cmp a b
done
# All of the graph in one batch, and in as many partitions: full batches.
gnn-train $learn --store plain17 --clusters 17 --no-shuffle --epochs 3 --eval valid --metrics m.json -o a
gnn-train $learn --store plain17 --full-batch --epochs 3 --eval valid --metrics f.json -o b
check "gnn-train --clusters of all partitions has the losses of --full-batch" "$python" -c '
import json
a, b = ([v for l in map(json.loads, open(f)) if l["event"] == "epoch" for v in (l["train"]["loss"], l["valid"]["loss"])] for f in ("m.json", "f.json"))
assert len(a) == len(b) == 6 and all(abs(x - y) < 1e-4 * abs(x) for x, y in zip(a, b)), (a, b)'

# What is refused.
refuses 2 'has 17 partitions, fewer than the 18 of a batch' 'more partitions than there are' smp plain17 --clusters 18 -o x
for o in '-f 5,3' '-b 7' '--seeds -' '--frontier new' --replace '--weight weight' --labor '--time-rule le' --induced; do
    status 2 "gnn-sample --clusters refuses $o" gnn-sample plain17 --clusters 2 $o -o x
done
status 2 "gnn-sample refuses walks in clusters" gnn-sample plain17 --clusters 2 --walk-length 3 -o x
for o in '-f 5,3' '-b 7' '--frontier new' --full-batch; do
    status 2 "gnn-train --clusters refuses $o" gnn-train -q --store plain17 --clusters 2 $o -o x
done
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
