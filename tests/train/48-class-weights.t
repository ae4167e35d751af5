# SPDX-License-Identifier: Apache-2.0
# gnn-train --class-weights: rows are weighted by their class, and a batch's loss is divided by the sum of the weights.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
how='-q --no-provenance -f 4,4 -b 50 --epochs 2 --eval none --hidden 8 --lr 0.01 --dropout 0 --no-layer-norm'
gnn-import -q -o s sbm:nodes=600,signal=0.2,degree=4 || exit 1
train() { gnn-train --store s $how "$@"; }
steps() { grep '"event":"step"' "$1" | grep -o '"loss":[0-9.e-]*' | cut -d: -f2; }
train -o plain.st --metrics plain.json || _not_ok 'gnn-train learns without --class-weights'
check 'gnn-train --class-weights none trains' train --class-weights none -o none.st
check 'gnn-train --class-weights none writes the model of no weights' cmp plain.st none.st
check 'gnn-train --class-weights 1,1,1,1 trains' train --class-weights 1,1,1,1 -o ones.st --metrics ones.json
steps plain.json >a; steps ones.json >b
check 'equal weights give the losses of no weights' sh -c \
    'test -s a && paste a b | awk "{ d = \$1 - \$2; if (d > 1e-4 || d < -1e-4) exit 1 }"'
check 'gnn-train --class-weights 1,2,3,0.5 trains' train --class-weights 1,2,3,0.5 -o w.st
check 'gnn-train --class-weights 4,8,12,2 trains' train --class-weights 4,8,12,2 -o v.st
check 'weights of the same shares write the same model' cmp w.st v.st
check 'other weights write another model' sh -c '! cmp -s w.st plain.st'
check 'gnn-train --class-weights 0,0,0,1 trains' train --class-weights 0,0,0,1 --epochs 20 -o last.st
gnn-predict -q s last.st -n --split test --metrics m.json && gnn-predict s last.st -o last.npy
check 'a model for which only class 3 counts predicts class 3' perl -e '
    open F, "last.npy"; binmode F; local $/; my $d = <F>; my @c = unpack "l<*", substr($d, 10 + unpack "v", substr $d, 8, 2);
    exit !(@c == 600 && 590 < grep { $_ == 3 } @c)'

# Behind a head, layers may be wider than there are classes.
check 'gnn-train --class-weights 0,0,0,1 trains with a head' train --head 0 --hidden 64 --class-weights 0,0,0,1 --epochs 20 -o head.st
gnn-predict s head.st -o head.npy
check 'a model with a head for which only class 3 counts predicts class 3' perl -e '
    open F, "head.npy"; binmode F; local $/; my $d = <F>; my @c = unpack "l<*", substr($d, 10 + unpack "v", substr $d, 8, 2);
    exit !(@c == 600 && 590 < grep { $_ == 3 } @c)'
check 'gnn-train --class-weights 1,2,3,0.5 trains with a head' train --head 0 --hidden 64 --class-weights 1,2,3,0.5 -o w.st
check 'gnn-train --class-weights 4,8,12,2 trains with a head' train --head 0 --hidden 64 --class-weights 4,8,12,2 -o v.st
check 'weights of the same shares write the same model with a head' cmp w.st v.st

# A quarter of class 1, the rest of class 0, and nodes without a label: the weights are the inverse of the counts.
perl -e 'srand 5; open E, ">e.txt"; open X, ">x.txt"; open Y, ">y.txt"; open T, ">train.txt";
    for my $i (0 .. 399) {
        my $y = $i % 10 == 9 ? -1 : $i % 4 == 1 ? 1 : 0;
        print E "$i\t", int(rand 100) * 4 + $i % 4, "\n" for 1 .. 3;
        print X join(" ", map { rand() + ($_ == 0 && $y == 1 ? .6 : 0) } 0 .. 3), "\n"; print Y "$y\n";
        print T "$i\n" if $i < 240;
    }'
gnn-import -q e.txt -u --features x.txt --labels y.txt --split train=train.txt --nodes 400 -o two || _not_ok 'gnn-import makes two classes'
counts=$(head -240 y.txt | perl -ne '$n{$_ + 0}++; END { printf "%.9g,%.9g", ($n{0} + $n{1}) / 2 / $n{0}, ($n{0} + $n{1}) / 2 / $n{1} }')
check 'gnn-train --class-weights balanced trains a binary task' gnn-train --store two $how --class-weights balanced -o bal.st
check "gnn-train --class-weights $counts trains a binary task" gnn-train --store two $how --class-weights "$counts" -o list.st
check 'balanced weights are rows / (classes * count) of the training set' cmp bal.st list.st
gnn-partition -q -k 3 -o parts two || _not_ok 'gnn-partition makes 3 parts'
check 'gnn-train --class-weights balanced trains from parts' gnn-train --store parts $how --class-weights balanced -o p.st --metrics p.json
gnn-train --store two $how --class-weights balanced -o o.st --metrics o.json
steps p.json >a; steps o.json >b
check 'balanced weights are those of all parts' sh -c \
    'test -s a && paste a b | awk "{ d = \$1 - \$2; if (d > 1e-3 || d < -1e-3) exit 1 }"'

# The losses of the first step, by NumPy, from the outputs of the initial model.
once='-q --no-provenance -f -1,-1 -b 1000 --epochs 1 --eval none --hidden 8 --lr 0 --dropout 0 --no-layer-norm'
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    gnn-train --store two $once -o init.st
    gnn-train --store two $once --class-weights 2,5 -o init2.st --metrics two.json
    gnn-predict two init.st --output-kind values -o z.npy
    gnn-train --store s $once -o init.st
    gnn-train --store s $once --class-weights 1,0,3,0.5 -o init2.st --metrics four.json
    gnn-predict s init.st --output-kind values -o z4.npy
    gnn-inspect --raw --export s.npz s
    check 'the loss is the sum of weighted losses divided by the sum of weights' /usr/bin/python3 -c '
import numpy as np, sys
z, y = np.load("z.npy")[:240].astype(float), np.loadtxt("y.txt")[:240].astype(int)
z, y = z[y >= 0], y[y >= 0]
def mean(z, y, w):
    l = np.log(np.exp(z).sum(1)) - z[np.arange(len(y)), y]
    return (w[y] * l).sum() / w[y].sum()
two, four = (float(v) for v in sys.argv[1:])
assert abs(mean(np.stack([0 * z, z], 1), y, np.array([2, 5.])) - two) < 1e-6, two
a, z = np.load("s.npz"), np.load("z4.npy").astype(float)
ids = a[[k for k in a.files if k.startswith("split/") and k.endswith("/train")][0]]
assert abs(mean(z[ids], a["node/node/y"][ids], np.array([1, 0, 3, .5])) - four) < 1e-6, four' "$(steps two.json)" "$(steps four.json)"
else skip 'the loss is the sum of weighted losses divided by the sum of weights' 'no numpy'; fi

# What goes on must go on with the same weights.
check 'gnn-train --class-weights leaves a checkpoint' train --class-weights 1,2,3,4 --checkpoint C --checkpoint-every 9 -o whole.st
check 'gnn-train --resume goes on with the same weights' train --class-weights 1,2,3,4 --checkpoint C --resume -o again.st
check 'gnn-train --resume writes the same model with weights' cmp whole.st again.st
refusing='' refuses 3 '--class-weights 1,2,3,4, and this run has .*--class-weights 1,2,3,5' 'other weights' train --class-weights 1,2,3,5 --checkpoint C --resume -o bad
status 3 'gnn-train --resume refuses to go on without the weights' train --checkpoint C --resume -o bad

for w in 1,2 1,2,3,4,5 1,2,3,-1 1,2,3,nan 1,2,3,inf 0,0,0,0 1,2,3, ,1,2,3 '' 1,2,3,x balance 1e-50,0,0,0; do
    status 2 "gnn-train refuses --class-weights '$w' for four classes" train --class-weights "$w" -o bad
    check "gnn-train refuses --class-weights '$w' in one line" test "$(wc -l <err)" -eq 1
done
gnn-sample s -f 4,4 -b 50 --epochs 1 | gnn-gather s -o g.gnb
status 2 'gnn-train refuses balanced weights for a stream' gnn-train -i g.gnb --class-weights balanced -o bad
check 'gnn-train takes weights for a stream' gnn-train -q -i g.gnb --class-weights 1,2,3,4 -o stream.st
gnn-import -q -o reg sbm:nodes=200,targets=1
status 2 'gnn-train refuses weights of classes for a regression' gnn-train --store reg --class-weights 1,2 -o bad
status 2 'gnn-train refuses balanced weights for a regression' gnn-train --store reg --class-weights balanced -o bad
# A training set of one class, and weights of the others.
perl -e 'print "source,target\n"; print $_ % 20, ",", $_ * 7 % 20, "\n" for 0 .. 59' >few.csv
perl -e 'print $_ < 10 ? 0 : 1 + $_ % 2, "\n" for 0 .. 19' >few.y.csv
seq 0 9 >few.train && seq 10 19 >few.valid
gnn-import -q --directed --labels few.y.csv --split train=few.train,valid=few.valid -o few few.csv || exit 1
refuses 2 '--class-weights: no node of set train is of a class with a weight > 0' "weights of classes of which there is no node to train on" gnn-train --store few -f 3,3 --epochs 1 --class-weights 0,1,2 -o none
check "gnn-train takes a weight of a single class that occurs" gnn-train -q --store few -f 3,3 --epochs 1 --class-weights 0.5,0,0 -o none
done_testing
