# SPDX-License-Identifier: Apache-2.0
# One denominator: losses, metrics and counts are over what has a label, in training, evaluation and prediction.
. "$GNN_TOP/tests/ranks/setup.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip 'losses are over labels' 'no numpy'; done_testing; }
cat >make.py <<'PY'
import numpy as np
rng = np.random.default_rng(5)
n, e = 240, 1200
edges, x = rng.integers(0, n, (e, 2)), rng.normal(size=(n, 6)).astype(np.float32)
known, ids = rng.random(n) < 0.55, rng.permutation(n)
kinds = {"multiclass": rng.integers(0, 3, n).astype(float), "binary": (x[:, 0] > 0).astype(float),
         "multilabel": (rng.random((n, 3)) < 0.4).astype(float), "regression": rng.normal(size=(n, 2))}
for name, y in kinds.items():
    if y.ndim == 2: # some rows without labels, and of the others some columns
        y[rng.random(y.shape) < 0.5] = np.nan
        y[~known] = np.nan
    else:
        y[~known] = np.nan
    has = ~np.isnan(y).reshape(n, -1).all(1)
    # Splits: 0 as usual; 1 trains on those of its seeds that have a label; 2 on nodes without any.
    masks = np.zeros((3, n, 3), bool)
    masks[0, ids[:120], 0] = masks[1, ids[120:200], 0] = masks[2, ids[200:], 0] = True
    masks[0, :, 1] = masks[0, :, 0] & has
    masks[0, :, 2] = ~has
    np.savez(name + ".npz", edge_index=edges.T, x=x, y=y, train_mask=masks[0], val_mask=masks[1], test_mask=masks[2])
np.savetxt("train", ids[:120], "%d")
np.savetxt("valid", ids[120:200], "%d")
PY
cat >right.py <<'PY'
# The loss of a set over its labels, as PyTorch's functions have it for what is not nan, and how many nodes and labels it has.
import sys, json, numpy as np
task, ids, values = sys.argv[1], np.loadtxt(sys.argv[2]).astype(int), np.load(sys.argv[3]).astype(float)
y = np.load(task + ".npz")["y"][ids]
z = values.reshape(len(values), -1)[ids]
k = ~np.isnan(y)
def softplus(v): return np.maximum(v, 0) + np.log1p(np.exp(-abs(v)))
if task == "multiclass":
    z, y = z[k], y[k].astype(int)
    m = z.max(1, keepdims=True)
    loss = (np.log(np.exp(z - m).sum(1)) + m[:, 0] - z[np.arange(len(y)), y]).mean()
elif task == "regression":
    loss = ((z[k] - y[k]) ** 2).mean()
else:
    z, k, y = z.reshape(y.shape), k, y
    loss = (softplus(z[k]) - z[k] * y[k]).mean()
n = int(k.reshape(len(k), -1).any(1).sum())
for line in map(json.loads, sys.stdin):
    if line["event"] == "score":
        got = line["loss"], line["nodes"], line["unlabelled"], line["labels"]
        want = loss, n, len(ids) - n, int(k.sum())
        if task == "regression": assert abs(line["rmse"] ** 2 - loss) < 1e-5, line
    elif line["event"] == "epoch":
        got = line[sys.argv[4]]["loss"], line[sys.argv[4]]["labels"]
        want = loss, int(k.sum())
    elif line["event"] == "step":
        got, want = (line["loss"],), (loss,)
    assert abs(got[0] - want[0]) < 2e-6 and got[1:] == want[1:], (line, want)
PY
/usr/bin/python3 make.py || _not_ok 'numpy makes graphs'
# right PATTERN METRICS ARGUMENTS...: the first line with the pattern
right() { _line=$1 _in=$2 && shift 2 && grep -m 1 "$_line" "$_in" >line.json && /usr/bin/python3 right.py "$@" <line.json; }
how='-q --hidden 8 --dropout 0 --no-layer-norm --seed 3'
all="$how -f -1,-1 -b 1000"
for t in multiclass binary multilabel regression; do
    check "gnn-import reads a $t task in which labels lack" \
        gnn-import -q --directed --task $t -o $t $t.npz
    check "gnn-train learns a $t task" gnn-train --store $t $all --lr 0 --epochs 1 --eval valid --eval train --metrics m.json -o m.st
    gnn-predict -q -n $t m.st --split train --split valid --metrics p.json && gnn-predict -q --output-kind values -o z.npy $t m.st
    check "the loss of a training step is over labels: $t" right '"event":"step"' m.json $t train z.npy
    for s in train valid; do
        check "an epoch's numbers of set $s are over labels: $t" right '"event":"epoch"' m.json $t $s z.npy $s
        check "gnn-predict's numbers of set $s are over labels: $t" right "\"set\":\"[0-9/]*$s\"" p.json $t $s z.npy
    done
    # Nodes without a label change nothing of what is learned.
    for way in "$all" "$how --full-batch"; do
        gnn-train --store $t $way --optimizer sgd --lr 0.5 --epochs 3 --eval none -o a.st
        gnn-train --store $t $way --optimizer sgd --lr 0.5 --epochs 3 --eval none --split 1/train -o b.st
        gnn-predict -q --output-kind values -o a.npy $t a.st
        gnn-predict -q --output-kind values -o b.npy $t b.st
        check "gnn-train learns the same with and without nodes that have no label: $t, ${way##* -}" /usr/bin/python3 -c '
import numpy as np
a, b, z = (np.load(f) for f in ("a.npy", "b.npy", "z.npy"))
assert abs(a - b).max() < 2e-5 < 1e-2 < abs(a - z).max(), (abs(a - b).max(), abs(a - z).max())'
    done
    refusing=gnn-train refuses 3 'set 2/train: none of its [0-9]* nodes has a label' "a training set without labels: $t" gnn-train --store $t $all --split 2/train --epochs 1 --eval none -o no.st
    gnn-sample -q -f 2,2 --split 2/train $t | gnn-gather -q $t >blank.gnb
    refusing=gnn-train refuses 3 'set 2/train: none of its [0-9]* seeds has a label' "batches without labels: $t" gnn-train -i blank.gnb --hidden 8 -o no.st
    # A set without labels has no numbers, and makes no epoch the best.
    for m in loss $(case $t in regression) echo r2 ;; *) echo accuracy ;; esac); do
        check "gnn-train evaluates a set without labels: $t, $m" gnn-train --store $t ${all#-q } --epochs 4 --eval 2/train --metric $m \
            --metrics n.json -o n.st
        cp err said
        check "gnn-train says so once: $t, $m" [ "$(grep -c 'warning: set 2/train: none of its .* nodes has a label' said)" -eq 1 ]
        check "gnn-train does not say that it selects the epoch: $t, $m" sh -c '! grep "selects the epoch" said'
        for o in '--patience 2' '--keep best'; do
            status 2 "gnn-train refuses $o where no label tells: $t, $m" gnn-train --store $t $all --epochs 4 --eval 2/train --metric $m $o -o no.st
            cp err asked
            check "gnn-train says what $o would need: $t, $m" grep -q -e "^gnn-train: ${o% 2}: no node of set 2/train, by which epochs would be compared, has a label: evaluate another set first (--eval)$" asked
        done
        check "such a set makes no epoch the best: $t, $m" grep -q "$m of set 2/train is not defined in any epoch: writing the model of the last" said
        check "its numbers are null: $t, $m" [ "$(grep -c '"epoch".*"best":false.*"2/train":{.*"loss":null,"labels":0}' n.json)" -eq 4 ]
        check "they are printed as not defined: $t, $m" [ "$(grep -c "^gnn-train: epoch .* 2/train $m not defined (0 of [0-9]* labels known)" said)" -eq 4 ]
        check "gnn-predict evaluates it: $t, $m" gnn-predict -n $t n.st --split 2/train --metric $m --metrics n.json
        cp err said
        check "gnn-predict prints that its numbers are not defined: $t, $m" grep -q "2/train: $m not defined.*, 0 nodes" said
        check "gnn-predict has null for them: $t, $m" grep -q '"nodes":0,.*"labels":0,"loss":null' n.json
    done
    # Another one first, and it does select.
    check "gnn-train selects by the first of two sets: $t" gnn-train --store $t ${all#-q } --epochs 2 --eval valid --eval 2/train --patience 2 -o n.st
    cp err said
    check "gnn-train says which, and that the other has no label: $t" sh -c 'grep -q "^gnn-train: set valid selects the epoch, by" said &&
        grep -q "warning: set 2/train: none of its [0-9]* nodes has a label: nothing to evaluate$" said'
    # A stream shows it after the first epoch.
    gnn-sample -q -f 2,2 --eval 2/train --epochs 3 $t | gnn-gather -q -o waits.gnb $t
    check "gnn-train evaluates a set of a stream without labels: $t" gnn-train -i waits.gnb --hidden 8 --patience 1 --metrics n.json -o n.st
    cp err said
    check "gnn-train says once that --patience does not stop by it: $t" \
        [ "$(grep -c 'warning: .* of set 2/train is not defined: --patience does not stop a run by such epochs$' said)" -eq 1 ]
    check "gnn-train runs to the end of the stream: $t" [ "$(grep -c '"event":"epoch"' n.json)" -eq 3 ]
    gnn-partition -q -k 3 -o $t.p $t || _not_ok "gnn-partition divides the graph of $t"
    for way in "-f -1,-1 -b 16 --no-shuffle" --full-batch; do
        gnn-train --store $t $how $way --optimizer sgd --lr 0.1 --epochs 2 --eval valid --metrics a.json -o a.st
        check "gnn-train learns on 3 ranks: $t, ${way##* -}" ranks 3 gnn-train --store $t.p $how $way --optimizer sgd --lr 0.1 --epochs 2 --eval valid --metrics b.json -o b.st
        check "3 ranks divide by the labels of all: $t, ${way##* -}" /usr/bin/python3 -c '
import json
a, b = ([e for e in map(json.loads, open(f)) if e["event"] in ("step", "epoch")] for f in ("a.json", "b.json"))
assert len(a) == len(b) > 3
for p, q in zip(a, b):
    assert abs(p["loss"] - q["loss"]) < 1e-4, (p, q)
    for s in ("train", "valid"):
        assert s not in p or (abs(p[s]["loss"] - q[s]["loss"]) < 1e-4 and p[s]["labels"] == q[s]["labels"] > 0), (p, q)'
    done
done

# The set that is evaluated by default has no label.
printf 'id,f0,y,set\n0,1,0,train\n1,2,1,train\n2,3,,valid\n3,4,,valid\n' >b.csv && printf 'source,target\n0,1\n1,2\n2,3\n' >e.csv
gnn-import -q -o blank --nodes b.csv e.csv || _not_ok 'gnn-import makes a set without labels'
for o in '-f 2,2' --full-batch; do
    check "gnn-train $o evaluates nothing where the set has no label" gnn-train --store blank $o --hidden 4 --epochs 25 --metrics n.json -o n.st
    cp err said
    check "gnn-train $o says so in one sentence" sh -c 'test "$(grep valid said)" = "gnn-train: no node of set valid has a label: nothing is evaluated, and all epochs are trained (--eval chooses a set)"'
    check "gnn-train $o trains all epochs" [ "$(grep -c '"event":"epoch"' n.json)" -eq 25 ]
done
refusing=gnn-train
refuses 2 '^gnn-train: --patience requires a set to evaluate (--eval)$' 'patience without a set' gnn-train -q --store blank -f 2 --patience 3 -o no.st
# Labels that do not define the metric: all of one class.
printf 'id,f0,y,set\n0,1,0,train\n1,2,1,train\n2,3,1,valid\n3,4,1,valid\n' >b.csv
gnn-import -q -o one --nodes b.csv e.csv || _not_ok 'gnn-import makes a set of one class'
check 'gnn-train evaluates a set of one class by ROC-AUC' gnn-train --store one -f 2 --epochs 4 --metric roc-auc --patience 2 -o n.st
cp err said
check 'gnn-train says that --patience does not stop by what is not defined' [ "$(grep -c 'warning: roc-auc of set valid is not defined: --patience does not stop' said)" -eq 1 ]

# Weights of 1 are no weights, and of classes that occur nowhere there is nothing to learn.
for w in none 1,1,1 7,7,7; do
    check "gnn-train learns with --class-weights $w" gnn-train --store multiclass $how -f -1,-1 -b 16 --epochs 2 --class-weights $w --no-provenance --metrics $w.json -o $w.st
    check "gnn-train --class-weights $w has the losses of no weights" /usr/bin/python3 -c '
import json, sys
a, b = ([e["loss"] for e in map(json.loads, open(f)) if e["event"] in ("step", "epoch")] for f in ("none.json", sys.argv[1]))
assert len(a) == len(b) > 10 and all(abs(p - q) < 1e-6 for p, q in zip(a, b))' $w.json
done
check "gnn-train writes the same model with --class-weights 1,1,1 and none" cmp none.st 1,1,1.st
done_testing
