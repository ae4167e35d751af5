# SPDX-License-Identifier: Apache-2.0
# Labels of links on several ranks: each link has the label that it has in one process, and models learn the same from them.
. "$GNN_TOP/tests/ranks/setup.sh"
refusing=gnn-train
/usr/bin/python3 - <<'PY'
import random
random.seed(8)
with open("rated.csv", "w") as f, open("x.csv", "w") as x:
    print("source,target,time,rating,kind,grade", file=f)
    for i in range(4000):
        u, v = random.randrange(300), random.randrange(300)
        print(f"{u},{v},{i // 2},{3 * (u % 2) - 1 - v % 2},{u % 2 + v % 3},{0.5 * (u % 2) - 0.25 * (v % 3)}", file=f)
    for v in range(300):
        print(f"{v % 2},{v % 3 == 0:d},{v % 3 == 1:d}", file=x)
PY
gnn-import -q --no-provenance --directed --features x.csv -o G rated.csv || { _not_ok "gnn-import makes the graph"; done_testing; }
gnn-import -q --no-provenance --split-links node/to/node=70/15/15 -o C G
gnn-import -q --no-provenance --split-links node/to/node=time:70/15/15 -o T G
for s in G C T; do gnn-partition -q --no-provenance -k 4 --method random -o "$s"4 $s; done

# Labels by input, which is the same link for any ranks.
labels='
import os, sys
sys.path.insert(0, os.environ["GNN_TOP"] + "/tests/interop")
import gnb
def told(files):
    x = {}
    for f in files:
        for b in gnb.read_stream(f)[1]:
            for i, y in zip(b["pair/input"].tolist(), b["pair/label"].tolist()):
                assert x.setdefault((tuple(b["key"][:3].tolist()), i), y) == y
    return x
one, many = told(["one.gnb"]), told(sys.argv[1:])
assert one == many and len(one) > 300 and len(set(one.values())) > 1, (len(one), len(many))'
for how in 'G edges kind' 'C train rating>0' 'T test grade'; do
    set -- $how
    draw="--links node/to/node --split $2 --target $3 -f 3 -b 90"
    rm -f one.gnb r.*.gnb
    gnn-sample -q $1 $draw -o one.gnb
    check "gnn-sample on 4 ranks labels links: $how" ranks 4 gnn-sample -q "$1"4 $draw -o 'r.%r.gnb'
    check "with the labels of one process: $how" /usr/bin/python3 -c "$labels" r.0.gnb r.1.gnb r.2.gnb r.3.gnb
done

compare='
import json, sys
a, b = ([json.loads(l) for l in open(f)] for f in ("m1", sys.argv[1]))
x, y = ([e["loss"] for e in s if e["event"] == "step"] for s in (a, b))
assert len(x) == len(y) > 20 and all(abs(p - q) <= 1e-3 * abs(p) for p, q in zip(x, y)), max(abs(p - q) / abs(p) for p, q in zip(x, y))
u, v = ([e["valid"] for e in s if e["event"] == "epoch"] for s in (a, b))
assert len(u) == len(v) == 2
for p, q in zip(u, v):
    assert set(p) == set(q) and len(p) > 1, (p, q)
    assert all(abs(p[k] - q[k]) <= 0.01 * abs(p[k]) for k in p if isinstance(p[k], float)), (p, q)'
learn='-f 4,3 -b 100 --epochs 2 --eval valid --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm'
for how in 'C rating>0 --metric roc-auc' 'C kind --metric f1-macro' 'T grade --time-rule lt'; do
    set -- $how
    s=$1 target=$2
    shift 2
    check "gnn-train learns labels in one process: $target" gnn-train -q --store $s --links node/to/node --target "$target" "$@" $learn --metrics m1 -o one
    for k in 2 4; do
        check "gnn-train learns labels on $k ranks: $target" \
            ranks $k gnn-train -q --store "$s"4 --links node/to/node --target "$target" "$@" $learn --metrics "m$k" -o many
        check "gnn-train on $k ranks has the losses and metrics of one process: $target" /usr/bin/python3 -c "$compare" "m$k"
    done
done
if [ -x "$emu/gnn-train" ]; then
    gnn-train -q --store C --links node/to/node --target kind $learn --metrics m1 -o one
    check "gnn-train on a device learns labels" "$emu/gnn-train" -q --device cuda --store C --links node/to/node --target kind $learn --metrics md -o many
    check "with the losses and metrics of the CPU" /usr/bin/python3 -c '
import json
u, v = ([e["valid"] for e in map(json.loads, open(f)) if e.get("event") == "epoch"] for f in ("m1", "md"))
assert len(u) == len(v) == 2 and set(u[0]) == set(v[0]) and len(u[0]) > 1
assert all(abs(p[k] - q[k]) <= 0.01 * abs(p[k]) for p, q in zip(u, v) for k in p if isinstance(p[k], float)), (u, v)'
    gnn-predict -q --store C --split test -o one.npy one
    check "gnn-predict on a device finds the classes of links" sh -c '"$1" -q --device cuda --store C --split test -o many.npy one && cmp one.npy many.npy' sh "$emu/gnn-predict"
fi
refuses 3 'all links to learn from are of class 0' 'labels that are all the same, on ranks' \
    ranks 2 gnn-train -q --store C4 --links node/to/node --target 'rating>100' $learn -o never
refuses 3 'which is no class' 'negative classes, on ranks' ranks 2 gnn-train -q --store C4 --links node/to/node --target rating $learn -o never
done_testing
