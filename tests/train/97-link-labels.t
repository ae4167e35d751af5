# SPDX-License-Identifier: Apache-2.0
# Labels of links (--target): the labels are those of the edges, models learn from them, alike from a pipe and in partitions, and
# what is refused. Several ranks are in tests/ranks/17-link-labels.t; gradients in tests/unit/test_net.c.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
# The two ends tell the label: a class for each group of heads and of tails, and a number that depends on both.
/usr/bin/python3 - <<'PY'
import random
random.seed(3)
with open("rated.csv", "w") as f, open("x.csv", "w") as x:
    print("source,target,time,rating,kind,grade", file=f)
    for i in range(6000):
        u, v = random.randrange(300), random.randrange(300)
        kind = u % 2 + v % 3 % 2 * (1 + u % 2)
        print(f"{u},{v},{i // 3},{(kind == 1) * 4 - 2 + random.randrange(2)},{kind},{0.5 * (u % 2) - 0.25 * (v % 3)}", file=f)
    for v in range(300):
        print(f"{v % 2},{v % 3 == 0:d},{v % 3 == 1:d}", file=x)
PY
gnn-import -q --no-provenance --directed --features x.csv -o R rated.csv
gnn-import -q --no-provenance --directed --features x.csv --columns source=source,target=target,rating=rating,kind=kind,grade=grade -o G rated.csv
gnn-import -q --no-provenance --split-links node/to/node=80/10/10 -o C G
gnn-import -q --no-provenance --split-links node/to/node=time:70/15/15 -o T R
gnn-partition -q --no-provenance -k 4 --method random -o C4 C
gnn-partition -q --no-provenance -k 1 -o C1 C4
for s in C T C4 C1; do check "gnn-inspect --verify accepts sets with fields: $s" gnn-inspect --verify $s; done
check "partitions keep the fields of links" gnn-inspect --diff --original C C1
check "and of four" gnn-inspect --diff --original C C4

# Labels are those of the edges, of sets and of all edges, however they are partitioned.
cat >labels.py <<'PY'
import csv, os, sys
sys.path.insert(0, os.environ["GNN_TOP"] + "/tests/interop")
import gnb, numpy as np
rows = {}
for r in csv.DictReader(open("rated.csv")):
    rows.setdefault((int(r["source"]), int(r["target"])), set()).add(float(r[sys.argv[2]]) > 0 if sys.argv[3:] else float(r[sys.argv[2]]))
_, batches = gnb.read_stream(sys.argv[1])
n = 0
for b in batches:
    nodes = b["nodes/node"]
    assert b["pair/label"].dtype == np.float32 and len(b["pair/label"]) == len(b["pair"])
    for (u, v), y in zip(nodes[b["pair"]].tolist(), b["pair/label"].tolist()):
        assert any(abs(y - w) < 1e-6 for w in rows[u, v]), (u, v, y, rows[u, v])
        n += 1
print(n)
assert n > 500
PY
draw='--links node/to/node -f 3 -b 100 --no-provenance'
for s in G C C4; do
    gnn-sample -q $s $draw --original-ids --target kind -o k.gnb
    check "labels are the field of edges: $s" /usr/bin/python3 labels.py k.gnb kind
    gnn-sample -q $s $draw --original-ids --target 'rating>0' -o r.gnb
    check "labels are whether the field is above a number: $s" /usr/bin/python3 labels.py r.gnb rating 0
    check "gnn-inspect --verify --against draws them again: $s" gnn-inspect --verify r.gnb --against $s
done
check "gnn-sample draws the labels of all edges and of sets" sh -c "gnn-sample -q T $draw --split edges --target grade -o e.gnb && gnn-sample -q T $draw --split test --time-rule lt --target grade -o t.gnb"
check "gnn-inspect tells the target and the classes" sh -c 'gnn-inspect k.gnb | grep -q -- "--target kind"'

# Models of two classes, of several and of numbers.
learn='-f 5,3 -b 200 --hidden 16 --lr 0.02 --dropout 0 --no-layer-norm --no-provenance'
for task in 'rating>0 roc-auc 0.95' 'kind accuracy 0.9' 'grade rmse -0.12'; do
    set -- $task
    gnn-train -q --store C --links node/to/node --target "$1" $learn --epochs 15 --eval valid --metrics m.json -o model
    check "gnn-train learns $1: $2 of at least $3" /usr/bin/python3 -c '
import json, sys
x = [e for e in map(json.loads, open("m.json")) if e["event"] == "epoch" and e["best"]][-1]["valid"][sys.argv[1]]
assert (x if float(sys.argv[2]) > 0 else -x) >= float(sys.argv[2]), x' "$2" "$3"
    gnn-predict -q --store C --split test --metrics p.json -o p.csv model
    check "gnn-predict measures $1" grep -q "\"$2\"" p.json
    gnn-sample -q C --links node/to/node --target "$1" --split train --eval valid -f 5,3 -b 200 --exclude reverse --epochs 2 --no-provenance | gnn-gather -q C | gnn-train -q ${learn#*200} -o piped
    gnn-train -q --store C --links node/to/node --target "$1" $learn --epochs 2 --eval valid -o stored
    check "gnn-train makes the model of a pipeline: $1" gnn-inspect --diff piped stored
    gnn-train -q --store C4 --links node/to/node --target "$1" $learn --epochs 2 --eval valid -o parted
    check "partitions do not change what is learned: $1" gnn-inspect --diff --ignore provenance stored parted
    gnn-train -q --store C --links node/to/node --target "$1" $learn --eval valid --epochs 1 --checkpoint k$2 -o x
    gnn-train -q --store C --links node/to/node --target "$1" $learn --eval valid --epochs 2 --checkpoint k$2 --resume -o resumed
    check "a resumed run makes the same model: $1" gnn-inspect --diff stored resumed
    [ "$2" != roc-auc ] || cp model model.two
    [ "$2" != accuracy ] || cp model model.kind
    [ "$2" != rmse ] || cp model model.grade
done
for d in dot cosine mlp concat; do
    check "two classes are learned by decoder $d" gnn-train -q --store C --links node/to/node --target 'rating>0' --decoder $d $learn --epochs 1 -o x
done
check "links are told from negatives by decoder concat" gnn-train -q --store C --links node/to/node --decoder concat $learn --epochs 1 -o x
check "a split is made where links are to be told apart by labels" gnn-train -q --store G --task links --target kind $learn --epochs 1 -o whole
check "labels are learned with times" gnn-train -q --store T --links node/to/node --time-rule lt --target kind $learn --epochs 1 -o x

# Predictions: what was measured, and of pairs.
printf '1,4\n2,7\n5,0\n' >asked.csv
for m in two kind grade; do
    gnn-predict -q --store C --seeds asked.csv -o $m.csv model.$m
    gnn-predict -q --store C --seeds asked.csv -o $m.npy model.$m
done
gnn-predict -q --store C --seeds asked.csv --output-kind probs -o probs.npy model.kind
gnn-predict -q --store C --seeds asked.csv --output-kind embeddings -o ends.npy model.kind
gnn-predict -q --store C --split test --output-kind probs -o two.probs.npy --metrics p.json model.two
gnn-predict -q --store C --split test -o kind.test.csv --metrics kind.json model.kind
gnn-sample -q C --links node/to/node --target 'rating>0' --split test -f 5,3 -b 200 --no-shuffle --exclude reverse -o test.gnb
check "predictions of pairs and of sets are those of the model, and as they were measured" /usr/bin/python3 -c '
import csv, json, os, sys
sys.path.insert(0, os.environ["GNN_TOP"] + "/tests/interop")
import gnb, numpy as np
rows = {m: list(csv.DictReader(open(m + ".csv"))) for m in ("two", "kind", "grade")}
assert list(rows["two"][0]) == ["head", "tail", "class", "probability"], rows["two"][0]
assert list(rows["grade"][0]) == ["head", "tail", "value_0"], rows["grade"][0]
for m in "two", "kind":
    a = np.load(m + ".npy")
    assert a.dtype == np.int32 and a.tolist() == [int(r["class"]) for r in rows[m]], (m, a)
g = np.load("grade.npy")
assert g.dtype == np.float32 and np.allclose(g, [float(r["value_0"]) for r in rows["grade"]])
p = np.load("probs.npy")
assert p.shape == (3, 4) and np.allclose(p.sum(1), 1) and p.argmax(1).tolist() == np.load("kind.npy").tolist()
assert np.allclose(p.max(1), [float(r["probability"]) for r in rows["kind"]])
assert np.load("ends.npy").shape == (3, 2, 16)
z = np.load("two.probs.npy")
y = np.concatenate([b["pair/label"] for b in gnb.read_stream("test.gnb")[1]])
auc = ((z[y > 0, None] > z[None, y == 0]) + 0.5 * (z[y > 0, None] == z[None, y == 0])).mean()
told = [json.loads(l) for l in open("p.json")][0]["roc-auc"]
assert z.ndim == 1 and len(z) == len(y) > 300 and abs(auc - told) < 1e-6, (auc, told)
assert [json.loads(l) for l in open("kind.json")][0]["accuracy"] > 0.85
assert list(next(csv.DictReader(open("kind.test.csv")))) == ["input", "head", "tail", "class", "probability", "set"]'
check "gnn-predict scores a stream of links without labels" sh -c "gnn-sample -q C --links node/to/node --seeds asked.csv -f 5,3 | gnn-gather -q C | gnn-predict -q -o s.npy model.kind"

# Bad input.
train="gnn-train -q --store C --links node/to/node $learn --epochs 1 -o never"
refuses 2 "have no field 'stars' (--target); fields: " 'a field that edges do not have' $train --target stars
refuses 2 'expected FIELD or FIELD>NUMBER' 'a threshold that is no number' $train --target 'rating>good'
refuses 3 'which is no class: --target FIELD>NUMBER' 'negative classes' $train --target rating
refuses 2 'expected FIELD or FIELD>NUMBER' 'a threshold that is NaN' $train --target 'rating>nan'
refuses 3 'all links to learn from are of class 0' 'labels that are all the same' $train --target 'rating>100'
refuses 2 'has no effect with --target' 'negatives of links with labels' $train --target kind --negatives binary:1
refuses 2 '--loss has no effect with --target' 'a loss of negatives' $train --target kind --loss bpr
refuses 2 'expected mlp or concat' 'one score for several classes' $train --target kind --decoder dot
refuses 2 'requires --links' 'a target of nodes' gnn-train -q --store C --target kind $learn -o never
refuses 2 'metric mrr is not defined for binary tasks' 'a metric of rankings' $train --target 'rating>0' --metric mrr
refuses 2 'have times, and no field' 'the times of links as labels' gnn-train -q --store T --links node/to/node --target time $learn -o never
printf 'source,target,rating\n0,1,1.5\n1,2,nan\n2,3,0.5\n3,0,1\n0,2,2\n' >blank.csv
gnn-import -q --directed -o B blank.csv
refuses 3 "field 'rating' of link [0-9]* is nan, which is no number" 'a label that is NaN' gnn-train -q --store B --links node/to/node --target rating $learn -o never
refuses 3 'is nan, which is no class' 'a class that is NaN' gnn-train -q --store B --links node/to/node --target 'rating>1' $learn -o never
gnn-sample -q C --links node/to/node -f 5,3 -b 200 -o bare.gnb
refuses 3 'batches have no labels pair/label: gnn-sample --target FIELD adds them' 'to measure batches without labels' \
    sh -c "gnn-gather -q C -i bare.gnb | gnn-predict -q -n --split train model.kind"
refuses 2 'expected classes, probs or embeddings' 'scores of a model of classes' gnn-predict -q --store C --seeds asked.csv --output-kind scores -o never model.kind
refuses 3 'which --seeds\|are no edges\|no labels' 'to measure pairs of a file' sh -c "gnn-sample -q C --links node/to/node --target kind --seeds asked.csv -f 5,3 | gnn-gather -q C | gnn-predict -q -n --split seeds model.kind"
refuses 2 "is a binary task, but the model's task is multiclass" 'to measure by labels of another task' gnn-predict -q -n --store C --split test --target 'rating>0' model.kind
refuses 2 'pairs have no labels' 'labels of pairs' gnn-predict -q --store C --seeds asked.csv --target kind -o never model.kind
check "nothing was written" test ! -e never
done_testing
