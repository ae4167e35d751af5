# SPDX-License-Identifier: Apache-2.0
# gnn-train on links: decoders, the same models from a pipe and from a store, resumption, and what is refused. Gradients are in
# tests/unit/test_net.c.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
gnn-import -q -o s sbm:nodes=600,degree=8,features=8
gnn-import -q -o h sbm:nodes=300,types=3,features=6
gnn-partition -q -k 3 -o sp s
links='--links node/to/node -f 5,3 -b 256'
for d in dot cosine mlp; do
    negatives='--negatives binary:1 --strict'
    gnn-sample -q s $links $negatives --exclude reverse --epochs 2 --no-provenance | gnn-gather -q s | gnn-train -q --decoder $d --hidden 8 --no-provenance -o piped
    gnn-train -q --store s $links $negatives --epochs 2 --decoder $d --hidden 8 --no-provenance -o stored
    check "gnn-train makes the model of a pipeline: $d" gnn-inspect --diff piped stored
    gnn-train -q --store sp $links $negatives --epochs 2 --decoder $d --hidden 8 --no-provenance -o parted
    check "partitions do not change what is learned: $d" gnn-inspect --diff --ignore provenance stored parted
    gnn-train -q --store h --links t0/up/t1 --negatives triplet:2 --negative-end both -f 4,4 -b 100 --epochs 2 --decoder $d --hidden 8 --metrics m.json -o typed
    check "gnn-train learns from links between types: $d" grep -q '"loss"' m.json
    check "gnn-inspect tells of the model: $d" sh -c 'gnn-inspect typed | grep -q "task   links"'
done
check "a model learns from links that needs degrees" gnn-train -q --store s $links -m gcn --hidden 8 --epochs 1 -o x
gnn-train -q --store s $links -m gat --heads 2 --decoder cosine --hidden 8 --epochs 1 -o gat
check "a model of attention heads has heads of links, too" gnn-train -q --store s $links -m gat --heads 2 --decoder cosine --hidden 8 --epochs 1 --init gat -o x
gnn-train --store s --links node/to/node -f 4,4 --epochs 30 --lr 0.02 --dropout 0 --hidden 16 --decoder mlp --metrics m.json -o x 2>said
check "gnn-train says the default of negatives" grep -q 'negatives: one for each link' said
check "the loss falls" /usr/bin/python3 -c '
import json
x = [e["loss"] for e in map(json.loads, open("m.json")) if e.get("event") == "epoch"]
assert len(x) == 30 and x[-1] < 0.9 * x[0] and x[-1] < 0.65, x'

# A run that is cut goes on to the same model.
learn="-q --store s $links --negatives binary:1 --decoder mlp --hidden 8 --no-provenance --epochs 4"
gnn-train $learn -o whole
gnn-train $learn --epochs 2 --checkpoint c -o x
gnn-train $learn --checkpoint c --resume -o resumed
check "a resumed run makes the same model" gnn-inspect --diff whole resumed
status 3 "a run with other negatives does not go on" gnn-train -q --store s $links --negatives binary:2 --decoder mlp --hidden 8 --epochs 4 --checkpoint c --resume -o x
status 3 "a run with another decoder does not go on" gnn-train -q --store s $links --negatives binary:1 --decoder dot --hidden 8 --epochs 4 --checkpoint c --resume -o x
gnn-train -q --store s $links --negatives binary:1 --init whole --epochs 1 -o x 2>said
check "gnn-train goes on with the decoder of --init" sh -c 'gnn-inspect x | grep -q decoder.lins.1.weight'

# Losses that compare positives with their negatives: what is told is the mean of their definition over the scores.
gnn-import -q --split-links node/to/node=80/10/10 -o split s
cat >loss.py <<'PY'
import csv, json, math, sys
rows = list(csv.DictReader(open("scored.csv")))
told = [json.loads(l) for l in open("scored.json")][0]["loss"]
trained = [e for e in map(json.loads, open("m.json")) if e.get("event") == "end"][0]["valid"]["loss"]
positive = {r["input"]: float(r["score"]) for r in rows if r["negative"] == "0"}
pairs = [(positive[r["input"]], float(r["score"]), r["input"]) for r in rows if r["negative"] == "1"]
if sys.argv[1] == "bpr":
    want = sum(math.log1p(math.exp(n - p)) for p, n, _ in pairs) / len(pairs)
else:
    power = dict.fromkeys(positive, 0)
    for p, n, i in pairs:
        power[i] += math.exp(n - p)
    want = sum(math.log1p(x) for x in power.values()) / len(power)
assert len(positive) > 100 and len(pairs) > len(positive), (len(positive), len(pairs))
assert abs(told - want) < 1e-6 and abs(trained - want) < 1e-6, (told, trained, want)
PY
for how in 'bpr binary:1.5' 'bpr triplet:3' 'softmax triplet:4'; do
    set -- $how
    learn="--loss $1 --decoder mlp --hidden 8 --no-provenance --keep last"
    drawn="--links node/to/node -f 5,3 -b 100 --negatives $2 --strict"
    stored="-q --store split $drawn $learn --eval valid"
    gnn-sample -q split $drawn --split train --exclude reverse --epochs 3 --eval valid --no-provenance | gnn-gather -q split | gnn-train -q $learn -o piped
    gnn-train $stored --epochs 3 --metrics m.json -o stored
    check "gnn-train --loss $how makes the model of a pipeline" gnn-inspect --diff piped stored
    gnn-train $stored --epochs 2 --checkpoint "k$2" -o x
    gnn-train $stored --epochs 3 --checkpoint "k$2" --resume -o resumed
    check "a resumed run of --loss $how makes the same model" gnn-inspect --diff stored resumed
    gnn-predict -q --store split --split valid --metrics scored.json -o scored.csv stored
    check "gnn-train --loss $how and gnn-predict tell the mean of its definition" /usr/bin/python3 loss.py "$1"
done
refuses 3 'made with --loss softmax, and this run has --loss bpr' 'to go on with another loss' gnn-train $stored --loss bpr --checkpoint ktriplet:4 --resume -o x
refuses 3 'made with --loss softmax, and this run without' 'to go on without the loss' gnn-train $stored --loss bce --checkpoint ktriplet:4 --resume -o x
gnn-predict -n -q --store split --split valid --negatives binary:2 --metrics scored.json stored
check "gnn-predict tells no loss of softmax among negatives that are not of each link" grep -q '"loss":null' scored.json
gnn-train -q --store s $links --negatives triplet:8 --epochs 30 --lr 0.02 --dropout 0 --hidden 16 --decoder mlp --loss softmax --metrics m.json -o x
check "the loss of softmax falls below that of scores which tell nothing" /usr/bin/python3 -c '
import json, math
x = [e["loss"] for e in map(json.loads, open("m.json")) if e.get("event") == "epoch"]
assert x[-1] < 0.9 * x[0] and x[-1] < 0.95 * math.log(9), x'
gnn-train -q --store split $drawn --init stored --loss bpr --epochs 1 -o other
check "a model of one loss is gone on with by another" sh -c 'gnn-predict -n --store split --split valid other 2>&1 | grep -q "loss 0"'
refuses 2 'softmax requires negatives of each link: --negatives triplet:K' 'softmax among shared negatives' gnn-train --store split $links --negatives binary:4 --loss softmax -o x
refuses 2 'evaluated sets, too: --eval-negatives triplet:K' 'softmax of a set with shared negatives' \
    gnn-train --store split $links --negatives triplet:4 --eval valid --eval-negatives binary:4 --loss softmax -o x
refuses 2 'requires negatives of each link' 'softmax of a stream with shared negatives' sh -c "gnn-sample -q s $links --negatives binary:1 | gnn-gather -q s | gnn-train --loss softmax -o x"
for l in bce bpr; do refuses 2 'loss requires links: the seeds are nodes' "--loss $l of nodes" gnn-train --store s -f 4 --loss $l -o x; done

# What cannot be.
refuses 2 'requires links' 'a decoder of nodes' gnn-train --store s -f 4 --decoder mlp -o x
refuses 2 'see --decoder' 'a head' gnn-train --store s $links --head 0 -o x
refuses 2 'does not apply to links' 'weights of classes' gnn-train --store s $links --class-weights balanced -o x
refuses 2 'nothing is sampled' 'full batches' gnn-train --store s --links node/to/node --full-batch -o x
refuses 2 'is of nodes, not of links' 'a set of nodes' gnn-train --store s $links --eval valid -o x
refuses 2 'requires --store' 'links of a stream as an option' sh -c "gnn-sample -q s $links | gnn-train --links node/to/node -o x"
refuses 2 'have no negatives' 'links without negatives' sh -c "gnn-sample -q s $links | gnn-gather -q s | gnn-train -o x"
gnn-train -q --store s -f 5,3 --epochs 1 --hidden 8 -o nodes
refuses 3 'links task' 'to go on with a model of nodes' gnn-train --store s $links --init nodes -o x
refusing=gnn-gather
refuses 2 'labels are of nodes' 'labels of links' sh -c "gnn-sample -q s $links | gnn-gather s -F x,y -o x"
refusing=gnn-predict
mkdir forged
if /usr/bin/python3 "$GNN_TOP/tests/train/forge.py" whole forged <<'EOF'; then
d["decoder"] = "bad"
del d["decoder"]
d["link_heads"] = 9
d["head"] = [1]
d["task"] = "multilabel"
d["loss"] = "bad"
EOF
    for k in 1 2 3 4 5 6; do
        refuses 3 'of the model' "a description that is wrong ($k)" gnn-predict s forged/$k
    done
else
    skip 'descriptions that are wrong are refused' 'python3 finds no libxxhash'
fi
check "nothing is left of them" sh -c '! ls x.tmp* 2>/dev/null'
done_testing
