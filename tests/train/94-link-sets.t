# SPDX-License-Identifier: Apache-2.0
# gnn-train on links of a split: sets that are evaluated, and metrics of links.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
gnn-import -q -o base sbm:nodes=600,degree=12,features=8 && gnn-import -q --split-links node/to/node=80/10/10 -o s base || exit 1
gnn-partition -q -k 3 -o sp s
learn="--links node/to/node -f 5,3 -b 256 --epochs 3 --hidden 16 --lr 0.02 --no-provenance"
gnn-train --store s $learn --metrics m.json -o m 2>said
check "gnn-train evaluates the set valid of links" grep -q 'evaluating set valid of links' said
check "the set chooses the epoch by MRR" grep -q 'selects the epoch, by mrr-realistic' said
gnn-sample -q s --links node/to/node --split train --eval valid --negatives binary:1 --eval-negatives triplet:20 --strict --exclude reverse -f 5,3 -b 256 --epochs 3 --no-provenance |
    gnn-gather -q s | gnn-train -q --hidden 16 --lr 0.02 --no-provenance -o piped
check "gnn-train makes the model of a pipeline" gnn-inspect --diff m piped
gnn-train -q --store sp $learn -o parted
check "partitions do not change what is learned" gnn-inspect --diff --ignore provenance m parted

# Metrics, which have their conventions in their names; their values are in tests/unit/test_link_metrics.c.
gnn-train -q --store s $learn --negatives triplet:20 --strict --metrics m.json -o x
check "with negatives of each link, the metric is MRR" grep -q '"mrr-realistic":0\.' m.json
gnn-train -q --store s $learn --negatives triplet:20 --strict --metric hits@3 --metrics m.json -o x
check "hits of each link's negatives have their convention" grep -q '"hits@3-realistic":0\.' m.json
gnn-train -q --store s $learn --negatives binary:1 --metrics m.json -o x
check "shared negatives choose the epoch by ROC-AUC" grep -q '"roc-auc":0\.' m.json
gnn-train -q --store s $learn --negatives binary:1 --metric hits@20 --metrics m.json -o x
check "hits of shared negatives have theirs" grep -q '"hits@20-shared":0\.' m.json
gnn-train -q --store s $learn --negatives binary:1 --metric average-precision --metrics m.json -o x
check "average precision is of links, too" grep -q '"average-precision":0\.' m.json
gnn-train -q --store s $learn --eval none --metrics m.json -o x
status 1 "--eval none evaluates nothing" grep -q valid m.json
gnn-train -q --store s $learn --eval valid --eval test --metrics m.json -o x
check "several sets are evaluated" sh -c 'grep -q "\"valid\":" m.json && grep -q "\"test\":" m.json'
gnn-train --store base $learn -o x 2>said
check "a store without sets of links is trained on all edges" grep -q 'no set valid of links' said

# Ties: nodes of a ring with equal features have equal embeddings, and most scores are the same. What is told is made again from
# the scores of a table.
awk 'BEGIN { for (i = 0; i < 200; i++) print i "," (i + 1) % 200 }' >ring.csv
awk 'BEGIN { for (i = 0; i < 200; i++) print 1 }' >ones.txt
gnn-import -q -u -o ring --features ones.txt ring.csv && gnn-import -q -o ringed --split-links node/to/node=80/10/10 ring
cat >ties.py <<'PY'
import csv, json, sys
metric, path, said, told = sys.argv[1:]
rows = list(csv.DictReader(open(path)))
good = {r["input"]: float(r["score"]) for r in rows if r["negative"] == "0"}
bad = {i: [float(r["score"]) for r in rows if r["input"] == i and r["negative"] == "1"] for i in good}
above = [sum(x > good[i] for x in bad[i]) for i in good]
equal = [sum(x == good[i] for x in bad[i]) for i in good]
assert sum(map(bool, equal)) > len(good) / 2
of = {"mrr": lambda r: 1 / r, "hits@4": lambda r: r <= 4}[metric]
want = [sum(of(1 + a + t * e) for a, e in zip(above, equal)) / len(good) for t in (0.5, 0, 1)]
line = metric + "-realistic %.4f (optimistic %.4f, pessimistic %.4f)" % tuple(want)
assert line in open(said).read(), line
x = [e for e in map(json.loads, open(told)) if e.get("event") == "score"][0]
for name, v in zip(("realistic", "optimistic", "pessimistic"), want):
    assert abs(x[metric + "-" + name] - v) < 1e-9, (name, v, x)
PY
same="--links node/to/node -f -1,-1 -b 64 --epochs 4 --hidden 4 --negatives triplet:10 --exclude none --no-provenance"
gnn-train --store ringed $same -o equal 2>trained
check "ranks by all ways to count ties are told in training" grep -q 'best epoch .*valid mrr-realistic 0\.[0-9]* (optimistic 0\.[0-9]*, pessimistic 0\.[0-9]*)' trained
for metric in mrr hits@4; do
    gnn-predict --store ringed --split test --metric $metric --metrics t.json -o ties.csv equal 2>said
    check "ranks by all ways to count ties are told: $metric" /usr/bin/python3 ties.py $metric ties.csv said t.json
done
# Of the links of each node, the share among the K best of its links and their negatives, from a table; ties have all orders.
cat >recall.py <<'PY'
import collections, csv, json, sys
k, end, path, said, told = int(sys.argv[1]), *sys.argv[2:]
of = collections.defaultdict(list)
for r in csv.DictReader(open(path)):
    of[r[end]].append((-float(r["score"]), r["negative"] == "0"))
assert k == 3 or max(sum(p for _, p in x) for x in of.values()) > 1
want = [0, 0, 0]
for x in of.values():
    good, taken, left = sum(p for _, p in x), [0, 0, 0], k
    for z in sorted({z for z, _ in x}):
        g, n = sum(p for y, p in x if y == z), sum(y == z for y, _ in x)
        room = min(left, n)
        left -= room
        for i, v in enumerate((g * room / n, min(g, room), max(0, room - (n - g)))):
            taken[i] += v
    want = [w + t / good / len(of) for w, t in zip(want, taken)]
assert "recall@%d-realistic %.4f" % (k, want[0]) in open(said).read(), (want, open(said).read())
x = [e for e in map(json.loads, open(told)) if e.get("event") == "score"][0]
for i, name in enumerate(("realistic", "optimistic", "pessimistic")):
    assert abs(x.get("recall@%d-%s" % (k, name), x["recall@%d-realistic" % k]) - want[i]) < 1e-9, (name, want, x)
PY
for ends in 'head tail' 'tail head'; do
    end=${ends% *}
    gnn-predict --store s --split test --negatives triplet:8 --negative-end "${ends#* }" --metric recall@5 --metrics t.json -o r.csv m 2>said
    check "recall@K is of each node's links: $end" /usr/bin/python3 recall.py 5 $end r.csv said t.json
done
gnn-predict --store ringed --split test --metric recall@3 --metrics t.json -o r.csv equal 2>said
check "recall@K counts ties in any order, and tells the best and the worst" /usr/bin/python3 recall.py 3 head r.csv said t.json
check "they differ there" grep -q '"recall@3-optimistic"' t.json
gnn-train -q --store s $learn --negatives triplet:9 --metric recall@4 --metrics m.json -o x
check "recall@K selects the epoch" grep -q '"recall@4-realistic":0\.' m.json
gnn-train -q --store sp $learn --negatives triplet:9 --metric recall@4 --metrics p.json -o y
check "partitions do not change it" sh -c '[ "$(grep -o "recall@4-realistic\":[^,}]*" m.json)" = "$(grep -o "recall@4-realistic\":[^,}]*" p.json)" ]'
refuses 2 'which --negative-end both does not draw' 'recall@K of no common end' gnn-train --store s $learn --negatives triplet:9 --negative-end both --metric recall@4 -o x
refuses 3 'recall@500: a node has at most' 'recall@K of fewer pairs' gnn-train --store s $learn --negatives triplet:9 --metric recall@500 -o x
gnn-train -q --store ringed $same --epochs 2 --checkpoint half -o x
gnn-train --store ringed $same --checkpoint half --resume -o x 2>resumed
check "a checkpoint keeps those of the best epoch" sh -c '[ "$(grep "best epoch" trained)" = "$(grep "best epoch" resumed)" ]'
refuses 2 'requires negatives of each link' 'MRR of shared negatives' gnn-train --store s $learn --negatives binary:1 --metric mrr -o x
refuses 2 'not defined for multiclass tasks' 'MRR of classes' gnn-train --store base -f 3,3 --metric mrr -o x
refuses 2 'hits@' 'hits of fewer negatives than K' gnn-train --store s $learn --negatives binary:0.001 --metric hits@50 -o x
refuses 2 'no set' 'a set that is not there' gnn-train --store s $learn --eval vall -o x
done_testing
