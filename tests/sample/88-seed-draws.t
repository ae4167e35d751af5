# SPDX-License-Identifier: Apache-2.0
# Seeds drawn with replacement, by class or by a field of weights: gnn-sample and gnn-train --seed-balance, --seed-weight.
. "$GNN_TOP/tests/ranks/setup.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip 'seeds are drawn' 'no numpy'; done_testing; }
cat >make.py <<'PY'
import numpy as np
rng = np.random.default_rng(3)
n = 600
y = (rng.random(n) < 0.04).astype(float)
y[rng.random(n) < 0.1] = np.nan
w = rng.integers(0, 4, n).astype(np.float32)
x = rng.normal(size=(n, 5)).astype(np.float32)
train = rng.random(n) < 0.7
more = {"node_w": w, "node_bad": np.where(np.arange(n) == n - 1, -1, 1).astype(np.float32), "node_none": np.zeros(n, np.float32)}
np.savez("g.npz", edge_index=rng.integers(0, n, (2, 3000)), x=x, y=y, train_mask=train, val_mask=~train, **more)
np.savez("r.npz", edge_index=rng.integers(0, n, (2, 3000)), x=x, y=rng.normal(size=n).astype(np.float32), train_mask=np.ones(n, bool),
         val_mask=np.zeros(n, bool), test_mask=np.zeros(n, bool))
PY
cat >draws.py <<'PY'
# {(epoch, step): {original id: how often drawn}} of streams that belong together, and what they add up to.
import json, os, sys
sys.path.insert(0, os.path.join(os.environ["GNN_TOP"], "tests/interop"))
import gnb, numpy as np
def draws(*files, ids=None):
    out = {}
    for f in files:
        frames = list(gnb.read_frames(open(f, "rb")))
        for kind, tensors in frames[1:]:
            b = dict(tensors)
            if kind != gnb.BATCH or b["key"][2]:
                continue
            v = b["nodes/node"][: b["counts/node"][0]]
            d = b.get("draws/node", np.ones(len(v), int))
            assert len(d) == len(v) and (d > 0).all()
            to = out.setdefault((int(b["key"][0]), int(b["key"][1])), {})
            for i, k in zip(v if ids is None else ids[v], d):
                to[int(i)] = to.get(int(i), 0) + int(k)
    return out
def total(d):
    sum = {}
    for b in d.values():
        for i, k in b.items(): sum[i] = sum.get(i, 0) + k
    return sum
def originals(store):
    header, parts = gnb.read_store(store)
    return np.concatenate([p["node/node/id"] for p in parts]) if "node/node/id" in parts[0] else None
PY
export PYTHONPATH=$PWD
/usr/bin/python3 make.py && gnn-import -q --directed -o g g.npz && gnn-import -q --directed --task regression -o r r.npz || { _not_ok 'gnn-import makes graphs'; done_testing; }
smp() { gnn-sample -q --no-provenance -f 4,3 -b 50 "$@"; }
check 'gnn-sample draws seeds by class' smp --epochs 4 --seed-balance -o b.gnb g
check 'gnn-sample draws seeds by a field' smp --epochs 4 --seed-weight node_w -o w.gnb g
check 'classes are as likely, nodes of a class too, and those without a label are not drawn' /usr/bin/python3 -c '
from draws import *
z = np.load("g.npz"); y, train = z["y"], np.flatnonzero(z["train_mask"]); n = len(train)
d = draws("b.gnb"); t = total(d)
assert len(d) == 4 * -(-n // 50) and all(sum(b.values()) == (50 if s < len(d) // 4 - 1 else n - s * 50) for (e, s), b in d.items())
assert sum(t.values()) == 4 * n and set(t) <= set(train)
for k in (0, 1):
    ids = [i for i in train if y[i] == k]
    c = np.array([t.get(i, 0) for i in ids])
    assert abs(c.sum() - 2 * n) < 4 * np.sqrt(n), (k, c.sum())
    want = 2 * n / len(ids)
    assert ((c - want) ** 2 / want).sum() < len(ids) + 5 * np.sqrt(2 * len(ids)), k
assert not any(np.isnan(y[i]) for i in t)'
check 'nodes are drawn in proportion to their weights' /usr/bin/python3 -c '
from draws import *
z = np.load("g.npz"); w, train = z["node_w"], np.flatnonzero(z["train_mask"])
t = total(draws("w.gnb")); c = np.array([t.get(i, 0) for i in train]); w = w[train] / w[train].sum()
want = w * c.sum()
assert c.sum() == 4 * len(train) and not c[w == 0].any()
assert ((c - want)[w > 0] ** 2 / want[w > 0]).sum() < (w > 0).sum() + 5 * np.sqrt(2 * (w > 0).sum())'

# A function of seed, epoch and position: whatever the threads, batches, parts, ranks and devices.
gnn-partition -q -k 3 -o p g || _not_ok 'gnn-partition divides the graph'
for o in --seed-balance '--seed-weight node_w'; do
    smp --epochs 2 $o -o one.gnb g
    check "gnn-sample $o gives the same with 4 threads" sh -c "gnn-sample -q --no-provenance -f 4,3 -b 50 --epochs 2 $o -j 4 g | cmp - one.gnb"
    check "gnn-sample $o draws the same for smaller batches" sh -c "gnn-sample -q -f 4,3 -b 25 --epochs 2 $o -o small.gnb g && /usr/bin/python3 -c '
from draws import *
a, b = draws(\"one.gnb\"), draws(\"small.gnb\")
assert all(v == total({0: b.get((e, 2 * s), {}), 1: b.get((e, 2 * s + 1), {})}) for (e, s), v in a.items())'"
    check "gnn-sample $o draws the same from parts" sh -c "gnn-sample -q -f 4,3 -b 50 --epochs 2 $o --original-ids -o parts.gnb p && /usr/bin/python3 -c '
from draws import *
assert draws(\"one.gnb\") == draws(\"parts.gnb\")'"
    check "gnn-sample $o draws the same on 3 ranks" ranks 3 gnn-sample -q -f 4,3 -b 50 --epochs 2 $o -o rank.%r.gnb p
    check "3 ranks draw together what one process does: $o" /usr/bin/python3 -c '
from draws import *
assert draws("one.gnb") == draws("rank.0.gnb", "rank.1.gnb", "rank.2.gnb", ids=originals("p"))'
    check "gnn-sample $o draws other seeds with another random seed" sh -c "! gnn-sample -q --no-provenance -f 4,3 -b 50 --epochs 2 $o --seed 2 g | cmp -s - one.gnb"
    check "gnn-sample $o gives the same on a device" sh -c "GNN_FAKE_DEVICES=2 '$GNN_B/emu/bin/gnn-sample' -q --no-provenance -f 4,3 -b 50 --epochs 2 $o --device cuda g | cmp - one.gnb"
    check "gnn-inspect verifies what was drawn: $o" gnn-inspect --verify one.gnb
    check "gnn-inspect verifies it against the store: $o" gnn-inspect --verify --against g one.gnb
done
# Caches and plans expect the seeds that are drawn: some come several times in a batch, others never. In this dense graph, the model of
# independent picks expects 7 % too many rows of any batch; of seeds that are drawn alike, it would be 12 and 30 %.
for o in --seed-balance '--seed-weight node_w'; do
    # shellcheck disable=SC2086
    smp --epochs 8 $o g | gnn-gather -q --plan --cache 0.1 --cache-order access g >plan
    check "gnn-gather --plan expects the rows that it measures with $o" \
        awk '/^a batch/ { for (i = 1; i < NF; i++) { if ($(i + 2) ~ /^expected/) e = $i; if ($i == "expected,") m = $(i + 1) } } END { exit !(e > 0 && e > m / 1.09 && e < 1.09 * m) }' plan
    check "gnn-gather --plan expects the misses that it measures with $o" \
        awk '$1 == "access" { e = $5 + 0; m = $6 + 0; n++ } END { exit !(n == 1 && e < m + 1 && e > m - 1) }' plan
done
check 'the header says that classes are balanced' sh -c 'gnn-inspect --json b.gnb | grep -q "\"seed_balance\": *true"'
check 'the header says by which field seeds are drawn' sh -c 'gnn-inspect --json w.gnb | grep -q "\"seed_weight\": *\"node_w\""'
check 'each draw has a tree of its own' smp --seed-balance --disjoint -o trees.gnb g
check 'trees are as many as draws' /usr/bin/python3 -c '
from draws import *
n = int(np.load("g.npz")["train_mask"].sum())
assert sum(total(draws("trees.gnb")).values()) == n'
check 'each draw has walks of its own' gnn-sample -q -b 50 --walk-length 3 --seed-balance -o walks.gnb g
seq 0 99 >list
check 'gnn-sample draws from a list' smp --seeds list --seed-weight node_w -o list.gnb g
check 'of a list, only its nodes are drawn' /usr/bin/python3 -c '
from draws import *
t = total(draws("list.gnb"))
assert sum(t.values()) == 100 and set(t) <= set(range(100)) and all(np.load("g.npz")["node_w"][i] for i in t)'

# Training: the loss is the mean over draws, in which a node that was drawn twice counts twice.
how='-q --no-provenance -f -1,-1 -b 60 --hidden 8 --dropout 0 --no-layer-norm'
for o in --seed-balance '--seed-weight node_w'; do
    gnn-train --store g $how $o --epochs 1 --lr 0 --eval none --metrics m.json -o m.st
    gnn-predict -q --output-kind values -o z.npy g m.st
    gnn-sample -q -f -1,-1 -b 60 $o -o t.gnb g
    check "losses are means over draws: $o" /usr/bin/python3 -c '
from draws import *
y, z = np.load("g.npz")["y"], np.load("z.npy").astype(float).ravel()
loss = np.maximum(z, 0) - z * np.nan_to_num(y) + np.log1p(np.exp(-abs(z)))
e = [json.loads(l) for l in open("m.json")]
steps, d = [x["loss"] for x in e if x["event"] == "step"], draws("t.gnb")
known = {i for i in range(len(y)) if y[i] == y[i]}
want = [sum(k * loss[i] for i, k in d[0, s].items() if i in known) / sum(k for i, k in d[0, s].items() if i in known) for s in range(len(d))]
assert len(steps) == len(want) and max(abs(a - b) for a, b in zip(steps, want)) < 1e-5, (steps, want)
t = total(d); labels = sum(k for i, k in t.items() if i in known)
x = [x for x in e if x["event"] == "epoch"][0]
assert x["seeds"] == sum(t.values()) and x["train"]["labels"] == labels, x
assert abs(x["loss"] - sum(k * loss[i] for i, k in t.items() if i in known) / labels) < 1e-5'
    check "gnn-train learns the same from a pipe and from --store: $o" sh -c "gnn-train --store g $how $o --epochs 2 --eval none -o a.st &&
        gnn-sample -q -f -1,-1 -b 60 $o --epochs 2 g | gnn-gather -q g | gnn-train -q --no-provenance --hidden 8 --dropout 0 --no-layer-norm -o b.st && cmp a.st b.st"
    gnn-train --store g $how $o --epochs 1 --eval valid --metrics 1.json -o a.st
    check "gnn-train learns on 3 ranks: $o" ranks 3 gnn-train --store p $how $o --epochs 1 --eval valid --metrics 3.json -o b.st
    check "3 ranks have the losses of one process: $o" /usr/bin/python3 -c '
import json
a, b = ([e["loss"] for e in map(json.loads, open(f)) if e["event"] in ("step", "epoch")] for f in ("1.json", "3.json"))
assert len(a) == len(b) > 5 and all(abs(p - q) < 1e-4 for p, q in zip(a, b)), (a, b)'
    gnn-train --store g $how $o --epochs 3 --eval none --checkpoint c1 -o whole.st
    check "gnn-train resumes with drawn seeds: $o" sh -c "rm -rf c; gnn-train --store g $how $o --epochs 2 --eval none --checkpoint c --checkpoint-every 3 -o x.st &&
        gnn-train --store g $how $o --epochs 3 --eval none --checkpoint c --resume -o again.st && cmp whole.st again.st"
done
refusing=gnn-sample
refuses 2 "no field 'v'" 'a field that is not there' smp --seed-weight v -o bad g
seq 500 599 >last
refuses 3 'weight -1 of node' 'a negative weight' smp --seed-weight node_bad --seeds last -o bad g
refuses 3 'add up to 0' 'weights that are all 0' smp --seed-weight node_none -o bad g
refuses 2 'no classes to balance' 'classes of a regression' smp --seed-balance -o bad r
refuses 2 'exclude each other' 'both ways to draw' smp --seed-balance --seed-weight node_w -o bad g
refuses 2 'cannot be used with --clusters' 'clusters' gnn-sample -q --clusters 1 --seed-balance -o bad p
refuses 2 '--no-shuffle has no effect with --seed-balance' 'an order of seeds that are drawn' smp --no-shuffle --seed-balance -o bad g
refuses 2 'as they come cannot be drawn' 'a pipe' sh -c 'gnn-sample -q -f 2 --seeds - --seed-weight node_w -o bad g <list'
refusing=gnn-train
refuses 2 'has no effect with --full-batch' 'full batches' gnn-train --store g --full-batch --seed-balance -o bad
# Before a store is opened: this one is not there.
while IFS='|' read -r why what options; do
    # shellcheck disable=SC2086
    refuses 2 "$why" "$what, before it opens a store" gnn-train --store none $options -o bad
done <<'.'
^gnn-train: --seed-weight and --seed-balance exclude each other$|both ways to draw|--seed-balance --seed-weight node_w
^gnn-train: --seed-balance cannot be used with --clusters$|clusters of drawn seeds|--seed-balance --clusters 2
^gnn-train: --seed-weight cannot be used with --clusters$|clusters of weighted seeds|--clusters 2 --seed-weight node_w
^gnn-train: --no-shuffle has no effect with --seed-balance|an order of seeds that are drawn|--no-shuffle --seed-balance
^gnn-train: --replace cannot be used with --labor$|LABOR with replacement|--labor --replace
^gnn-train: --induced has no effect: --clusters implies it$|induced clusters|--clusters 2 --induced
^gnn-train: --window requires --time-rule|a window without times|--window 3
^gnn-train: --latest requires --time-rule|the latest without times|--latest
^gnn-train: --weight cannot be used with --latest$|the latest by weight|--time-rule le --latest --weight weight
^gnn-train: --class-weights balanced and --seed-balance exclude each other|classes that are balanced twice|--seed-balance --class-weights balanced
^gnn-train: --class-weights: 'x': expected a number|a weight of a class that is no number|--class-weights 1,x
^gnn-train: --class-weights: all weights are 0$|weights of classes that are all 0|--class-weights 0,0
.
check 'gnn-train says what balanced weights of weighted draws are of' sh -c 'gnn-train --store g --seed-weight node_w --class-weights balanced --epochs 1 \
    --hidden 4 -o bad 2>&1 | grep -q "warning: --class-weights balanced is by the counts of classes in the set, not by how often --seed-weight draws them"'
check 'gnn-train takes weights of classes that are drawn equally often' gnn-train -q --store g --seed-balance --class-weights 1,2 --epochs 1 --hidden 4 -o bad
done_testing
