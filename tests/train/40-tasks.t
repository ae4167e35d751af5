# SPDX-License-Identifier: Apache-2.0
# Binary and multi-label tasks, with unlabelled nodes, end to end.
. "$GNN_TOP/tests/lib.sh"
# three communities; features and edges tell them apart; one label column has holes
perl -e 'srand 4; my $n = 600;
    open E, ">e.txt"; open X, ">x.txt"; open Y, ">y.txt"; open B, ">b.txt";
    for my $i (0 .. $n - 1) {
        my $c = $i % 3;
        for (1 .. 4) { printf E "%d\t%d\n", $i, rand() < .2 ? int rand $n : int(rand $n / 3) * 3 + $c }
        print X join(" ", map { sprintf "%.3f", rand() - .5 + ($_ == $c ? .4 : 0) } 0 .. 5), "\n";
        print Y join(" ", $c == 0 ? 1 : 0, rand() < .1 ? "nan" : $c >= 1 ? 1 : 0, $c == 2 ? 1 : 0), "\n";
        print B $c == 0 ? 1 : 0, "\n";
    }'
import() { gnn-import -u e.txt --features x.txt --labels "$1" --task "$2" --split random:0.6,0.2,0.2 --nodes 600 -o "$2"; }
import y.txt multilabel && import b.txt binary || exit 1
value() { sed -n 's/.*"event":"score".*"'"$2"'":\([0-9.]*\).*/\1/p' "$1"; }
for t in binary multilabel; do
    check "gnn-train learns a $t task from a store" \
        gnn-train --store $t -f 5,5 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -b 64 --epochs 0:12 --eval valid -q -o $t.st
    for m in roc-auc accuracy f1-macro; do
        gnn-predict $t $t.st -n -q --split test --metric $m --metrics j.json || exit 1
        v=$(value j.json $m)
        check "gnn-predict scores $m of a $t task above 0.9: $v" perl -e 'exit !($ARGV[0] > 0.9 && $ARGV[0] <= 1)' "$v"
    done
    check "gnn-predict writes the probabilities of a $t task" gnn-predict $t $t.st --output-kind probs -o $t.npy
    check "gnn-train writes the same model of a $t task from a pipe and from --store" sh -c "
        gnn-sample $t -f 5,5 -b 64 --epochs 0:12 --eval valid | gnn-gather $t |
        gnn-train --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -q --no-provenance -o p.st &&
        gnn-train --store $t -f 5,5 --hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -b 64 --epochs 0:12 --eval valid -q --no-provenance -o s.st && cmp p.st s.st"
done
# Metrics for rare classes, from the definition: thresholds at each output, and equal outputs in part among the K highest.
cat >rank.py <<'PY'
import json, sys, numpy as np
y, z = np.loadtxt(sys.argv[1]).reshape(600, -1), np.load(sys.argv[2]).reshape(600, -1)
ids, got = np.loadtxt(sys.argv[3]).astype(int), {}
for f in sys.argv[4:]:
    for e in map(json.loads, open(f)):
        got.update({k: v for k, v in (e.get("test", e) if e["event"] in ("end", "score") else {}).items() if "precision" in k or "recall" in k})
def measure(name, y, z):
    z, y = z[~np.isnan(y)], y[~np.isnan(y)] > 0.5
    tp = np.array([(y & (z >= v)).sum() for v in z])
    p, r = tp / np.array([(z >= v).sum() for v in z]), tp / y.sum()
    if name == "average-precision": return p[y].mean()
    if name.startswith("recall@precision="): return max([0, *r[p >= float(name.split("=")[1])]])
    k = int(name.split("@")[1])
    among = (np.clip((k - np.array([(z > v).sum() for v in z])) / np.array([(z == v).sum() for v in z]), 0, 1) * y).sum()
    return among / (k if name.startswith("precision") else y.sum())
assert len(got) == 5, got
for name, v in got.items():
    want = np.mean([measure(name, y[ids, j], z[ids, j]) for j in range(y.shape[1])])
    assert abs(v - want) < 1e-9, (name, v, want)
PY
for t in binary multilabel; do
    gnn-inspect --raw --export $t.npz $t >/dev/null && gnn-predict -q --output-kind values -o $t.z.npy $t $t.st
    set --
    for m in average-precision precision@7 recall@20 recall@precision=0.9 recall@precision=1; do
        check "gnn-predict scores $m of a $t task" gnn-predict $t $t.st -n -q --split test --metric $m --metrics "$m.json"
        set -- "$@" "$m.json"
    done
    if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        /usr/bin/python3 -c 'import numpy as np, sys; z = np.load(sys.argv[1]); np.savetxt("ids", z[[k for k in z.files if k.startswith("split/") and k.endswith("/test")][0]], "%d")' $t.npz
        check "gnn-predict ranks nodes of a $t task by the definitions" /usr/bin/python3 rank.py "$([ $t = binary ] && echo b.txt || echo y.txt)" $t.z.npy ids "$@"
    else skip "gnn-predict ranks nodes of a $t task by the definitions" 'no numpy'; fi
    check "gnn-train selects the epoch of a $t task by average precision" gnn-train --store $t -f 5,5 --hidden 16 -b 64 --epochs 3 --eval test \
        --metric average-precision --no-provenance --metrics ap.json -o ap.st
    cp err said
    check "gnn-train prints the average precision of a $t task" grep -q 'best epoch [0-9], test average-precision 0\.' said
done
status 2 'gnn-predict refuses --metric precision@0' gnn-predict binary binary.st -n --metric precision@0
status 2 'gnn-predict refuses --metric recall@precision=2' gnn-predict binary binary.st -n --metric recall@precision=2
check 'gnn-predict has no precision among more nodes than there are' sh -c 'gnn-predict binary binary.st -n --split test --metric precision@999 2>&1 | grep -q "test: precision@999 not defined"'
# With names, which class is the positive one is no matter of course.
perl -e 'print "id,label,f\n"; print "n$_,", ($_ % 3 ? "ok" : "fraud"), ",", $_ % 7, "\n" for 0 .. 99' >kinds.csv
perl -e 'print "source,target\n"; print "n$_,n", ($_ * 7 + 1) % 100, "\n" for 0 .. 99' >who.csv
gnn-import -q --nodes kinds.csv --split random:0.6,0.2,0.2 -o kinds who.csv
positive="positive nodes are those of class 'ok', the second in the order of names"
gnn-train --store kinds --hidden 4 --epochs 1 --metric average-precision -o kinds.st 2>said
check "gnn-train names the positive class for average precision" grep -qx "gnn-train: $positive" said
gnn-predict -n --metric precision@5 kinds kinds.st 2>said
check "gnn-predict names the positive class for precision among K" grep -qx "gnn-predict: $positive" said
gnn-predict -n kinds kinds.st 2>said
check "gnn-predict names none for the ROC-AUC, which is the same for both" sh -c 'grep -q roc-auc said && ! grep positive said'
head_of() { head -c 128 "$1" | tr -d '\0' | LC_ALL=C sed -n 's/.*\({.*}\).*/\1/p'; }
check "gnn-predict writes one probability a node for a binary task" \
    test "$(head_of binary.npy)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (600,), }"
check "gnn-predict writes three probabilities a node for a task of three labels" \
    test "$(head_of multilabel.npy)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (600, 3), }"
done_testing
