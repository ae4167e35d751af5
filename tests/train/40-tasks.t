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
head_of() { head -c 128 "$1" | tr -d '\0' | LC_ALL=C sed -n 's/.*\({.*}\).*/\1/p'; }
check "gnn-predict writes one probability a node for a binary task" \
    test "$(head_of binary.npy)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (600,), }"
check "gnn-predict writes three probabilities a node for a task of three labels" \
    test "$(head_of multilabel.npy)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (600, 3), }"
done_testing
