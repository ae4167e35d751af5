# SPDX-License-Identifier: Apache-2.0
# Predictions of links on several ranks: arrays in the order of one process, and its figures.
. "$GNN_TOP/tests/ranks/setup.sh"
/usr/bin/python3 - <<'PY'
import random
random.seed(8)
with open("rated.csv", "w") as f, open("x.csv", "w") as x:
    print("source,target,kind,grade", file=f)
    for i in range(4000):
        u, v = random.randrange(300), random.randrange(300)
        print(f"{u},{v},{u % 2 + v % 3},{0.5 * (u % 2) - 0.25 * (v % 3)}", file=f)
    for v in range(300):
        print(f"{v % 2},{v % 3 == 0:d},{v % 3 == 1:d}", file=x)
PY
gnn-import -q --no-provenance --directed --features x.csv -o G rated.csv || { _not_ok "gnn-import makes the graph"; done_testing; }
gnn-import -q --no-provenance --split-links node/to/node=70/15/15 -o C G
gnn-partition -q --no-provenance -k 4 --method random -o C4 C
same='
import json, sys
import numpy as np
a, b = np.load("one.npy"), np.load("many.npy")
assert a.dtype == b.dtype and a.shape == b.shape and len(a) > 500, (a.shape, b.shape)
assert a.ndim > 1 or len(np.unique(a)) > 2
assert (a == b).mean() > 0.99 if a.dtype == np.int32 else np.allclose(a, b, atol=1e-4), np.abs(a - b).max()
x, y = ([json.loads(l) for l in open(f)] for f in ("one.json", "many.json"))
x, y = ([e for e in s if e["event"] == "score"] for s in (x, y))
assert len(x) == len(y) == 2 and all(set(p) == set(q) for p, q in zip(x, y)), (x, y)
for p, q in zip(x, y):
    assert all(abs(p[k] - q[k]) <= 1e-3 * max(1, abs(p[k])) for k in p if k != "t" and isinstance(p[k], (int, float))), (p, q)'
train='gnn-train -q --store C --links node/to/node -f 4,3 -b 100 --hidden 16 --epochs 2 --no-provenance'
$train --negatives binary:1.5 --eval-negatives triplet:4 --strict --eval valid -o told
$train --decoder cosine --negatives binary:1 --eval-negatives binary:1.3 --eval valid -o binary
$train --target kind -o kind
$train --target grade -o grade
for how in 'told scores mrr' 'binary scores roc-auc' 'told embeddings hits@2' 'kind classes accuracy' 'kind probs f1-macro' 'grade values rmse'; do
    set -- $how
    predict="--split valid --split test --output-kind $2 --metric $3 $1"
    gnn-predict -q --store C --metrics one.json -o one.npy $predict
    for k in 2 4; do
        rm -f many.npy many.json
        check "gnn-predict on $k ranks writes $2 of $1" ranks $k gnn-predict -q --store C4 --metrics many.json -o many.npy $predict
        check "in the order and with the $3 of one process" /usr/bin/python3 -c "$same"
    done
done
gnn-predict -q -n --store C --split test --metrics one.json kind
check "gnn-predict on ranks measures without an array" ranks 3 gnn-predict -q -n --store C4 --split test --metrics many.json kind
check "and tells the same" sh -c 'for f in one many; do grep -o "\"accuracy\":0.[0-9]\{4\}" $f.json >$f || exit 1; done; cmp one many'
done_testing
