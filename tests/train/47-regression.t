# SPDX-License-Identifier: Apache-2.0
# Regression: numbers as labels, end to end, with nodes that have none.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
numpy=$(/usr/bin/python3 -c "import numpy" 2>/dev/null && echo yes)
value() { sed -n 's/.*"event":"score".*"'"$2"'":\(-\{0,1\}[0-9.e-]*\).*/\1/p' "$1"; }
opts='--hidden 16 --lr 0.01 --dropout 0 --no-layer-norm -q'
sample='-f 5,5 -b 64 --epochs 0:15 --eval valid'
check 'gnn-import generates one target' gnn-import -q -o one sbm:nodes=1000,signal=0.7,targets=1
check 'gnn-import generates three targets' gnn-import -q -o three sbm:nodes=1000,signal=0.7,targets=3
gnn-inspect one >said
check 'gnn-inspect shows a regression' grep -q 'task   regression of node, 1 output$' said
status 2 'gnn-import refuses targets= without classes=' gnn-import -o bad rmat:scale=4,targets=1
for s in one three; do
    check "gnn-train learns a regression from the store $s" gnn-train --store $s $sample $opts --metrics m.json -o $s.st
    check "gnn-train reports rmse of a regression of the store $s" grep -q '"event":"epoch".*"valid":{"rmse":' m.json
    for m in rmse mae r2; do
        gnn-predict $s $s.st -n -q --split test --metric $m --metrics $m.json || _not_ok "gnn-predict scores $m"
    done
    v=$(value r2.json r2)
    check "gnn-predict scores an R2 above 0.7 of the store $s: $v" perl -e 'exit !($ARGV[0] > 0.7 && $ARGV[0] <= 1)' "$v"
    check "gnn-predict writes the values of the store $s" gnn-predict $s $s.st -o $s.npy
    check "gnn-train writes the same regression of the store $s from a pipe and from --store" sh -c "
        gnn-sample $s $sample | gnn-gather $s | gnn-train $opts --no-provenance -o p.st &&
        gnn-train --store $s $sample $opts --no-provenance -o s.st && cmp p.st s.st"
    gnn-inspect --raw --export $s.npz $s || _not_ok "gnn-inspect exports the store $s"
    if [ -n "$numpy" ]; then
        check "gnn-predict scores what NumPy does of the store $s" /usr/bin/python3 - $s "$(value rmse.json rmse)" "$(value mae.json mae)" "$v" <<'PY'
import sys, numpy as np
name, *said = sys.argv[1:]
z, a = np.load(name + ".npy"), np.load(name + ".npz")
assert z.dtype == "f4" and z.shape == ((1000,) if name == "one" else (1000, 3)), z.shape
ids = a[[k for k in a.files if k.startswith("split/") and k.endswith("/test")][0]]
y, z = (np.asarray(v[ids], "f8").reshape(len(ids), -1) for v in (a["node/node/y"], z))
e = z - y
want = np.sqrt((e * e).mean()), abs(e).mean(), (1 - (e * e).sum(0) / ((y - y.mean(0)) ** 2).sum(0)).mean()
assert np.allclose(want, [float(s) for s in said], rtol=1e-9), (want, said)
PY
    else skip "gnn-predict scores what NumPy does of the store $s" 'no numpy'; fi
done

# What a killed run has summed of its epoch's errors goes on.
run="--store three $sample $opts --no-provenance --metric r2 --checkpoint ck --checkpoint-every 5"
gnn-train $run --metrics whole.json -o whole.st || _not_ok "gnn-train --metric r2 learns"
last() { sed -n 's/.*"event":"epoch","epoch":14,.*"train":{"r2":\([0-9.]*\).*/\1/p' "$1"; }
rm -rf ck
gnn-sample three $sample >b.gnb && gnn-gather three -i b.gnb -o g.gnb || _not_ok "gnn-gather makes batches"
stream="$opts --no-provenance --metric r2 --checkpoint ck --checkpoint-every 1 -i"
head -c $(($(wc -c <g.gnb) * 97 / 100)) g.gnb >cut.gnb
status 3 'gnn-train ends at a stream that is cut' gnn-train $stream cut.gnb -o cut.st
check 'gnn-train --resume goes on with a regression' gnn-train $stream g.gnb --resume --metrics rest.json -o rest.st
check 'gnn-train --resume writes the regression of the whole run' cmp whole.st rest.st
check 'gnn-train --resume reports the R2 of the whole run' test "$(last whole.json)" = "$(last rest.json)"

# NaN is no label, and -1 is one.
perl -e 'srand 3; open E, ">e.txt"; open X, ">x.txt"; open Y, ">y.txt";
    for my $i (0 .. 199) {
        print E "$i\t", ($i + $_) % 200, "\n" for 1, 2;
        my $x = 2 * rand() - 1;
        print X "$x 1\n"; print Y $i % 5 == 1 ? "nan" : $i % 5 == 2 ? -1 : $x, "\n";
    }'
check 'gnn-import --task regression reads numbers' \
    gnn-import -q e.txt --features x.txt --labels y.txt --task regression --split random:0.5,0.5,0 --nodes 200 -o holes
gnn-inspect --stats holes >said
check 'gnn-import --split divides the nodes with a number' grep -q 'split  random/train *80 ' said
check 'gnn-inspect --verify takes numbers for labels' gnn-inspect --verify -q holes
printf '%s\n' $(seq 0 199) >all
gnn-import -q e.txt --features x.txt --labels y.txt --task regression --split train=all --nodes 200 -o holed
check 'gnn-train takes nan for no label' gnn-train --store holed -f 2 -b 50 --epochs 2 --eval none -q -o h.st
gnn-predict holed h.st -n --split train --metric mae -q --metrics mae.json && gnn-predict holed h.st -o h.npy
if [ -n "$numpy" ]; then
    check 'gnn-predict leaves nodes without a number out of a score' /usr/bin/python3 -c '
import sys, numpy as np
z, y = np.load("h.npy"), np.loadtxt("y.txt")
e = abs(z - y.astype("f4"))[~np.isnan(y)]
assert len(e) == 160 and abs(e.mean() - float(sys.argv[1])) < 1e-6, e.mean()' "$(value mae.json mae)"
else skip 'gnn-predict leaves nodes without a number out of a score' 'no numpy'; fi
sed '7s/.*/inf/' y.txt >inf.txt
refusing=gnn-import refuses 3 'inf.txt: row 7: label inf is infinite' 'an infinite number' gnn-import e.txt --labels inf.txt --task regression --nodes 200 -o bad
status 3 'gnn-import without --task refuses numbers that are no classes' gnn-import e.txt --labels y.txt --nodes 200 -o bad
mv err said
check 'gnn-import says which task takes numbers' grep -q -e '--task regression' said

refuses 2 'metric accuracy is not defined for regression tasks' '--metric accuracy for a regression' gnn-train --store one --metric accuracy -o bad
status 2 'gnn-predict refuses --metric roc-auc for a regression' gnn-predict one one.st -n --split test --metric roc-auc
status 2 'gnn-predict refuses classes of a regression' gnn-predict one one.st --output-kind classes -o bad
gnn-import -q -o classes sbm:nodes=300
status 2 'gnn-train refuses --metric r2 for classes' gnn-train --store classes --metric r2 -o bad
gnn-train --store classes -f 3 --epochs 1 --eval none -q -o c.st
check 'gnn-predict writes the outputs of a model of classes' gnn-predict classes c.st --output-kind values -o v.npy
check 'gnn-predict writes one output for each class' grep -aq 'shape.: (300, 4)' v.npy
done_testing
